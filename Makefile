# `make demo` and `make test` do everything on a machine with Python 3.11+, Rust and make.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,\
            $(if $(shell $(name) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null | grep True),$(name))))
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# How the extension is built: `release`, or `quick` while the engine is worked on.
PROFILE ?= release

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.json' -o -name 'Cargo.toml' | LC_ALL=C sort)
WORKSPACE := Cargo.toml Cargo.lock

# Tools find the environment whether or not the caller has activated it.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONHOME
# Tests start the program often, which takes half as long again if Python keeps nothing it compiled.
unexport PYTHONDONTWRITEBYTECODE
# The workers of the tests have the cores already; threads of NumPy would wait for them, busily.
export OPENBLAS_NUM_THREADS := 1
# On all cores (conftest.py); a worker that has nothing left takes tests from another one. The wheel that a test builds
# has the profile of the extension, so that the engine is not compiled once more for it.
PYTEST = ACKCLOCK_PROFILE=$$(cat $(STAMPS)/extension) $(BIN)/python -m pytest -q -n auto --dist worksteal
# Rust warnings are errors in the checks only: a newer compiler must not stop a user's build.
STRICT := -D warnings

# Steps side by side, one beside the Python tests. What a step prints comes in one piece when it is over
# (where make can: from 4.0 on). A step that fails stops no other: one call shows all that is wrong.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync)
TOGETHER := $(MAKE) --no-print-directory --jobs 2 --keep-going $(SYNC:%=%=target)
# Shown while it runs, also among such steps.
LIVE := $(MAKE) --no-print-directory $(SYNC:%=%=none)

.DEFAULT_GOAL := help
# A file that is half written is not up to date.
.DELETE_ON_ERROR:
.PHONY: help setup build demo test check test-fast bench bench-gate bench-startup bench-memory bench-kills bench-cluster bench-sweep bench-peers browser docs engine playground uplot fuzz format lint lint-rust lint-python lint-scripts build-tests test-rust test-python test-python-live reproduce lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(STAMPS)/extension ## Make .venv with locked dependencies and the release build

# All that Rust needs of it: the compiler may work while the dependencies are installed.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ackclock needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3." >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "ackclock needs Rust 1.88 or newer; 'cargo' was not found. See https://www.rust-lang.org/tools/install" >&2; exit 1; }
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(STAMPS)/dependencies: requirements-dev.lock | $(BIN)/python
	@echo "Installing locked dependencies"
	@# Python compiles what it imports; most of all this never is.
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/extension: $(STAMPS)/dependencies pyproject.toml $(WORKSPACE) $(RUST_SOURCES)
	@echo "Building the extension ($(PROFILE))"
	@$(BIN)/maturin develop --profile $(PROFILE) --locked --quiet
	@echo $(PROFILE) > $@

build: setup engine ## Build a wheel and a source archive into dist/
	@# Not --locked: the archive holds no benchmarks, so cargo takes their packages out of its lock file.
	@$(BIN)/maturin build --release --sdist --out dist

demo: setup ## Simulate three FAST flows over three bottlenecks and plot them
	@$(BIN)/ackclock run caltech/test-case-2-fast

# Builds first: make would begin all that follows before the Python tests, which take longest, if these had to wait for
# builds of their own.
test: ## Everything that must pass: format, lint, tests, a reproduction, the site
	+@failed=0; $(TOGETHER) setup lint-rust engine build-tests $(STAMPS)/collected || failed=1; \
	$(TOGETHER) test-python-live lint-python lint-scripts test-rust docs bench-gate reproduce || failed=1; exit $$failed

check: setup ## What to run before each commit: format, lint, the fast tests, side by side
	+@$(TOGETHER) test-fast lint-python lint-rust lint-scripts

test-fast: setup
	cargo test --workspace --locked --lib --quiet
	$(PYTEST) -m "not slow"

lint: lint-rust lint-python lint-scripts ## Check format and lint, warnings are errors

lint-rust: | $(BIN)/python
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- $(STRICT)

lint-python: $(STAMPS)/dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyrefly check

