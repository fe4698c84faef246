"""The course in the browser: JupyterLite with the learners' copies and its Python packages, as part of the site.

Writes two folders that are copied over the site. `lab/` has JupyterLite and the notebooks. `pyodide/` has wheels and
our lock file, next to the runtime that the playground's Python console also uses; a cell's imports are loaded only from
there. A step of the build runs this in the lab's environment, with JupyterLite's builder on the path.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from console import StepFailedError
from console import main as run_verb
from seeklab.course.copies import pack
from steps import BROWSER_LAB, BROWSER_PYTHON, BROWSER_TOOLS, BROWSER_WHEELS, VERSION, WEB, WHEEL_FILE
from version import releases

RUNTIME = WEB / "node_modules" / "pyodide"
EXTENSION = WEB / "src" / "browserLab.js"
NOT_IN_A_BROWSER = frozenset(("jupyterlab-widgets", "widgetsnbextension"))
"""Requirements of wheels that the page itself provides."""
BESIDES = {"seeklab": {"anywidget", "ipywidgets"}}
"""Optional dependencies that a notebook needs."""
AT_START = (
    "micropip",
    "piplite",
    "ipykernel",
    "comm",
    "pyodide-kernel",
    "ipython",
    "ipywidgets",
    "anywidget",
    "seeklab",
)
"""Packages that load with the kernel, so that the first cell need not wait."""
POLICY = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src 'self' 'unsafe-inline'",
    "worker-src 'self' blob:",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
)
"""The lab's pages may load only the site itself. Its pages start with inline scripts, JupyterLab compiles schemas to
code, and widgets are imported from blobs."""
STORES = ("asyncStorage", "localStorageWrapper", "memoryStorageDriver")
"""IndexedDB, localStorage, memory: the first that works."""
APPS = ("notebooks", "tree", "edit")


def build() -> None:
    """Write both folders again."""
    work = BROWSER_LAB.parent / "work"
    for old in (work, BROWSER_LAB):
        shutil.rmtree(old, ignore_errors=True)
    write_packages(BROWSER_LAB / "pyodide")
    pack(work / "files")
    own = write_extension(work / "extension")
    write_json(work / "jupyter-lite.json", page_settings())
    write_json(work / "overrides.json", reader_settings())
    write_json(work / "jupyter_lite_config.json", {"LiteBuildConfig": build_settings(own)})
    # The builder stores its progress in a file of its working folder, which is therefore new each time.
    subprocess.run([sys.executable, "-m", "jupyterlite_core", "build"], cwd=work, check=True)
    finish(BROWSER_LAB / "lab")


def finish(lab: Path) -> None:
    """Add the security policy to the pages, and remove files that do not belong to a site."""
    for page in lab.rglob("index.html"):
        text = page.read_text(encoding="utf-8")
        policy = f'<head>\n    <meta http-equiv="Content-Security-Policy" content="{"; ".join(POLICY)}" />'
        page.write_text(text.replace("<head>", policy, 1), encoding="utf-8")
    # The site has one service worker for all pages, and JupyterLite's would unregister it.
    for pattern in ("service-worker.js", "*.map", "rspack.config*.js"):
        for path in lab.rglob(pattern):
            path.unlink()
    shutil.rmtree(lab / "doc")
    for path in lab.glob("api/contents/**/all.json"):
        write_json(path, dated(json.loads(path.read_text(encoding="utf-8"))))


def dated(listing: dict[str, Any]) -> dict[str, Any]:
    """Return a folder's listing with the release's date instead of the build's, so that equal builds are equal."""
    date = releases()[0].date.isoformat() + "T00:00:00Z"
    inner = listing.get("content")
    entries = [dated(entry) for entry in inner] if isinstance(inner, list) else inner
    return {**listing, "content": entries, "created": date, "last_modified": date}


def build_settings(own: Path) -> dict[str, Any]:
    """Return the builder's settings: apps, learners' copies, widgets and kernel, without the other extensions."""
    widgets = Path(sys.prefix) / "share/jupyter/labextensions"
    kernel = BROWSER_TOOLS / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"
    extensions = [kernel, widgets / "anywidget", widgets / "@jupyter-widgets" / "jupyterlab-manager", own]
    return {
        "output_dir": str(BROWSER_LAB / "lab"),
        "contents": ["files"],
        "apps": list(APPS),
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "no_libarchive": True,
        "ignore_sys_prefix": ["federated_extensions"],
        "federated_extensions": [str(path) for path in extensions],
    }


