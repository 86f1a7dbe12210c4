"""Programs of others on the path, C programs beside an export, and what a sketch takes from an Arduino core."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
"""Tools of the environment that runs the tests come first."""
STRICT = ("-Wall", "-Wextra", "-Werror")


def need(*programs: str, why: str = "not installed here") -> None:
    for program in programs:
        if shutil.which(program, path=PATH) is None:
            pytest.skip(f"{program}: {why}")


def ran(*command: object, folder: Path | None = None, **environment: str) -> str:
    """What a command prints that must succeed."""
    words, given = list(map(str, command)), {**os.environ, "PATH": PATH, **environment}
    done = subprocess.run(words, cwd=folder, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def c_output(text: str, export: Path, folder: Path, *flags: str) -> str:
    """What a C program prints that is compiled with the core of an export."""
    need("cc")
    (folder / "program.c").write_text(text)
    sources = sorted(export.glob("adamb_*.c"))
    ran("cc", "-std=c99", *STRICT, *flags, f"-I{export}", "program.c", *sources, "-o", "program", folder=folder)
    return ran(folder / "program")


ARDUINO_H = """
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { A0 = 14, A1 = 15 };
#ifdef SCRIPTED /* by the test */
int analogRead(int);
static inline void analogReadResolution(int bits) { if (bits != 12) abort(); }
void analogWrite(int, int);
void delay(unsigned long);
#else
#ifndef READING
#define READING 2048
#endif
static inline int analogRead(int) { return READING; }
static inline void analogReadResolution(int) {}
static inline void analogWrite(int, int) {}
static inline void delay(unsigned long) {}
#endif
static inline long map(long x, long a, long b, long c, long d) { return (x - a) * (d - c) / (b - a) + c; }
struct Port {
    void begin(long) {}
    void print(const char *text) { printf("%s", text); }
    void print(long number) { printf("%ld", number); }
    void println(const char *text) { printf("%s\\n", text); }
    void println(unsigned long number) { printf("%lu\\n", number); }
};
static Port Serial;
"""

# The functions of plants/board.h by the registers of an AVR. Played by a test, the sensor wanders over its
# range, and the loop ends after so many periods by reaching main, where simavr stops.
AVR_BOARD = """
#include <avr/io.h>
#include <avr/wdt.h>
#include "adamb_settings.h"
#include "plant.h"
void board_begin(void) {}
void board_actuator(int32_t setting)
{
    OCR1A = (uint8_t)((setting - ACTUATOR_ZERO) * 255 / (ACTUATOR_FULL - ACTUATOR_ZERO));
}
void board_feed_watchdog(void) { wdt_reset(); }
int32_t board_wish(int32_t reading) { return reading; }
#ifdef PLAYED
int main(void) { for (;;) {} }
static uint16_t periods, sensed;
int32_t board_sensor(void) { return SENSOR_ZERO + (int32_t)sensed * (SENSOR_FULL - SENSOR_ZERO) / 65535; }
void board_wait(void)
{
    int (*volatile end)(void) = main;
    sensed = (uint16_t)(sensed * 40503u + 12345u);
    if (++periods == PLAYED) end();
}
#else
int32_t board_sensor(void)
{
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & 1 << ADSC) {}
    return board_calibrated(ADC, SENSOR_ZERO, SENSOR_FULL);
}
void board_wait(void) { while (!(TIFR1 & 1 << TOV1)) {} }
#endif
"""
