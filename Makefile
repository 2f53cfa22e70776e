# The two commands that matter: `make demo` and `make test`. Both set everything up by themselves.
PYTHON ?= $(shell .ci/find-python)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= 3

.PHONY: help setup demo demo-kafka test check format bench clean

help:
	@echo "make demo    one run on Spark, from nothing to a validated report (about 3 minutes)"
	@echo "make demo-kafka  the same through a Kafka broker that it fetches and starts"
	@echo "make test    the whole test suite"
	@echo "make check   format, lint and types"
	@echo "make format  formats the source as make check wants it"
	@echo "make bench   speed, as ratios taken in one run"
	@echo "make setup   .venv with streamgauge in it"
	@echo "make clean   removes .venv, caches and runs"

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.10 or newer found"; \
		echo "fix: install one, or name it: make setup PYTHON=/path/to/python3"; exit 1; }
	@echo "setting up $(VENV) (Spark is large: about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/streamgauge run quickstart

demo-kafka: setup
	@$(BIN)/streamgauge run quickstart-kafka

test: $(VENV)/.installed-dev $(VENV)/spark-classes.jsa
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# Without it the tests take longer, and are the same.
$(VENV)/spark-classes.jsa: $(VENV)/.installed-dev
	@echo "making an archive of Spark's classes, once (about half a minute)"
	@$(BIN)/python -m tests.class_archive > $(VENV)/spark-classes.log 2>&1 \
		|| echo "no archive of Spark's classes, see $(VENV)/spark-classes.log"

check: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check . || { echo "fix: make format"; exit 1; }
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --select I --fix --quiet .
	@$(BIN)/ruff format .

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