def page_settings() -> dict[str, Any]:
    """Return the configuration of the lab's pages."""
    kernel = {
        "pyodideUrl": "./../pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": list(AT_START)},
    }
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "Seeklab",
            "appUrl": "./tree",
            "appVersion": VERSION,
            # If the browser forbids all storage, the lab works and reports that it keeps nothing.
            "enableMemoryStorage": True,
            **dict.fromkeys(("contentsStorageDrivers", "settingsStorageDrivers", "workspacesStorageDrivers"), STORES),
            "disabledExtensions": ["@jupyterlite/application-extension:service-worker-manager"],
            "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel},
        },
    }


def reader_settings() -> dict[str, Any]:
    """Return the initial settings of a reader."""
    return {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"}}


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def write_extension(folder: Path) -> Path:
    """Write our extension in JupyterLab's built form: the script, and a file that names it."""
    content = EXTENSION.read_bytes()
    script = f"static/browserLab.{hashlib.sha256(content).hexdigest()[:16]}.js"
    built = {"load": script, "extension": "./extension"}
    write_json(folder / "package.json", {"name": "seeklab", "version": VERSION, "jupyterlab": {"_build": built}})
    (folder / script).parent.mkdir()
    (folder / script).write_bytes(content)
    return folder


def write_packages(folder: Path) -> None:
    """Copy the wheels, and write the lock file that Pyodide uses to find them."""
    folder.mkdir(parents=True)
    runtime = json.loads((RUNTIME / "pyodide-lock.json").read_text(encoding="utf-8"))
    if not runtime["info"]["python"].startswith(f"{BROWSER_PYTHON}."):
        message = f"Pyodide's Python is {runtime['info']['python']}; BROWSER_PYTHON in steps.py says {BROWSER_PYTHON}."
        raise StepFailedError(message)
    kernel = BROWSER_TOOLS / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
    brought = [path for path in kernel.glob("*.whl") if not path.name.startswith("widgetsnbextension-")]
    packages: dict[str, dict[str, Any]] = {}
    # The site's build writes our wheel under the same name, for the console.
    for path in sorted([*BROWSER_WHEELS.glob("*.whl"), *brought, WHEEL_FILE]):
        shutil.copy(path, folder)
        packages.update(locked(path))
    for name, entry in packages.items():
        missing = sorted(set(entry["depends"]) - packages.keys())
        if missing:
            message = f"{name} needs {', '.join(missing)}: add it to requirements/browser.in, then make lock."
            raise StepFailedError(message)
    write_json(folder / "pyodide-lock.json", {"info": runtime["info"], "packages": packages, "tool": {}})


def locked(path: Path) -> dict[str, dict[str, Any]]:
    """Return a wheel's entry in the lock file, by its name."""
    with zipfile.ZipFile(path) as archive:
        files = archive.namelist()
        written = next(file for file in files if file.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(written))
    there = {
        "sys_platform": "emscripten",
        "platform_system": "Emscripten",
        "platform_python_implementation": "CPython",
        "python_version": BROWSER_PYTHON,
        "python_full_version": f"{BROWSER_PYTHON}.0",
        "extra": "",
    }
    asked = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    name = str(canonicalize_name(metadata["Name"]))
    needed = {str(canonicalize_name(one.name)) for one in asked if one.marker is None or one.marker.evaluate(there)}
    modules = {file.split("/")[0] for file in files if file.endswith(".py") and ".data/" not in file}
    entry: dict[str, Any] = {
        "name": name,
        "version": metadata["Version"],
        "file_name": path.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(module.removesuffix(".py") for module in modules),
        "depends": sorted((needed | BESIDES.get(name, set())) - NOT_IN_A_BROWSER),
        "unvendored_tests": False,
        "tool": {},
    }
    return {name: entry}


if __name__ == "__main__":
    run_verb(build)
