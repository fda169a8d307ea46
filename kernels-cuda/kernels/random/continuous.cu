// Kernels of continuous distributions, and of the geometric distribution.
#include "philox.cuh"

template <class F, class O> __global__ void __launch_bounds__(256) uniform(O *out, RandomStream stream, double from, double to, i32 bits) {
    F low = F(from), high = F(to);
    fill_random<UniformNumbers<F>::PER_BLOCK>(out, stream, [=](const RandomWords &words, int row, u64) {
        F x = multiply_unfused(UniformNumbers<F>::uniform_from_zero_to_one(words, row, bits), high - low) + low;
        return as<O>(x < high ? x : low);
    });
}

// Draws normal numbers by the method of Box and Muller: the words of a block make a radius and an angle, and these make two numbers.
template <class F, class O> __global__ void __launch_bounds__(256) normal(O *out, RandomStream stream, double mean, double std, bool exponentiated) {
    fill_random<UniformNumbers<F>::PER_BLOCK>(out, stream, [=](const RandomWords &words, int row, u64) {
        F radius = sqrt(F(-2) * log(UniformNumbers<F>::uniform_without_zero(words, row & ~1)));
        F angle = F(6.283185307179586) * UniformNumbers<F>::uniform_from_zero_to_one(words, row | 1, 24);
        F x = F(mean) + multiply_unfused(F(std) * radius, row & 1 ? sin(angle) : cos(angle));
        return as<O>(exponentiated ? exp(x) : x);
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) exponential(O *out, RandomStream stream, double scale) {
    fill_random<UniformNumbers<F>::PER_BLOCK>(out, stream, [=](const RandomWords &words, int row, u64) {
        return as<O>(F(scale) * log(UniformNumbers<F>::uniform_without_zero(words, row)));
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) cauchy(O *out, RandomStream stream, double median, double sigma) {
    fill_random<UniformNumbers<F>::PER_BLOCK>(out, stream, [=](const RandomWords &words, int row, u64) {
        F angle = F(3.141592653589793) * (UniformNumbers<F>::uniform_without_zero(words, row) - F(0.5));
        return as<O>(F(median) + multiply_unfused(F(sigma), tan(angle)));
    });
}

template <class O> __global__ void __launch_bounds__(256) geometric(O *out, RandomStream stream, double scale) {
    fill_random<2>(out, stream, [=](const RandomWords &words, int row, u64) {
        double x = ceil(log(UniformNumbers<double>::uniform_without_zero(words, row)) * scale);
        return as<O>(x < 1.0 ? 1.0 : x);
    });
}
