"""The order of the house: who may use whom, one file a model, sources named, files small.

The arrows of dependency stand in two tables of ARCHITECTURE.md and nowhere else.
"""

import ast
import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

import ackclock
from ackclock import _core
from ackclock.plots import PLOTS
from ackclock.theory.laws import LAWS
from ackclock.theory.long_run import ENTRIES

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
PACKAGE = ROOT / "python" / "ackclock"
RUST = sorted(CRATES.glob("*/src/**/*.rs"))
PYTHON = sorted(
    file
    for folder in (PACKAGE, ROOT / "tests", ROOT / "docs", ROOT / "benches")
    for file in folder.rglob("*.py")
)

# Kinds of models with one file an entry, and where they stand.
MODELS = {
    "cc": "tcp/src/cc",
    "recovery": "tcp/src/senders/*/recovery",
    "rto": "tcp/src/rto",
    "queue": "net/src/queue",
    "loss": "net/src/loss",
    "routing": "net/src/routing",
    "source": "net/src/source",
    "handshake": "tcp/src/handshake",
}
NOTHING = {"none"}  # the absence of a model
NOTHING_TO_CITE = {"bernoulli", "packets", "python", "schedule"}

# May look at files, clock and environment: the bindings for Python, and the benchmark program.
OUTSIDE = {"py", "bench"}
OUTSIDE_WORLD = re.compile(
    r"\bstd::(fs|time|env|net|process|io)\b"
    r"|\buse std::\{[^}]*\b(fs|time|env|net|process|io)\b"
    r"|\b(print|println|eprint|eprintln|dbg)!"
)

MOST_LINES = 600
LONGER = {
    "crates/net/src/world.rs": 800,  # one state machine, read as a whole
}


def name_of(file):
    return file.relative_to(ROOT).as_posix()


