// Modified Bessel functions and the Airy function, in double precision.
//
// The functions of the first kind are power series for small arguments, whose terms have one sign, and asymptotic series for large ones.
// The functions of the second kind are integrals of analytic functions that decrease faster than any exponential. For these, a sum at equal
// distances is precise to the last digits.
#pragma once
#include "opdispatch.cuh"

enum { UNSCALED, SCALED };

// Returns the modified Bessel function of the first kind of order 0 or 1, for an argument that is not negative. `SCALED` multiplies it by
// `e^-x`.
static __device__ __noinline__ double bessel_i_nonnegative(int order, double x, int scaled) {
    if (x < 20) {
        double square = 0.25 * x * x, term = 1, sum = 1;
        for (int n = 1; term > 1e-17 * sum; n++) {
            term *= square / (double(n) * (n + order));
            sum += term;
        }
        return (scaled ? exp(-x) : 1) * sum * (order ? 0.5 * x : 1);
    }
    double term = 1, sum = 1;
    for (int n = 1; n < 30; n++) {
        double odd = 2 * n - 1;
        term *= (odd * odd - 4 * order) / (8 * n * x);
        sum += term;
    }
    return (scaled ? 1 : exp(x)) * sum / (2.5066282746310002 * sqrt(x));
}
static __device__ __forceinline__ double bessel_i0(double x, int scaled) { return bessel_i_nonnegative(0, fabs(x), scaled); }
static __device__ __forceinline__ double bessel_i1(double x, int scaled) { return copysign(bessel_i_nonnegative(1, fabs(x), scaled), x); }

// The sample points of an integral with a given end: their distance and their count.
struct SamplePoints {
    double spacing;
    int count;
    __device__ __forceinline__ explicit SamplePoints(double end) {
        double most = fmax(ceil(end / 0.11), 40.0);
        spacing = end / most, count = int(most);
    }
};

// Returns `acosh(1 + x)`, also for an `x` that is too small to add to 1.
static __device__ __forceinline__ double acosh_1p(double x) { return log1p(x + sqrt(x * (x + 2))); }

// Returns `e^x` times the modified Bessel function of the second kind: the integral of `e^(x - x cosh t) cosh(order t)` over all `t` from
// zero.
static __device__ __noinline__ double scaled_bessel_k(double order, double x) {
    if (x == 0) return Limits<double>::max_value();
    if (x == Limits<double>::max_value()) return 0;
    if (x < 0) return Limits<double>::nan();
    // The neglected tail of the integral is less than e^-45 of the whole.
    SamplePoints points(x < 1e-150 ? 0.6931471805599453 + 3.8066624897703196 - log(x) : acosh_1p(45 / x));
    double sum = 0;
    for (int i = 1; i <= points.count; i++) {
        double t = i * points.spacing, half = sinh(0.5 * t);
        sum += exp(-2 * x * half * half) * cosh(order * t);
    }
    return points.spacing * (0.5 + sum);
}
static __device__ __forceinline__ double bessel_k(double order, double x) { return scaled_bessel_k(order, x) * exp(-x); }

// Returns the Airy function near zero: a sum of two power series, whose terms differ by factors of `x` cubed.
static __device__ __noinline__ double airy_series(double x) {
    double cube = x * x * x, even = 0.3550280538878172, odd = -0.2588194037928068 * x, sum = even + odd;
    for (int n = 3; n < 75; n += 3) {
        even *= cube / (n * (n - 1));
        odd *= cube / (n * (n + 1));
        sum += even + odd;
    }
    return sum;
}

// Returns the Airy function of `-z`, as an integral along the path of steepest descent, where the phase is constant.
static __device__ __noinline__ double airy_negative(double z) {
    double zeta = 2 * z * sqrt(z) / 3, size = 45 / zeta;
    SamplePoints points(acosh_1p(0.5 * size * (1 + size / (2 + sqrt(size * size + 4)))));
    double re = 0.5, im = 0.5;
    for (int i = 1; i <= points.count; i++) {
        // The imaginary part of the path, and its slope.
        double s = i * points.spacing, height = atan(sinh(s)), slope = 1 / cosh(s);
        double across = cosh(s / 3) * cos(height / 3), up = sinh(s / 3) * sin(height / 3), left = exp(-zeta * sinh(s) * tanh(s));
        re += (across - up * slope) * left;
        im += (across * slope + up) * left;
    }
    return sqrt(z / 3) / 3.141592653589793 * points.spacing * 2 * (cos(zeta) * im + sin(zeta) * re);
}

static __device__ __forceinline__ double airy(double x) {
    if (x > -2 && x <= 1) return airy_series(x);
    if (x <= -2) return airy_negative(-x);
    double zeta = 2.0 / 3 * x * sqrt(x);
    return sqrt(x / 3) / 3.141592653589793 * exp(-zeta) * scaled_bessel_k(1.0 / 3, zeta);
}
