// Digamma, polygamma and zeta functions, and the gamma distribution, in double precision.
#pragma once
#include "opdispatch.cuh"

// Returns the digamma function: the recurrence up to where the asymptotic series is precise, and reflection below zero.
static __device__ __noinline__ double digamma_of(double x) {
    if (x == 0) return bit_cast<u64>(x) >> 63 ? Limits<double>::max_value() : Limits<double>::min_value();
    double result = 0;
    if (x < 0) {
        double turn = x - trunc(x);
        if (turn == 0) return Limits<double>::nan();
        result = -3.141592653589793 / tan(3.141592653589793 * turn);
        x = 1 - x;
    }
    for (; x < 10; x += 1) result -= 1 / x;
    double y = 1 / (x * x);
    double series = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
    return result + log(x) - 0.5 / x - series;
}

// Returns the sum of `(x + n)^-s` over all `n` from zero, for `x` above zero: term by term up to where the Euler-Maclaurin series holds.
static __device__ __noinline__ double zeta_positive(double s, double x) {
    // PyTorch returns NaN for an infinite `x`, and for an infinite `s` with `x` above 1, although the sum has a limit there.
    if (x == Limits<double>::max_value() || (s == Limits<double>::max_value() && x > 1)) return Limits<double>::nan();
    // Beyond 171, factorials that multiply the sum overflow.
    double sum = 0, start = 10 + fmin(s, 171.0);
    for (; x < start; x += 1) sum += pow(x, -s);
    double term = pow(x, -s);
    if (term == 0) return sum;
    sum += term * (x / (s - 1) + 0.5);
    const double series[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000};
    double rising = term * s / x, next = s + 1;
    for (double factor : series) {
        sum += factor * rising;
        rising *= next * (next + 1) / (x * x);
        next += 2;
    }
    return sum;
}

// Returns Hurwitz' zeta function. For a negative `x`, the terms below zero are the same sum with positive arguments.
static __device__ __noinline__ double hurwitz_zeta(double s, double x) {
    if (s < 1) return Limits<double>::nan();
    // The result is infinity at a pole, even if the other argument is NaN.
    if (s == 1 || (x <= 0 && (x == floor(x) || s == Limits<double>::max_value()))) return Limits<double>::max_value();
    if (x < 0 && fmod(s, 1.0) != 0) return Limits<double>::nan();
    if (x > 0) return zeta_positive(s, x);
    double fraction = fmod(-x, 1.0), sign = fmod(s, 2.0) == 0 ? 1 : -1;
    return sign * (zeta_positive(s, fraction) - zeta_positive(s, 1 - x)) + zeta_positive(s, 1 - fraction);
}

// Returns the derivative of digamma of this order.
static __device__ __noinline__ double polygamma_of(double order, double x) {
    if (order == 0) return digamma_of(x);
    // PyTorch treats the limits of order 1 as special cases, and computes the sum for all other orders.
    if (order == 1 && fabs(x) == Limits<double>::max_value()) return x > 0 ? 0 : Limits<double>::nan();
    return (fmod(order, 2.0) == 0 ? -1 : 1) * tgamma(order + 1) * hurwitz_zeta(order + 1, x);
}

// The probabilities below and above a number.
struct TailProbabilities {
    double below, above;
};

// Returns `x / shape - 1 - log(x / shape)`.
static __device__ __forceinline__ double ratio_minus_one_minus_log(double shape, double x) {
    double relative = (x - shape) / shape;
    return relative - log1p(relative);
}

// Returns `x^shape e^-x / gamma(shape)`.
static __device__ __noinline__ double gamma_density_times_x(double shape, double x) {
    if (shape < 20) return exp(shape * log(x) - x - lgamma(shape));
    // Stirling's formula, so that no large numbers cancel.
    double square = shape * shape;
    double rest = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1 / (1680 * square)) / square) / square) / shape;
    return sqrt(shape / 6.283185307179586) * exp(-shape * ratio_minus_one_minus_log(shape, x) - rest);
}

// The maximum number of terms: enough for each shape that has no expansion near the normal distribution.
enum { MAX_TERMS = 20000 };

// Returns `1 + x / (shape + 1) + x^2 / ((shape + 1) (shape + 2)) + ..`.
static __device__ __noinline__ double gamma_series(double shape, double x) {
    double term = 1, sum = 1;
    for (int n = 1; n < MAX_TERMS; n++) {
        term *= x / (shape + n);
        sum += term;
        if (term < 1e-17 * sum) break;
    }
    return sum;
}

static __device__ __forceinline__ double away_from_zero(double x) { return fabs(x) < 1e-290 ? 1e-290 : x; }

// Returns the continued fraction `1 / (x + 1 - shape - 1 (1 - shape) / (x + 3 - shape - 2 (2 - shape) / ..))`, from the top, by Lentz's
// method.
static __device__ __noinline__ double gamma_continued_fraction(double shape, double x) {
    double divisor = x + 1 - shape, above = 1e290, below = 1 / away_from_zero(divisor), product = below;
    for (int n = 1; n < MAX_TERMS; n++) {
        double factor = n * (shape - n);
        divisor += 2;
        below = 1 / away_from_zero(factor * below + divisor);
        above = away_from_zero(divisor + factor / above);
        product *= above * below;
        if (fabs(above * below - 1) < 1e-16) break;
    }
    return product;
}

// Temme's expansion for large shapes: the normal distribution function, and a correction.
static __device__ __noinline__ TailProbabilities gamma_normal_expansion(double shape, double x) {
    double surplus = ratio_minus_one_minus_log(shape, x), eta = copysign(sqrt(2 * fmax(surplus, 0.0)), x - shape);
    const double first[] = {-139.0 / 777600, 1.0 / 2835, 1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3};
    const double second[] = {1.0 / 378, -1.0 / 288, -1.0 / 540};
    double near = 0, nearer = 0;
    for (double factor : first) near = near * eta + factor;
    for (double factor : second) nearer = nearer * eta + factor;
    double rest = exp(-shape * surplus) / sqrt(6.283185307179586 * shape) * (near + nearer / shape);
    double distance = eta * sqrt(0.5 * shape);
    return {0.5 * erfc(-distance) - rest, 0.5 * erfc(distance) + rest};
}

// Returns the probabilities of the gamma distribution below and above `x`.
static __device__ __noinline__ TailProbabilities gamma_probabilities(double shape, double x) {
    const TailProbabilities nothing = {0, 1}, everything = {1, 0}, unknown = {Limits<double>::nan(), Limits<double>::nan()};
    // An argument that determines the result does so even if the other one is NaN.
    if (shape < 0 || x < 0) return unknown;
    if (shape == 0) return x > 0 ? everything : unknown;
    if (x == 0) return nothing;
    if (shape == Limits<double>::max_value()) return x == Limits<double>::max_value() ? unknown : nothing;
    if (x == Limits<double>::max_value()) return everything;
    if (shape != shape || x != x) return unknown;
    // For a large shape, the distribution is the normal one with a few correction terms.
    if (shape > 1e6 && fabs(x / shape - 1) < 0.3) return gamma_normal_expansion(shape, x);
    if (x < shape + 1) {
        double below = gamma_density_times_x(shape, x) / shape * gamma_series(shape, x);
        return {below, 1 - below};
    }
    double above = gamma_density_times_x(shape, x) * gamma_continued_fraction(shape, x);
    return {1 - above, above};
}
