// Kernels that copy elements without conversion, as words of any size.
#include "opdispatch.cuh"

template <class W> __global__ void __launch_bounds__(256) moved(u32 count, u8 *to, const u8 *from, Walk walk) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[2];
    walk.places(at, offsets);
    *(W *)(to + offsets[0]) = *(const W *)(from + offsets[1]);
}

// One of several tensors that are joined: each has the same number of rows, of its own width. All sizes are in words.
struct Part {
    const u8 *from;
    i64 pitch;
    u64 to;
    Divisor width;
};
struct Parts {
    Part all[64];
};
template <class W> __global__ void __launch_bounds__(256) joined(W *to, i64 pitch, u32 rows, Parts parts) {
    const Part &part = parts.all[blockIdx.y];
    u32 count = rows * part.width.by;
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        u32 row = part.width.divide(at), col = at - row * part.width.by;
        to[row * pitch + part.to + col] = ((const W *)part.from)[row * part.pitch + col];
    }
}

// A transposing copy, whose rows become columns of the result: the number of rows and columns, the byte stride of rows in the source, and
// of columns in the result.
struct Turned {
    u32 rows, columns;
    i64 row, column;
};

// Copies tiles through shared memory, so that adjacent threads read and write adjacent elements.
template <class W> __global__ void __launch_bounds__(256) turned(u32 items, u8 *to, const u8 *from, Walk walk, Turned turned) {
    const u32 EDGE = sizeof(W) <= 4 ? 64 : 32, EACH = EDGE * EDGE / 256;
    __shared__ W tile[EDGE][EDGE + 1];
    u32 across = (turned.columns - 1) / EDGE + 1, row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    for (u32 item = blockIdx.y; item < items; item += gridDim.y) {
        i32 offsets[2];
        walk.places(item, offsets);
        W held[EACH] = {};
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            u32 at = i * 256 + threadIdx.x, r = row + at / EDGE, c = column + at % EDGE;
            if (r < turned.rows && c < turned.columns) held[i] = *(const W *)(from + offsets[1] + r * turned.row + c * i64(sizeof(W)));
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
            if (r < turned.rows && c < turned.columns) *(W *)(to + offsets[0] + c * turned.column + r * i64(sizeof(W))) = tile[at % EDGE][at / EDGE];
        }
        __syncthreads();
    }
}
