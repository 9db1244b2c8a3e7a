# The commands a person needs to know. `make help` lists them.
PORT ?= 8000
TESTS ?= tests
CORES = $(shell getconf _NPROCESSORS_ONLN)
# Many tests wait for servers and workers most of the time.
JOBS ?= $(shell echo $$((2 * $(CORES))))
KILLS ?= 200
REQUESTS ?= 100000
SOAK_MINUTES ?= 60
BIN := .venv/bin
PRETTIER := node_modules/.bin/prettier --log-level warn
ASSETS := "static/css/*.css" "static/js/*.js" "scripts/*.mjs"
STRUCTURE := $(patsubst %,tests/test_%.py,layers tests architecture glossary configuration_page \
	docs_links docstrings guards legacy_removable policy readme security_page translations)

# In a whole run, the commit chooses the database of each test, and which of the slow or long tests
# run; of a part that TESTS names, all run on both databases.
CHOSEN = $(if $(filter tests,$(TESTS)),PORTAL_TEST_CHOSEN=$@)
# `make lint` runs these.
without_structure = $(if $(filter tests,$(TESTS)),$(STRUCTURE:%=--ignore=%))
# Some kinds of test are left out of a whole run; of a part that TESTS names all are run.
leave_out = $(if $(filter tests,$(TESTS)),-m "not ($(1))")

export PYTHON
# A process starts a third quicker where its modules are compiled already.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-quick lint style types structure check check-all crash soak guards security crawl bench screenshots lighthouse catalogues fmt wheel sbom lock

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

run: ## Install what is missing, then serve on PORT (8000)
	@exec scripts/run "$(PORT)"

test: ## Run the quick tests and a quarter of the others (of a part, such as TESTS=tests/api, all)
	@scripts/setup_tests
	$(CHOSEN) $(BIN)/pytest -n $(JOBS) $(without_structure) \
		$(call leave_out,crash or crawl or product) $(TESTS)

test-quick: ## Run what is quick and needs no Debian package, on SQLite
	@scripts/setup_tests test-quick
	PORTAL_TEST_DATABASES=sqlite $(BIN)/pytest -n $(CORES) \
		$(without_structure) \
		$(call leave_out,crash or crawl or product or debian or matrix or slow or worker) $(TESTS)

lint: ## Check style, types and structure side by side
	@scripts/setup_tests test-quick
	@$(MAKE) --no-print-directory --jobs $(CORES) --output-sync style types structure

style: ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(PRETTIER) --check $(ASSETS)

types: ## Check types
	$(BIN)/mypy

structure: ## Check layers, names, words, translations, and that what docs and guards name exists
	$(BIN)/pytest $(STRUCTURE)

check: lint ## Lint and run the tests with coverage, a third of the long ones: required of each change
	@scripts/setup_tests
	@rm -f .pytest_cache/v/cache/lastfailed
	$(CHOSEN) $(BIN)/slipcover --immediate --source app,supervisor --json --out .setup/coverage.json \
		-m pytest -n $(JOBS) $(without_structure) $(TESTS) \
		|| $(BIN)/python -m scripts.retry_failed $$?
	@$(BIN)/python -c 'import json; print("Coverage:", \
		json.load(open(".setup/coverage.json"))["summary"]["percent_covered_display"], "%")'

check-all: ## Check with the full matrix: every test, database, look and role instead of those the commit chooses
	@PORTAL_TEST_MATRIX=all $(MAKE) --no-print-directory check

crash: ## Kill the worker KILLS (200) times on each database and carrier, and at every crash point
	@scripts/setup_tests
	PORTAL_TEST_MATRIX=all PORTAL_TEST_KILLS=$(KILLS) $(BIN)/pytest -n $(JOBS) \
		tests/jobs/test_kill.py tests/jobs/test_twilio_kill.py tests/jobs/test_sip_calls.py \
		tests/jobs/test_crash_points.py

soak: ## Load two hosts for SOAK_MINUTES (60) while parts of them fail; print one table
	@scripts/setup_tests
	@$(BIN)/python -m scripts.soak $(SOAK_MINUTES)

guards: ## Remove one guard at a time from a copy of the code; at least all but one must be noticed
	@scripts/setup_tests
	$(BIN)/python -m scripts.guards

security: ## Scan the code and its packages, and send random requests as each role; list open findings
	@scripts/setup_tests
	@$(BIN)/python -m scripts.security

crawl: ## Let one partner ask for another one's planted strings, in REQUESTS (100000) requests
	@scripts/setup_tests
	PORTAL_TEST_ALL_OF="database of the planted strings" PORTAL_TEST_REQUESTS=$(REQUESTS) \
		$(BIN)/pytest -n $(JOBS) tests/planted

bench: ## Measure speed and memory against their floors
	@scripts/setup_tests
	@failed=0; for script in benchmarks/*.py; do echo "== $$script"; \
		$(BIN)/python -m "benchmarks.$$(basename "$$script" .py)" || failed=1; done; exit $$failed

screenshots: ## Take a picture of every screen in every look, into screenshots/index.html
	@scripts/setup_tests
	@$(BIN)/python -m scripts.screenshots

lighthouse: ## Print Lighthouse's four figures and the size of every screen
	@scripts/setup_tests
	@$(BIN)/python -m scripts.lighthouse

catalogues: ## Bring the translations' catalogues up to date after messages have changed
	@$(BIN)/python -m scripts.catalogues update

fmt: ## Format the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(PRETTIER) --write $(ASSETS)

wheel: ## Build a release in dist/: wheel, locks with hashes, deploy files
	@scripts/setup_tests wheel
	@$(BIN)/python -m scripts.build_wheel

sbom: ## Describe what an installation contains as CycloneDX, in dist/sbom.json
	@scripts/setup_tests test-quick
	@$(BIN)/python -m scripts.sbom

lock: ## Pin all packages again after pyproject.toml has changed
	$(BIN)/python scripts/lock.py
	$(BIN)/python -m scripts.licences
