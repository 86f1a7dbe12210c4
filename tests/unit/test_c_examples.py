"""The C examples of the documents and of the headers compile, and a C++ program runs against the core."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "firmware_model" / "c"
SOURCES = sorted(CORE.glob("*.c"))
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
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
    link = ROOT / "tools" / "device" / "loop" / "target"
    flags = ["-std=c99", *WARNINGS, f"-I{CORE}", f"-I{link}"]
    command = ["cc", *flags, "-c", str(source), "-o", str(folder / "example.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_c_in_a_document_compiles(path, tmp_path):
    for text in examples(path.read_text()):
        compile_c(text, tmp_path)


def test_the_readme_shows_how_to_start_in_c():
    assert any("adamb_config_default" in text for text in examples((ROOT / "README.md").read_text()))


@pytest.mark.parametrize("name", HEADERS)
def test_the_example_of_a_header_compiles(name, tmp_path):
    body = header_example((CORE / name).read_text())
    assert len(body.splitlines()) > 5
    argument = "adamb_store *store" if name == "adamb_guard.h" else "void"
    function = f"void example({argument})"
    compile_c(f'#include "{name}"\n{PRELUDE}\n{function};\n{function}\n{{\n{body}\n}}\n', tmp_path)


def test_an_example_that_calls_what_is_not_there_would_fail(tmp_path):
    with pytest.raises(AssertionError, match="adamb_begin"):
        compile_c('#include "adamb.h"\nint f(void);\nint f(void) { return adamb_begin(); }\n', tmp_path)


CPP = r"""
#include <cstdio>
#include <cstring>
#include "adamb.h"
#include "adamb_snapshot.h"
#include "adamb_store.h"
#include "adamb_guard.h"

static_assert(ADAMB_VERSION_MAJOR >= 0 && ADAMB_FORMAT_VERSION >= 1, "versions are numbers");
static_assert(ADAMB_SNAPSHOT_VERSION >= 1, "so is that of snapshots");

int main()
{
    enum { WORDS = 1024, HORIZON = 3 };
    static uint16_t block[WORDS], other[WORDS];
    static uint8_t bytes[16 + 2 * WORDS];
    adamb_config config;
    adamb_config_default(&config, 1, 1, HORIZON);
    config.share = ADAMB_SHARE_ON;
    config.freeze = ADAMB_WHEN_FULL_FREEZE;
    adamb_guard guard;
    if (adamb_guard_open(&guard, &config, block, WORDS, nullptr) != ADAMB_GUARD_REINITIALISED) return 1;
    uint32_t first = 0, last = 0;
    for (int episode = 0; episode < 2000; episode++) {
        for (int h = 0; h < HORIZON; h++) {
            uint16_t state = 0x8000, action = 0;
            if (adamb_act(block, h, &state, &action) != ADAMB_OK) return 2;
            uint16_t reward = action > 0xC000 ? 0xFFFF : 0;
            if (adamb_observe(block, h, reward, &state) != ADAMB_OK) return 3;
            (episode < 1000 ? first : last) += reward != 0;
        }
        if (adamb_end_episode(block) != ADAMB_OK) return 4;
    }
    int32_t length = adamb_snapshot_save(block, bytes, sizeof bytes);
    if (length < 0 || adamb_snapshot_restore(bytes, uint32_t(length), &config, other, WORDS) != 0) return 5;
    if (adamb_check(other, WORDS) != 0 || std::memcmp(block, other, sizeof block) != 0) return 6;
    std::printf("%s %u %u %s\n", ADAMB_VERSION, first, last, adamb_error_text(ADAMB_BAD_ORDER));
    return 0;
}
"""


def test_a_cpp_program_runs_against_the_core(tmp_path):
    if shutil.which("g++") is None or shutil.which("gcc") is None:
        pytest.skip("no g++ here")
    (tmp_path / "main.cpp").write_text(CPP)
    flags = [*WARNINGS, f"-I{CORE}", "-O1"]
    for source in SOURCES:
        target = str(tmp_path / f"{source.stem}.o")
        subprocess.run(["gcc", "-std=c99", *flags, "-c", str(source), "-o", target], check=True)
    objects = map(str, sorted(tmp_path.glob("*.o")))
    files = [str(tmp_path / "main.cpp"), *objects, "-o", str(tmp_path / "main")]
    command = ["g++", "-std=c++11", *flags, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True)
    assert run.returncode == 0, run
    version, first, last, text = run.stdout.strip().split(" ", 3)
    assert int(last) > int(first) > 0, "it learns to play the upper quarter"
    assert text == "observe without act"
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()


def test_the_texts_of_errors_can_be_left_out_of_a_build(tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    target = tmp_path / "error.o"
    flags = ["-std=c99", *WARNINGS, f"-I{CORE}", "-DADAMB_NO_ERROR_TEXT"]
    subprocess.run(["gcc", *flags, "-c", str(CORE / "adamb_error.c"), "-o", str(target)], check=True)
    assert b"observe without act" not in target.read_bytes()
