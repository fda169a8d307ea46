// Kernels of `repeat_interleave`: indices, each repeated a given number of times.
#include "opdispatch.cuh"

// Copies counts, and reports negative ones.
template <class T> __global__ void __launch_bounds__(256) check_repeats(i64 count, const T *counts, i64 *to, u32 site, Fault *fault) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 times = counts[at];
    if (times < 0) report_fault(fault, site, INVALID_INTEGER, times, 0);
    to[at] = times < 0 ? 0 : times;
}

// Writes, for each position, the index of the last of `starts` that is not greater.
template <class T> __global__ void __launch_bounds__(256) repeat_indices(i64 count, T *to, i64 size, const i64 *starts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 low = 0, left = size;
    while (left > 0) {
        i64 half = left / 2;
        bool behind = starts[low + half] <= at;
        low = behind ? low + half + 1 : low;
        left = behind ? left - half - 1 : half;
    }
    to[at] = T(low - 1);
}
