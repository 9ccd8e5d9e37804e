# `make demo` shows what the package does, `make test` proves it, `make bench` compares it.
# Each makes its own environment first; a second call starts at once.

PYTHON ?= python3.11
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test test-all bench docs install check format clean browser

demo: $(INSTALLED)
	$(BIN)/unbraid demo --out demo

test: check browser
	$(BIN)/pytest --numprocesses 2 --dist loadscope

# Also the tests that take too long for every run: kill -9 many times, Ray, full sizes.
test-all: check browser
	$(BIN)/pytest --numprocesses 2 --dist loadscope -m "slow or not slow"

# About 25 minutes on two cores; goes on where it stopped. The peers are installed from
# PyPI into .venv-peers.
bench: $(INSTALLED) browser
	$(BIN)/python benchmarks/all.py

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell src tests benchmarks examples docs README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/python tools/plain_english.py
	$(BIN)/lint-imports
	$(BIN)/pyright

# The site, without a network; what is wrong with a page is an error.
docs: $(INSTALLED)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The explorer's page is tested in a browser, which only the system can bring.
browser:
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then \
	  if [ "$$(id -u)" != 0 ]; then \
	    echo "The tests need chromium: run 'sudo apt-get install chromium chromium-driver'." >&2; \
	    exit 1; \
	  fi; \
	  echo "Installing chromium and chromium-driver, which the tests of the explorer need."; \
	  apt-get update --quiet --quiet && \
	  apt-get install --quiet --quiet --yes --no-install-recommends chromium chromium-driver; \
	fi

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
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis demo docs/_build
