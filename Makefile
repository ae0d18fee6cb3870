# The commands of the course. Each is a few lines; what is longer is in .make/.
# PYTHON makes .venv; to change it later, remove .venv first. CUDA is 13, 12 or none; auto
# asks the NVIDIA driver. OPTIONS go to JupyterLab, pytest or the build:
#     make lab OPTIONS=--no-browser
# OUTPUTS=1 copies the notebooks with what their cells show: make lab OUTPUTS=1
PYTHON  ?= python3
CUDA    ?= auto
OPTIONS ?=
OUTPUTS ?=

VENV := .venv/bin/python
INDEX := --LabApp.default_url=/lab/tree/index.ipynb
SPACE := $(empty) $(empty)
# this file's folder: a space in its path ends a word for make, and is "?" until the end
FILE := $(patsubst ?%,%,$(subst $(SPACE),?,$(MAKEFILE_LIST)))
export HERE := $(subst ?,$(SPACE),$(dir $(FILE)))

ifneq ($(HERE),./)  # `make -f elsewhere/Makefile`: all of it is done there
%:: ; @$(MAKE) --no-print-directory --directory="$$HERE" $@
help: ; @$(MAKE) --no-print-directory --directory="$$HERE" $@
.DEFAULT_GOAL := help
else

help:
	@echo "Thirty-Two Lanes: GPU programming in Python, with or without a GPU"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null || { \
	echo "$(PYTHON) is not here, or too old: install Python 3.11 or newer, or say" \
	"where it is: make setup PYTHON=..."; exit 1; }

setup: python  ## make .venv and install the pinned packages; quick when it is done
	@$(PYTHON) .make/environment.py $(CUDA)

lab: setup  ## open JupyterLab on work/, your copy of the notebooks; OUTPUTS=1
	@$(VENV) .make/work.py $(if $(OUTPUTS),--outputs)
	@cd work && ../$(VENV) -m jupyterlab --log-level=WARN $(INDEX) $(OPTIONS) || \
	{ test "$$(id -u)" != 0 || echo "As root, type: make lab OPTIONS=--allow-root"; \
	exit 1; }

fresh: python  ## begin work/ anew, or OPTIONS="14"; what you wrote is moved aside
	@$(PYTHON) .make/work.py --fresh $(if $(OUTPUTS),--outputs) $(OPTIONS)

test: setup  ## run the tests, and check style and notebooks
	@$(VENV) -m pytest --numprocesses=auto $(OPTIONS)

test-all: setup  ## the same, with the slow tests; SAMPLE=2 draws other cases of long tables
	@$(VENV) -m pytest --numprocesses=auto -m "not exhaustive" $(OPTIONS)

exhaustive: setup  ## all other cases of those tables, for hours
	@$(VENV) -m pytest --numprocesses=auto -m exhaustive $(OPTIONS)

bench: setup  ## print how fast the emulator is, as ratios measured in one run
	@$(VENV) -m tests.bench $(OPTIONS)

mutants: setup  ## print which small changes of the source no test notices
	@$(VENV) -m tests.mutation $(OPTIONS)

answers: setup  ## print which small changes of a right kernel its check misses
	@$(VENV) -m tests.exercises.mutants $(OPTIONS)

notebooks: setup  ## build notebooks/ from lessons/
	@$(VENV) -m lessons.build $(OPTIONS)

assignments: setup  ## build the exercises' notebooks; SEED=2027 for a variant, in work/
	@$(VENV) -m lessons.build --assignments $(if $(SEED),--seed $(SEED)) $(OPTIONS)

site: setup  ## build site/, the course as pages with search; needs no kernel
	@$(VENV) -m pip install --quiet --require-hashes --requirement requirements-site.lock
	@$(VENV) -m lessons.site $(OPTIONS)

check: setup  ## check style and notebooks alone
	@$(VENV) -m ruff check
	@$(VENV) -m lessons.build --check

lock: tools  ## choose and pin the packages anew
	@$(VENV) .make/lock.py

tools: setup
	@$(VENV) -m pip install --quiet --no-build-isolation --editable ".[authors]"

.PHONY: help python setup lab fresh test test-all exhaustive bench mutants answers notebooks \
	assignments site check lock tools

endif
