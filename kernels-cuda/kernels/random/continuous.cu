// Kernels of continuous distributions, and of the geometric distribution.
#include "philox.cuh"

template <class F, class O> __global__ void __launch_bounds__(256) uniform(O *out, Stream stream, double from, double to, i32 bits) {
    F low = F(from), high = F(to);
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F x = product(Drawn<F>::unit(words, row, bits), high - low) + low;
        return as<O>(x < high ? x : low);
    });
}

// Draws normal numbers by the method of Box and Muller: the words of a block make a radius and an angle, and these make two numbers.
template <class F, class O> __global__ void __launch_bounds__(256) normal(O *out, Stream stream, double mean, double std, bool exponentiated) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F radius = sqrt(F(-2) * log(Drawn<F>::open(words, row & ~1)));
        F angle = F(6.283185307179586) * Drawn<F>::unit(words, row | 1, 24);
        F x = F(mean) + product(F(std) * radius, row & 1 ? sin(angle) : cos(angle));
        return as<O>(exponentiated ? exp(x) : x);
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) exponential(O *out, Stream stream, double scale) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        return as<O>(F(scale) * log(Drawn<F>::open(words, row)));
    });
}

template <class F, class O> __global__ void __launch_bounds__(256) cauchy(O *out, Stream stream, double median, double sigma) {
    filled<Drawn<F>::ROWS>(out, stream, [=](const Words &words, int row, u64) {
        F angle = F(3.141592653589793) * (Drawn<F>::open(words, row) - F(0.5));
        return as<O>(F(median) + product(F(sigma), tan(angle)));
    });
}

template <class O> __global__ void __launch_bounds__(256) geometric(O *out, Stream stream, double scale) {
    filled<2>(out, stream, [=](const Words &words, int row, u64) {
        double x = ceil(log(Drawn<double>::open(words, row)) * scale);
        return as<O>(x < 1.0 ? 1.0 : x);
    });
}
