# Sets up everything that a new machine needs, given Python, pip, make and git.
PYTHON ?= python3
ENV := .venv
BIN := $(ENV)/bin
# Numbers of fuzzing cases (fits, damaged files, every other section) and the seed of the first case.
FITS ?= 20000
FILES ?= 2000
CASES ?= 1000
FIRST ?= 0
OLDEST_PYTHON ?= python3.11
OLDEST := $(ENV)-oldest
NEWEST_PYTHON ?= $(PYTHON)
NEWEST := $(ENV)-newest
MODERN := $(ENV)-modern
SITE := $(ENV)-docs
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1
# Tests that do not depend on the versions of dependencies: the benchmarks and the reproduction are protocols, and the pages
# quote results of current versions.
VERSION_TESTS := $(addprefix --ignore=tests/,benchmarks reproduction test_docs.py test_variants.py)
# On all cores. Tests of one group share a page, a server or files, and stay in one process.
PYTEST := -m pytest -n auto --dist loadgroup
# Quick tests, or with CHANGED=1 (CHANGED=main) also those of files that differ from the last commit (from main).
QUICK = $(if $(CHANGED),--changed=$(CHANGED),-m quick)
# Times that the property tests run with fresh draws.
RUNS ?= 10
# builds have the time of the last commit, so that they can be repeated
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
# stored cells are reused only for the same commit
RESULTS = reproduced/$(shell git rev-parse --short HEAD)

