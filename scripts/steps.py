"""The steps that build and install. Each runs only if its inputs have changed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from pathlib import Path

import licences
from console import CACHE, LOGS, ROOT, VENV, Step, StepFailedError, capture, run, say
from machine import WASM_TARGET
from version import project, releases

VERSION: str = project()["version"]

ENGINE = ROOT / "engine"
WEB = ROOT / "web"
VENV_BIN = VENV / "bin"
DIST = ROOT / "dist"
LAB_LOCK = ROOT / "requirements" / "lab.txt"
TEST_LOCK = ROOT / "requirements" / "test.txt"
HUB_LOCK = ROOT / "requirements" / "hub.txt"
HUB = ROOT / "tests" / "hub"
"""The JupyterHub for a test."""
LITE_LOCK = ROOT / "requirements" / "lite.txt"
BROWSER_LOCK = ROOT / "requirements" / "browser.txt"
DOCS_LOCK = ROOT / "requirements" / "docs.txt"
DOCS_TOOLS = CACHE / "docs" / "tools"
"""Sphinx, outside the lab's environment, which learners use."""
DOCS_HTML = CACHE / "docs" / "html"
"""The documentation as pages, which the site shows under `docs/`."""
OLDEST_LOCK = ROOT / "requirements" / "oldest.txt"
OLDEST_WASMTIME = CACHE / "oldest-wasmtime"
"""The oldest wasmtime that the package allows, outside the environment: a test puts it first on the path."""
CARGO_TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ENGINE / "target"))

TOOL_PROGRAM = CARGO_TARGET / "debug" / "seeklab-tool"
GLUE = ENGINE / "wasm" / "pkg"
"""The engine for JavaScript."""
ENGINE_FILES = ("seeklab_bg.wasm", "seeklab.js", "schema.json")
"""The module, the code that loads it, and the schema of scenarios with help; the module's own has none."""
LIBRARY_FILE = "library.json"
"""The library of cases and presets, which the code that loads the module passes to it."""
PACKAGED_ENGINE = ENGINE / "python" / "seeklab" / "_engine"
"""The engine in the Python package."""
TYPES = WEB / "src" / "generated"
TYPE_FILES = ("scenario.ts", "answers.ts")
"""TypeScript types of scenarios, and of the engine's answers."""
WHEEL_FILE = DIST / f"seeklab-{VERSION}-py3-none-any.whl"
WIDGET = PACKAGED_ENGINE / "widget.js"
LICENCES = PACKAGED_ENGINE / "licences.txt"
"""The licences of the crates in the module."""
WIDGET_LICENCES = PACKAGED_ENGINE / "widget-licences.txt"

VALIDATION = ENGINE / "validation"
SYNTHETIC_FILES = (VALIDATION / "synthetic-drive.json", VALIDATION / "synthetic-trace.csv")
"""An invented drive and a trace of it, for the page on validation."""

BROWSER_LAB = CACHE / "browser-lab" / "site"
"""The course in the browser, as folders that are copied over the site."""
BROWSER_TOOLS = CACHE / "browser-lab" / "tools"
"""JupyterLite's builder. It is outside the lab's environment, whose JupyterLab would load the kernel's extension."""
NOTEBOOK_PAGES = CACHE / "notebook-pages"
"""The notebooks as HTML fragments for the site's pages."""
BROWSER_WHEELS = CACHE / "browser-lab" / "wheels"
BROWSER_PYTHON = "3.14"
"""The Python version of Pyodide."""

CRATES = ("derive", "kernel", "cache", "spec", "model", "formats", "observe", "library", "api", "wasm")
"""The crates of the engine's module."""
ENGINE_SOURCES = tuple(ENGINE / name for name in ("Cargo.toml", "Cargo.lock", *CRATES))
LIBRARY_SOURCES = (ENGINE / "cases", ENGINE / "presets", ENGINE / "families.toml", ENGINE / "ranges.json")
"""The sources of the library, which no compiler reads."""


def _rust_version() -> list[str]:
    return [capture("rustc", "--version") or ""]


def _install_python_packages() -> None:
    run("python", sys.executable, "-m", "venv", "--clear", VENV)
    _install_locked("python", LAB_LOCK)
    # The lab opens with the course, and does not ask about news.
    settings = VENV / "etc" / "jupyter" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))


def _install_test_packages() -> None:
    _install_locked("python-tests", LAB_LOCK, TEST_LOCK)


