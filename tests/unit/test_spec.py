"""Numbers are typed once: the generated files are those of spec.toml, and a mismatched pair is refused."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.tools.maintain import generate_spec

SPEC = generate_spec.FIRMWARE / "spec.toml"


@pytest.mark.parametrize("path", list(generate_spec.generate()), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    assert path.read_text() == generate_spec.generate()[path], "run `make core`"


def test_the_hash_follows_the_numbers_and_not_the_comments():
    spec = tomllib.loads(SPEC.read_text())
    values = generate_spec.names(spec)
    assert generate_spec.spec_hash(values) == _spec.SPEC_HASH
    stripped = re.sub(r"#[^\n]*", "", SPEC.read_text())
    assert generate_spec.spec_hash(generate_spec.names(tomllib.loads(stripped))) == _spec.SPEC_HASH
    for name in values:
        assert generate_spec.spec_hash({**values, name: values[name] + 1}) != _spec.SPEC_HASH, name


def test_no_c_file_types_a_number_of_the_specification_again():
    """A limit written twice can be changed once; the words of the layout appear in the core by name only."""
    for path in sorted((generate_spec.FIRMWARE / "c").glob("*.c")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for number in (_spec.MAGIC, _spec.N_MAX, _spec.THRESHOLD_MAX, _spec.UNITS_MAX, _spec.SURPLUS_ZERO):
            assert not re.search(rf"\b{number}u?\b", text), f"{path.name}: {number}"


@pytest.mark.parametrize("name", ["SPEC_HASH", "LEARNER_HASH"])
def test_the_binding_refuses_a_core_of_another_specification(monkeypatch, name):
    if binding.loaded_as != "extension":
        pytest.skip("a plain library is built from these very sources")
    monkeypatch.setattr(_spec, name, getattr(_spec, name) ^ 1)
    with pytest.raises(ImportError, match="different specifications"):
        importlib.reload(binding)
    monkeypatch.undo()
    importlib.reload(binding)


def test_the_plain_library_runs_like_the_extension(tmp_path):
    """Where the extension cannot be built, the same sources make the same controller."""
    program = (
        "from adamb.firmware_model.host import binding; from adamb.firmware_model.host.options import *;"
        "c = make_config(1, 1, 5); b = new_block(600); k = binding.init(c, b); a = [0];"
        "[(k.act(i % 5, [i * 977 % 65536], a), k.observe(i % 5, a[0], [a[0]])) for i in range(2000)];"
        "print(binding.loaded_as, hash(tuple(b)))"
    )
    printed = {}
    for plain in ("", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PATH": "/usr/bin:/bin", "ADAMB_CACHE": str(tmp_path), "ADAMB_PLAIN_LIBRARY": plain},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        printed[plain] = done.stdout.rsplit(" ", 1)
    assert printed["1"][0] == "plain library"
    assert printed[""][1] == printed["1"][1]


def test_what_a_c_user_names_is_that_of_the_specification():
    """Enumerators and versions stand in the public headers, once; here they are compared."""
    folder = generate_spec.FIRMWARE / "c"
    text = "".join((folder / name).read_text() for name in ("adamb.h", "adamb_store.h"))
    stated = dict(re.findall(r"\bADAMB_(\w+)(?: =|(?<=VERSION)) (-?\d+)\b", text))
    expected = {
        "OK": 0,
        "BAD_ARGUMENT": _spec.ERR_ARGUMENT,
        "BAD_CONFIG": _spec.ERR_CONFIG,
        "NO_MEMORY": _spec.ERR_MEMORY,
        "BAD_BLOCK": _spec.ERR_BLOCK,
        "BAD_ORDER": _spec.ERR_ORDER,
        "STORE_EMPTY": _spec.ERR_EMPTY,
        "STORE_DEVICE": _spec.ERR_DEVICE,
        "SHARE_OFF": _spec.SHARE_OFF,
        "SHARE_ON": _spec.SHARE_ON,
        "SHARE_TESTING": _spec.SHARE_TESTING,
        "FORMAT_VERSION": _spec.FORMAT_VERSION,
        "SNAPSHOT_VERSION": _spec.SNAPSHOT_VERSION,
    }
    assert {name: int(stated[name]) for name in expected} == expected
    generated = (folder / "adamb_spec.h").read_text()
    assert not [name for name in stated if f"#define ADAMB_{name} " in generated], "one name, one place"
    assert "ADAMB_ERR_" not in generated


def test_the_version_of_the_header_is_that_of_the_package():
    header = (generate_spec.FIRMWARE / "c" / "adamb.h").read_text()
    package = tomllib.loads((generate_spec.FIRMWARE.parent / "pyproject.toml").read_text())
    version = package["project"]["version"]
    assert f'#define ADAMB_VERSION "{version}"\n' in header
    parts = re.findall(r"#define ADAMB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert ".".join(parts) == version
