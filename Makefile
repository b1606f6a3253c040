# What a person or CI runs; `make help` lists it. Every target installs what it needs.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help demo live test check results redteam verdicts calibration bench install install-lab test-oldest test-base docs clean

# The first Python of 3.11 or newer; say `make PYTHON=/path/to/python3 ...` for another.
PYTHON ?= $(shell for name in python3.11 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
WORKERS ?= 2
BIN := .venv/bin
PINS := pyproject.toml requirements/constraints.txt
COMMA := ,

# $(call into,FOLDER,WHAT,PIP ARGUMENTS): a virtual environment with these packages; a dot a step, errors in full.
define into
@test -n "$(PYTHON)" || { echo "flopwitness needs Python 3.11 or newer; none was found" >&2; exit 1; }
@printf 'installing %s into %s ' '$(2)' '$(1)'
@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
@set -o pipefail; $(1)/bin/python -m pip install --disable-pip-version-check $(3) 2>&1 \
	| tee $(1)/install.log | awk '{ printf "."; fflush() } END { print " done" }' \
	|| { tail -n 20 $(1)/install.log >&2; exit 1; }
endef

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

demo: .venv/.demo ## witness two recorded nodes and a job that hung: tables and a report
	@$(BIN)/flopwitness demo

live: .venv/.demo ## a live page that shows a recorded node at ten times its speed; stop with Ctrl-C
	@$(BIN)/flopwitness serve --replay datasets/h200x2-a --speed 10

test: .venv/.dev ## run every test
	@$(BIN)/python -m pytest -n $(WORKERS)

docs: .venv/.dev ## the site, into build/site; nothing from the network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

check: .venv/.dev ## format, lint, types, imports, budgets, documents and the site, quickest first
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -q tests/test_shape.py tests/test_documents.py tests/test_requirements.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

results: .venv/.dev ## every figure of README and docs/results.md again; some minutes
	@$(BIN)/python benchmarks/results.py

redteam: .venv/.dev ## score every recorded attack again: docs/redteam.md
	@$(BIN)/python benchmarks/redteam.py

# The ledger's part takes some 6 GB of disk for a while. Only the page: python benchmarks/verdicts_page.py
verdicts: .venv/.dev ## measure kinds of work, bounds, claims and the ledger again: docs/verdicts.md
	@$(BIN)/python benchmarks/classes.py --output benchmarks/results/classes/classes.json
	@$(BIN)/python benchmarks/coverage.py
	@$(BIN)/python benchmarks/verdicts.py
	@$(BIN)/python benchmarks/ledger.py
	@$(BIN)/python benchmarks/verdicts_page.py

# Benign sweeps of nodes c and d in half precision, and runs of known number format.
BENIGN := $(addprefix datasets/h200x2-,c1 c2 c3 d1 d2)
FORMATS := $(addprefix --formats datasets/h200x2-,f-formats g-formats)
CLASSES := $(BENIGN) $(addprefix datasets/,h200x2-c-other h200x1-e-extra h200x1-e-inference h200x1-h1 h200x1-h2 \
	h200x2-f-formats h200x2-g-formats)
SHIPPED := src/flopwitness/app/calibrations
calibration: .venv/.dev ## fit the calibration and the classifier that are shipped for the H200 again
	@$(BIN)/flopwitness calibrate $(BENIGN) $(FORMATS) --output $(SHIPPED)/h200-sxm.json --force
	@$(BIN)/flopwitness calibrate $(CLASSES) --classes --output $(SHIPPED)/classifier/h200-sxm.json --force

bench: .venv/.dev ## measure speed and memory
	@$(BIN)/python benchmarks/bench.py

install: .venv/.dev ## everything but torch, into .venv

install-lab: .venv/.lab ## torch as well: ground truth counted by PyTorch itself

test-oldest: .venv-oldest/.dev ## every test with the oldest versions that pyproject.toml allows
	@# Old packages warn about each other; those warnings are not ours to mend.
	@.venv-oldest/bin/python -m pytest -n $(WORKERS) -W ignore::DeprecationWarning

test-base: .venv-base/.base ## what a GPU node runs: four dependencies, no scikit-learn, no plots
	@! .venv-base/bin/python -c 'import sklearn' 2>/dev/null || { echo "scikit-learn is there" >&2; exit 1; }
	@.venv-base/bin/python -c 'import flopwitness'
	@.venv-base/bin/flopwitness --help >/dev/null
	@.venv-base/bin/flopwitness estimate datasets/h200x2-hang --json >/dev/null
	@echo "the base installation answers without scikit-learn, scipy, joblib, matplotlib, jinja2 and cryptography"

clean: ## remove environments, caches and outputs
	rm -rf .venv .venv-oldest .venv-base demo-output build dist .coverage
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

.venv/.demo: $(PINS)
	$(call into,.venv,flopwitness,-c requirements/constraints.txt -e '.[ledger$(COMMA)research$(COMMA)serve]')
	@touch $@

.venv/.dev: $(PINS)
	$(call into,.venv,flopwitness and its tools,-c requirements/constraints.txt -e '.[dev]')
	@touch $@ .venv/.demo

.venv/.lab: .venv/.dev requirements/constraints-lab.txt
	$(call into,.venv,torch,-c requirements/constraints.txt -c requirements/constraints-lab.txt -e '.[dev$(COMMA)lab]')
	@touch $@

.venv-oldest/.dev: pyproject.toml requirements/constraints-oldest.txt
	$(call into,.venv-oldest,the oldest versions,-c requirements/constraints-oldest.txt -e '.[ledger$(COMMA)research]' hypothesis pytest pytest-xdist)
	@touch $@

# Installed, not linked, so that what is missing from the package shows; made new when the sources change.
.venv-base/.base: $(PINS) $(shell find src -name '*.py' 2>/dev/null)
	@rm -rf .venv-base
	$(call into,.venv-base,the four base dependencies,-c requirements/constraints.txt .)
	@touch $@
