// Philox: the stream of random words, a function of the seed and of an element's index that is the same on every device.
//
// A thread computes one block of the stream. Blocks are used in groups of 64; element `i` of a group takes word `i / 64` of the group's
// block `i % 64`, or two words from `2 * (i / 64)` on.
#pragma once
#include "functions.cuh"

struct RandomWords {
    u32 word[4];
};

__device__ __forceinline__ RandomWords philox(u64 key, u64 counter, u32 c = 0) {
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
struct RandomStream {
    u64 seed, first, count;
    const u64 *origin;

    __device__ __forceinline__ RandomWords random_words_of_block(u64 block) const {
        return origin ? philox(origin[0], origin[1] + first + block) : philox(seed, first + block);
    }
};

// Conversion of a block's words to numbers of a type: `PER_BLOCK` numbers for each block.
template <class F> struct UniformNumbers;
template <> struct UniformNumbers<float> {
    static const int PER_BLOCK = 4;
    // Returns a number from zero to below one, a multiple of two to the power of minus `bits`.
    static __device__ __forceinline__ float uniform_from_zero_to_one(const RandomWords &words, int row, int bits) {
        return float(i32(words.word[row] >> (32 - bits))) * bit_cast<float>(u32(127 - bits) << 23);
    }
    // Returns a number above zero and below one.
    static __device__ __forceinline__ float uniform_without_zero(const RandomWords &words, int row) {
        float x = (float(i32(words.word[row] >> 1)) + 0.5f) * bit_cast<float>(u32(127 - 31) << 23);
        return x < 0.99999994f ? x : 0.99999994f;
    }
};
template <> struct UniformNumbers<double> {
    static const int PER_BLOCK = 2;
    static __device__ __forceinline__ double uniform_from_zero_to_one(const RandomWords &words, int row, int) {
        u64 word = u64(words.word[2 * row + 1]) << 32 | words.word[2 * row];
        return bit_cast<double>(word >> 12 | 0x3ffull << 52) - 1.0;
    }
    static __device__ __forceinline__ double uniform_without_zero(const RandomWords &words, int row) { return uniform_from_zero_to_one(words, row, 52) + 5.551115123125783e-17; }
};

template <int ROWS, class O, class Make> __device__ __forceinline__ void fill_random(O *out, const RandomStream &stream, Make make) {
    u64 block = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    u64 at = block / 64 * (64 * ROWS) + block % 64;
    if (at >= stream.count) return;
    RandomWords words = stream.random_words_of_block(block);
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (at + 64 * row < stream.count) out[at + 64 * row] = make(words, row, at + 64 * row);
}

// Returns a product that is rounded before a sum, so that it is the same on every device (no fused multiply-add).
__device__ __forceinline__ float multiply_unfused(float a, float b) {
#ifdef EMULATED
    return a * b;
#else
    return __fmul_rn(a, b);
#endif
}
__device__ __forceinline__ double multiply_unfused(double a, double b) {
#ifdef EMULATED
    return a * b;
#else
    return __dmul_rn(a, b);
#endif
}
