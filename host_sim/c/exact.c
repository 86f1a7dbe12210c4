#include "exact.h"

#include <math.h>
#include <string.h>

static const double LN2_HIGH = 0x1.62e42fee00000p-1; /* 33 bits: times any exponent it is exact */
static const double LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LN2 = 0x1.62e42fefa39efp-1;
static const double INVERSE_LN2 = 0x1.71547652b82fep+0;
static const double LEAST = -708.0, MOST = 709.0; /* of the argument of exp */
static const double WHOLE = 0x1.8p52; /* adding it leaves the nearest integer in the low bits */

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k e^(high - low) for |high| <= ln(2)/2, by the Taylor series; `shifted` is k + WHOLE. */
static inline double scaled_exp(double shifted, double high, double low)
{
    double r = high - low;
    double sum = 1.0 / 6227020800.0;
    sum = 1.0 / 479001600.0 + r * sum;
    sum = 1.0 / 39916800.0 + r * sum;
    sum = 1.0 / 3628800.0 + r * sum;
    sum = 1.0 / 362880.0 + r * sum;
    sum = 1.0 / 40320.0 + r * sum;
    sum = 1.0 / 5040.0 + r * sum;
    sum = 1.0 / 720.0 + r * sum;
    sum = 1.0 / 120.0 + r * sum;
    sum = 1.0 / 24.0 + r * sum;
    sum = 1.0 / 6.0 + r * sum;
    sum = 0.5 + r * sum;
    double near_one = 1.0 + (high + (r * r * sum - low));
    return double_of(bits_of(near_one) + (bits_of(shifted) << 52));
}

static inline double exp_of(double x)
{
    double inside = x < LEAST ? LEAST : x > MOST ? MOST : x; /* no branches: a loop can be vectorised */
    double shifted = inside * INVERSE_LN2 + WHOLE, k = shifted - WHOLE;
    double y = scaled_exp(shifted, inside - k * LN2_HIGH, k * LN2_LOW);
    return x < LEAST ? 0.0 : x > MOST ? INFINITY : y;
}

double exact_exp(double x)
{
    return exp_of(x);
}

double exact_exp2(double x)
{
    if (!(x >= -1021.0))
        return x < -1021.0 ? 0.0 : x;
    if (x > 1023.0)
        return INFINITY;
    double shifted = x + WHOLE, k = shifted - WHOLE;
    return scaled_exp(shifted, (x - k) * LN2, 0.0);
}

/* x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2). */
static double split(double x, double *f)
{
    static const uint64_t MANTISSA = 0xFFFFFFFFFFFFFu, ROOT_HALF = 0x6A09E667F3BCDu;
    uint64_t bits = bits_of(x);
    uint64_t above = (bits & MANTISSA) >= ROOT_HALF; /* 1.414... or more: halve it once more */
    *f = double_of((bits & MANTISSA) | (1023u - above) << 52) - 1.0;
    return (double)((int)(bits >> 52) - 1023 + (int)above);
}

/* ln(1 + f) = 2 artanh(s), s = f/(2 + f). Written as f - rest, the leading term f is exact. */
static double rest_of_log(double f)
{
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double sum = 2.0 / 23.0;
    sum = 2.0 / 21.0 + z * sum;
    sum = 2.0 / 19.0 + z * sum;
    sum = 2.0 / 17.0 + z * sum;
    sum = 2.0 / 15.0 + z * sum;
    sum = 2.0 / 13.0 + z * sum;
    sum = 2.0 / 11.0 + z * sum;
    sum = 2.0 / 9.0 + z * sum;
    sum = 2.0 / 7.0 + z * sum;
    sum = 2.0 / 5.0 + z * sum;
    sum = 2.0 / 3.0 + z * sum;
    return half - s * (half + z * sum);
}

static double log_with(double x, double correction)
{
    double f, k = split(x, &f);
    return k * LN2_HIGH - ((rest_of_log(f) - (k * LN2_LOW + correction)) - f);
}

double exact_log(double x)
{
    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : NAN;
    return isinf(x) ? x : log_with(x, 0.0);
}

double exact_log2(double x)
{
    double f;
    if (!(x > 0.0) || isinf(x))
        return exact_log(x);
    double k = split(x, &f);
    return k + (f - rest_of_log(f)) * INVERSE_LN2;
}

double exact_log1p(double x)
{
    double sum = 1.0 + x;
    if (!(x > -1.0) || isinf(x))
        return exact_log(sum);
    return log_with(sum, (x - (sum - 1.0)) / sum); /* what the sum lost, to first order */
}

/* Wider registers do the same operations on more numbers at once: faster, and never another digit. */
#if defined __GNUC__ && !defined __clang__ && defined __x86_64__ && defined __gnu_linux__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void map_exp(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = exp_of(x[i]);
}

void exact_map(exact_function which, double *x, int64_t n)
{
    static double (*const functions[])(double) = {exact_exp, exact_exp2, exact_log, exact_log2, exact_log1p};
    if (which == EXACT_EXP) {
        map_exp(x, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = functions[which](x[i]);
}
