class CacheExplorer < Formula
  desc "Look into layered caches on a terminal"
  homepage "https://github.com/cacheengine/CacheEngine"
  license "MIT"
  # There is no release yet. With the first one, `url` and `sha256` of the tag's archive stand here.
  head "https://github.com/cacheengine/CacheEngine.git", branch: "main"

  depends_on "pkgconf" => :build
  depends_on xcode: ["26.0", :build]
  depends_on macos: :sequoia
  depends_on "ncurses"

  uses_from_macos "swift" => :build, since: :tahoe
  uses_from_macos "curl"
  uses_from_macos "zlib"

  def install
    args = ["--disable-sandbox", "--configuration", "release", "--product", "cache-explorer"]
    args << "--static-swift-stdlib" if OS.linux?
    system "swift", "build", *args
    bin.install ".build/release/cache-explorer"
    generate_completions_from_executable(bin/"cache-explorer", "--generate-completion-script")
    (man1/"cache-explorer.1").write Utils.safe_popen_read(bin/"cache-explorer", "manual")
  end

  def caveats
    <<~EOS if build.head?
      No version has been released yet: this is the newest commit, which may change in any way.
      Update it with:
        brew upgrade --fetch-HEAD cache-explorer
    EOS
  end

  test do
    (testpath/"cache.yaml").write <<~YAML
      name: test
      levels:
        - memory: { capacity: 1 MiB }
    YAML
    system bin/"cache-explorer", "check", "cache.yaml"
    answers = pipe_output("#{bin}/cache-explorer run cache.yaml --format json", "set a 1\nget a\n", 0)
    assert_match '"level":"memory"', answers
  end
end
