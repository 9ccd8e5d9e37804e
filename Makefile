# Two commands: `make demo` shows what the package does, `make test` proves it.
# Each makes its own environment first; a second call starts at once.

PYTHON ?= python3.11
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test install check format clean

demo: $(INSTALLED)
	$(BIN)/unbraid demo --out demo

test: check
	$(BIN)/pytest --numprocesses 2 --dist worksteal

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell src tests benchmarks examples docs README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/lint-imports
	$(BIN)/pyright

install: $(INSTALLED)

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The stamp is younger than the two files that say what to install.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis demo
