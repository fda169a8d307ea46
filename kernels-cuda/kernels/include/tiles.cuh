// Tiled matrix products: each block computes a tile of the result. An element is the sum over all steps (the inner dimension) of left times
// right.
//
// Each side loads its own elements: `void take(S (&elements)[N], u64 step)` returns this thread's elements of the tile that begins at a
// step, and zeros beyond the end. `share` defines which elements those are. The next tile is loaded while this one is multiplied.
#pragma once
#include "opdispatch.cuh"

// The type that products are accumulated in. Integers wrap.
template <class T> struct Summed { typedef u32 type; };
template <> struct Summed<float> { typedef float type; };
template <> struct Summed<double> { typedef double type; };
template <> struct Summed<f16> { typedef float type; };
template <> struct Summed<bf16> { typedef float type; };
template <> struct Summed<i64> { typedef u64 type; };
template <class T> using sum_t = typename Summed<T>::type;

template <class S> __device__ __forceinline__ S factor(u64 bits);
template <> __device__ __forceinline__ float factor<float>(u64 bits) { return bit_cast<float>(u32(bits)); }
template <> __device__ __forceinline__ double factor<double>(u64 bits) { return bit_cast<double>(bits); }
template <> __device__ __forceinline__ u32 factor<u32>(u64 bits) { return u32(bits); }
template <> __device__ __forceinline__ u64 factor<u64>(u64 bits) { return bits; }

enum { TILE_THREADS = 256, TILE_STEPS = 16 };

// The elements of a tile that a thread loads: the line and step of the first one, and the distances to the next.
struct Share {
    u32 line, step, lines, steps;
    // Adjacent threads load adjacent lines, or else adjacent steps.
    template <int EDGE> static __device__ __forceinline__ Share of(bool lines_are_near) {
        u32 t = threadIdx.x;
        if (lines_are_near) return {t % EDGE, t / EDGE, 0, TILE_THREADS / EDGE};
        return {t / TILE_STEPS, t % TILE_STEPS, TILE_THREADS / TILE_STEPS, 0};
    }
};

template <class S> struct alignas(16) Four {
    S of[4];
};

template <class S, int EDGE> struct Tile {
    static const int EACH = EDGE * TILE_STEPS / TILE_THREADS;
    alignas(16) S lines[2][TILE_STEPS][EDGE + 4];
    __device__ __forceinline__ void put(const S (&elements)[EACH], const Share &share, u32 at) {
#pragma unroll
        for (u32 i = 0; i < EACH; i++) lines[at][share.step + i * share.steps][share.line + i * share.lines] = elements[i];
    }
    // Returns a thread's elements of one step: four lines of each 64.
    __device__ __forceinline__ void get(S (&mine)[EDGE / 16], u32 at, u32 step, u32 first) const {
#pragma unroll
        for (int part = 0; part < EDGE / 64; part++) {
            Four<S> four = *(const Four<S> *)&lines[at][step][first * 4 + part * 64];
#pragma unroll
            for (int i = 0; i < 4; i++) mine[part * 4 + i] = four.of[i];
        }
    }
};

// Multiplies two sides. `put.column` prepares a column of the result, and `put.row` then receives the sum of each row in it.
template <class S, int EDGE, class Left, class Right, class Put>
__device__ __forceinline__ void multiply(Left &left, Right &right, u64 from, u64 to, const Put &put) {
    const int SIDE = EDGE / 16;
    __shared__ Tile<S, EDGE> lefts, rights;
    S sums[SIDE][SIDE], left_elements[Tile<S, EDGE>::EACH], right_elements[Tile<S, EDGE>::EACH];
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
            left.take(left_elements, next);
            right.take(right_elements, next);
        }
        if (next > from) {
#pragma unroll 4
            for (int k = 0; k < TILE_STEPS; k++) {
                S a[SIDE], b[SIDE];
                lefts.get(a, now, k, down);
                rights.get(b, now, k, across);
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++) sums[i][j] += a[i] * b[j];
            }
        }
        now ^= 1;
        if (more) {
            lefts.put(left_elements, left.share, now);
            rights.put(right_elements, right.share, now);
        }
        __syncthreads();
        if (!more) break;
    }
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
        auto column = put.column(across * 4 + j % 4 + j / 4 * 64);
#pragma unroll
        for (int i = 0; i < SIDE; i++) put.row(column, down * 4 + i % 4 + i / 4 * 64, sums[i][j]);
    }
}

// The range of steps that one of several blocks adds up, in whole tiles.
struct Portion {
    u64 from, to;
    __device__ __forceinline__ Portion(u64 steps, u32 at, u32 of) {
        u64 each = (steps + of - 1) / of;
        each = (each + TILE_STEPS - 1) / TILE_STEPS * TILE_STEPS;
        from = each * at < steps ? each * at : steps;
        to = from + each < steps ? from + each : steps;
    }
};
