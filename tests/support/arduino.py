"""What a sketch takes from an Arduino core, for any compiler, and a board for the plain loop on an AVR."""

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
