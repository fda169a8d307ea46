// Orthogonal polynomials of any degree, in double precision.
//
// A recurrence computes each from the two of lower degree. If that would take too long, closed or asymptotic forms replace it. A degree is
// truncated to an integer; a negative one gives 0.
#pragma once
#include "bessel.cuh"

// The degrees beyond which closed or asymptotic forms replace the recurrences.
const double MAX_SHORT_RECURRENCE = 1000, MAX_RECURRENCE = 1e6;

// Computes the polynomial of degree `n` by a recurrence, from those of degree 0, which is 1, and of degree 1.
template <class Next> __device__ __forceinline__ double run_recurrence(double n, double first, Next next) {
    if (n == 0) return 1;
    double before = 1, last = first;
    for (double k = 1; k < n && last == last; k += 1) {
        double more = next(k, last, before);
        before = last, last = more;
    }
    return last;
}

// The kinds of Chebyshev polynomials, which differ in the polynomial of degree 1.
enum Chebyshev { FIRST_KIND, SECOND_KIND, THIRD_KIND, FOURTH_KIND };

// Returns a Chebyshev polynomial, for an argument that is not negative.
static __device__ __noinline__ double chebyshev_nonnegative(Chebyshev kind, double x, double n) {
    if (x == 1) return kind == SECOND_KIND ? n + 1 : kind == FOURTH_KIND ? 2 * n + 1 : 1;
    bool inside = x < 1;
    if (inside ? n <= 8 : !(n > MAX_SHORT_RECURRENCE)) {
        double twice = 2 * x, first = kind == FIRST_KIND ? x : kind == SECOND_KIND ? twice : kind == THIRD_KIND ? twice - 1 : twice + 1;
        return run_recurrence(n, first, [=](double, double last, double before) { return twice * last - before; });
    }
    double angle = inside ? acos(x) : acosh(x);
    auto even = [=](double turn) { return inside ? cos(turn) : cosh(turn); };
    auto odd = [=](double turn) { return inside ? sin(turn) : sinh(turn); };
    switch (kind) {
    case FIRST_KIND: return even(n * angle);
    case SECOND_KIND: return odd((n + 1) * angle) / odd(angle);
    case THIRD_KIND: return even((n + 0.5) * angle) / even(0.5 * angle);
    default: return odd((n + 0.5) * angle) / odd(0.5 * angle);
    }
}

static __device__ __forceinline__ double chebyshev(Chebyshev kind, double x, double degree) {
    double n = trunc(degree);
    if (!(n >= 0)) return 0;
    if (!(x < 0)) return chebyshev_nonnegative(kind, x, n);
    // For a negative argument, the polynomial is that of `-x`, of the mirrored kind, with a sign.
    Chebyshev mirrored = kind == THIRD_KIND ? FOURTH_KIND : kind == FOURTH_KIND ? THIRD_KIND : kind;
    double y = chebyshev_nonnegative(mirrored, -x, n);
    return fmod(n, 2.0) == 0 ? y : -y;
}

// Returns a Hermite polynomial, whose leading coefficient is a power of `scale`, 1 or 2. High degrees overflow every type.
static __device__ __noinline__ double hermite(double scale, double x, double degree) {
    double n = trunc(degree);
    if (!(n >= 0)) return 0;
    if (n > MAX_SHORT_RECURRENCE) return Limits<double>::nan();
    return run_recurrence(n, scale * x, [=](double k, double last, double before) { return scale * (x * last - k * before); });
}

// Returns the Bessel function of `2 sqrt(square)`, or the modified one if `square` is negative.
static __device__ __forceinline__ double bessel_0_of_twice_root(double square) {
    double x = 2 * sqrt(fabs(square));
    return square < 0 ? bessel_i0(x, SCALED) * exp(x) : j0(x);
}

static __device__ __noinline__ double laguerre(double x, double degree) {
    double n = trunc(degree);
    if (!(n >= 0)) return 0;
    if (n > MAX_RECURRENCE) return exp(0.5 * x) * bessel_0_of_twice_root((n + 0.5) * x);
    return run_recurrence(n, 1 - x, [=](double k, double last, double before) { return ((2 * k + 1 - x) * last - k * before) / (k + 1); });
}

static __device__ __noinline__ double legendre(double x, double degree) {
    double n = trunc(degree);
    if (!(n >= 0)) return 0;
    if (!(n > MAX_RECURRENCE))
        return run_recurrence(n, x, [=](double k, double last, double before) { return ((2 * k + 1) * x * last - k * before) / (k + 1); });
    double size = fabs(x), sign = x < 0 && fmod(n, 2.0) != 0 ? -1 : 1;
    bool inside = size < 1;
    double angle = inside ? acos(size) : acosh(size), stretch = inside ? sin(angle) : sinh(angle);
    double square = inside ? angle * angle : -angle * angle, scale = angle == 0 ? 1 : sqrt(angle / stretch);
    return sign * scale * bessel_0_of_twice_root(0.25 * (n + 0.5) * (n + 0.5) * square);
}
