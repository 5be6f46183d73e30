# Two commands to know: `make run` opens the explorer, `make test` runs every test. Both install what is missing first.

SWIFT ?= swift
PREFIX ?= /usr/local
export SWIFT
# Warnings are errors here, and nowhere else.
export CACHEENGINE_STRICT = 1
# SwiftPM passes traits to the compiler in the order of a set, which differs from process to process: now and then it would
# build everything anew for nothing.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# DEBUGGING='-debug-info-format none' leaves out what debuggers need, which takes a part of the build's time.
DEBUGGING ?=
FORMATTED = Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources
# The suites that are about threads; the rest says nothing new under Thread Sanitizer and takes minutes there. Each in a process of its
# own: beside a thousand others a test waits for so long that its time is over.
CONCURRENT = CacheEngineTests CacheMemoryTests CacheDiskTests HostileShareTests CacheEngineSharedTests \
	CacheEngineHitRatioTests CacheEngineTransformersTests CacheEngineNetworkTests CacheEngineStorageTests \
	CacheEngineCashierTests CacheEngineModelsTests CacheEngineCombineTests CacheEngineInspectorTests \
	CacheEngineHTTPTests

SANITIZED = --traits $(TRAITS) --sanitize=thread --scratch-path .build-tsan -Xswiftc -DCACHEENGINE_TSAN

.PHONY: run test mutants fuzz fuzz-seeds torture soak test-tsan lint format bench bench-peers bench-check bench-record count bench-disk bench-shared bench-redis bench-proxy bench-fleet measure-explorer install deb api-check docs examples dependencies test-dependencies help

# What is guarded by a trait is tested with the rest. Who uses the library chooses; all are off by default.
TRAITS ?= Combine,Encryption,Explorer,Lifecycle,Metrics,RedisTLS,Tracing
# Explorer,RedisTLS for rediss:// addresses, which brings a TLS library to build.
EXPLORER_TRAITS ?= Explorer
# Swift's libraries within: to load and bind them takes a quarter of the program's start, and 5 MiB. On macOS the system has them.
STATIC = $(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib)
# What debuggers need takes a part of the build's time; reports of crashes name functions without it.
EXPLORER = $(BUILD) -c release -debug-info-format none --traits $(EXPLORER_TRAITS) $(STATIC)

run: dependencies ## Build the explorer and open it on the embedded demo
	@$(EXPLORER) --product cache-explorer
	@"$$($(EXPLORER) --show-bin-path)/cache-explorer"

test: test-dependencies ## Run every test
	@$(BUILD) --build-tests $(DEBUGGING) --traits $(TRAITS)
# Processes of their own: the inspector's threads answer in real time, which the engine's tests leave little of, and the
# program's tests start processes and terminals, whose descriptors the others need not share.
	@./Scripts/run-tests --traits $(TRAITS) --skip '(HTTP|Proxy|Inspector|Redis|Explorer|SharedProcess|HostileShare)Tests'
	@./Scripts/run-tests --traits $(TRAITS) --filter 'SharedProcessTests|HostileShareTests'
# Each starts several processes, which have to answer in time: one after the other.
	@./Scripts/run-tests --traits $(TRAITS) --no-parallel --filter 'FleetTests|FleetDemoTests|CompareTests'
	@./Scripts/run-tests --traits $(TRAITS) --filter 'CacheEngineHTTPTests|CacheEngineProxyTests'
	@./Scripts/run-tests --traits $(TRAITS) --filter CacheEngineInspectorTests
	@./Scripts/run-tests --traits $(TRAITS) --filter CacheEngineRedisTests
	@./Scripts/run-tests --traits $(TRAITS) --filter CacheExplorerTests --skip 'FleetTests|FleetDemoTests|CompareTests'
	@./Scripts/check-consumers
	@./Scripts/docs .build/docs

# As many kills for each tier, and one of so many calls and moments: about four minutes on two cores. CYCLES=500 lets every
# call fail and cuts at every moment, for more than an hour.
CYCLES ?= 60
STRIDE ?= $(if $(filter-out 60,$(CYCLES)),1,23)
SEED ?= 1
SHARED_KILLS ?= $(if $(filter-out 60,$(CYCLES)),1000,200)

# Seconds for each target, and which of them: all, or names such as "json gzip".
FUZZ_TIME ?= 60
FUZZ ?= all

