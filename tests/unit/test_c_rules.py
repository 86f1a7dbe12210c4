"""What the C core may not contain, the compilers and warnings it must pass, and the examples that must compile."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.campaigns import few
from support.paths import CORE, ROOT

SOURCES = sorted(CORE.glob("*.c"))
FILES = [*SOURCES, *sorted(CORE.glob("*.h"))]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wvla", "-pedantic", "-Werror"]
PLAIN = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
COMPILERS = {"gcc": ["gcc"], "clang": [sys.executable, "-m", "ziglang", "cc"]}
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def compiler(name: str) -> list[str]:
    command = COMPILERS[name]
    if name == "gcc" and shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    if name == "clang":
        pytest.importorskip("ziglang", reason="pip install adamb[device]")
    return command


def compile_all(command: list[str], folder: Path, *flags: str) -> list[Path]:
    objects = []
    for source in SOURCES:
        target = folder / f"{source.stem}.o"
        arguments = [*command, "-std=c99", *flags, f"-I{CORE}", "-c", str(source), "-o", str(target)]
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        objects.append(target)
    return objects


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> list[Path]:
    """Unoptimised: every call that the source makes is still there."""
    return compile_all(compiler("gcc"), tmp_path_factory.mktemp("objects"), "-O0", "-fno-builtin")


@pytest.mark.parametrize(
    ("name", "flags"),
    few([("gcc", ["-O2"]), ("clang", ["-Os", "-DADAMB_HAS_DIVIDE"]), ("gcc", ["-Os", "-DADAMB_HAS_DIVIDE"]),
         ("clang", ["-O2"])], 2, rows=True),
)  # fmt: skip
def test_the_core_compiles_without_a_warning(name, flags, tmp_path):
    compile_all(compiler(name), tmp_path, *WARNINGS, *flags)


def symbols(objects: list[Path]) -> dict[str, set[str]]:
    """Names by the letter that nm gives their kind."""
    found: dict[str, set[str]] = {}
    for path in objects:
        done = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            kind, name = line.split()[-2:]
            found.setdefault(kind, set()).add(name)
    return found


def test_the_core_calls_nothing_but_itself(objects):
    """No allocation, no library, no floating-point helper: what one file calls another one defines."""
    found = symbols(objects)
    assert found["U"] - found["T"] == set()


def test_every_name_that_a_user_could_clash_with_has_the_prefix(objects):
    assert all(name.startswith("adamb_") for name in symbols(objects)["T"])


def code(path: Path) -> str:
    """The file without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"[^"]*"', " ", path.read_text(), flags=re.DOTALL)


@files
def test_no_floating_point_no_allocation_no_wide_integers(path):
    words = set(re.findall(r"[A-Za-z_]\w*", code(path)))
    assert words & {"float", "double", "malloc", "calloc", "realloc", "free", "alloca", "printf"} == set()
    assert words & {"int64_t", "uint64_t", "long", "goto", "setjmp", "static_assert"} == set()
    assert re.findall(r"\d\.\d|\d\.[fF]\b", code(path)) == []


HEADERS = ["adamb.h", "adamb_snapshot.h", "adamb_store.h", "adamb_guard.h"]
DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.is_file()]
#: What the examples of the headers leave to their reader.
PRELUDE = """
void stop(void);
void start(uint16_t *block, uint32_t words);
int read_sensors(uint16_t *state);
void wait(void);
extern const uint16_t safe_output[];
void drive(const uint16_t *action);
uint16_t reward_of(const uint16_t *state);
void feed_watchdog(void);
int once_in_a_while(void);
int my_read(void *context, uint32_t address, uint8_t *data, uint32_t bytes);
int my_prog(void *context, uint32_t address, const uint8_t *data, uint32_t bytes);
int my_erase(void *context, uint32_t address);
"""


def examples(document: str) -> list[str]:
    """The blocks of C in a document."""
    return re.findall(r"^```c\n(.*?)^```", document, re.DOTALL | re.MULTILINE)


def header_example(header: str) -> str:
    """The indented lines of the comment at the top."""
    comment = header[: header.index("*/")]
    return "\n".join(re.findall(r"^ \*     (.*)$", comment, re.MULTILINE))


def compile_c(text: str, folder: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    source = folder / "example.c"
    source.write_text(text)
    link = ROOT / "tools" / "device" / "loop"
    flags = ["-std=c99", *PLAIN, f"-I{CORE}", f"-I{link}"]
    command = ["cc", *flags, "-c", str(source), "-o", str(folder / "example.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_c_in_a_document_compiles(path, tmp_path):
    for text in examples(path.read_text()):
        compile_c(text, tmp_path)


@pytest.mark.parametrize("name", HEADERS)
def test_the_example_of_a_header_compiles(name, tmp_path):
    body = header_example((CORE / name).read_text())
    assert len(body.splitlines()) > 5
    argument = "adamb_store *store" if name == "adamb_guard.h" else "void"
    function = f"void example({argument})"
    compile_c(f'#include "{name}"\n{PRELUDE}\n{function};\n{function}\n{{\n{body}\n}}\n', tmp_path)


def test_the_texts_of_errors_can_be_left_out_of_a_build(tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    target = tmp_path / "check.o"
    flags = ["-std=c99", *PLAIN, f"-I{CORE}", "-DADAMB_NO_ERROR_TEXT"]
    subprocess.run(["gcc", *flags, "-c", str(CORE / "adamb_check.c"), "-o", str(target)], check=True)
    assert b"observe without act" not in target.read_bytes()
