# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INPUT ?=
ENTRIES ?= 300000
ATLAS_ENTRIES ?= 50000
STORAGE_ENTRIES ?= 50000
STUDY_ROUNDS ?= 1
SECONDS ?= 20
ROUNDS ?= 3
# The order of the Python tests.
SEED ?= $(shell date +%s)
DATA := $(wildcard $(or $(NYSSA_TEST_DATA),../shared/data))
# The server that some tests start (Debian: xrootd-server).
XROOTD := $(shell command -v xrootd)
PYTEST := $(BIN)/python -m pytest -q -rs -n auto --maxprocesses 8 --dist loadfile --randomly-seed $(SEED)

.PHONY: help build demo demo-cpp sanitizers readers install test test-rust test-python test-data test-xrootd test-xrootd-client test-dask test-coffea agc lint format fuzz bench bench-remote bench-cache bench-cold bench-agc bench-adl bench-framework bench-storage bench-studies atlas-bench clean

help:
	@echo "make demo [INPUT=file.root]   build, convert a TTree, verify, read back, plot"
	@echo "make agc                      the ttbar analysis of the Analysis Grand Challenge, on small samples"
	@echo "make test                     Rust and Python tests, with ROOT, uproot and awkward as oracles"
	@echo "make test-coffea              nyssa.coffea against coffea with uproot (a gigabyte of packages)"
	@echo "make lint                     rustfmt, clippy, ruff, mypy"
	@echo "make install [PREFIX=/usr/local]  the library for C and C++, with pkg-config and CMake files"
	@echo "make demo-cpp                 build and run the examples in C++"
	@echo "make sanitizers               programs with the C and C++ interface under ThreadSanitizer, AddressSanitizer, UBSan"
	@echo "make fuzz [SECONDS=20]        every parser against damaged input, guided by coverage"
	@echo "make bench [ENTRIES=300000]   nyssa against ROOT and uproot, in one run"
	@echo "make bench-remote [ROUNDS=3]  the same over XRootD, with latency (needs the program xrootd)"
	@echo "make bench-cache [ROUNDS=3]   reading through a cache, against XCache and no cache (needs the program xrootd)"
	@echo "make bench-cold [ROUNDS=3]    reading files that are not in the cache of the system (Linux)"
	@echo "make bench-storage [STORAGE_ENTRIES=50000]  how storage options change size, memory and speed (Linux)"
	@echo "make bench-studies [STUDY_ROUNDS=1]  four studies of storage of the field, beside ROOT (ten minutes)"
	@echo "make atlas-bench              the field's analysis of eight containers, by nyssa and by RDataFrame (a few minutes)"
	@echo "make bench-framework [ROUNDS=3]  a framework in C++ with output modules of nyssa and of ROOT (half an hour)"
	@echo "make bench-adl [ROUNDS=3]     the eight queries of the ADL benchmark, beside RDataFrame, coffea and graphed"
	@echo "make bench-agc [ROUNDS=3]     the analysis of make agc in all ways to run it, against RDataFrame and coffea"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# One stamp per set of tools, remade when its list changes.
$(VENV)/.installed-%: requirements/%.txt | $(BIN)/python
	$(BIN)/pip install --quiet -r $<
	@touch $@

# Where no ROOT wheel exists for the platform the tests with ROOT say so and skip.
$(VENV)/.installed-root: requirements/root.txt | $(BIN)/python
	$(BIN)/pip install --quiet --pre -r $< || echo "no ROOT wheel for this platform: tests and benchmarks with ROOT will say so"
	@touch $@

# Benchmarks measure what users install.
PROFILE := dev --features testing
bench bench-% atlas-bench: PROFILE := release

# This runs each time, because cargo knows itself what is up to date.
build: $(VENV)/.installed-build
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet --profile $(PROFILE) --manifest-path python/Cargo.toml > /dev/null
	python/split-debug

demo: build $(VENV)/.installed-demo
	$(BIN)/python examples/demo.py $(if $(INPUT),"$(INPUT)")