fuzz: test-dependencies ## Make up bytes for every parser; FUZZ_TIME=600 for seconds each, FUZZ="json gzip" for some of them
	@./Scripts/fuzz $(FUZZ_TIME) $(FUZZ)

fuzz-seeds: test-dependencies ## Write the files that fuzzing begins with anew, as this build writes them
	@./Scripts/fuzz seeds

# debug tortures what `make test` has built.
TORTURE_BUILD ?= release

torture: dependencies ## Kill disk levels, cut their power, let system calls fail, fill disks; CYCLES=500 for the long form
	@$(BUILD) -c $(TORTURE_BUILD) --traits $(TRAITS) --product CacheTorture
	@set -e; torture="$$($(BUILD) -c $(TORTURE_BUILD) --traits $(TRAITS) --show-bin-path)/CacheTorture"; for tier in buffered synced mixed; do \
		for room in "" --tight; do \
			"$$torture" cycle --count $(CYCLES) --seed $(SEED) --tier $$tier $$room; \
			"$$torture" cuts --stride $(STRIDE) --seed $(SEED) --tier $$tier $$room; \
			"$$torture" faults --stride $(STRIDE) --seed $(SEED) --tier $$tier $$room; \
		done; \
		"$$torture" full --seed $(SEED) --tier $$tier; \
	done; "$$torture" cycle --count 10 --tier memory; \
	for tier in buffered synced; do "$$torture" shared --count $(SHARED_KILLS) --seed $(SEED) --tier $$tier; done

# What CI has no time for, before a release and after work on the store, the locks or the parsers.
soak: ## Everything that takes long: torture, fuzzing, exchanges of HTTP, histories of Redis, Thread Sanitizer
	@for seed in 1 23 $$(date +%j%H); do $(MAKE) torture CYCLES=500 SEED=$$seed || exit; done
	@$(BUILD) --build-tests --traits $(TRAITS)
	@HTTP_ROUNDS=25000 ./Scripts/run-tests --traits $(TRAITS) --filter ExchangeModelTests
	@REDIS_ROUNDS=100 ./Scripts/run-tests --traits $(TRAITS) --filter RedisHistoryTests
	@$(MAKE) fuzz FUZZ_TIME=600
	@$(MAKE) test-tsan

mutants: test-dependencies ## Plant small faults one by one and list those that no test notices; MUTANTS="gate" for some of them
	@./Scripts/mutants $(MUTANTS)

# One after another: of hundreds at once, each would take as long as all, which is longer than any may take.
test-tsan: test-dependencies ## Run the concurrency tests under Thread Sanitizer
	@SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build --build-tests $(SANITIZED)
	@set -e; for suite in $(CONCURRENT); do TSAN_OPTIONS=halt_on_error=1 ./Scripts/run-tests $(SANITIZED) --no-parallel \
		--filter "$$suite" $$(test $$suite = HostileShareTests || echo --skip HostileShareTests); done

lint: ## Check layout and documentation of every source file, and on Linux what is compiled on other systems only
	@$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)
	@./Scripts/check-platforms
	@./Scripts/mutants --check

format: ## Correct the layout of every source file
	@$(SWIFT) format format --in-place --parallel --recursive $(FORMATTED)

# What the benchmarks are told, such as --quick, --only memory or --json FILE.
BENCH ?=

# SwiftPM remembers the files of a package that lies beside, and does not find new ones.
BENCH_RUN = rm -f Benchmarks/.build/*/release/description.json; cd Benchmarks && $(SWIFT) run -c release

bench: dependencies bench-peers ## Measure the engine beside its peers; BENCH='--quick --json FILE' for more
	@$(BENCH_RUN) CacheBenchmarks --peers .peers $(BENCH)

bench-peers: ## Install the peers that are programs of their own
	@./Scripts/install-bench-peers Benchmarks/.peers

# Ratios to code that never changes, so that a record made on one machine says something on another. Every process hashes
# alike, so that a dictionary collides as often in every run.
bench-check: dependencies ## Fail if something is more than 10 % slower than recorded, relative to the floor
	@export SWIFT_DETERMINISTIC_HASHING=1; $(BENCH_RUN) CacheBenchmarks --only memory --only async --check recorded.json $(BENCH)

bench-record: dependencies ## Record the ratios that bench-check compares with
	@export SWIFT_DETERMINISTIC_HASHING=1; $(BENCH_RUN) CacheBenchmarks --only memory --only async --record recorded.json $(BENCH)

# Marks in the program need Valgrind's headers when it is built; both are one package.
count: dependencies ## Print instructions per operation beside those recorded; COUNT=--record or --check
	@./Scripts/install-dependencies counting
	@rm -f Benchmarks/.build/*/release/description.json; cd Benchmarks && $(BUILD) -c release --product InstructionCounts
	@./Scripts/count "$$(cd Benchmarks && $(BUILD) -c release --show-bin-path)/InstructionCounts" Benchmarks/counts.tsv $(COUNT)

