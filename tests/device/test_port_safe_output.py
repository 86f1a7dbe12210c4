"""The loops that `adamb port` writes set the safe output first, last, and while a reading is out of range."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.tools.device.micropython.interpreter import run_program
from support.building import ARDUINO_H, STRICT, c_output, need, ran
from support.on_board import MACHINE, copied, without_waiting

# ---- C ---------------------------------------------------------------------------------------------------

# A bar whose sensor and controller fail as the script says. One letter per event: i init, s the safe output,
# o another output, a act, l observe, f the watchdog is fed, p a period passes, v a page is saved.
SCRIPT = r"""
#include <stdio.h>
#include <stdlib.h>
#include "adamb_guard.h"
#include "adamb_settings.h"

static int periods, idle;
static void said(char event)
{
    idle = event == 's' ? idle + 1 : 0;
    if (idle < 9) putchar(event);
    if (idle == 99 || periods == 12) exit(0);
}
static int traced_act(uint16_t *b, int h, const uint16_t *s, uint16_t *a)
{
    said('a');
    return adamb_act(b, h, s, a);
}
static int traced_observe(uint16_t *b, int h, uint16_t r, const uint16_t *s)
{
    said('l');
    return adamb_observe(b, h, r, s);
}
static int traced_init(const adamb_config *c, uint16_t *b, uint32_t w)
{
    said('i');
    return BAD_START ? -2 : adamb_init(c, b, w);
}
#define adamb_act traced_act
#define adamb_observe traced_observe
#define adamb_init traced_init
#include LOOP

