// Kernels of `bernoulli`: zeros and ones of a given probability.
#include "philox.cuh"

// Compares random words with `limit`: a word is below it with the probability `limit / 2^32`.
template <class O> __global__ void __launch_bounds__(256) bernoulli(O *out, Stream stream, u64 limit) {
    filled<4>(out, stream, [=](const Words &words, int row, u64) { return as<O>(i32(words.of[row] < limit)); });
}

template <class O> __global__ void __launch_bounds__(256) bernoulli_each(O *out, Stream stream, const double *chances, Fault *fault, u32 site) {
    filled<4>(out, stream, [=](const Words &words, int row, u64 at) {
        double chance = chances[at];
        if (!(chance >= 0 && chance <= 1)) report_number(fault, site, chance, chance < 0 ? 0 : 1);
        return as<O>(i32(words.of[row] < u64(rint(chance * 4294967296.0))));
    });
}
