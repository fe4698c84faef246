"""The generated pages of the documentation, and the links between files that mean something else on the site.

A page follows from one source. The scenario follows from the engine's schema. Case files and JSON documents follow from
the types that `make wasm` writes, metrics from a run of each case, the model from the headers of its modules.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

from console import CACHE, ROOT, digest_of
from steps import ENGINE, ENGINE_SOURCES, TYPES
from version import UNKNOWN, project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

DOCS = ROOT / "docs"
GENERATED = DOCS / "generated"
RUNS = CACHE / "docs" / "metrics.json"
ROOT_PAGES = {
    "README.md": "index",
    "ARCHITECTURE.md": "generated/architecture",
    "CONTRIBUTING.md": "generated/contributing",
    "CHANGELOG.md": "generated/changelog",
    "SECURITY.md": "generated/security",
}
"""Files outside `docs/` that the documentation shows, with their pages."""

_LINKED = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#|site:|lab:)([^)\s]+)\)")


def with_site_links(text: str, source: Path, page: str) -> str:
    """Return a text whose links to files lead to the pages of the site.

    `source` is the file of the text, `page` the page of the documentation that shows it. A link to a file that the site
    does not show leads to the repository; without a known repository only its words remain.
    """

    def replaced(found: re.Match[str]) -> str:
        is_picture, words, address = found.groups()
        target = _site_address(address, source, page)
        if target is None:
            return words
        return f"{is_picture}[{words}]({target})"

    return _LINKED.sub(replaced, text)


def _site_address(address: str, source: Path, page: str) -> str | None:
    path, _, anchor = address.partition("#")
    target = (source.parent / path).resolve()
    if not target.is_relative_to(ROOT):
        return address
    name = target.relative_to(ROOT).as_posix()
    up = "../" * page.count("/")
    end = f"#{anchor}" if anchor else ""
    if name in ROOT_PAGES and (ROOT / name).exists():
        return f"{up}{ROOT_PAGES[name]}.md{end}"
    if target.is_dir():
        target /= "README.md"
    if target.is_relative_to(DOCS) and target.exists():
        inner = target.relative_to(DOCS)
        return f"{up}{inner.as_posix()}{end}"
    if found := re.fullmatch(r"(?:engine/cases/([\w-]+)\.toml|notebooks/([\w-]+)\.ipynb)", name):
        return f"site:{up}../{found[1] or found[2]}.html"
    if re.fullmatch(r"exercises/[\w-]+/[\w-]+\.ipynb", name):
        return f"lab:{up}../lab/notebooks/index.html?path={name}"
    repository: str = project()["urls"]["Repository"]
    return None if UNKNOWN in repository else f"{repository}/blob/main/{name}"


def write() -> None:
    """Write all generated pages."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    GENERATED.mkdir()
    for name, page in PAGES.items():
        (GENERATED / f"{name}.md").write_text(page(), encoding="utf-8")
    for file, shown_as in ROOT_PAGES.items():
        if shown_as.startswith("generated/") and (ROOT / file).exists():
            text = with_site_links((ROOT / file).read_text(encoding="utf-8"), ROOT / file, shown_as)
            (DOCS / f"{shown_as}.md").write_text(text, encoding="utf-8")


# The scenario: tables of fields from the JSON Schema.


SCENARIO = """\
`seeklab schema` prints the JSON Schema of this page, and `seeklab.validate` checks a scenario against it. You may leave
out a field unless it is required."""