static int32_t readings = 1400;
void board_begin(void) {}
int32_t board_sensor(void) { return periods >= OUT && periods < OUT + 3 ? 2600 : readings; }
void board_actuator(int32_t setting) { said(setting == SAFE_OUTPUT ? 's' : 'o'); }
void board_feed_watchdog(void) { said('f'); }
void board_wait(void)
{
    said('p');
    if (++periods == DAMAGE) block[0] ^= 0x0101;
    if (periods == CONFIG_DAMAGE) BREAK_CONFIG;
}
"""
FLASH = r"""
#include <string.h>
static uint8_t kept[SECTORS * SECTOR_BYTES];
int board_flash_read(void *c, uint32_t at, uint8_t *d, uint32_t n)
{
    return memcpy(d, kept + at, n) == c;
}
int board_flash_program(void *c, uint32_t at, const uint8_t *d, uint32_t n)
{
    said('v');
    return memcpy(kept + at, d, n) == c;
}
int board_flash_erase(void *c, uint32_t at)
{
    return memset(kept + at, 0xFF, SECTOR_BYTES) == c;
}
"""
NEVER = 1000


def outputs(folder: Path, place: Path, loop: str, **script: object) -> str:
    """What the loop does for twelve periods, or until it only repeats the safe output."""
    given = {"OUT": NEVER, "DAMAGE": NEVER, "CONFIG_DAMAGE": NEVER, "BREAK_CONFIG": "(void)0", "BAD_START": 0}
    given |= {"LOOP": f'"{loop}"'} | script
    text = SCRIPT + (FLASH if "guarded" in loop or "FLASHED" in script else "")
    defines = [f"-D{name}={value}" for name, value in given.items()]
    return c_output(text, folder, place, "-Wno-unused-function", *defines)


LOOPS = pytest.mark.parametrize("loop", ["example_main.c", "guarded/guarded_main.c"])
NORMAL = "faopl"


@LOOPS
def test_a_c_loop_sets_the_safe_output_before_it_starts_the_controller(
    c_folder: Path, tmp_path: Path, loop: str
) -> None:
    done = outputs(c_folder, tmp_path, loop)
    assert done.startswith("s") and done.replace("i", "").startswith("s" + 11 * NORMAL)


@LOOPS
def test_a_c_loop_neither_acts_on_nor_learns_from_a_reading_out_of_range(
    c_folder: Path, tmp_path: Path, loop: str
) -> None:
    done = outputs(c_folder, tmp_path, loop, OUT=3).replace("i", "")
    # The third period ends with a reading out of range and is not learnt from; after the sixth all is well.
    assert done.startswith("s" + 2 * NORMAL + "faops" + 3 * "fsp" + 5 * NORMAL)


def test_a_c_loop_whose_controller_cannot_start_keeps_the_safe_output(c_folder: Path, tmp_path: Path) -> None:
    assert outputs(c_folder, tmp_path, "example_main.c", BAD_START=1) == "siss" + 6 * "s"


def test_a_c_loop_ends_with_the_safe_output_and_feeds_no_watchdog(c_folder: Path, tmp_path: Path) -> None:
    done = outputs(c_folder, tmp_path, "example_main.c", DAMAGE=3)
    assert done == "si" + 2 * NORMAL + "faopl" + 8 * "s", "observe refused the damaged block"


def test_a_guarded_loop_sets_the_safe_output_when_the_block_was_replaced(c_folder: Path, tmp_path: Path) -> None:
    done = outputs(c_folder, tmp_path, "guarded/guarded_main.c", DAMAGE=3)
    assert done.startswith("s" + 3 * NORMAL + "s" + 3 * NORMAL)


def test_a_guarded_loop_that_cannot_recover_keeps_the_safe_output(c_folder: Path, tmp_path: Path) -> None:
    broken = {"CONFIG_DAMAGE": 3, "DAMAGE": 3, "BREAK_CONFIG": "config.d_s=99"}
    done = outputs(c_folder, tmp_path, "guarded/guarded_main.c", **broken)
    assert done == "s" + 3 * NORMAL + 8 * "s", "the watchdog resets the board, which makes a new configuration"


def test_a_guarded_loop_sets_the_safe_output_before_it_saves(c_folder: Path, tmp_path: Path) -> None:
    text = (c_folder / "guarded" / "guarded_main.c").read_text()
    assert "SAVE_EVERY 50u" in text
    (tmp_path / "often.c").write_text(text.replace("SAVE_EVERY 50u", "SAVE_EVERY 1u"))
    done = outputs(c_folder, tmp_path, str(tmp_path / "often.c"), FLASHED=1)
    assert re.match("s" + 5 * NORMAL + "sfv+" + 5 * NORMAL + "sfv+", done), done


# A save, then a reset after which reads of the flash fail from one on, so many of them.
RESETS = r"""
#include <stdio.h>
#define main unused
#include LOOP
#undef main
static long reads, from, until;
static uint8_t kept[SECTORS * SECTOR_BYTES];
int board_flash_read(void *c, uint32_t at, uint8_t *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) d[i] = kept[at + i];
    return (++reads > from && reads <= until) || c != 0;
}
int board_flash_program(void *c, uint32_t at, const uint8_t *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) kept[at + i] = d[i];
    return c != 0;
}
int board_flash_erase(void *c, uint32_t at)
{
    for (uint32_t i = 0; i < SECTOR_BYTES; i++) kept[at + i] = 0xFF;
    return c != 0;
}
void board_begin(void) {}
int32_t board_sensor(void) { return 1400; }
void board_actuator(int32_t setting) { (void)setting; }
void board_feed_watchdog(void) {}
void board_wait(void) {}
static int reset(long first, long count)
{
    reads = 0;
    from = first;
    until = first + count;
    return guarded_start();
}
int main(void)
{
    int bad = guarded_start() != ADAMB_GUARD_REINITIALISED || guarded_episode() != 0;
    bad |= reset(0, 0) != ADAMB_GUARD_RESTORED;
    long all = reads;
    for (long i = 0; i < all; i++) bad |= reset(i, 1) != ADAMB_GUARD_RESTORED ? 2 : 0; /* each of them once */
    bad |= reset(0, 1000000) != ADAMB_GUARD_REINITIALISED ? 4 : 0;
    bad |= guarded_episode() != 0 || unsaved != 1 ? 8 : 0; /* it runs, and nothing is erased */
    bad |= reset(0, 0) != ADAMB_GUARD_RESTORED ? 16 : 0;
    printf("%ld %d", all, bad);
    return 0;
}
"""


def test_one_read_that_fails_costs_a_guarded_loop_nothing_and_a_dead_flash_does_not_stop_it(
    c_folder: Path, tmp_path: Path
) -> None:
    text = (c_folder / "guarded" / "guarded_main.c").read_text()
    (tmp_path / "often.c").write_text(text.replace("SAVE_EVERY 50u", "SAVE_EVERY 1u"))
    said = c_output(RESETS, c_folder, tmp_path, '-DLOOP="often.c"', "-Wno-unused-function")
    reads, bad = map(int, said.split())
    assert reads > 20 and bad == 0


# ---- Arduino ---------------------------------------------------------------------------------------------

CORES = {
    "OTHER": "",
    "AVR": "enum { WDTO_8S };\nstatic void wdt_enable(int) {}\nstatic void wdt_reset() { putchar('!'); }\n",
    "ESP32": "static void enableLoopWDT() {}\nstatic void feedLoopWDT() { putchar('!'); }\n",
    "RP2040": "static struct { void wdt_begin(int) {} void wdt_reset() { putchar('!'); } } rp2040;\n",
}
SKETCH = """
#include <stdlib.h>
static int reads, waits;
int analogRead(int)
{
    if (++reads == 11) controller = adamb::Controller<ADAMB_BLOCK_WORDS>(); /* empty: every call refuses it */
    return reads > 3 && reads < 7 ? ADC_LAST : ADC_LAST / 2;
}
void analogWrite(int, int duty) { putchar(duty ? 'o' : 's'); }
void delay(unsigned long)
{
    putchar('p');
    if (++waits == 20) exit(0);
}
int main()
{
    setup();
    for (;;) loop();
}
"""


@pytest.mark.parametrize("core", CORES)
def test_a_sketch_sets_the_safe_output_and_feeds_the_watchdog_of_its_core(
    library: Path, tmp_path: Path, core: str
) -> None:
    need("cc", "c++")
    (tmp_path / "Arduino.h").write_text(ARDUINO_H + CORES[core])
    (tmp_path / "avr").mkdir()
    (tmp_path / "avr" / "wdt.h").write_text("")
    sketch = library / "examples" / "motor" / "motor.ino"
    (tmp_path / "sketch.cpp").write_text(f'#include <Arduino.h>\n#include "{sketch}"\n{SKETCH}')
    ran("cc", "-std=c99", "-c", *(library / "src").glob("*.c"), folder=tmp_path)
    flags = [*STRICT, "-DSCRIPTED", f"-DARDUINO_ARCH_{core}", f"-I{library / 'src'}", "-I."]
    ran("c++", *flags, "sketch.cpp", *tmp_path.glob("*.o"), "-o", "sketch", folder=tmp_path)
    done = ran(tmp_path / "sketch")
    assert ("!" in done) == (core != "OTHER")
    # Reading 4, at the end of a period, to 6 are out of range; a period at the safe output reads twice.
    worked, *stopped = done.replace("!", "").splitlines()
    assert worked.startswith("s" + "op" + "ops" + "sp" + "op" + "op" + "s"), worked
    assert len(stopped) > 9 and {line[:2] for line in stopped[:-1]} == {"ps"} and "!" not in done[-200:]


# ---- MicroPython -----------------------------------------------------------------------------------------

WORLD = (
    MACHINE
    + """
