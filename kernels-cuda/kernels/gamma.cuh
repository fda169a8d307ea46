// The gamma distribution, in double precision.
#pragma once
#include "opdispatch.cuh"

// What of a distribution is below a number, and what is above.
struct Shares {
    double below, above;
};

// `x / shape - 1 - log(x / shape)`
static __device__ __forceinline__ double gamma_surplus(double shape, double x) {
    double relative = (x - shape) / shape;
    return relative - log1p(relative);
}

// `x^shape e^-x / gamma(shape)`
static __device__ __noinline__ double gamma_density(double shape, double x) {
    if (shape < 20) return exp(shape * log(x) - x - lgamma(shape));
    // Stirling's formula, so that no large numbers cancel.
    double square = shape * shape;
    double rest = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1 / (1680 * square)) / square) / square) / shape;
    return sqrt(shape / 6.283185307179586) * exp(-shape * gamma_surplus(shape, x) - rest);
}

// Enough terms for every shape that is not nearly normal.
enum { MOST_TERMS = 20000 };

// `1 + x / (shape + 1) + x^2 / ((shape + 1) (shape + 2)) + ..`
static __device__ __noinline__ double gamma_series(double shape, double x) {
    double term = 1, sum = 1;
    for (int n = 1; n < MOST_TERMS; n++) {
        term *= x / (shape + n);
        sum += term;
        if (term < 1e-17 * sum) break;
    }
    return sum;
}

static __device__ __forceinline__ double or_tiny(double x) { return fabs(x) < 1e-290 ? 1e-290 : x; }

// `1 / (x + 1 - shape - 1 (1 - shape) / (x + 3 - shape - 2 (2 - shape) / ..))`, from above, by Lentz's method.
static __device__ __noinline__ double gamma_fraction(double shape, double x) {
    double divisor = x + 1 - shape, above = 1e290, below = 1 / or_tiny(divisor), product = below;
    for (int n = 1; n < MOST_TERMS; n++) {
        double factor = n * (shape - n);
        divisor += 2;
        below = 1 / or_tiny(factor * below + divisor);
        above = or_tiny(divisor + factor / above);
        product *= above * below;
        if (fabs(above * below - 1) < 1e-16) break;
    }
    return product;
}

// Temme's expansion: the normal distribution of a distance whose square is the surplus, and what is left of the difference.
static __device__ __noinline__ Shares nearly_normal(double shape, double x) {
    double surplus = gamma_surplus(shape, x), eta = copysign(sqrt(2 * fmax(surplus, 0.0)), x - shape);
    const double first[] = {-139.0 / 777600, 1.0 / 2835, 1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3};
    const double second[] = {1.0 / 378, -1.0 / 288, -1.0 / 540};
    double near = 0, nearer = 0;
    for (double factor : first) near = near * eta + factor;
    for (double factor : second) nearer = nearer * eta + factor;
    double rest = exp(-shape * surplus) / sqrt(6.283185307179586 * shape) * (near + nearer / shape);
    double distance = eta * sqrt(0.5 * shape);
    return {0.5 * erfc(-distance) - rest, 0.5 * erfc(distance) + rest};
}

// Those of the gamma distribution.
static __device__ __noinline__ Shares gamma_shares(double shape, double x) {
    const Shares nothing = {0, 1}, everything = {1, 0}, unknown = {Bounds<double>::nan(), Bounds<double>::nan()};
    // What decides alone does so beside a NaN too.
    if (shape < 0 || x < 0) return unknown;
    if (shape == 0) return x > 0 ? everything : unknown;
    if (x == 0) return nothing;
    if (shape == Bounds<double>::most()) return x == Bounds<double>::most() ? unknown : nothing;
    if (x == Bounds<double>::most()) return everything;
    if (shape != shape || x != x) return unknown;
    // From here on, the distribution is a normal one but for a few terms.
    if (shape > 1e6 && fabs(x / shape - 1) < 0.3) return nearly_normal(shape, x);
    if (x < shape + 1) {
        double below = gamma_density(shape, x) / shape * gamma_series(shape, x);
        return {below, 1 - below};
    }
    double above = gamma_density(shape, x) * gamma_fraction(shape, x);
    return {1 - above, above};
}
