// Random numbers of one distribution.
#include "philox.cuh"

// Where the next replay counts from.
template <class T> __global__ void __launch_bounds__(1) begin(T *origin, u64 seed, u64 first) {
    origin[0] = T(seed);
    origin[1] = T(first);
}

template <class F, class O> __global__ void __launch_bounds__(256) evenly(O *out, Stream stream, double from, double to, i32 bits) {
    F low = F(from), high = F(to);
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F x = product(Drawn<F>::unit(words, row, bits), high - low) + low;
        return as<O>(x < high ? x : low);
    });
}

// By the method of Box and Muller: the words of a block make a radius and an angle, and those make two numbers.
template <class F, class O> __global__ void __launch_bounds__(256) normal(O *out, Stream stream, double mean, double std, bool exponentiated) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F radius = sqrt(F(-2) * log(Drawn<F>::open(words, row & ~1)));
        F angle = F(6.283185307179586) * Drawn<F>::unit(words, row | 1, 24);
        F x = F(mean) + product(F(std) * radius, row & 1 ? sin(angle) : cos(angle));
        return as<O>(exponentiated ? exp(x) : x);
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) waits(O *out, Stream stream, double scale) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        return as<O>(F(scale) * log(Drawn<F>::open(words, row)));
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) ratios(O *out, Stream stream, double median, double sigma) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F angle = F(3.141592653589793) * (Drawn<F>::open(words, row) - F(0.5));
        return as<O>(F(median) + product(F(sigma), tan(angle)));
    });
}

template <class O> __global__ void __launch_bounds__(256) tries(O *out, Stream stream, double scale) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        double x = ceil(log(Drawn<double>::open(words, row)) * scale);
        return as<O>(x < 1.0 ? 1.0 : x);
    });
}

// A word is below `limit` with the chance that it stands for.
template <class O> __global__ void __launch_bounds__(256) coins(O *out, Stream stream, u64 limit) {
    filled<4>(out, stream, [=](const Words &words, int row, u64) { return as<O>(i32(words.of[row] < limit)); });
}

template <class O> __global__ void __launch_bounds__(256) coins_of(O *out, Stream stream, const double *chances, Fault *fault, u32 site) {
    filled<4>(out, stream, [=](const Words &words, int row, u64 at) {
        double chance = chances[at];
        if (!(chance >= 0 && chance <= 1)) report_number(fault, site, chance, chance < 0 ? 0 : 1);
        return as<O>(i32(words.of[row] < u64(rint(chance * 4294967296.0))));
    });
}

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

// `different` is zero where all numbers of 64 bits are.
template <class O> __global__ void __launch_bounds__(256) wide_integers(O *out, Stream stream, i64 first, u64 different) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        u64 word = u64(words.of[2 * row + 1]) << 32 | words.of[2 * row];
        return as<O>(i64(u64(first) + (different ? upper_half(word, different) : word)));
    });
}