.DEFAULT_GOAL := help
.PHONY: help test test-all warm style types imports names quick test-oldest test-newest dist fuzz demo check \
  reproduce results bench bench-peers bench-modern bench-default docs docs-links clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-15s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(ENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(ENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,semantic]'
	touch $@

# The checks and the compiler of the kernels need one core each.
test: $(ENV)/ready ## run the checks, and the tests of the library, command line, report and workbench
	$(MAKE) --no-print-directory --jobs=2 check warm
	$(BIN)/python $(PYTEST) -m "not protocol"

test-all: $(ENV)/ready ## run the checks and all tests: also papers, benchmarks, pages, examples and builds
	$(MAKE) --no-print-directory --jobs=2 check warm
	$(BIN)/python $(PYTEST)

# In a new environment, processes of tests that start together would each compile what the others compile. These tests
# compile the kernels that take longest.
warm: $(ENV)/ready
	@$(BIN)/python -m pytest -q --no-header -o addopts=--import-mode=importlib tests/arrays/test_fused.py tests/arrays/test_verbs.py

quick: $(ENV)/ready ## run fast tests of every package; CHANGED=1 adds those that changed files need
	$(BIN)/python $(PYTEST) $(QUICK) $(if $(CHANGED),,tests)

fuzz: $(ENV)/ready warm ## run the fuzzers and the property tests with fresh draws (FITS=20000 FILES=2000 CASES=1000 FIRST=0 RUNS=10)
	failed=0; \
	$(BIN)/python -m tests.fuzz --fits $(FITS) --files $(FILES) --cases $(CASES) --first $(FIRST) || failed=1; \
	for run in $$(seq $(RUNS)); do $(BIN)/python $(PYTEST) -m hypothesis --hypothesis-profile=fresh tests || failed=1; done; \
	exit $$failed

$(OLDEST)/ready: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt \
	  --editable '.[test,fetch,umap]'
	touch $@

test-oldest: $(OLDEST)/ready ## run the tests on Python 3.11 with the oldest versions that pyproject.toml allows
	# scikit-learn 1.6 needs the first variable for array_api_dispatch; compiled code of two versions of numba would be mixed up
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(OLDEST)/numba $(OLDEST)/bin/python $(PYTEST) $(VERSION_TESTS)

test-newest: ## run the tests with the newest versions of all dependencies (NEWEST_PYTHON=python3.14)
	$(NEWEST_PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[all,test]'
	NUMBA_CACHE_DIR=$(NEWEST)/numba $(NEWEST)/bin/python $(PYTEST) $(VERSION_TESTS)

dist: $(ENV)/ready ## build the wheel and the sdist into dist/; two builds of a commit are equal
	rm -rf dist
	$(if $(SOURCE_DATE_EPOCH),SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH)) $(BIN)/python -m hatchling build -d dist

check: style types imports names ## check style, types, import direction and names

style: $(ENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(ENV)/ready
	$(BIN)/mypy

imports: $(ENV)/ready
	$(BIN)/lint-imports

names: $(ENV)/ready
	$(BIN)/python tools/check_names.py

demo: $(ENV)/ready ## cluster 3,015 word senses by definition, spelling and links, and write a report to demo/
	$(BIN)/consilience datasets word-senses --out demo --force --quiet
	$(BIN)/consilience cluster demo/senses.csv demo/links.csv --labels kind -k 8 --out demo --force

reproduce: $(ENV)/ready ## run the papers' tables and figures (OPTIONS=--quick: a small version on data that ships, minutes)
	$(BIN)/python -m reproduction $(OPTIONS)

results: OPTIONS = --out $(RESULTS)
results: reproduce ## run the papers' protocols on the data in CONSILIENCE_DATA, and store the results in docs/papers/results
	rm -rf docs/papers/results && mkdir docs/papers/results && cp -r $(RESULTS)/*.md $(RESULTS)/*.csv $(RESULTS)/*/ docs/papers/results
	rm -rf docs/papers/results/cells docs/papers/results/*/*.png

bench: $(ENV)/ready ## time consilience next to scikit-learn and scipy
	$(BIN)/python -m benchmarks

bench-peers: $(ENV)/ready ## time consilience next to mvlearn, polyview, imml and others, in a separate environment
	$(PYTHON) -m venv $(ENV)-peers
	$(ENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers.txt
	$(ENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps mvlearn==0.5.0 --editable .
	$(ENV)-peers/bin/python -m benchmarks peers spectral_peers constrained_peers

$(MODERN)/ready: benchmarks/peers-modern.txt
	$(PYTHON) -m venv $(MODERN)
	$(MODERN)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers-modern.txt
	$(MODERN)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps mvlearn==0.5.0 mvcluster==1.17 \
	  polyclustx==1.4.3 --editable .
	touch $@

bench-modern: COMPARE := $(ONE_THREAD) $(MODERN)/bin/python -m benchmarks.modern --out build/modern
bench-modern: DEFAULTS := "consilience auto" Consilience
bench-modern: PORTS := "GMC (port)" "SGLA (port)"
bench-modern: $(MODERN)/ready ## compare with other libraries on the data in CONSILIENCE_DATA, and render docs/leaderboard.md
	$(COMPARE) --collection --seeds 3 --limit 120 --methods $(DEFAULTS) "Consilience, input of the other libraries"
	$(COMPARE) --collection --seeds 1 --limit 120
	$(COMPARE) --rest --seeds 1 --limit 120 --methods $(DEFAULTS) $(PORTS) KernelAddition "muon multiplex" "polyclustx SGLA" \
	  "imml NEMO" CoRegularizedSpectral CoTrainedSpectral MultiViewSphericalKMeans "side by side, spectral" "side by side, k-means"
	$(COMPARE) --whole --seeds 1 --limit 400 --methods $(DEFAULTS) $(PORTS) --page \
	  --sets "cora, whole" "hdigit_3000, whole" "leaves100, whole" "mfeat, whole" "scene15, whole"

bench-default: $(MODERN)/ready ## compare with other libraries on data with useless views, into build/default
	$(ONE_THREAD) $(MODERN)/bin/python -m benchmarks.modern --out build/default --collection --useless --seeds 5 \
	  --limit 60 --budget 90

$(SITE)/ready: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

# -E reads all pages again, because those of a build that failed would give no warning a second time.
docs: $(SITE)/ready ## build the documentation site into build/docs; a warning or a broken link fails (GALLERY=0: run no examples)
	mkdir -p build/site/pages
	$(SITE)/bin/sphinx-build -c docs -E -d build/site/doctrees -q -j auto -W --keep-going $(if $(GALLERY),-D plot_gallery=$(GALLERY)) build/site/pages build/docs

docs-links: $(SITE)/ready ## check the external links of the documentation, which needs the network
	mkdir -p build/site/pages
	$(SITE)/bin/sphinx-build -c docs -d build/site/doctrees-links -q -j auto -b linkcheck build/site/pages build/site/links

clean: ## remove environments, caches and the demo
	rm -rf $(ENV) $(OLDEST) $(NEWEST) $(ENV)-peers $(MODERN) $(SITE) build/site build/docs dist demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
