// Philox: the stream of random words, a function of the seed and of an element's index that is the same on every device.
//
// A thread computes one block of the stream. Blocks are used in groups of 64; element `i` of a group takes word `i / 64` of the group's
// block `i % 64`, or two words from `2 * (i / 64)` on.
#pragma once
#include "functions.cuh"

struct Words {
    u32 of[4];
};

__device__ __forceinline__ Words philox(u64 key, u64 counter, u32 c = 0) {
    u32 a = u32(counter), b = u32(counter >> 32), d = 0, low = u32(key), high = u32(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u64 x = u64(a) * 0xd2511f53u, y = u64(c) * 0xcd9e8d57u;
        a = u32(y >> 32) ^ b ^ low;
        b = u32(y);
        c = u32(x >> 32) ^ d ^ high;
        d = u32(x);
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
}

// The part of the stream that a launch draws: seed, first block and number of elements. A replay takes the seed from `origin`, and adds the
// block there to `first`.
struct Stream {
    u64 seed, first, count;
    const u64 *origin;

    __device__ __forceinline__ Words words(u64 block) const {
        return origin ? philox(origin[0], origin[1] + first + block) : philox(seed, first + block);
    }
};

// Conversion of a block's words to numbers of a type: `ROWS` numbers for each block.
template <class F> struct Drawn;
template <> struct Drawn<float> {
    static const int ROWS = 4;
    // Returns a number from zero to below one, a multiple of two to the power of minus `bits`.
    static __device__ __forceinline__ float unit(const Words &words, int row, int bits) {
        return float(i32(words.of[row] >> (32 - bits))) * bit_cast<float>(u32(127 - bits) << 23);
    }
    // Returns a number above zero and below one.
    static __device__ __forceinline__ float open(const Words &words, int row) {
        float x = (float(i32(words.of[row] >> 1)) + 0.5f) * bit_cast<float>(u32(127 - 31) << 23);
        return x < 0.99999994f ? x : 0.99999994f;
    }
};
template <> struct Drawn<double> {
    static const int ROWS = 2;
    static __device__ __forceinline__ double unit(const Words &words, int row, int) {
        u64 word = u64(words.of[2 * row + 1]) << 32 | words.of[2 * row];
        return bit_cast<double>(word >> 12 | 0x3ffull << 52) - 1.0;
    }
    static __device__ __forceinline__ double open(const Words &words, int row) { return unit(words, row, 52) + 5.551115123125783e-17; }
};

template <int ROWS, class O, class Make> __device__ __forceinline__ void filled(O *out, const Stream &stream, Make make) {
    u64 block = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    u64 at = block / 64 * (64 * ROWS) + block % 64;
    if (at >= stream.count) return;
    Words words = stream.words(block);
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (at + 64 * row < stream.count) out[at + 64 * row] = make(words, row, at + 64 * row);
}

// Returns a product that is rounded before a sum, so that it is the same on every device (no fused multiply-add).
__device__ __forceinline__ float product(float a, float b) {
#ifdef EMULATED
    return a * b;
#else
    return __fmul_rn(a, b);
#endif
}
__device__ __forceinline__ double product(double a, double b) {
#ifdef EMULATED
    return a * b;
#else
    return __dmul_rn(a, b);
#endif
}
