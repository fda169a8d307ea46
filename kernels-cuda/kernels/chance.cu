// Random numbers: a function of the seed and of an element's place in the stream, the same on every device.
//
// A thread works out one block of the stream. Blocks are used in groups of 64; element `i` of a group takes word `i / 64` of the group's
// block `i % 64`, or two words from `2 * (i / 64)` on.
#include "functions.cuh"

struct Words {
    u32 of[4];
};

__device__ __forceinline__ Words philox(u64 key, u64 counter) {
    u32 a = u32(counter), b = u32(counter >> 32), c = 0, d = 0, low = u32(key), high = u32(key >> 32);
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

// Which part of the stream, and where to.
struct Stream {
    u64 seed, first, count;
};

// How many numbers of this type a block gives, and how its words become one.
template <class F> struct Drawn;
template <> struct Drawn<float> {
    static const int ROWS = 4;
    // From zero up to below one, in steps of two to the power of minus `bits`.
    static __device__ __forceinline__ float unit(const Words &words, int row, int bits) {
        return float(i32(words.of[row] >> (32 - bits))) * bit_cast<float>(u32(127 - bits) << 23);
    }
    // Above zero and below one.
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
    Words words = philox(stream.seed, stream.first + block);
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (at + 64 * row < stream.count) out[at + 64 * row] = make(words, row, at + 64 * row);
}

// A product that is rounded before anything is added to it, as it is on every device.
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

template <class F, class O> __global__ void evenly(O *out, Stream stream, double from, double to, i32 bits) {
    F low = F(from), high = F(to);
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F x = product(Drawn<F>::unit(words, row, bits), high - low) + low;
        return as<O>(x < high ? x : low);
    });
}

// By the method of Box and Muller: the words of a block make a radius and an angle, and those make two numbers.
template <class F, class O> __global__ void normal(O *out, Stream stream, double mean, double std, bool exponentiated) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F radius = sqrt(F(-2) * log(Drawn<F>::open(words, row & ~1)));
        F angle = F(6.283185307179586) * Drawn<F>::unit(words, row | 1, 24);
        F x = F(mean) + product(F(std) * radius, row & 1 ? sin(angle) : cos(angle));
        return as<O>(exponentiated ? exp(x) : x);
    });
}

template <class F, class O> __global__ void waits(O *out, Stream stream, double scale) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        return as<O>(F(scale) * log(Drawn<F>::open(words, row)));
    });
}

template <class F, class O> __global__ void ratios(O *out, Stream stream, double median, double sigma) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F angle = F(3.141592653589793) * (Drawn<F>::open(words, row) - F(0.5));
        return as<O>(F(median) + product(F(sigma), tan(angle)));
    });
}

template <class O> __global__ void tries(O *out, Stream stream, double scale) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        double x = ceil(log(Drawn<double>::open(words, row)) * scale);
        return as<O>(x < 1.0 ? 1.0 : x);
    });
}

// A word is below `limit` with the chance that it stands for.
template <class O> __global__ void coins(O *out, Stream stream, u64 limit) {
    filled<4>(out, stream, [=](const Words &words, int row, u64) { return as<O>(i32(words.of[row] < limit)); });
}

template <class O> __global__ void coins_of(O *out, Stream stream, const double *chances, Fault *fault, u32 site) {
    filled<4>(out, stream, [=](const Words &words, int row, u64 at) {
        double chance = chances[at];
        if (!(chance >= 0 && chance <= 1)) report(fault, site, BAD_VALUE, i64(chance), 1);
        return as<O>(i32(words.of[row] < u64(rint(chance * 4294967296.0))));
    });
}

template <class O> __global__ void narrow_integers(O *out, Stream stream, i64 first, u64 different) {
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
template <class O> __global__ void wide_integers(O *out, Stream stream, i64 first, u64 different) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        u64 word = u64(words.of[2 * row + 1]) << 32 | words.of[2 * row];
        return as<O>(i64(u64(first) + (different ? upper_half(word, different) : word)));
    });
}
