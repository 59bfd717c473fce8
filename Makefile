# make demo | test | check | clean. Needs Python 3.11 or newer with venv; everything else goes into .venv.
export PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help demo test check clean

help:
	@echo "make demo    replay the example sessions and write a report page"
	@echo "make test    run the tests (no network, no browser, a minute or two)"
	@echo "make check   lint, format, types, import direction"
	@echo "make clean   remove everything that these commands made"

demo:
	@scripts/venv
	@mkdir -p build/demo
	@.venv/bin/leafscar replay examples --html build/demo/report.html
	@echo "The report is at $(CURDIR)/build/demo/report.html; open it in a browser."

test:
	@scripts/test

check:
	@scripts/check

clean:
	rm -rf .venv build dist .coverage .hypothesis .pytest_cache .ruff_cache
