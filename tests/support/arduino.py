"""What a sketch takes from an Arduino core, for a compiler of this computer."""

ARDUINO_H = """
#pragma once
#include <stdint.h>
#include <stdio.h>
enum { A0 = 14, A1 = 15 };
#ifdef SCRIPTED /* by the test */
int analogRead(int);
void analogWrite(int, int);
void delay(unsigned long);
#else
#ifndef READING
#define READING 512
#endif
static inline int analogRead(int) { return READING; }
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
