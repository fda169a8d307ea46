// Kernels of random integers in a range.
#include "philox.cuh"

template <class O> __global__ void __launch_bounds__(256) integers_from_32_bits(O *out, RandomStream stream, i64 first, u64 range_size) {
    fill_random<4>(out, stream, [=](const RandomWords &words, int row, u64) {
        return as<O>(i64(u64(first) + (u64(words.word[row]) * range_size >> 32)));
    });
}

__device__ __forceinline__ u64 multiply_high(u64 a, u64 b) {
    u64 low = u64(u32(a)) * u32(b), x = (a >> 32) * u32(b), y = u64(u32(a)) * (b >> 32);
    u64 middle = (low >> 32) + u32(x) + u32(y);
    return (a >> 32) * (b >> 32) + (x >> 32) + (y >> 32) + (middle >> 32);
}

// Draws integers from 64 random bits. `range_size` is zero if the range has all integers of 64 bits.
template <class O> __global__ void __launch_bounds__(256) integers_from_64_bits(O *out, RandomStream stream, i64 first, u64 range_size) {
    fill_random<2>(out, stream, [=](const RandomWords &words, int row, u64) {
        u64 word = u64(words.word[2 * row + 1]) << 32 | words.word[2 * row];
        return as<O>(i64(u64(first) + (range_size ? multiply_high(word, range_size) : word)));
    });
}