World.events = ""

def event(letter):
    World.events += letter

def looked():
    if World.reads == {fails}:
        raise {error}
    if World.reads == {end}:
        sys.exit(0)
    World.temperature = 65535 if World.reads in {outside} else 30000

class Heater(PWM):
    def duty_u16(self, duty):
        event("o" if duty else "s")

class Watchdog(WDT):
    def __init__(self, timeout):
        assert timeout == 8300
        event("w")
    def feed(self):
        event("f")

World.slept = []

def sleep_ms(time):
    World.slept.append(time)
    event("z")

PWM, WDT = Heater, Watchdog
"""
)
START = {
    "main.py": "def run():\n    exec(open('main.py').read(), {'__name__': '__main__'})\n",
    "main_guarded.py": "def run():\n    import main_guarded\n",
}
PROGRAM = """
import machine
from adamb import core, guard
from adamb_storage import FileSaves
act, observe = core.Controller.act, core.Controller.observe
def traced(letter, call):
    def traced_call(*given):
        machine.event(letter)
        return call(*given)
    return traced_call
core.Controller.act, core.Controller.observe = traced("a", act), traced("l", observe)
guard.Guard.save, FileSaves.restore = traced("v", guard.Guard.save), traced("r", FileSaves.restore)
{start}
try:
    run()
