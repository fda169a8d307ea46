// Kernels of `one_hot`.
#include "block.cuh"

__global__ void __launch_bounds__(256) max_class(i64 count, const i64 *numbers, i64 *most) {
    __shared__ i64 scratch[32];
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x, mine = at < count ? numbers[at] : 0;
    mine = reduce_block(mine, [](i64 a, i64 b) { return a > b ? a : b; }, scratch);
    if (threadIdx.x == 0) atomicMax(most, mine);
}

__global__ void __launch_bounds__(256) one_hot(i64 count, i64 *to, const i64 *classes, i64 width, u32 site, Fault *fault) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 row = at / width, col = at - row * width, class_of = classes[row];
    if (col == 0 && u64(class_of) >= u64(width)) report_fault(fault, site, INDEX_OUT_OF_RANGE, class_of, width);
    to[at] = class_of == col;
}
