# Verbs only. What each one does is in scripts/, in a file of its name.

.PHONY: help lab test full sanity update play bench dist fmt lint prose setup wasm lock

help:
	@echo "make lab    open the lab: JupyterLab with the course, the engine built"
	@echo "make test   check everything; the last line counts what passed and failed"
	@echo "make full   check whole what make test checks a sample of: every fact on five seeds and at other inputs; the sanity sweeps"
	@echo "make update write stored data again where its inputs have changed; what=NAME writes one store"
	@echo "make sanity look for nonsense in every preset and layer, over every resource and cost; make test runs a sample"
	@echo "make play   build the playground and serve it on this machine"
	@echo "make bench  measure the engine natively, in wasmtime and in Chromium, beside a rival"
	@echo "make dist   write the static site and the Python wheel to dist/"
	@echo "make fmt    format every language's sources"
	@echo "make lint   check formats, lints, types and texts; run nothing"
	@echo "make prose  check the texts that people read; findings per file may only fall"

lab test full sanity update play bench dist fmt lint prose setup wasm lock:
	@scripts/run $@ $(what)