except BaseException as error:
    print(machine.World.events, type(error).__name__)
"""


def events(
    folder: Path,
    name: str,
    *,
    fails: int = 0,
    error: str = "OSError(5)",
    outside: tuple[int, ...] = (),
    end: int = 9,
    every: int = 50,
) -> list[str]:
    """What the loop does until the last reading or the one that fails, and how it ends."""
    files = copied(folder, "mpy", "adamb_settings.py", "adamb_storage.py", "plant.py", name)
    files[f"/{name}"] = (folder / name).read_text().replace("SAVE_EVERY = 50", f"SAVE_EVERY = {every}")
    world = WORLD.format(fails=fails, error=error, outside=outside, end=end)
    files |= {"/adamb_board.py": without_waiting(folder), "/machine.py": world}
    run = run_program(PROGRAM.format(start=START[name]), files, seconds=200)
    return run.require_success().output.split()[-2:]


#: The safe output twice, by the import of the board and by the board; a restore; only then the watchdog.
BEGIN = {"main.py": "ssw", "main_guarded.py": "ssrw"}
PROGRAMS = pytest.mark.parametrize("name", START)


@PROGRAMS
@pytest.mark.parametrize("error", ["OSError(5)", "KeyboardInterrupt", "SystemExit"])
def test_a_python_loop_sets_the_safe_output_first_and_however_it_ends(pico: Path, name: str, error: str) -> None:
    done = events(pico, name, fails=5, error=error)
    begin = BEGIN[name]
    assert done == [begin + 2 * "faol" + "fs", error.split("(")[0]], "and nothing feeds the watchdog any more"


@PROGRAMS
def test_a_python_loop_neither_acts_on_nor_learns_from_a_reading_out_of_range(pico: Path, name: str) -> None:
    done = events(pico, name, outside=(4, 5, 6))
    assert done == [BEGIN[name] + "faol" + "faos" + 2 * "fs" + "faol" + "fs", "SystemExit"]


def test_a_guarded_python_loop_sets_the_safe_output_and_feeds_the_watchdog_before_it_saves(pico: Path) -> None:
    done = events(pico, "main_guarded.py", end=21, every=1)
    assert done == ["ssrw" + 2 * (5 * "faol" + "sfv") + "fs", "SystemExit"]


@PROGRAMS
@pytest.mark.parametrize("broken", ["adamb_settings", "lib/adamb/unit"])
def test_a_python_loop_has_set_the_safe_output_when_an_import_fails(pico: Path, name: str, broken: str) -> None:
    files = copied(pico, "mpy", "adamb_board.py", "adamb_settings.py", "adamb_storage.py", "plant.py", name)
    files.pop(f"/{broken}.mpy", None)
    files[f"/{broken}.py"] = "raise MemoryError\n"
    files["/machine.py"] = WORLD.format(fails=0, error="OSError", outside=(), end=9)
    program = f"import machine\n{START[name]}\ntry:\n    run()\nexcept MemoryError:\n"
    run = run_program(program + "    print('failed', machine.World.events)\n", files)
    assert run.require_success().output == "failed ss\n"


@pytest.mark.parametrize(("plant", "slices"), [("light", [1000] * 5), ("clock", [40])])
def test_a_python_loop_feeds_the_watchdog_while_it_waits(pico: Path, plant: str, slices: list[int]) -> None:
    board = (pico / "adamb_board.py").read_text()
    assert board.count("import time\n") == 1
    files: dict[str, Path | bytes | str] = {"/plant.py": pico / "plants" / f"{plant}.py"}
    files["/adamb_board.py"] = board.replace("import time\n", "import machine as time\n")
    files["/machine.py"] = WORLD.format(fails=0, error="OSError", outside=(), end=9)
    program = "import machine\nfrom adamb_board import Board\nBoard().wait(0)\n"
    run = run_program(program + "print(machine.World.slept, machine.World.events[2:])\n", files)
    assert run.require_success().output == f"{slices} w{len(slices) * 'fz'}\n"