SCRIPTS := $(wildcard python/ackclock/report/page/*.js python/ackclock/playground/*/*.js tests/wasm/*.mjs)
lint-scripts:
	@if command -v node >/dev/null; then for file in $(SCRIPTS); do node --check $$file || exit 1; done; \
	else echo "Not checked: scripts of pages (they need node)"; fi

# Workers that find the tests compiled need not do so all at once.
$(STAMPS)/collected: $(STAMPS)/extension $(wildcard tests/python/*.py)
	@$(BIN)/python -m pytest -q -n 0 --collect-only >/dev/null && touch $@

build-tests: | $(BIN)/python
	@cargo test --workspace --locked --quiet --no-run

test-rust: | $(BIN)/python
	cargo test --workspace --locked

# The engine for browsers, which also shows that it builds where pointers have 32 bits.
# Addresses without padding, and a thorough gzip, so that the file is small.
WASM := wasm32-unknown-unknown
ENGINE := python/ackclock/playground/engine.wasm.gz
engine: $(STAMPS)/dependencies
	@if test -d "$$(rustc --print target-libdir --target $(WASM) 2>/dev/null)"; then $(MAKE) --no-print-directory $(ENGINE); \
	else echo "Not built: the engine for browsers (rustup target add $(WASM))"; fi

$(ENGINE): $(RUST_SOURCES) $(WORKSPACE)
	@echo "Building the engine for browsers"
	@cargo rustc --quiet --locked -p ackclock-wasm --lib --crate-type cdylib --profile wasm --target $(WASM) -- \
	  -C link-arg=--strip-all -C link-arg=--compress-relocations
	@$(BIN)/python -c "import sys, zopfli.gzip as gzip; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read()))" \
	  < target/$(WASM)/wasm/ackclock_wasm.wasm > $@

playground: setup engine ## Make the playground for browsers: target/playground.html
	@$(BIN)/ackclock playground -o target/playground.html --force

test-python: setup
	$(PYTEST)

test-python-live:
	+@$(LIVE) test-python

# Tests hold all other experiments against what is published: this one takes long with all its orders of events.
# Its page must say what it says.
reproduce: setup
	@mkdir -p target
	$(BIN)/python -m ackclock.reproduce caltech > target/caltech.md
	diff docs/reproductions/caltech.md target/caltech.md

bench: setup ## Measure the speed of the engine and of the test cases
	@cargo build --release --locked --quiet -p ackclock-bench
	@$(BIN)/python benches/bench.py target/release/ackclock-bench

# Instructions of three workloads, within 3 % of the stored ones.
bench-gate: setup
	@if command -v valgrind >/dev/null; then \
	  cargo build --release --locked --quiet -p ackclock-bench && \
	  $(BIN)/python benches/bench.py target/release/ackclock-bench --gate; \
	else echo "Not checked: instructions a packet-hop (they need valgrind)"; fi

CASES ?= 10000
SEED ?= 1
# A browser for the tests of pages; without one they skip and say so.
browser: setup engine ## Install Chromium for the tests of pages, where it is missing
	@command -v chromium chromium-browser google-chrome >/dev/null || apt-get install -y chromium
	$(PYTEST) -n 0 tests/python/test_report_browser.py tests/python/test_playground_browser.py

UPLOT := python/ackclock/report/vendor/uplot
uplot: ## Renew uPlot, which reports draw with, from the version in its SHA256SUMS
	@cd $(UPLOT) && version=$$(sed -n 's/^# uPlot \([0-9.]*\).*/\1/p' SHA256SUMS) && \
	  file=$$(npm pack --silent uplot@$$version) && \
	  tar -xzf $$file --strip-components=2 package/dist/uPlot.iife.min.js package/dist/uPlot.min.css && \
	  tar -xzf $$file --strip-components=1 package/LICENSE && rm $$file && sha256sum --check SHA256SUMS

fuzz: setup ## Run random documents and networks (CASES=10000 SEED=1) through the program
	@$(BIN)/python tests/python/fuzz.py --cases $(CASES) --seed $(SEED) --show
	@ACKCLOCK_CASES=$$(($(CASES) / 10)) ACKCLOCK_SEED=$(SEED) \
	  cargo test --locked --quiet -p ackclock-sim --test all -- invariants packet_ids

bench-startup: setup ## Measure the CPU time of small commands against their budgets
	@$(BIN)/python benches/startup.py

bench-memory: setup ## Measure the memory of a run of 50 million packet-hops with all records
	@$(BIN)/python benches/memory.py

bench-sweep: setup ## Measure what small runs cost in sweeps, beside their events
	@$(BIN)/python benches/sweeps.py

bench-kills: setup ## Kill a sweep of 100,000 small runs ten times; each must be there, once
	@$(BIN)/python benches/sweep_kills.py

bench-cluster: setup ## Sweep 2,000 runs on Dask while workers and the program are killed
	@$(BIN)/python benches/cluster.py
	@$(BIN)/python benches/cluster_instructions.py

bench-peers: setup ## Compare the speed with ns-2, ns-3 and htsim (HTSIM=its folder sim), where they are
	@program=$$($(BIN)/python benches/guided.py) && $(BIN)/python benches/against_peers.py $$program

docs: setup ## Make the site of README, docs and docstrings in target/docs
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -d target/docs-cache -c docs/site . target/docs
	@echo "target/docs/index.html"

format: $(STAMPS)/dependencies ## Format Rust and Python, fix what can be fixed
	cargo fmt --all
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lock: $(STAMPS)/dependencies ## Renew requirements-dev.lock from pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	@{ sed '/^[^#]/,$$d' requirements-dev.lock; \
	   $(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade \
	     --generate-hashes --no-annotate --no-header --quiet; } > requirements-dev.lock.new
	@mv requirements-dev.lock.new requirements-dev.lock

clean: ## Remove builds and caches (not runs/)
	rm -rf target dist .pytest_cache .ruff_cache .hypothesis $(STAMPS)
	rm -f python/ackclock/_core.*.so $(ENGINE)
