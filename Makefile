# Verbs only. Each has a program of its name in scripts/.

.PHONY: help lab test full sanity update play bench dist docs release rehearse audit fmt lint prose setup wasm lock

help:
	@echo "make lab    open the lab: JupyterLab with the course, the engine built"
	@echo "make test   check everything; the last line counts what passed and failed"
	@echo "make full   check everything that make test samples: every fact on five seeds and at other inputs; the sanity sweeps"
	@echo "make update rewrite stored data whose inputs have changed; what=NAME rewrites one store"
	@echo "make sanity search every preset and layer for impossible results, over every resource and cost; make test runs a sample"
	@echo "make play   build the playground and serve it on this machine"
	@echo "make bench  measure the engine natively, in wasmtime and in Chromium, and compare it with a rival"
	@echo "make dist   write the static site and the Python wheel to dist/"
	@echo "make docs   build the documentation, run its examples, check its links"
	@echo "make release VERSION=1.2.3 check and build all files of a release, and rehearse their upload; publishes nothing"
	@echo "make rehearse install the wheel from a package index on this machine with each Python, and use it"
	@echo "make audit  check licences, workflows and metadata; look for advisories about dependencies"
	@echo "make fmt    format every language's sources"
	@echo "make lint   check formats, lints, types and texts; run nothing"
	@echo "make prose  check the texts that people read; findings per file may only fall"

lab test full sanity update play bench dist docs release rehearse audit fmt lint prose setup wasm lock:
	@scripts/run $@ $(what)
