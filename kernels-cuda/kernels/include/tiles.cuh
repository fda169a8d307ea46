// Tiled matrix products: each block computes a tile of the result. An element is the sum over all steps (the inner dimension) of left times
// right.
//
// A loader for each operand (left and right) loads the operand's elements: `void load_tile(S (&elements)[N], u64 step)` returns this
// thread's elements of the tile that begins at a step, and zeros beyond the end. `share` defines which elements those are. The next tile is
// loaded while this one is multiplied.
#pragma once
#include "opdispatch.cuh"

// The type that products are accumulated in. Integers wrap.
template <class T> struct ProductSum { typedef u32 type; };
template <> struct ProductSum<float> { typedef float type; };
template <> struct ProductSum<double> { typedef double type; };
template <> struct ProductSum<f16> { typedef float type; };
template <> struct ProductSum<bf16> { typedef float type; };
template <> struct ProductSum<i64> { typedef u64 type; };
template <class T> using product_sum_t = typename ProductSum<T>::type;

template <class S> __device__ __forceinline__ S scalar_from_bits(u64 bits);
template <> __device__ __forceinline__ float scalar_from_bits<float>(u64 bits) { return bit_cast<float>(u32(bits)); }
template <> __device__ __forceinline__ double scalar_from_bits<double>(u64 bits) { return bit_cast<double>(bits); }
template <> __device__ __forceinline__ u32 scalar_from_bits<u32>(u64 bits) { return u32(bits); }
template <> __device__ __forceinline__ u64 scalar_from_bits<u64>(u64 bits) { return bits; }

enum { TILE_THREADS = 256, TILE_STEPS = 16 };

// The elements of a tile that a thread loads: the line and step of the first one, and the distances to the next.
struct ThreadElements {
    u32 line, step, lines, steps;
    // Adjacent threads load adjacent lines, or else adjacent steps.
    template <int EDGE> static __device__ __forceinline__ ThreadElements for_tile(bool lines_are_near) {
        u32 t = threadIdx.x;
        if (lines_are_near) return {t % EDGE, t / EDGE, 0, TILE_THREADS / EDGE};
        return {t / TILE_STEPS, t % TILE_STEPS, TILE_THREADS / TILE_STEPS, 0};
    }
};

template <class S> struct alignas(16) Vector4 {
    S elements[4];
};

template <class S, int EDGE> struct Tile {
    static const int ELEMENTS_PER_THREAD = EDGE * TILE_STEPS / TILE_THREADS;
    alignas(16) S lines[2][TILE_STEPS][EDGE + 4];
    __device__ __forceinline__ void store_elements(const S (&elements)[ELEMENTS_PER_THREAD], const ThreadElements &share, u32 at) {
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) lines[at][share.step + i * share.steps][share.line + i * share.lines] = elements[i];
    }
    // Reads the elements that a thread multiplies in one step: four lines of each 64.
    __device__ __forceinline__ void load_elements(S (&mine)[EDGE / 16], u32 at, u32 step, u32 first) const {
#pragma unroll
        for (int part = 0; part < EDGE / 64; part++) {
            Vector4<S> four = *(const Vector4<S> *)&lines[at][step][first * 4 + part * 64];
#pragma unroll
            for (int i = 0; i < 4; i++) mine[part * 4 + i] = four.elements[i];
        }
    }
};

// Computes a tile of the product of two matrices. `writer.column` prepares a column of the result, and `writer.write_element_of_column` then receives the
// sum of each row in it.
template <class S, int EDGE, class Left, class Right, class Writer>
__device__ __forceinline__ void multiply_tiles(Left &left, Right &right, u64 from, u64 to, const Writer &writer) {
    const int SIDE = EDGE / 16;
    __shared__ Tile<S, EDGE> left_tile, right_tile;
    S sums[SIDE][SIDE], left_elements[Tile<S, EDGE>::ELEMENTS_PER_THREAD], right_elements[Tile<S, EDGE>::ELEMENTS_PER_THREAD];
    u32 down = threadIdx.x / 16, across = threadIdx.x % 16, now = 0;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) sums[i][j] = 0;
    // The first iteration only loads a tile, and the last one only multiplies.
#pragma unroll 1
    for (u64 next = from;; next += TILE_STEPS) {
        bool more = next < to;
        if (more) {
            left.load_tile(left_elements, next);
            right.load_tile(right_elements, next);
        }
        if (next > from) {
#pragma unroll 4
            for (int k = 0; k < TILE_STEPS; k++) {
                S a[SIDE], b[SIDE];
                left_tile.load_elements(a, now, k, down);
                right_tile.load_elements(b, now, k, across);
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++) sums[i][j] += a[i] * b[j];
            }
        }
        now ^= 1;
        if (more) {
            left_tile.store_elements(left_elements, left.share, now);
            right_tile.store_elements(right_elements, right.share, now);
        }
        __syncthreads();
        if (!more) break;
    }
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        auto column = writer.column(across * 4 + j % 4 + j / 4 * 64);
#pragma unroll
        for (int i = 0; i < SIDE; i++) writer.write_element_of_column(column, down * 4 + i % 4 + i / 4 * 64, sums[i][j]);
    }
}

// The range of the inner dimension (steps) that one of several blocks adds up, in whole tiles.
struct InnerDimRange {
    u64 from, to;
    __device__ __forceinline__ InnerDimRange(u64 steps, u32 at, u32 of) {
        u64 each = (steps + of - 1) / of;
        each = (each + TILE_STEPS - 1) / TILE_STEPS * TILE_STEPS;
        from = each * at < steps ? each * at : steps;
        to = from + each < steps ? from + each : steps;
    }
};
