/* Normal and Beta numbers from the bits of a numpy generator, the same on every machine.
 *
 * The numbers are those of numpy's Generator (the ziggurat of Marsaglia and Tsang with 256 layers, and their
 * Gamma method), but for the last digit where numpy asks the C library for a logarithm. */
#ifndef DRAWS_H
#define DRAWS_H
#include <stdint.h>

/* cffi begin */
typedef struct {
    double width[256];   /* of a layer, for a number of 52 bits */
    double height[256];  /* exp(-x^2/2) at the layer's edge */
    uint64_t inside[256]; /* below it, a number of 52 bits lies under the curve for certain */
    double edge;         /* where the tail begins */
} draws_ziggurat;
void draws_normal(const draws_ziggurat *ziggurat, void *generator, double *out, int64_t n);
void draws_beta(const draws_ziggurat *ziggurat, void *generator, double a, double b, double *out, int64_t n);
/* cffi end */

#endif