def scenario() -> str:
    """Write every field of a scenario with its type, unit, range and help."""
    import seeklab

    schema = seeklab.schema()
    parts = [
        "# Scenario",
        f"{schema['description']} {SCENARIO}",
        _fields(schema),
        *(
            f"## {name}\n\n{_text(one.get('description', ''))}\n\n{_fields(one) or _choices(one)}"
            for name, one in sorted(schema.get("$defs", {}).items())
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _fields(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{field}`",
            _type(one),
            ", ".join(filter(None, (_range(one), "required" if field in required else _default(one)))),
            _text(one.get("description", "")),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    return _table(("field", "type", "values", "meaning"), rows) if rows else ""


def _choices(schema: Mapping[str, Any]) -> str:
    rows = []
    for one in schema.get("oneOf", schema.get("anyOf", ())):
        value = one.get("const", one.get("enum", [None])[0])
        label = f"`{value}`" if value is not None else _type(one)
        rows.append((label, _text(one.get("description", ""))))
    rows += [(f"`{value}`", "") for value in schema.get("enum", ())]
    return _table(("value", "meaning"), rows) if rows else _type(schema)


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_slug(name)})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[key] if one.get("type") != "null"))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    unit = next((str(schema[key]) for key in ("x-unit", "unit") if key in schema), "")
    return " or ".join(kinds) + (f", {unit}" if unit else "")


def _range(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    return f"{_number(low)} to {_number(high)}"


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    if value is None:
        return ""
    return f"default `{json.dumps(value)}`" if not isinstance(value, (dict, list)) or not value else ""


def _number(value: float | None) -> str:
    return "…" if value is None else f"{value:,}"


# Types of case files and answers, from the TypeScript that the build writes.

_TYPE = re.compile(r"(?:/\*\* (?P<doc>.*?) \*/\n)?export type (?P<name>\w+) =(?P<body>.*?);\n(?=\n|\Z)", re.DOTALL)
_FIELD = re.compile(
    r"(?:/\*\* (?P<doc>.*?) \*/\n\s*)?readonly (?P<name>\w+)(?P<optional>\??): (?P<type>.*?);\n", re.DOTALL
)


def _types() -> dict[str, tuple[str, str]]:
    """Return the documentation and the body of each type of the engine's answers."""
    text = (TYPES / "answers.ts").read_text(encoding="utf-8")
    return {found["name"]: (found["doc"] or "", found["body"].strip()) for found in _TYPE.finditer(text)}


def _closure(name: str, types: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return a type and all types that it is made of."""
    seen: list[str] = []
    todo = [name]
    while todo:
        one = todo.pop(0)
        if one in seen or one not in types:
            continue
        seen.append(one)
        todo += list(re.findall(r"\b[A-Z]\w+\b", re.sub(r"/\*\*.*?\*/", "", types[one][1], flags=re.DOTALL)))
    return seen


def _type_sections(names: Iterable[str], types: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    names = list(names)
    for name in names:
        doc, body = types[name]
        rows = [
            (
                f"`{one['name']}`",
                _ts_type(one["type"], names),
                "optional" if one["optional"] else "",
                _text(one["doc"] or ""),
            )
            for one in _FIELD.finditer(f"{body}\n")
        ]
        shown = _table(("field", "type", "", "meaning"), rows) if rows else f"```typescript\n{body}\n```"
        yield f"## {name}\n\n{_text(doc)}\n\n{shown}"


def _ts_type(text: str, names: Iterable[str]) -> str:
    plain = re.sub(r"\s+", " ", text).replace("readonly ", "").replace("|", "or")
    known = set(names)
    if plain in known:
        return f"[{plain}](#{_slug(plain)})"
    if (listed := plain.removesuffix("[]")) in known and plain.endswith("[]"):
        return f"list of [{listed}](#{_slug(listed)})"
    return f"`{plain}`"


CASE_FILES = """# Case files

A case is a TOML file in `engine/cases`. It has the fields below, except those that the engine adds (`controls` with
their values, `scenario`). In a file, a variant or what-if lists the paths that it removes in `unset`, because TOML has
no null. [Add a case](contributing.md#add-a-case) is the recipe, and `odx-prefetch.toml` shows every field.
"""


def cases() -> str:
    """Write the fields of a case file."""
    types = _types()
    return "\n\n".join([CASE_FILES.strip(), *_type_sections(_closure("CaseDocument", types), types)]) + "\n"


JSON_DOCUMENTS = """# JSON documents

With `--json`, a command prints one JSON document on stdout. Most documents are answers of the engine, and have the
types on this page. `seeklab run --json` prints `case`, `variant`, `seed`, `fingerprint`, `metrics`, `events`, `wall_s`
and `version`. Errors are on stderr; the [exit status](../command-line.md) tells their kind.
"""


def documents() -> str:
    """Write the types of the engine's answers, without those of case files."""
    types = _types()
    case = set(_closure("CaseDocument", types))
    return (
        "\n\n".join([JSON_DOCUMENTS.strip(), *_type_sections([name for name in types if name not in case], types)])
        + "\n"
    )


# Metrics: each case says what it reports.

METRICS = """# Metrics

Each layer reports metrics, and a name ends with its unit. The name starts with a job or a device where there are
several; here `JOB` and `DEVICE` replace these. The table lists the metrics of the default variant of every case.
`seeklab show CASE --as metrics` prints the metrics of one run.
"""


def metrics() -> str:
    """Write the metrics that the cases report, each with its sentence and the number of cases that have it."""
    import seeklab

    engine = digest_of("3", (), (*ENGINE_SOURCES, ENGINE / "presets"))
    stored = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    fresh: dict[str, Any] = {}
    for entry in seeklab.cases():
        name = entry["id"]
        digest = digest_of(engine, (), (ENGINE / "cases" / f"{name}.toml",))
        known = stored.get(name, {})
        # A change of one case runs only this case.
        fresh[name] = known if known.get("digest") == digest else {"digest": digest, "metrics": _metrics_of(name)}
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    RUNS.write_text(json.dumps(fresh), encoding="utf-8")
    texts: dict[str, str] = {}
    cases_of: dict[str, int] = {}
    for one in fresh.values():
        for name, text in one["metrics"].items():
            texts.setdefault(name, text)
            cases_of[name] = cases_of.get(name, 0) + 1
    rows = [(f"`{name}`", _text(texts[name]), cases_of[name]) for name in sorted(texts)]
    return METRICS + "\n" + _table(("metric", "meaning", "cases"), rows)


def _metrics_of(name: str) -> dict[str, str]:
    """Return the sentence of each metric of a case's default run, with placeholders for jobs and devices."""
    import seeklab

    result = seeklab.case(name).run()
    replaced = {**dict.fromkeys(result.jobs, "JOB"), **dict.fromkeys(result.devices, "DEVICE")}
    found: dict[str, str] = {}
    for one in json.loads(result.text("metrics-json")):
        head, dot, rest = one["name"].partition(".")
        found.setdefault(f"{replaced.get(head, head)}{dot}{rest}", one["help"])
    return found


# The model: the headers of its modules.

MODEL = """# The model by layer

This page has the headers of the model's modules: what each models, where its constants come from, and what it leaves
out. [Architecture](architecture.md) shows how a request passes through the layers.
"""


def model() -> str:
    """Write the header of each module of the layers, in the order of the stack."""
    layers = ENGINE / "model" / "src" / "layers"
    order = re.findall(r"\$crate::layers::(\w+)", (layers / "table.rs").read_text(encoding="utf-8"))
    tops = list(dict.fromkeys(order))
    tops += sorted(
        path.stem
        for path in layers.iterdir()
        if path.stem not in {*tops, "mod", "table"} and not path.name.startswith(".")
    )
    parts = [MODEL.strip()]
    for top in tops:
        files = [layers / f"{top}.rs"] if (layers / f"{top}.rs").exists() else sorted((layers / top).rglob("*.rs"))
        files.sort(key=lambda path: (path.name != "mod.rs" or path.parent != layers / top, str(path)))
        for path in files:
            name = path.relative_to(layers).with_suffix("").as_posix().removesuffix("/mod")
            header = _header(path)
            if header and not re.search(r"(^|[/_])tests?($|/)|vectors$", name):
                level = "##" if "/" not in name else "###"
                parts.append(f"{level} {name}\n\n{header}")
    return "\n\n".join(parts) + "\n"


def _header(path: Path) -> str:
    """Return the module's documentation as Markdown, with its headings as bold text."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    text = "\n".join(lines).strip()
    text = re.sub(r"\[(`[^`\]]+`)\](?:\([^)]*\))?", r"\1", text)
    text = re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE)
    return (
        re.sub(r"^```(?:text|ignore|rust)?$", "```text", text, flags=re.MULTILINE, count=0) if "```" in text else text
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "scenario": scenario,
    "cases": cases,
    "json": documents,
    "metrics": metrics,
    "model": model,
}
"""The generated pages in `docs/generated/`, except those of `ROOT_PAGES`."""


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    columns = tuple(columns)
    lines = [columns, ("---",) * len(columns), *rows]
    return (
        "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"
    )


def _text(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\n\s*\* ?", "\n", text)).strip().replace("<", "&lt;")


def _slug(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower().replace(" ", "-"))


if __name__ == "__main__":
    write()