def _install_oldest_wasmtime() -> None:
    shutil.rmtree(OLDEST_WASMTIME, ignore_errors=True)
    arguments = ("--require-hashes", "--no-compile", "--target", OLDEST_WASMTIME, "--requirement", OLDEST_LOCK)
    run("oldest-wasmtime", VENV_BIN / "pip", "install", *arguments)


def _install_hub() -> None:
    _install_locked("hub", LAB_LOCK, HUB_LOCK)
    run("hub", "npm", "ci", folder=HUB)


def _install_locked(log: str, *locks: Path) -> None:
    # Bytecode is written at the first use of a module: compiling hundreds of MB now would cost more than it saves.
    requirements = [word for lock in locks for word in ("--requirement", lock)]
    run(log, VENV_BIN / "pip", "install", "--require-hashes", "--no-compile", *requirements)


def _install_web_packages() -> None:
    run("npm", "npm", "ci", folder=WEB)


def _build_tool() -> None:
    # With the features of all packages, as in the tests, so that common code is compiled once.
    run("tool", "cargo", "build", "--locked", "--bin", "seeklab-tool", folder=ENGINE)


def _compile_rust_tests() -> None:
    run("rust-tests", "cargo", "test", "--locked", "--no-run", folder=ENGINE)


def _compile_engine() -> None:
    # The module is distributed, so it must not contain the paths of this machine.
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    flags = [f"--remap-path-prefix={cargo_home}=cargo", f"--remap-path-prefix={ENGINE}=engine"]
    run(
        "engine",
        *("cargo", "build", "--locked", "--profile", "wasm", "--package", "seeklab-wasm", "--target", WASM_TARGET),
        folder=ENGINE,
        extra_environment={"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)},
    )


def _write_glue() -> str:
    module = CARGO_TARGET / WASM_TARGET / "wasm" / "seeklab_wasm.wasm"
    shutil.rmtree(GLUE, ignore_errors=True)
    run("wasm", TOOL_PROGRAM, "bindgen", "--input", module, "--out", GLUE)
    run("wasm", TOOL_PROGRAM, "schema", "--out", GLUE / "schema.json")
    run("wasm", TOOL_PROGRAM, "types", "--out", TYPES)
    return _hand_over(*ENGINE_FILES)


def _write_library() -> str:
    run("library", TOOL_PROGRAM, "library", "--from", ENGINE, "--out", GLUE / LIBRARY_FILE)
    # The library contains a case that contradicts itself, too; the case is an error when it is opened.
    for line in (LOGS / "library.log").read_text(encoding="utf-8", errors="replace").splitlines():
        if not line.startswith("$ "):
            say(line)
    return _hand_over(LIBRARY_FILE)


def _hand_over(*names: str) -> str:
    """Copy files of the engine to the Python package, each atomically; return a text with their sizes."""
    PACKAGED_ENGINE.mkdir(parents=True, exist_ok=True)
    sizes = []
    for name in names:
        content = (GLUE / name).read_bytes()
        fresh = PACKAGED_ENGINE / f".{name}"
        fresh.write_bytes(content)
        fresh.replace(PACKAGED_ENGINE / name)
        sizes.append(f"{name} {len(content) / 1000:.0f} kB, {len(gzip.compress(content)) / 1000:.0f} kB gzip")
    return ", ".join(sizes)


def _write_licences() -> str:
    PACKAGED_ENGINE.mkdir(parents=True, exist_ok=True)
    LICENCES.write_text(licences.notices(), encoding="utf-8")
    return f"{len(licences.crates())} crates"


def _build_widget() -> str:
    run("widget", "npm", "run", "widget", folder=WEB)
    if not WIDGET.exists():
        message = f"npm run widget did not write {WIDGET.relative_to(ROOT)}."
        raise StepFailedError(message)
    return f"{WIDGET.stat().st_size / 1000:.0f} kB"


def _install_package() -> None:
    run("package", VENV_BIN / "pip", "install", "--no-build-isolation", "--no-deps", "--editable", "./")
    (ROOT / ".grading").mkdir(exist_ok=True)  # nbgrader's database is in this folder, which nbgrader does not create


def _build_wheel() -> str:
    DIST.mkdir(exist_ok=True)
    pack = "from seeklab.course.copies import PACKAGED, pack; pack(PACKAGED)"
    run("wheel", VENV_BIN / "python", "-B", "-c", pack)
    for old in DIST.glob("seeklab-*.whl"):
        old.unlink()
    # The dates of its files come from the changelog, so that two builds of one commit are equal.
    dated = {"SOURCE_DATE_EPOCH": str(releases()[0].epoch)}
    pip = (VENV_BIN / "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", DIST, "./")
    run("wheel", *pip, extra_environment=dated)
    # Otherwise the next wheel would include it, with files that were deleted since.
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    return f"{WHEEL_FILE.name}, {WHEEL_FILE.stat().st_size / 1000:.0f} kB"


def _install_browser_tools() -> None:
    for folder in (BROWSER_TOOLS, BROWSER_WHEELS):
        shutil.rmtree(folder, ignore_errors=True)
    log, pip, locked = "browser-tools", VENV_BIN / "pip", ("--require-hashes", "--no-deps")
    run(log, pip, "install", *locked, "--no-compile", "--target", BROWSER_TOOLS, "--requirement", LITE_LOCK)
    # Some packages also have compiled wheels, which no browser can load.
    pure = ("--only-binary", ":all:", "--platform", "any", "--python-version", BROWSER_PYTHON)
    run(log, pip, "download", *locked, *pure, "--dest", BROWSER_WHEELS, "--requirement", BROWSER_LOCK)


def _build_browser_lab() -> str:
    program = ROOT / "scripts" / "browser_lab.py"
    path = os.pathsep.join([str(BROWSER_TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
    run("browser-lab", VENV_BIN / "python", "-B", program, extra_environment={"PYTHONPATH": path})
    return _size(BROWSER_LAB)


def _build_notebook_pages() -> str:
    run("notebook-pages", VENV_BIN / "python", "-B", ROOT / "scripts" / "notebook_pages.py")
    return _size(NOTEBOOK_PAGES)


def _install_docs_tools() -> None:
    shutil.rmtree(DOCS_TOOLS, ignore_errors=True)
    arguments = ("--require-hashes", "--no-deps", "--no-compile", "--target", DOCS_TOOLS, "--requirement", DOCS_LOCK)
    run("docs-tools", VENV_BIN / "pip", "install", *arguments)


def _build_docs() -> str:
    code = "import docs; print(docs.build())"
    run("docs", VENV_BIN / "python", "-B", "-c", code, extra_environment={"PYTHONPATH": str(ROOT / "scripts")})
    return _size(DOCS_HTML)


def _write_synthetic_files() -> None:
    run("synthetic", VENV_BIN / "python", "-B", ROOT / "scripts" / "synthetic.py")


def _build_site() -> str:
    run("site", "npm", "run", "build", folder=WEB)
    return _size(WEB / "dist")


def _size(folder: Path) -> str:
    """Return the size of a folder as text."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB in {len(paths)} files"


PYTHON_PACKAGES = Step(
    "python",
    "Installing the Python packages",
    _install_python_packages,
    reads=(LAB_LOCK,),
    versions=lambda: [sys.version, str(VENV)],
    makes=(VENV_BIN / "jupyter",),
)
TEST_PACKAGES = Step(
    "python-tests",
    "Installing the Python packages for the tests",
    _install_test_packages,
    # One after the other, here and below, because two installers in one environment may see incomplete files.
    needs=("python", "package"),
    reads=(LAB_LOCK, TEST_LOCK),
    versions=lambda: [sys.version, str(VENV)],
    makes=(VENV_BIN / "pytest",),
)
OLDEST_PACKAGES = Step(
    "oldest-wasmtime",
    "Installing the oldest wasmtime that the package allows",
    _install_oldest_wasmtime,
    needs=("python-tests",),
    reads=(OLDEST_LOCK,),
    versions=lambda: [sys.version],
    makes=(OLDEST_WASMTIME / "wasmtime",),
)
HUB_PACKAGES = Step(
    "hub",
    "Installing JupyterHub and its proxy",
    _install_hub,
    needs=("python-tests",),
    reads=(LAB_LOCK, TEST_LOCK, HUB_LOCK, HUB / "package.json", HUB / "package-lock.json"),
    versions=lambda: [sys.version, str(VENV), capture("node", "--version") or ""],
    makes=(VENV_BIN / "jupyterhub", HUB / "node_modules"),
)
WEB_PACKAGES = Step(
    "npm",
    "Installing the web packages",
    _install_web_packages,
    reads=(WEB / "package.json", WEB / "package-lock.json"),
    versions=lambda: [capture("node", "--version") or ""],
    makes=(WEB / "node_modules",),
)
TOOL = Step(
    "tool",
    "Compiling the generator of the JavaScript glue",
    _build_tool,
    reads=(*ENGINE_SOURCES, ENGINE / "tool"),
    versions=_rust_version,
    makes=(TOOL_PROGRAM,),
)
COMPILED_ENGINE = Step(
    "engine",
    "Compiling the engine to WebAssembly",
    _compile_engine,
    reads=(*ENGINE_SOURCES, ENGINE / "tool", Path(__file__)),  # this file contains the compiler's flags
    versions=_rust_version,
    makes=(CARGO_TARGET / WASM_TARGET / "wasm" / "seeklab_wasm.wasm",),
)
# In parallel with the engine: each profile has its own folder and lock. Much of the module's compilation uses one
# thread, and would leave the other cores idle.
RUST_TESTS = Step(
    "rust-tests",
    "Compiling the Rust tests",
    _compile_rust_tests,
    needs=("tool",),  # both compile code that the other needs too
    reads=(*ENGINE_SOURCES, ENGINE / "fuzz", ENGINE / "tool", ROOT / "tests" / "sanity"),
    versions=_rust_version,
    makes=(CARGO_TARGET / "debug",),
)
WASM = Step(
    "wasm",
    "Writing the engine's JavaScript glue and types",
    _write_glue,
    needs=("tool", "engine"),
    reads=(*ENGINE_SOURCES, ENGINE / "tool", Path(__file__)),
    versions=_rust_version,
    makes=(
        *(folder / name for folder in (GLUE, PACKAGED_ENGINE) for name in ENGINE_FILES),
        *(TYPES / name for name in TYPE_FILES),
    ),
)
LIBRARY = Step(
    "library",
    "Writing the library of cases and presets",
    _write_library,
    needs=("tool", "wasm"),  # the glue's folder is emptied first
    reads=(*LIBRARY_SOURCES, *ENGINE_SOURCES, ENGINE / "tool"),
    makes=(GLUE / LIBRARY_FILE, PACKAGED_ENGINE / LIBRARY_FILE),
)
NOTICES = Step(
    "licences",
    "Collecting the licences of the engine's crates",
    _write_licences,
    needs=("engine",),  # which fetches the crates
    reads=(*ENGINE_SOURCES, licences.STANDARD_LIBRARY, Path(licences.__file__)),
    makes=(LICENCES,),
)
WIDGET_BUNDLE = Step(
    "widget",
    "Building the notebook widget",
    _build_widget,
    needs=("npm", "wasm", "library"),
    reads=(WEB, *ENGINE_SOURCES, *LIBRARY_SOURCES),
    makes=(WIDGET, WIDGET_LICENCES),
)
PACKAGE = Step(
    "package",
    "Installing the seeklab package",
    _install_package,
    needs=("python",),
    reads=(ROOT / "pyproject.toml", LAB_LOCK),
    makes=(VENV_BIN / "seeklab",),
)
WHEEL = Step(
    "wheel",
    "Building the Python wheel",
    _build_wheel,
    needs=("package", "python-tests", "wasm", "library", "licences", "widget"),
    reads=(
        *(ROOT / "pyproject.toml", ROOT / "notebooks", ROOT / "exercises", ROOT / "LICENSES"),
        *(ENGINE / "python", WEB, *ENGINE_SOURCES, *LIBRARY_SOURCES),
    ),
    versions=lambda: [str(releases()[0].epoch)],
    makes=(WHEEL_FILE,),
)
BROWSER_PACKAGES = Step(
    "browser-tools",
    "Fetching JupyterLite and the browser's Python packages",
    _install_browser_tools,
    needs=("python", "package", "python-tests"),  # with the environment's own installer
    reads=(LITE_LOCK, BROWSER_LOCK),
    versions=lambda: [sys.version],
    makes=(BROWSER_TOOLS / "jupyterlite_core", BROWSER_WHEELS),
)
BROWSER_COURSE = Step(
    "browser-lab",
    "Building the course for the browser",
    _build_browser_lab,
    needs=("npm", "wheel", "browser-tools"),
    reads=(
        *(ROOT / "pyproject.toml", ROOT / "notebooks", ROOT / "exercises", ROOT / "scripts" / "browser_lab.py"),
        *(LAB_LOCK, LITE_LOCK, BROWSER_LOCK, ENGINE / "python", WEB, *ENGINE_SOURCES, *LIBRARY_SOURCES),
    ),
    versions=lambda: [str(releases()[0].epoch)],
    makes=(BROWSER_LAB / "lab" / "notebooks" / "index.html", BROWSER_LAB / "pyodide" / "pyodide-lock.json"),
)
NOTEBOOKS_AS_PAGES = Step(
    "notebook-pages",
    "Rendering the notebooks as pages",
    _build_notebook_pages,
    needs=("package", "python-tests"),
    reads=(
        *(ROOT / "notebooks", ROOT / "exercises", ROOT / "docs" / "instructor" / "course.toml", LAB_LOCK),
        *(ROOT / "scripts" / name for name in ("notebook_pages.py", "notebook_page.html.j2", "syllabus.py")),
        *(ENGINE / "python" / "seeklab" / name for name in ("course/copies.py", "notebook/_stored.py")),
    ),
    makes=(NOTEBOOK_PAGES / "course.json",),
)
DOCS_PACKAGES = Step(
    "docs-tools",
    "Installing the packages for the documentation",
    _install_docs_tools,
    needs=("package", "python-tests"),
    reads=(DOCS_LOCK,),
    versions=lambda: [sys.version],
    makes=(DOCS_TOOLS / "sphinx",),
)
DOCS_SITE = Step(
    "docs",
    "Building the documentation",
    _build_docs,
    needs=("package", "wasm", "library", "docs-tools"),
    reads=(
        *(ROOT / name for name in ("pyproject.toml", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
        *(ROOT / "CHANGELOG.md", ROOT / "scripts" / "docs.py", ROOT / "scripts" / "docs_pages.py", DOCS_LOCK),
        *(ENGINE / "python", *ENGINE_SOURCES, *LIBRARY_SOURCES),
    ),
    versions=lambda: [os.environ.get("SEEKLAB_SITE", "")],
    makes=(DOCS_HTML / "index.html",),
)
SYNTHETIC = Step(
    "synthetic",
    "Writing the synthetic drive and its trace",
    _write_synthetic_files,
    needs=("package", "wasm", "library"),
    reads=(ROOT / "scripts" / "synthetic.py", *ENGINE_SOURCES),
    makes=SYNTHETIC_FILES,
)
SITE = Step(
    "site",
    "Building the site",
    _build_site,
    needs=("npm", "wasm", "library", "wheel", "browser-lab", "notebook-pages", "docs", "synthetic"),
    reads=(VALIDATION, *BROWSER_COURSE.reads, *NOTEBOOKS_AS_PAGES.reads, *DOCS_SITE.reads),
    versions=lambda: [os.environ.get("SEEKLAB_SITE", "")],
    makes=(WEB / "dist" / "index.html", WEB / "dist" / "lab" / "notebooks" / "index.html"),
)

# In order: a step comes after those that it needs.
FOR_ENGINE = (TOOL, COMPILED_ENGINE, WASM, LIBRARY, NOTICES)
FOR_LAB = (PYTHON_PACKAGES, PACKAGE, WEB_PACKAGES, *FOR_ENGINE, SYNTHETIC, WIDGET_BUNDLE)
DOCS = (DOCS_PACKAGES, DOCS_SITE)
TO_SITE = (WHEEL, BROWSER_PACKAGES, BROWSER_COURSE, NOTEBOOKS_AS_PAGES, *DOCS, SITE)
FOR_SITE = (*FOR_LAB, *TO_SITE)
FOR_FORMAT = (PYTHON_PACKAGES, PACKAGE, TEST_PACKAGES, WEB_PACKAGES)
FOR_LINT = (*FOR_FORMAT, *FOR_ENGINE)
FOR_FULL = (*FOR_LAB, TEST_PACKAGES, OLDEST_PACKAGES, HUB_PACKAGES, *TO_SITE)
FOR_TESTS = (*FOR_LINT, OLDEST_PACKAGES, SYNTHETIC, RUST_TESTS, WIDGET_BUNDLE, *TO_SITE)


COURSE = ROOT / "my-course"
"""The learner's own copies of the notebooks; changes in them are kept."""


def write_course() -> Path:
    """Write the missing notebooks of the course to the learner's folder; return the path of the first."""
    run("course", VENV_BIN / "seeklab", "course", COURSE, "--no-open")
    return min((COURSE / "notebooks").glob("*.ipynb"))
