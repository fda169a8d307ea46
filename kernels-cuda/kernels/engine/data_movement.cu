// Kernels that copy elements without conversion, as words of any size.
#include "opdispatch.cuh"

template <class W> __global__ void __launch_bounds__(256) copy_words(u32 count, u8 *to, const u8 *from, Walk walk) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[2];
    walk.offsets(at, offsets);
    *(W *)(to + offsets[0]) = *(const W *)(from + offsets[1]);
}

// One of several tensors that are joined: each has the same number of rows, of its own width. All sizes are in words.
struct ConcatSource {
    const u8 *from;
    i64 pitch;
    u64 to;
    Divisor width;
};
struct ConcatSources {
    ConcatSource sources[64];
};
template <class W> __global__ void __launch_bounds__(256) concatenate(W *to, i64 pitch, u32 rows, ConcatSources sources) {
    const ConcatSource &source = sources.sources[blockIdx.y];
    u32 count = rows * source.width.value;
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        u32 row = source.width.divide(at), col = at - row * source.width.value;
        to[row * pitch + source.to + col] = ((const W *)source.from)[row * source.pitch + col];
    }
}

// A transposing copy, whose rows become columns of the result: the number of rows and columns, the byte stride of rows in the source, and
// of columns in the result.
struct TransposeShape {
    u32 rows, columns;
    i64 row_stride, column_stride;
};

// Copies tiles through shared memory, so that adjacent threads read and write adjacent elements.
template <class W> __global__ void __launch_bounds__(256) transpose(u32 items, u8 *to, const u8 *from, Walk walk, TransposeShape shape) {
    const u32 EDGE = sizeof(W) <= 4 ? 64 : 32, EACH = EDGE * EDGE / 256;
    __shared__ W tile[EDGE][EDGE + 1];
    u32 across = (shape.columns - 1) / EDGE + 1, row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    for (u32 item = blockIdx.y; item < items; item += gridDim.y) {
        i32 offsets[2];
        walk.offsets(item, offsets);
        W held[EACH] = {};
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 at = i * 256 + threadIdx.x, r = row + at / EDGE, c = column + at % EDGE;
            if (r < shape.rows && c < shape.columns) held[i] = *(const W *)(from + offsets[1] + r * shape.row_stride + c * i64(sizeof(W)));
        }
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 at = i * 256 + threadIdx.x;
            tile[at / EDGE][at % EDGE] = held[i];
        }
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 at = i * 256 + threadIdx.x, r = row + at % EDGE, c = column + at / EDGE;
            if (r < shape.rows && c < shape.columns) *(W *)(to + offsets[0] + c * shape.column_stride + r * i64(sizeof(W))) = tile[at % EDGE][at / EDGE];
        }
        __syncthreads();
    }
}
