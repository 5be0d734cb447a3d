# make demo and make test need nothing but Python 3.11+, git and make; both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INPUTS := pyproject.toml constraints.txt

.PHONY: help demo test lint bench clean

help:
	@echo "make demo    embed handwritten digits from 2,000 pairs; writes demo/"
	@echo "make test    lint, types, layers and all tests (CFUSE_DATA=folder for those on real data)"
	@echo "make lint    lint, types and layers alone"
	@echo "make bench   measure speed and memory; writes benchmarks/results/"
	@echo "make clean   remove what was built"

demo: $(VENV)/.demo
	$(BIN)/cfuse demo --output demo

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Every benchmark runs, also where one before it missed a bar; the exit code tells whether one did.
bench: $(VENV)/.bench
	cd benchmarks && failed=0; for run in kernel.py scaling.py fit.py memory.py large.py command.py data.py pair_strength.py \
		heads.py "heads.py --large 1" baselines.py "baselines.py --large 1" "baselines.py --runs 1" \
		mixture.py mixture_bars.py mixture_speed.py audit.py; do ../$(BIN)/python $$run || failed=1; done; \
		../$(BIN)/python page.py && exit $$failed

# The demo needs the core and the picture's matplotlib; no torch.
$(VENV)/.demo: $(INPUTS)
	@$(MAKE) --no-print-directory $(VENV)/.python
	$(PIP) --editable ".[plot]"
	@touch $@

# torch first: the version that the constraints pin, before anything else can ask for another.
$(VENV)/.test: $(INPUTS)
	@$(MAKE) --no-print-directory $(VENV)/.python
	$(PIP) torch
	$(PIP) --editable ".[test,lint]"
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --editable ".[bench]"
	@touch $@

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
