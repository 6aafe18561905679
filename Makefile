# The front door. Needs Python 3.11 or newer with pip; everything else is fetched into this folder.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV ?= $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)
export UV_PYTHON_DOWNLOADS := never
# Helm and what else checks deploy/ is large, and nobody needs it to run or change the rest.
EXTRA_GROUPS := $(if $(CI),--group deploy)
# Each worker has servers of its own. Servers of yours (ACHILLES_TEST_…_URL) are emptied between tests, so: one at a time.
WORKERS ?= $(if $(ACHILLES_TEST_NATS_URL)$(ACHILLES_TEST_DATABASE_URL)$(ACHILLES_TEST_REDIS_URL),0,2)

.DEFAULT_GOAL := help
.PHONY: help up test check unit integration bench clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo "  Without make: uv run achilles up · uv run pytest -m unit · uv run pytest -m integration"

up: .venv/.synced ## Start everything on this computer; the page is at http://127.0.0.1:8000
	@.venv/bin/achilles up

test: unit integration ## Run every test, unit tests first

check: .venv/.synced ## Lint, format, types, import contracts
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

unit: .venv/.synced ## Unit tests: seconds, no server
	.venv/bin/pytest -m unit -n $(WORKERS) --cov --cov-report=

integration: .venv/.synced ## Integration tests on real servers, with the coverage of both kinds
	.venv/bin/pytest -m integration -n $(WORKERS) --dist loadfile --cov --cov-append --cov-report=term

bench: .venv/.synced ## List what can be measured, with the command of each
	.venv/bin/python -m benchmarks

clean: ## Remove what was installed and cached here
	rm -rf .venv .tools .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis

.tools/bin/uv:
	@echo "Fetching uv $(UV_VERSION)"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --target .tools uv==$(UV_VERSION)

.venv/.synced: pyproject.toml uv.lock | $(filter .tools/bin/uv,$(UV))
	@echo "Installing from the lock into .venv"
	@$(UV) sync --locked --quiet --python $(PYTHON) $(EXTRA_GROUPS)
	@touch $@
