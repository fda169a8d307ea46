// Implicit reparameterisation gradients of gamma and Dirichlet samples, in double precision: the derivative of a sample by its parameter,
// where the probability below the sample stays constant.
#pragma once
#include "gamma.cuh"

// Returns the derivative of a function of a positive number, by finite differences of fourth order.
template <class F> __device__ __forceinline__ double finite_difference(double at, F f) {
    double step = 1e-3 * at, near = f(at + step) - f(at - step), far = f(at + 2 * step) - f(at - 2 * step);
    return (8 * near - far) / (12 * step);
}

static __device__ __noinline__ double gamma_implicit_gradient(double shape, double x) {
    // The smaller of the two probabilities has more correct digits.
    bool below = x < shape + 1;
    double slope = finite_difference(shape, [=](double shape) {
        TailProbabilities probabilities = gamma_probabilities(shape, x);
        return below ? probabilities.below : -probabilities.above;
    });
    return -slope * x / gamma_density_times_x(shape, x);
}

// Returns `x^a (1 - x)^b / beta(a, b)`.
static __device__ __noinline__ double beta_density(double x, double a, double b) {
    return exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b));
}

// Returns the probability of the beta distribution below `x`, which is at most about the mean: a continued fraction, by Lentz's method.
static __device__ __noinline__ double beta_cdf(double x, double a, double b) {
    double under = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), over = 1, product = under;
    for (int n = 1; n < 10000; n++) {
        double even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n));
        double odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)), before = product;
        for (int k = 0; k < 2; k++) {
            double factor = k ? odd : even;
            under = 1 / away_from_zero(1 + factor * under);
            over = away_from_zero(1 + factor / over);
            product *= under * over;
        }
        if (fabs(product - before) <= 1e-16 * fabs(product) || product != product) break;
    }
    return beta_density(x, a, b) / a * product;
}

// Returns the derivative of a component `x` of a Dirichlet sample by its weight, where the sum of the other weights stays constant. A
// component has a beta distribution. The result is divided by `1 - x`, for the other components' decrease.
static __device__ __noinline__ double beta_implicit_gradient(double x, double weight, double total) {
    double others = total - weight;
    bool below = x < weight / total;
    double slope = finite_difference(weight, [=](double weight) { return below ? beta_cdf(x, weight, others) : -beta_cdf(1 - x, others, weight); });
    return -slope * x / beta_density(x, weight, others);
}
