// Kernels of `arange`, `linspace` and `logspace`.
#include "opdispatch.cuh"

template <class O> __global__ void __launch_bounds__(256) integer_sequence(O *out, i64 count, i64 start, i64 step) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count) out[at] = as<O>(i64(u64(start) + u64(step) * u64(at)));
}

template <class O> __global__ void __launch_bounds__(256) float_sequence(O *out, i64 count, double start, double step) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count) out[at] = as<O>(start + step * double(at));
}

// Returns a power, rounded to an integer if it is very near to one. A device's `pow(3, 1)` is slightly less than 3, and would be truncated
// to 2.
__device__ __forceinline__ double power_rounded_if_near_integer(double base, double x) {
    double power = pow(base, x), whole = round(power);
    return fabs(power - whole) <= 4 * 2.220446049250313e-16 * fabs(whole) ? whole : power;
}

// Writes equally spaced numbers, or powers of `base` with equally spaced exponents if `base` is not zero. Each number is computed from the
// nearer end.
template <class O> __global__ void __launch_bounds__(256) equally_spaced(O *out, i64 count, double start, double end, double base) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    double step = (end - start) / double(count > 1 ? count - 1 : 1);
    double x = at < count / 2 || count == 1 ? start + step * double(at) : end - step * double(count - 1 - at);
    bool integral = as<double>(as<O>(0.5)) == 0;
    out[at] = as<O>(base == 0 ? x : integral ? power_rounded_if_near_integer(base, x) : pow(base, x));
}
