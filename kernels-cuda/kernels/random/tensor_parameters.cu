// Kernels of distributions whose parameters are tensors: Poisson, binomial and gamma.
#include "philox.cuh"

// A random stream of one element, which yields as many words as a distribution needs. The words of one block are its key. Rejection
// sampling tries at most `MAX_TRIES` times; the probability that all fail is negligible.
struct RandomStreamOfElement {
    static const u32 MAX_TRIES = 1000;
    u64 key, begin;
    u32 blocks;
    bool has_next;
    double next;

    __device__ __forceinline__ RandomStreamOfElement(const RandomWords &words)
        : key(u64(words.word[1]) << 32 | words.word[0]), begin(u64(words.word[3]) << 32 | words.word[2]), blocks(0), has_next(false) {}

    // Returns a random number above zero and below one.
    __device__ __forceinline__ double draw_uniform() {
        has_next = !has_next;
        if (!has_next) return next;
        RandomWords words = philox(key, begin, blocks++);
        next = UniformNumbers<double>::uniform_without_zero(words, 1);
        return UniformNumbers<double>::uniform_without_zero(words, 0);
    }

    __device__ __forceinline__ double draw_normal() {
        double radius = sqrt(-2.0 * log(draw_uniform()));
        return radius * cos(6.283185307179586 * draw_uniform());
    }

    // Draws a gamma number by the method of Marsaglia and Tsang: nearly the cube of a normal number. A shape below one is computed from the
    // shape plus one and a power of a uniform number.
    __device__ double draw_gamma(double shape) {
        if (!(shape > 0)) return Limits<double>::nan();
        bool small = shape < 1;
        double d = (small ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d), found = d;
        for (u32 tries = 0; tries < MAX_TRIES; tries++) {
            double x = draw_normal(), root = 1 + c * x;
            if (!(root > 0)) continue;
            double cube = root * root * root;
            if (log(draw_uniform()) < 0.5 * x * x + d - d * cube + d * log(cube)) {
                found = d * cube;
                break;
            }
        }
        return small ? found * pow(draw_uniform(), 1 / shape) : found;
    }

    // Draws a Poisson number. For a large rate, draws the time of a late event, which is a gamma number. Then it continues after that
    // event, or counts the events before it by a binomial number.
    __device__ double draw_poisson(double rate) {
        double rest = rate, sum = 0;
        while (rest > 12) {
            double ahead = floor(0.875 * rest), time = draw_gamma(ahead);
            // Ends the loop for infinite numbers and NaN, too.
            if (is_nan(time) || time > rest || is_infinite(rest)) return sum + draw_binomial(ahead - 1, rest / time);
            rest -= time;
            sum += ahead;
        }
        double least = exp(-rest);
        for (double product = draw_uniform(); product > least; product *= draw_uniform()) sum += 1;
        return sum;
    }

    // Draws a binomial number. Bisects the sorted uniform numbers at the middle one, a beta number, until few trials succeed or fail. Then
    // counts the successes by the gaps between them.
    __device__ double draw_binomial(double count, double probability) {
        if (is_nan(count) || is_nan(probability)) return Limits<double>::nan();
        double n = count, p = probability, sum = 0;
        while (n * fmin(p, 1 - p) > 12 && !is_infinite(n)) {
            double middle = floor(0.5 * n) + 1, below = draw_gamma(middle), above = draw_gamma(n + 1 - middle), median = below / (below + above);
            if (median >= p) {
                n = middle - 1;
                p = p / median;
            } else {
                n -= middle;
                p = (p - median) / (1 - median);
                sum += middle;
            }
        }
        if (n <= 0 || p <= 0) return sum;
        return p > 0.5 ? sum + n - count_successes(n, 1 - p) : sum + count_successes(n, p);
    }

    __device__ double count_successes(double n, double p) {
        if (p <= 0) return 0;
        double scale = 1 / log1p(-p), median = 0, sum = 0;
        for (u32 tries = 0; tries < MAX_TRIES; tries++) {
            median += floor(log(draw_uniform()) * scale) + 1;
            if (median > n) break;
            sum += 1;
        }
        return sum;
    }
};

template <class O> __global__ void __launch_bounds__(256) sample_poisson(O *out, RandomStream stream, const double *rates, u32 site, Fault *fault) {
    fill_random<1>(out, stream, [=](const RandomWords &words, int, u64 at) {
        double rate = rates[at];
        if (rate >= 0) return as<O>(RandomStreamOfElement(words).draw_poisson(rate));
        report_invalid_float(fault, site, rate, 0);
        return as<O>(Limits<double>::nan());
    });
}

template <class O> __global__ void __launch_bounds__(256) sample_binomial(O *out, RandomStream stream, const double *counts, const double *probabilities) {
    fill_random<1>(out, stream, [=](const RandomWords &words, int, u64 at) { return as<O>(RandomStreamOfElement(words).draw_binomial(floor(counts[at]), probabilities[at])); });
}

// Draws gamma numbers. A number that would round to zero becomes `least`.
template <class O> __global__ void __launch_bounds__(256) sample_gamma(O *out, RandomStream stream, const double *shapes, double least) {
    fill_random<1>(out, stream, [=](const RandomWords &words, int, u64 at) {
        if (shapes[at] == 0) return as<O>(0.0);
        double x = RandomStreamOfElement(words).draw_gamma(shapes[at]);
        return as<O>(x < least ? least : x);
    });
}
