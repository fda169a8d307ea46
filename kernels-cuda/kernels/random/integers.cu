// Kernels of random integers in a range.
#include "philox.cuh"

template <class O> __global__ void __launch_bounds__(256) narrow_integers(O *out, Stream stream, i64 first, u64 different) {
    filled<4>(out, stream, [=](const Words &words, int row, u64) {
        return as<O>(i64(u64(first) + (u64(words.of[row]) * different >> 32)));
    });
}

__device__ __forceinline__ u64 upper_half(u64 a, u64 b) {
    u64 low = u64(u32(a)) * u32(b), x = (a >> 32) * u32(b), y = u64(u32(a)) * (b >> 32);
    u64 middle = (low >> 32) + u32(x) + u32(y);
    return (a >> 32) * (b >> 32) + (x >> 32) + (y >> 32) + (middle >> 32);
}

// Draws integers from 64 random bits. `different` is zero if the range has all integers of 64 bits.
template <class O> __global__ void __launch_bounds__(256) wide_integers(O *out, Stream stream, i64 first, u64 different) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        u64 word = u64(words.of[2 * row + 1]) << 32 | words.of[2 * row];
        return as<O>(i64(u64(first) + (different ? upper_half(word, different) : word)));
    });
}
