// How often numbers occur.
#include "block.cuh"

// The least and the greatest of numbers: `found` begins as the greatest and the least that there are.
__global__ void __launch_bounds__(256) extent(i64 count, const i64 *numbers, i64 *found) {
    __shared__ i64 scratch[32];
    i64 least = Bounds<i64>::most(), most = Bounds<i64>::least();
    for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += i64(gridDim.x) * blockDim.x) {
        i64 x = numbers[at];
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    least = joined_in_block(least, [](i64 a, i64 b) { return a < b ? a : b; }, scratch);
    most = joined_in_block(most, [](i64 a, i64 b) { return a > b ? a : b; }, scratch);
    if (threadIdx.x == 0) atomicMin(found, least), atomicMax(found + 1, most);
}

// Numbers may have changed since their extent was found: those that there is no count for, are not counted.
__global__ void __launch_bounds__(256) counted(i64 count, const i64 *numbers, i64 length, i64 *counts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 number = numbers[at];
    if (u64(number) < u64(length)) atomicAdd((u64 *)counts + number, u64(1));
}
__global__ void __launch_bounds__(256) weighed(i64 count, const i64 *numbers, const double *weights, i64 length, double *sums) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 number = numbers[at];
    if (u64(number) < u64(length)) atomicAdd(sums + number, weights[at]);
}

// How many values lie in each of `bins` parts of a range, which begins and ends so; its end belongs to the last. A block counts by itself
// first where it has room.
static const i64 ROOM = 4096;
template <class C> __global__ void __launch_bounds__(256) parts(i64 count, const C *values, i64 bins, const C *range, u64 *counts) {
    __shared__ u32 own[ROOM];
    C min = range[0], max = range[1];
    bool here = bins <= ROOM;
    for (i64 i = threadIdx.x; here && i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += i64(gridDim.x) * blockDim.x) {
        C x = values[at];
        if (!(x >= min && x <= max)) continue;
        i64 part = i64((x - min) * C(bins) / (max - min));
        // What overflows on the way is no number of a part.
        part = part < 0 ? 0 : part < bins - 1 ? part : bins - 1;
        if (here) {
            atomicAdd(&own[part], 1u);
        } else {
            atomicAdd(&counts[part], u64(1));
        }
    }
    __syncthreads();
    for (i64 i = threadIdx.x; here && i < bins; i += blockDim.x)
        if (own[i]) atomicAdd(&counts[i], u64(own[i]));
}
