// Kernels of `bincount` and `histc`.
#include "block.cuh"

// Computes the minimum and the maximum of integers. `found` is initialised with the largest and the smallest integer.
__global__ void __launch_bounds__(256) min_max(i64 count, const i64 *numbers, i64 *found) {
    __shared__ i64 scratch[32];
    i64 least = Limits<i64>::max_value(), most = Limits<i64>::min_value();
    for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += i64(gridDim.x) * blockDim.x) {
        i64 x = numbers[at];
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    least = reduce_block(least, [](i64 a, i64 b) { return a < b ? a : b; }, scratch);
    most = reduce_block(most, [](i64 a, i64 b) { return a > b ? a : b; }, scratch);
    if (threadIdx.x == 0) atomicMin(found, least), atomicMax(found + 1, most);
}

// Counts integers. They may have changed since `min_max` ran: integers beyond the counts are ignored.
__global__ void __launch_bounds__(256) count_integers(i64 count, const i64 *numbers, i64 length, i64 *counts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 number = numbers[at];
    if (u64(number) < u64(length)) atomicAdd((u64 *)counts + number, u64(1));
}
__global__ void __launch_bounds__(256) sum_weights(i64 count, const i64 *numbers, const double *weights, i64 length, double *sums) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 number = numbers[at];
    if (u64(number) < u64(length)) atomicAdd(sums + number, weights[at]);
}

// Counts the values in each of `bins` equal bins of a range, whose end belongs to the last bin. A block counts in shared memory first if
// the bins fit.
static const i64 MAX_SHARED_BINS = 4096;
template <class C> __global__ void __launch_bounds__(256) histogram(i64 count, const C *values, i64 bins, const C *range, u64 *counts) {
    __shared__ u32 own[MAX_SHARED_BINS];
    C min = range[0], max = range[1];
    bool fits = bins <= MAX_SHARED_BINS;
    for (i64 i = threadIdx.x; fits && i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += i64(gridDim.x) * blockDim.x) {
        C x = values[at];
        if (!(x >= min && x <= max)) continue;
        i64 bin = i64((x - min) * C(bins) / (max - min));
        // Clamps the bin, as rounding and overflow can leave the range.
        bin = bin < 0 ? 0 : bin < bins - 1 ? bin : bins - 1;
        if (fits) {
            atomicAdd(&own[bin], 1u);
        } else {
            atomicAdd(&counts[bin], u64(1));
        }
    }
    __syncthreads();
    for (i64 i = threadIdx.x; fits && i < bins; i += blockDim.x)
        if (own[i]) atomicAdd(&counts[i], u64(own[i]));
}