# The library for C and C++.
PREFIX ?= /usr/local
TARGET := $(or $(CARGO_TARGET_DIR),target)
install:
	cargo rustc --quiet --release --package nyssa-capi --crate-type cdylib -- -C strip=debuginfo
	cargo rustc --quiet --release --package nyssa-capi --crate-type staticlib
	crates/nyssa-capi/install "$(PREFIX)" $(TARGET)/release/libnyssa_capi.so $(TARGET)/release/libnyssa_capi.a

demo-cpp:
	cargo build --quiet --package nyssa-capi
	crates/nyssa-capi/install build/cpp/prefix $(TARGET)/debug/libnyssa_capi.so
	cmake -S examples/cpp -B build/cpp -DCMAKE_PREFIX_PATH=$(CURDIR)/build/cpp/prefix > /dev/null
	cmake --build build/cpp > /dev/null
	build/cpp/write build/cpp/events.root
	build/cpp/read build/cpp/events.root
	build/cpp/framework/framework nyssa build/cpp/framework.root 2 10000

# Needs clang, and the nightly toolchain with rust-src.
sanitizers:
	crates/nyssa-capi/sanitize thread build/thread
	crates/nyssa-capi/sanitize address build/address

# The programs that benchmarks in C++ run.
readers:
	cargo rustc --quiet --release --package nyssa-capi --crate-type cdylib
	crates/nyssa-capi/install build/readers/prefix $(TARGET)/release/libnyssa_capi.so
	cmake -S examples/cpp -B build/readers -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=$(CURDIR)/build/readers/prefix > /dev/null
	cmake --build build/readers --target agc atlas > /dev/null

# The working folder is `examples`, so that Python finds the package `agc`.
AGC := cd examples && ../$(BIN)/python -m
agc: build $(VENV)/.installed-agc
	$(AGC) agc.generate ../build/agc --events 4000
	$(AGC) agc.run --inputs ../build/agc/ttree.json --reference agc/reference/toy.json > /dev/null
	$(AGC) agc.run --inputs ../build/agc/rntuple.json --reference agc/reference/toy.json \
		--histograms ../build/agc/histograms.root --plots ../build/agc/plots --note "toys, not physics"

test: test-rust test-python
# The tests in Rust have just built the library for C, with the features of all tests.
test: export NYSSA_CAPI_LIBRARY = $(shell ls $(abspath $(TARGET))/debug/deps/libnyssa_capi.so 2> /dev/null)

# Tests that need the folder of test data are ignored where it is absent, and those with real XRootD servers where
# these are not installed.
test-rust:
	cargo test --quiet -- $(if $(DATA),--include-ignored $(if $(XROOTD),,--skip real_xrootd))

test-python: build $(VENV)/.installed-test $(VENV)/.installed-root
	mkdir -p build
	$(PYTEST) python/tests --needs-data build/needs-data

# Runs the tests that `make test` skips without the folder of test data.
test-data:
	cargo test --quiet --tests -- --ignored --skip real_xrootd
	test ! -s build/needs-data || $(PYTEST) $$(cat build/needs-data)

# Runs the tests that need the program `xrootd`.
test-xrootd:
	cargo test --quiet --test all -- --ignored real_xrootd

# XRootD's own client does not work in processes that were forked, so tests with it have an environment of their own.
test-xrootd-client: build
	test -x $(VENV)-xrootd/bin/python || $(PYTHON) -m venv $(VENV)-xrootd
	$(VENV)-xrootd/bin/pip install --quiet -r requirements/xrootd.txt
	$(VENV)-xrootd/bin/pip install --quiet --only-binary xrootd "xrootd>=5.8" || echo "no wheel of XRootD's client: tests with it will say so"
	PYTHONPATH=python $(VENV)-xrootd/bin/python -m pytest -q -rs python/tests/remote/test_xrootd_client.py

