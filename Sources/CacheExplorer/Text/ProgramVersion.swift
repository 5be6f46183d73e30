/// The version of the program, as `--version`, recordings and attached apps are told it.
package enum ProgramVersion { package static let text = "0.1.0" }
