/* Exponential and logarithm whose last digit is the same on every machine.
 *
 * Those of numpy and of the C library choose among several versions by the processor, and the versions differ
 * in the last digit. Here everything is additions, multiplications and divisions of doubles in a fixed order,
 * which IEEE 754 rounds the same everywhere as long as the compiler does not fuse them (-ffp-contract=off).
 * Off the true value by less than one unit of the last place, log2 by less than two. */
#ifndef EXACT_H
#define EXACT_H
#include <stdint.h>

double exact_exp(double x);  /* 0 below -708: there are no denormal results */
double exact_exp2(double x); /* a power of two is exact */
double exact_log(double x);  /* of a normal number; minus infinity at 0, NaN below */
double exact_log2(double x); /* a power of two is exact */
double exact_log1p(double x);

/* cffi begin */
typedef enum { EXACT_EXP, EXACT_EXP2, EXACT_LOG, EXACT_LOG2, EXACT_LOG1P } exact_function;
void exact_map(exact_function which, double *x, int64_t n); /* in place */
/* cffi end */

#endif
