// Kernels of `bernoulli`: zeros and ones of a given probability.
#include "philox.cuh"

// Compares random words with `limit`: a word is below it with the probability `limit / 2^32`.
template <class O> __global__ void __launch_bounds__(256) bernoulli(O *out, RandomStream stream, u64 limit) {
    fill_random<4>(out, stream, [=](const RandomWords &words, int row, u64) { return as<O>(i32(words.word[row] < limit)); });
}

template <class O> __global__ void __launch_bounds__(256) bernoulli_tensor(O *out, RandomStream stream, const double *probabilities, Fault *fault, u32 site) {
    fill_random<4>(out, stream, [=](const RandomWords &words, int row, u64 at) {
        double probability = probabilities[at];
        if (!(probability >= 0 && probability <= 1)) report_invalid_float(fault, site, probability, probability < 0 ? 0 : 1);
        return as<O>(i32(words.word[row] < u64(rint(probability * 4294967296.0))));
    });
}