# dask-awkward needs an older dask than the other tests, so it has an environment of its own, and graphed is there, too.
$(VENV)-dask/.installed: requirements/dask.txt
	test -x $(VENV)-dask/bin/python || $(PYTHON) -m venv $(VENV)-dask
	$(VENV)-dask/bin/pip install --quiet -r $<
	@touch $@

test-dask: build $(VENV)-dask/.installed
	PYTHONPATH=python $(VENV)-dask/bin/python -m pytest -q -rs python/tests/interop/test_dask.py python/tests/interop/test_graphed.py
	PYTHONPATH=python $(VENV)-dask/bin/python -m pytest -q -rs python/tests/package/test_docstrings.py -k "dask or graphed"

$(VENV)-coffea/.installed: requirements/coffea.txt
	test -x $(VENV)-coffea/bin/python || $(PYTHON) -m venv $(VENV)-coffea
	$(VENV)-coffea/bin/pip install --quiet -r $<
	@touch $@

# coffea and what it needs takes a gigabyte, so these tests are not among those that decide on a change.
test-coffea: build $(VENV)-coffea/.installed
	PYTHONPATH=python $(VENV)-coffea/bin/python -m pytest -q -rs python/tests/interop/test_coffea.py python/tests/interop/test_agc.py python/tests/package/test_tutorials.py

lint: format build $(VENV)/.installed-test
	cargo clippy --all-targets --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python/nyssa

format:
	cargo fmt --all --check

fuzz:
	fuzz/run $(SECONDS)

bench: build $(VENV)/.installed-test $(VENV)/.installed-root
	$(BIN)/python benchmarks/run.py --entries $(ENTRIES)

bench-remote: build $(VENV)/.installed-remote $(VENV)/.installed-root
	$(BIN)/python benchmarks/remote/remote.py --entries $(ENTRIES) --rounds $(ROUNDS)

bench-cache: build $(VENV)/.installed-remote $(VENV)/.installed-root
	$(BIN)/python benchmarks/remote/cache.py --entries $(ENTRIES) --rounds $(ROUNDS)

bench-cold: build $(VENV)/.installed-test $(VENV)/.installed-root
	$(BIN)/python benchmarks/cold.py --entries $(ENTRIES) --rounds $(ROUNDS)

bench-storage: build $(VENV)/.installed-test $(VENV)/.installed-root
	$(BIN)/python benchmarks/storage.py --entries $(STORAGE_ENTRIES)

bench-studies: build $(VENV)/.installed-test $(VENV)/.installed-root
	$(BIN)/python benchmarks/studies/studies.py --rounds $(STUDY_ROUNDS)

atlas-bench: build readers $(VENV)/.installed-remote $(VENV)/.installed-root
	$(BIN)/python benchmarks/atlas.py --entries $(ATLAS_ENTRIES)

bench-agc: build readers $(VENV)/.installed-test $(VENV)/.installed-root $(VENV)-coffea/.installed
	PYTHONPATH=$(CURDIR)/python $(BIN)/python benchmarks/agc.py --rounds $(ROUNDS) --coffea $(VENV)-coffea/bin/python

bench-adl: build $(VENV)/.installed-test $(VENV)/.installed-root $(VENV)-coffea/.installed $(VENV)-dask/.installed
	PYTHONPATH=$(CURDIR)/python $(BIN)/python benchmarks/adl.py --entries $(ENTRIES) --rounds $(ROUNDS) \
		--coffea $(VENV)-coffea/bin/python --graphed $(VENV)-dask/bin/python

bench-framework: $(VENV)/.installed-test $(VENV)/.installed-root
	cargo rustc --quiet --release --package nyssa-capi --crate-type cdylib -- -C strip=debuginfo
	cargo build --quiet --release --package nyssa --example sum
	crates/nyssa-capi/install build/framework/prefix $(TARGET)/release/libnyssa_capi.so
	$(BIN)/python benchmarks/framework.py --prefix build/framework/prefix --sum $(TARGET)/release/examples/sum --rounds $(ROUNDS)

clean:
	cargo clean
	rm -rf $(VENV) build
