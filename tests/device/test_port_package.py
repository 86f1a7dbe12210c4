"""`adamb port --runtime library`: one folder for all toolchains, checked by their tools where there are any."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest
import yaml

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.tools.device.port.job import PLANTS
from support.building import ARDUINO_H, STRICT, need, ran
from support.campaigns import few

LIFE = """
    uint16_t state[1] = {0}, action[1];
    unsigned long sum = 0;
    for (int k = 0; k < 500; k++) {
        for (int h = 0; h < ADAMB_HORIZON; h++) {
            if (ACT(h, state, action) < 0) return 2;
            sum = (sum * 31 + action[0]) & 0xFFFFFF;
            state[0] = (uint16_t)(state[0] * 3 + action[0]);
            if (OBSERVE(h, (uint16_t)(65535 - action[0]), state) < 0) return 2;
        }
        if (END() < 0) return 2;
    }
    printf("%lu\\n", sum);
    return 0;
"""
IN_C = f"""
#include <stdio.h>
#include "adamb_settings.h"
#define ACT(h, s, a) adamb_act(block, h, s, a)
#define OBSERVE(h, r, s) adamb_observe(block, h, r, s)
#define END() adamb_end_episode(block)
static uint16_t block[ADAMB_BLOCK_WORDS];
int main(void)
{{
    adamb_config config;
    adamb_settings(&config);
    if (adamb_init(&config, block, ADAMB_BLOCK_WORDS) < 0) return 2;
    {LIFE}
}}
"""
IN_CPP = f"""
#include <stdio.h>
#include "adamb.hpp"
#include "adamb_guard.h"
#include "adamb_settings.h"
#include "adamb_store.h"
#define ACT controller.act
#define OBSERVE controller.observe
#define END controller.end_episode
static adamb::Controller<ADAMB_BLOCK_WORDS> controller, other;
static uint8_t bytes[16 + 2 * ADAMB_BLOCK_WORDS];
static int life()
{{
    {LIFE}
}}
int main()
{{
    uint16_t state[1] = {{0}}, action[1];
    adamb_statistics found;
    adamb_config config;
    adamb_settings(&config);
    if (controller.act(0, state, action) != ADAMB_BAD_BLOCK) return 1;
    if (controller.begin(config) < 0 || life() != 0) return 2;
    int32_t length = controller.save(bytes, sizeof bytes);
    if (length < 0 || other.restore(bytes, (uint32_t)length, config) < 0 || other.check() < 0) return 3;
    if (other.stats(found) < 0 || found.episodes != 500 || other.block() == controller.block()) return 4;
    return 0;
}}
"""


@pytest.fixture(scope="session")
def objects(library: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The library, compiled once by hand."""
    need("cc", "c++")
    folder = tmp_path_factory.mktemp("objects")
    ran("cc", "-std=c99", "-O1", "-c", *sorted((library / "src").glob("*.c")), folder=folder)
    return sorted(folder.glob("*.o"))


def digest(library: Path, objects: list[Path], folder: Path) -> str:
    """What the life prints when it is linked by hand."""
    (folder / "life.c").write_text(IN_C)
    ran("cc", "-std=c99", f"-I{library / 'src'}", folder / "life.c", *objects, "-o", folder / "life")
    return ran(folder / "life")


def test_what_cmake_installs_is_found_by_find_package_and_pkg_config(
    library: Path, objects: list[Path], tmp_path: Path
) -> None:
    need("cmake", "cc")
    prefix, user = tmp_path / "prefix", tmp_path / "user"
    ran("cmake", "-S", library, "-B", tmp_path / "made", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    ran("cmake", "--build", tmp_path / "made")
    ran("cmake", "--install", tmp_path / "made")
    assert not list(prefix.rglob("adamb_internal.h"))
    user.mkdir()
    (user / "life.c").write_text(IN_C)
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user LANGUAGES C)\nfind_package(adamb REQUIRED)\n"
        "add_executable(life life.c)\ntarget_link_libraries(life PRIVATE adamb::adamb)\n"
    )
    ran("cmake", "-S", user, "-B", user / "made", f"-DCMAKE_PREFIX_PATH={prefix}")
    ran("cmake", "--build", user / "made")
    expected = digest(library, objects, tmp_path)
    assert ran(user / "made" / "life") == expected
    need("pkg-config")
    place = str(next(prefix.rglob("adamb.pc")).parent)
    flags = ran("pkg-config", "--cflags", "--libs", "adamb", PKG_CONFIG_PATH=place).split()
    ran("cc", user / "life.c", *flags, "-o", tmp_path / "by-pkg-config")
    assert ran(tmp_path / "by-pkg-config") == expected