bench-disk: ## Measure the disk level beside SQLite, LMDB, LevelDB, RocksDB, files and python-diskcache; ARGUMENTS=--quick
	@./Scripts/install-dependencies stores
	@$(BENCH_RUN) DiskBenchmarks $(ARGUMENTS)

bench-shared: ## Measure a disk level whose directory processes share: alone, as the owner, and asking the owner
	@$(BENCH_RUN) SharedBenchmarks

bench-redis: test-dependencies bench-peers ## Measure the client of Redis beside one in C, redis-benchmark and memcached
	@$(BENCH_RUN) RedisBenchmarks .peers/servers

bench-fleet: ## Simulate what 10 to 100,000 processes do to a shared level; ARGUMENTS='--processes 10,100 --seed 2'
	@$(SWIFT) run -c release FleetGrowth $(ARGUMENTS)

bench-proxy: dependencies ## Measure cache-explorer serve beside nginx and Varnish, with wrk; ARGUMENTS='SECONDS CONNECTIONS GROWTH'
	@$(EXPLORER) --product cache-explorer
	@./Scripts/bench-proxy "$$($(EXPLORER) --show-bin-path)/cache-explorer" $(ARGUMENTS)

measure-explorer: dependencies ## Measure the explorer on a terminal against its targets; MEASURE='--runs 5 --only idle' for less
	@$(EXPLORER) --product cache-explorer
	@./Scripts/measure-explorer "$$($(EXPLORER) --show-bin-path)/cache-explorer" $(MEASURE)

install: dependencies ## Install a release build below PREFIX (default /usr/local)
	@$(EXPLORER) --product cache-explorer -Xlinker -s
	@install -d "$(DESTDIR)$(PREFIX)/bin"
	@install -m 755 "$$($(EXPLORER) --show-bin-path)/cache-explorer" \
		"$(DESTDIR)$(PREFIX)/bin/cache-explorer"
	@install -d "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
		"$(DESTDIR)$(PREFIX)/share/zsh/site-functions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
# The program writes its own manual and completions, so that they tell what it does.
	@set -e; program="$(DESTDIR)$(PREFIX)/bin/cache-explorer"; share="$(DESTDIR)$(PREFIX)/share"; \
		"$$program" manual > "$$share/man/man1/cache-explorer.1"; \
		"$$program" --generate-completion-script bash > "$$share/bash-completion/completions/cache-explorer"; \
		"$$program" --generate-completion-script zsh > "$$share/zsh/site-functions/_cache-explorer"; \
		"$$program" --generate-completion-script fish > "$$share/fish/vendor_completions.d/cache-explorer.fish"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/cache-explorer, its manual and its completions"

api-check: test-dependencies ## List what breaks the public API since the commit in Scripts/api-baseline
	@./Scripts/api-check

docs: test-dependencies ## Build the documentation of all products, in .build/docs; a warning is an error
	@$(BUILD) --build-tests --traits $(TRAITS)
	@./Scripts/docs .build/docs

# Their tests, too; packages of their own, so that nobody else fetches what they stand on.
examples: dependencies ## Build and test the examples that are packages of their own
	@rm -f Examples/HummingbirdSessions/.build/*/debug/description.json; cd Examples/HummingbirdSessions && $(SWIFT) test $(DEBUGGING)

deb: ## Make a Debian package of a release build, in .build/deb
	@rm -rf .build/deb
	@mkdir -p .build/deb/tree
	@$(MAKE) install DESTDIR="$(CURDIR)/.build/deb/tree" PREFIX=/usr
	@./Scripts/make-deb .build/deb/tree .build/deb

dependencies:
	@./Scripts/install-dependencies

# Building every test builds the images library, which needs two codecs more than the explorer.
test-dependencies:
	@./Scripts/install-dependencies images

help: ## List these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18