def arrows(head):
    """The table of ARCHITECTURE.md under this heading: who may use whom."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {head}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", section, re.M)
    return {name: set(re.findall(r"`(\w+)`", used)) for name, used in rows}


CRATE_ARROWS = arrows("Crates")
MODULE_ARROWS = arrows("Python modules")


def test_architecture_names_every_crate_and_module():
    assert set(CRATE_ARROWS) == {folder.parent.name for folder in CRATES.glob("*/Cargo.toml")}
    modules = {file.stem for file in PACKAGE.glob("*.py")}
    modules |= {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert set(MODULE_ARROWS) == modules - {"__init__"}


@pytest.mark.parametrize("crate", CRATE_ARROWS)
def test_crates_use_only_what_they_may(crate):
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))
    declared = {**manifest.get("dependencies", {}), **manifest.get("dev-dependencies", {})}
    used = {name.removeprefix("ackclock-") for name in declared if name.startswith("ackclock-")}
    for file in (CRATES / crate).rglob("*.rs"):
        used |= set(re.findall(r"\backclock_(\w+?)::", file.read_text(encoding="utf-8")))
    assert used - {crate} <= CRATE_ARROWS[crate]


def test_arrows_between_crates_point_one_way():
    done = set()
    while left := set(CRATE_ARROWS) - done:
        free = {crate for crate in left if CRATE_ARROWS[crate] <= done}
        assert free, f"a cycle among {sorted(left)}"
        done |= free


@cache
def import_statements(file):
    """The imports of a file, wherever they are in it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(file):
    """Yield the modules of the package that a file imports, by their first name within it."""
    inside = file.relative_to(PACKAGE).with_suffix("").parts
    for node in import_statements(file):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            start = ["ackclock", *inside][: -node.level] if node.level else []
            module = ".".join([*start, *filter(None, [node.module])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            package, *rest = name.split(".")
            if package == "ackclock" and rest:
                # What the package offers at its top counts as the module where it is at home.
                offered = rest[0][0].isupper()
                yield getattr(ackclock, rest[0]).__module__.split(".")[1] if offered else rest[0]


@pytest.mark.parametrize("module", sorted(set(MODULE_ARROWS) - {"cli"}))
def test_modules_use_only_what_they_may(module):
    folder = PACKAGE / module
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{module}.py"]
    used = {name for file in files for name in imports(file)}
    assert used - {module} <= MODULE_ARROWS[module]


def modules_used(name, file, names):
    """Modules of the package that a file names in its imports, wherever they stand in it."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in import_statements(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        else:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above * bool(node.level), *filter(None, [node.module])])
            for alias in node.names:
                if f"{base}.{alias.name}" in names:
                    yield f"{base}.{alias.name}"
                elif base in names and alias.name != "_core":
                    yield base


@pytest.mark.slow
def test_no_module_uses_itself_by_way_of_others():
    """Imports for type checkers and those within functions count, too."""
    files = {}
    for file in PACKAGE.rglob("*.py"):
        parts = ("ackclock", *file.relative_to(PACKAGE).with_suffix("").parts)
        files[".".join(parts).removesuffix(".__init__")] = file
    used = {name: {*modules_used(name, file, files)} - {name} for name, file in files.items()}
    # What nobody else uses, and what uses nothing else, is in no ring.
    while used:
        users = set().union(*used.values())
        left = {name: others & used.keys() for name, others in used.items()}
        kept = {name: others for name, others in left.items() if others and name in users}
        if kept == used:
            break
        used = kept
    assert not used, "rings of imports"


@pytest.mark.slow
def test_nobody_uses_the_command_line():
    files = [file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE / "cli"]
    assert not [name_of(file) for file in files if "cli" in imports(file)]


@pytest.mark.parametrize("crate", sorted(set(CRATE_ARROWS) - OUTSIDE))
def test_the_engine_does_not_look_outside(crate):
    """No files, no clock, no environment, no printing below the bindings."""
    for file in sorted((CRATES / crate / "src").rglob("*.rs")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            assert not OUTSIDE_WORLD.search(line), f"{name_of(file)}:{number}: {line.strip()}"


def file_of(entry):
    return entry["name"].replace("-", "_").replace("++", "_plus")


@pytest.mark.parametrize("kind", MODELS)
def test_each_model_has_a_file_of_its_own(kind):
    entries = json.loads(_core.registry())[kind]
    expected = {file_of(entry) for entry in entries} - NOTHING
    found = {
        file.stem
        for file in CRATES.glob(f"{MODELS[kind]}/*.rs")
        if re.search(r"^pub.* static ENTRY: Entry\b", file.read_text(encoding="utf-8"), re.M)
    }
    assert found - NOTHING == expected


@pytest.mark.parametrize("kind", MODELS)
def test_each_model_says_what_it_is_and_where_it_is_from(kind):
    for entry in json.loads(_core.registry())[kind]:
        if entry["name"] in NOTHING:
            continue
        [file] = CRATES.glob(f"{MODELS[kind]}/{file_of(entry)}.rs")
        header = re.match(r"(?://!.*\n)+", file.read_text(encoding="utf-8"))
        assert header, f"{name_of(file)} does not begin with a comment"
        source = " ".join([header[0], *entry["references"]])
        cites = re.search(r"Source:|RFC \d+|\b(19|20)\d\d\b", source)
        assert cites or entry["name"] in NOTHING_TO_CITE, f"{name_of(file)} names no source"


def test_a_defect_is_never_a_default():
    for kind, entries in json.loads(_core.registry()).items():
        for entry in entries:
            for param in entry["params"]:
                defects = [c["name"] for c in param["choices"] or () if c["defect"]]
                assert param["default"] not in defects, f"{kind} {entry['name']}.{param['name']}"


def test_each_law_of_the_theory_has_a_file_of_its_own():
    homes = [type(law).__module__ for law in LAWS.values()]
    homes += [entry.outcome.__module__ for entry in ENTRIES]
    assert len(homes) == len(set(homes))


def test_each_plot_can_be_found():
    for plot in PLOTS:
        assert plot.panels or callable(plot.load()), plot.name


def test_files_are_small():
    lines = {
        name_of(file): len(file.read_text(encoding="utf-8").splitlines())
        for file in (*RUST, *PYTHON)
    }
    assert {name: n for name, n in lines.items() if n > LONGER.get(name, MOST_LINES)} == {}


def test_lints_are_on_in_every_crate_and_exceptions_have_reasons():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert workspace["lints"]["rust"]["unsafe_code"] == "forbid"
    for lint in ("iter_over_hash_type", "unwrap_used"):
        assert workspace["lints"]["clippy"][lint] in ("warn", "deny")
    # One calls what numba has compiled, in one module; one gives hints about memory; names for
    # JavaScript are unsafe attributes.
    own = workspace["lints"] | {"rust": {**workspace["lints"]["rust"], "unsafe_code": "deny"}}
    for manifest in CRATES.glob("*/Cargo.toml"):
        lints = tomllib.loads(manifest.read_text(encoding="utf-8"))["lints"]
        outside = manifest.parent.name in ("memory", "py", "wasm")
        assert lints == (own if outside else {"workspace": True}), name_of(manifest)
    unsafe = [
        name_of(file) for file in RUST if "allow(unsafe_code" in re.sub(r"\s", "", file.read_text())
    ]
    places = ["memory/src/pages.rs", "memory/src/prefetch.rs", "py/src/compiled.rs"]
    assert sorted(unsafe) == [f"crates/{place}" for place in places]
    for file in CRATES.glob("wasm/src/*.rs"):
        assert not re.search(r"\bunsafe [{f]", file.read_text(encoding="utf-8")), name_of(file)
    for file in RUST:
        text = file.read_text(encoding="utf-8")
        for exception in re.findall(r"#!?\[(?:allow|expect)\((.*?)\)\]", text, re.S):
            assert "reason" in exception, f"{name_of(file)}: {exception}"
            assert "iter_over_hash_type" not in exception, name_of(file)


@pytest.mark.slow
def test_no_file_names_a_place_on_somebodys_machine():
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git repository")
    place = re.compile(r"(?<![\w.:/])/(?:home|root|Users|work|tmp)/\w")
    for name in done.stdout.splitlines():
        file = ROOT / name
        if file.suffix in (".md", ".rs", ".py", ".yaml", ".toml", ".json") and file.is_file():
            found = place.search(file.read_text(encoding="utf-8"))
            assert not found, f"{name}: {found}"


UNUSED_WORDS = re.compile(
    r"\b(tells?|told|unasked|sent again|(?:lets|letting) (?:out|go)|for want of|taken for lost"
    r"|hangs? on|in the mean|(?:comes?|came) to the (?:link|queue)|on (?:its|their) way"
    r"|[Ll]east (?:RTT|round-trip times?)|window of the congestion|thrown away"
    r"|(?:segments?|packets?|bytes|instructions|events|once) a"
    r" (?:round trip|packet-hop|second|flow))\b"
)
READ_BY_USERS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(PACKAGE.rglob("*.csv")),
    PACKAGE / "log.py",
    PACKAGE / "conformance" / "checks.py",
    *sorted(file for end in ("py", "md", "yaml") for file in (PACKAGE / "labs").glob(f"*/*.{end}")),
    *sorted((ROOT / "scenarios").rglob("*.yaml")),
]


def test_words_that_the_field_does_not_use_are_not_used():
    """CONTRIBUTING.md has what to write instead."""
    found = {}
    for file in READ_BY_USERS:
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
        if words := {match[0] for match in UNUSED_WORDS.finditer(text)}:
            found[name_of(file)] = words
    assert found == {}