@pytest.mark.parametrize("standard", ["c++98", "c++17"])
def test_the_cpp_class_needs_no_exceptions_and_allocates_nothing(
    library: Path, objects: list[Path], tmp_path: Path, standard: str
) -> None:
    need("nm")
    (tmp_path / "life.cpp").write_text(IN_CPP)
    flags = ["-fno-exceptions", "-fno-rtti", "-Wpedantic", *STRICT]
    include = f"-I{library / 'src'}"
    ran("c++", f"-std={standard}", *flags, include, "-c", "life.cpp", "-o", "life.o", folder=tmp_path)
    assert not re.search(r" U (_Zn|_Zd|malloc|free|__cxa_)", ran("nm", tmp_path / "life.o"))
    ran("c++", tmp_path / "life.o", *objects, "-o", tmp_path / "whole")
    assert ran(tmp_path / "whole") == digest(library, objects, tmp_path)


# https://arduino.github.io/arduino-cli/latest/library-specification/
ARDUINO_CATEGORIES = {
    "Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
    "Data Processing", "Other",
}  # fmt: skip
ARDUINO_NEEDS = {
    "name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures",
}  # fmt: skip


def test_the_arduino_library_is_laid_out_as_its_specification_says(library: Path) -> None:
    lines = (library / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    assert fields.keys() >= ARDUINO_NEEDS and all(fields.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", fields["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"])
    assert fields["category"] in ARDUINO_CATEGORIES and fields["sentence"] not in fields["paragraph"]
    assert all((library / "src" / name).is_file() for name in fields["includes"].split(","))
    sketches = sorted(path.relative_to(library).as_posix() for path in library.rglob("*.ino"))
    assert sketches == [f"examples/{name}/{name}.ino" for name in sorted((*PLANTS, "saving"))]
    assert not (library / "utility").exists() and not list(library.glob("*.[ch]"))


def played(library: Path, objects: list[Path], tmp_path: Path, plant: str, flags: list[str]) -> str:
    """What 600 episodes of a sketch print. The compiler gets what an Arduino core declares, not that core."""
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    sketch = library / "examples" / plant / f"{plant}.ino"
    calls = "\nint main() { setup(); for (int i = 0; i < 600; i++) loop(); return 0; }\n"
    (tmp_path / "sketch.cpp").write_text(f'#include <Arduino.h>\n#include "{sketch}"\n{calls}')
    include = [f"-I{library / 'src'}", f"-I{tmp_path}"]
    ran("c++", *flags, *STRICT, *include, "-c", "sketch.cpp", "-o", "sketch.o", folder=tmp_path)
    ran("c++", tmp_path / "sketch.o", *objects, "-o", tmp_path / "sketch")
    return ran(tmp_path / "sketch", folder=tmp_path)


@pytest.mark.parametrize("plant", few(PLANTS, 2))
@pytest.mark.parametrize("flags", [[], ["-DADAMB_SIMULATE=1"]], ids=["wired", "simulated"])
def test_every_sketch_compiles_and_runs(
    library: Path, objects: list[Path], tmp_path: Path, plant: str, flags: list[str]
) -> None:
    output = played(library, objects, tmp_path, plant, flags)
    rewards = list(map(int, re.findall(r"thousandths (\d+), readings out of range 0\n", output)))
    assert len(rewards) == 30
    if flags:
        assert sum(rewards[-10:]) > sum(rewards[:10]), rewards


@pytest.mark.parametrize("plant", few(PLANTS, 2))
@pytest.mark.parametrize("reading", [0, 4095])
def test_a_sketch_counts_an_open_or_shorted_input_as_out_of_range(
    library: Path, objects: list[Path], tmp_path: Path, plant: str, reading: int
) -> None:
    output = played(library, objects, tmp_path, plant, [f"-DREADING={reading}"])
    counted = list(map(int, re.findall(r"readings out of range (\d+)\n", output)))
    assert len(counted) == 30 and counted[-1] == 600 * 5, "one reading in a step: none is acted on"


# A file of LittleFS is a file here; what it holds outlasts the process.
LITTLEFS_H = """
#pragma once
#include <stdio.h>
struct File {
    FILE *file = nullptr;
    operator bool() const { return file != nullptr; }
    bool seek(uint32_t at) { return fseek(file, at, SEEK_SET) == 0; }
    size_t write(uint8_t byte) { return write(&byte, 1); }
    size_t write(const uint8_t *data, size_t bytes) { return fwrite(data, 1, bytes, file); }
    size_t read(uint8_t *data, size_t bytes) { return fread(data, 1, bytes, file); }
    void flush() { fflush(file); }
    void close() { fclose(file); }
};
struct {
    bool begin(bool format) { return format; }
    bool exists(const char *place)
    {
        File found = open(place, "r");
        if (found) found.close();
        return found;
    }
    File open(const char *place, const char *mode)
    {
        File made;
        made.file = fopen(place + 1, mode);
        return made;
    }
} LittleFS;
"""


def test_the_sketch_that_saves_resumes_after_a_reset(library: Path, objects: list[Path], tmp_path: Path) -> None:
    (tmp_path / "LittleFS.h").write_text(LITTLEFS_H)
    flags = ["-DARDUINO_ARCH_ESP32", "-DADAMB_SIMULATE=1", "-include", "stdint.h", "-std=c++17"]
    first = played(library, objects, tmp_path, "saving", flags)
    assert first.startswith("a new controller\n") and first.count("saved\n") == 3
    again = ran(tmp_path / "sketch", folder=tmp_path)
    assert again.startswith("resumed from the last save\n")
    rewards = [list(map(int, re.findall(r"thousandths (\d+)", said))) for said in (first, again)]
    assert sum(rewards[1][:3]) > sum(rewards[0][:3]), "it begins where it had ended"
    torn = bytearray((tmp_path / "adamb.sav").read_bytes())
    torn[::100] = bytes(len(torn[::100]))
    (tmp_path / "adamb.sav").write_bytes(torn)
    assert ran(tmp_path / "sketch", folder=tmp_path).startswith("a new controller\n")


def test_what_kconfig_chooses_is_what_the_settings_take(library: Path, objects: list[Path], tmp_path: Path) -> None:
    (tmp_path / "show.c").write_text(
        '#include <stdio.h>\n#include "adamb_settings.h"\nint main(void)\n{\n    adamb_config c;\n'
        '    adamb_settings(&c);\n    printf("%u %u %u\\n", ADAMB_BLOCK_WORDS, c.when_full, c.detect);\n}\n'
    )

    def shown(*chosen: str) -> str:
        include = f"-I{library / 'src'}"
        ran("cc", "-std=c99", *chosen, include, "show.c", *objects, "-o", "show", folder=tmp_path)
        return ran(tmp_path / "show").strip()

    assert shown() == "1024 0 1"
    assert shown("-DCONFIG_ADAMB_BLOCK_BYTES=4096", "-DCONFIG_ADAMB_FREEZE=1") == "2048 1 0"
    assert shown("-DCONFIG_ADAMB_BLOCK_BYTES=4096", "-DCONFIG_ADAMB_DETECT=1") == "2048 0 1"


def test_kconfig_is_read_by_the_library_that_zephyr_uses(library: Path) -> None:
    import kconfiglib

    read = kconfiglib.Kconfig(str(library / "Kconfig"), warn_to_stderr=False)
    read.syms["ADAMB"].set_value("y")
    values = {name: read.syms[f"ADAMB_{name}"].str_value for name in ("BLOCK_BYTES", "FREEZE", "DETECT")}
    assert values == {"BLOCK_BYTES": "2048", "FREEZE": "n", "DETECT": "y"} and read.warnings == []
    read.syms["ADAMB_BLOCK_BYTES"].set_value("100")
    assert read.syms["ADAMB_BLOCK_BYTES"].str_value != "100", "less than the controller needs"


def test_the_zephyr_module_names_files_that_are_there(library: Path) -> None:
    """Keys of https://docs.zephyrproject.org/latest/develop/modules.html, section module.yml."""
    module = yaml.safe_load((library / "zephyr" / "module.yml").read_text())
    assert module == {"name": "adamb", "build": {"cmake": "zephyr", "kconfig": "Kconfig"}}
    listed = re.findall(r"\.\./(src/\w+\.c)", (library / "zephyr" / "CMakeLists.txt").read_text())
    assert sorted(listed) == sorted(f"src/{path.name}" for path in (library / "src").glob("*.c"))


def test_the_esp_idf_manifest_has_the_fields_of_its_format(library: Path) -> None:
    manifest = yaml.safe_load((library / "idf_component.yml").read_text())
    assert set(manifest) == {"version", "description", "url", "license", "dependencies"}
    assert manifest["dependencies"] == {"idf": ">=4.4"}
    assert 'idf_component_register(SRC_DIRS "src"' in (library / "CMakeLists.txt").read_text()


def test_the_component_manager_of_esp_idf_packs_it(library: Path, tmp_path: Path) -> None:
    need("compote", why="pip install adamb[dev]")
    folder = tmp_path / "adamb"
    shutil.copytree(library, folder)
    ran("compote", "component", "pack", "--name", "adamb", "--dest-dir", tmp_path / "packed", folder=folder)
    assert list((tmp_path / "packed").glob("adamb_*.tgz"))


def test_platformio_packs_it(library: Path, tmp_path: Path) -> None:
    packed = tmp_path / "adamb.tar.gz"
    folder = tmp_path / "AdaMB"
    shutil.copytree(library, folder)
    manifest = json.loads((folder / "library.json").read_text())
    assert all((library / "src" / name).is_file() for name in manifest["headers"])
    assert manifest.pop("license") == "MIT", "which it compares with a list that it downloads"
    (folder / "library.json").write_text(json.dumps(manifest))
    need("pio", why="pip install adamb[dev]")
    ran("pio", "pkg", "pack", folder, "-o", packed, PLATFORMIO_CORE_DIR=str(tmp_path / "pio"))
    with tarfile.open(packed) as archive:
        assert {"library.json", "src/adamb.h", "examples/heater/heater.ino"} <= set(archive.getnames())


def test_a_workspace_of_west_takes_the_package_as_a_project(library: Path, tmp_path: Path) -> None:
    """What a user of Zephyr writes: the package in the manifest of an application, fetched by west.

    A part of west is published without a wheel, so it is not among the locked versions.
    """
    need("west", "git", why="pipx install west")
    origin, application = tmp_path / "origin", tmp_path / "workspace" / "application"
    shutil.copytree(library, origin)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    ran("git", "init", "-q", "-b", "main", folder=origin)
    ran("git", "add", ".", folder=origin)
    ran("git", *identity, "commit", "-q", "-m", "package", folder=origin)
    project = {"name": "adamb", "url": origin.as_uri(), "revision": "main", "path": "modules/lib/adamb"}
    application.mkdir(parents=True)
    (application / "west.yml").write_text(yaml.safe_dump({"manifest": {"projects": [project]}}))
    workspace = application.parent
    ran("west", "init", "-l", application, folder=workspace)
    ran("west", "manifest", "--validate", folder=workspace)
    ran("west", "update", folder=workspace)
    place = ran("west", "list", "-f", "{abspath}", "adamb", folder=workspace).strip()
    module = yaml.safe_load((Path(place) / "zephyr" / "module.yml").read_text())
    assert (Path(place) / module["build"]["kconfig"]).is_file()
    assert (Path(place) / module["build"]["cmake"] / "CMakeLists.txt").is_file()
