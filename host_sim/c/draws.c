#include "draws.h"

#include <math.h>

#include "exact.h"

/* Interface of numpy's bit generators for C (numpy/random/bitgen.h). */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} bit_generator;

static double uniform(const bit_generator *bits)
{
    return bits->next_double(bits->state);
}

/* Distance beyond the edge, by comparing an exponential with the normal tail. */
static double beyond(const bit_generator *bits, double edge)
{
    for (;;) {
        double x = -(1.0 / edge) * exact_log1p(-uniform(bits));
        double y = -exact_log1p(-uniform(bits));
        if (y + y > x * x)
            return x;
    }
}

static double normal(const draws_ziggurat *ziggurat, const bit_generator *bits)
{
    for (;;) {
        uint64_t drawn = bits->next_uint64(bits->state);
        int layer = (int)(drawn & 255);
        uint64_t place = drawn >> 9 & 0xFFFFFFFFFFFFFu;
        double x = (double)place * ziggurat->width[layer];
        double signed_x = drawn >> 8 & 1 ? -x : x;
        if (place < ziggurat->inside[layer])
            return signed_x;
        if (layer == 0) {
            double far = ziggurat->edge + beyond(bits, ziggurat->edge);
            return place >> 8 & 1 ? -far : far;
        }
        double low = ziggurat->height[layer], high = ziggurat->height[layer - 1];
        if ((high - low) * uniform(bits) + low < exact_exp(-0.5 * x * x))
            return signed_x;
    }
}

/* Marsaglia and Tsang (2000), for shapes of 1 and more. */
static double large_gamma(const draws_ziggurat *ziggurat, const bit_generator *bits, double shape)
{
    double b = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * b);
    for (;;) {
        double x = normal(ziggurat, bits), v = 1.0 + c * x;
        if (v <= 0.0)
            continue;
        v = v * v * v;
        double u = uniform(bits);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x) || exact_log(u) < 0.5 * x * x + b * (1.0 - v + exact_log(v)))
            return b * v;
    }
}

/* Logarithm of a Gamma number: a small shape gives numbers that a double cannot hold. */
static double log_gamma(const draws_ziggurat *ziggurat, const bit_generator *bits, double shape)
{
    if (shape >= 1.0)
        return exact_log(large_gamma(ziggurat, bits, shape));
    double larger = exact_log(large_gamma(ziggurat, bits, shape + 1.0));
    return larger + exact_log1p(-uniform(bits)) / shape;
}

static double beta(const draws_ziggurat *ziggurat, const bit_generator *bits, double a, double b)
{
    if (a >= 1.0 && b >= 1.0) {
        double first = large_gamma(ziggurat, bits, a), second = large_gamma(ziggurat, bits, b);
        return first / (first + second);
    }
    double first = log_gamma(ziggurat, bits, a), second = log_gamma(ziggurat, bits, b);
    return 1.0 / (1.0 + exact_exp(second - first));
}

void draws_normal(const draws_ziggurat *ziggurat, void *generator, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = normal(ziggurat, generator);
}

void draws_beta(const draws_ziggurat *ziggurat, void *generator, double a, double b, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = beta(ziggurat, generator, a, b);
}
