# Everything a new machine needs is set up here: only Python, pip, make and git are taken for granted.
PYTHON ?= python3
ENV := .venv
BIN := $(ENV)/bin
# cases of the fuzzers: fits, damaged files, each other section; and the seed of the first case
FITS ?= 20000
FILES ?= 2000
CASES ?= 1000
FIRST ?= 0
OLDEST_PYTHON ?= python3.11
OLDEST := $(ENV)-oldest
MODERN := $(ENV)-modern
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1
# All tests in which a version matters. Papers and benchmarks run protocols of ours; the pages quote figures of current
# versions.
OLDEST_TESTS := $(addprefix tests/,affinities arrays assessment baselines cli contracts data datasets divergences explain \
  families files fuzz methods metrics persist plot report rows selection test_imports.py test_packaging.py)
RESULTS = reproduced/$(shell git rev-parse --short HEAD) # cells of other code do not count

.DEFAULT_GOAL := help
.PHONY: help test test-oldest fuzz demo check results bench bench-peers bench-modern bench-default clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s ':'

$(ENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(ENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

test: $(ENV)/ready check ## check style, types and import direction, and run the tests
	$(BIN)/python -m pytest -n auto

fuzz: $(ENV)/ready ## run the fuzzers on all cores (FITS=20000 FILES=2000 CASES=1000 FIRST=0)
	$(BIN)/python -m tests.fuzz --fits $(FITS) --files $(FILES) --cases $(CASES) --first $(FIRST)

$(OLDEST)/ready: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt \
	  --editable '.[test,fetch,umap]'
	touch $@

test-oldest: $(OLDEST)/ready ## run the tests on Python 3.11 with the oldest versions that pyproject.toml allows
	SCIPY_ARRAY_API=1 $(OLDEST)/bin/python -m pytest -n auto $(OLDEST_TESTS) # scikit-learn 1.6 needs it for array_api_dispatch

check: $(ENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: $(ENV)/ready ## cluster 3,015 word senses by definition, spelling and links, and leave a report in demo/
	$(BIN)/consilience datasets word-senses --out demo --force --quiet
	$(BIN)/consilience cluster --view gloss=demo/senses.csv:gloss --view lemmas=demo/senses.csv:lemmas \
	  --view links=demo/links.csv --labels kind -k 8 --title "Word senses" --out demo --force

results: $(ENV)/ready ## run the papers' protocols on the data in CONSILIENCE_DATA, and keep tables and figures in docs/papers/results
	$(BIN)/python -m reproduction --out $(RESULTS)
	rm -rf docs/papers/results && mkdir docs/papers/results && cp -r $(RESULTS)/*.md $(RESULTS)/*/ docs/papers/results
	rm -rf docs/papers/results/cells docs/papers/results/*/*.png

bench: $(ENV)/ready ## all but the peers: against scikit-learn and scipy, side by side
	$(BIN)/python -m benchmarks

bench-peers: $(ENV)/ready ## against mvlearn, polyview, imml and others, in an environment of its own
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

bench-modern: $(MODERN)/ready ## all of ours and of the peers on real sets, into build/modern; goes on where it stopped
	$(ONE_THREAD) $(MODERN)/bin/python -m benchmarks.modern --out build/modern

bench-default: $(MODERN)/ready ## ours and the peers on all multi-view sets in CONSILIENCE_DATA, into build/default
	$(ONE_THREAD) $(MODERN)/bin/python -m benchmarks.modern --out build/default --collection --useless --seeds 5 \
	  --limit 60 --budget 90

clean: ## remove the environments and what tools leave behind
	rm -rf $(ENV) $(OLDEST) $(ENV)-peers $(MODERN) demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
