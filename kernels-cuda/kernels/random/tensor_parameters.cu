// Kernels of distributions whose parameters are tensors: Poisson, binomial and gamma.
#include "philox.cuh"

// A random stream of one element, which yields as many words as a distribution needs. The words of one block are its key. Rejection
// sampling tries at most `TRIES` times; the probability that all fail is negligible.
struct Own {
    static const u32 TRIES = 1000;
    u64 key, begin;
    u32 blocks;
    bool kept;
    double other;

    __device__ __forceinline__ Own(const Words &words)
        : key(u64(words.of[1]) << 32 | words.of[0]), begin(u64(words.of[3]) << 32 | words.of[2]), blocks(0), kept(false) {}

    // Returns a random number above zero and below one.
    __device__ __forceinline__ double unit() {
        kept = !kept;
        if (!kept) return other;
        Words words = philox(key, begin, blocks++);
        other = Drawn<double>::open(words, 1);
        return Drawn<double>::open(words, 0);
    }

    __device__ __forceinline__ double normal() {
        double radius = sqrt(-2.0 * log(unit()));
        return radius * cos(6.283185307179586 * unit());
    }

    // Draws a gamma number by the method of Marsaglia and Tsang: nearly the cube of a normal number. A shape below one is computed from the
    // shape plus one and a power of a uniform number.
    __device__ double gamma(double shape) {
        if (!(shape > 0)) return Bounds<double>::nan();
        bool small = shape < 1;
        double d = (small ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d), found = d;
        for (u32 tries = 0; tries < TRIES; tries++) {
            double x = normal(), root = 1 + c * x;
            if (!(root > 0)) continue;
            double cube = root * root * root;
            if (log(unit()) < 0.5 * x * x + d - d * cube + d * log(cube)) {
                found = d * cube;
                break;
            }
        }
        return small ? found * pow(unit(), 1 / shape) : found;
    }

    // Draws a Poisson number. For a large rate, draws the time of a late event, which is a gamma number. Then it continues after that
    // event, or counts the events before it by a binomial number.
    __device__ double poisson(double rate) {
        double rest = rate, sum = 0;
        while (rest > 12) {
            double ahead = floor(0.875 * rest), time = gamma(ahead);
            // Ends the loop for infinite numbers and NaN, too.
            if (is_nan(time) || time > rest || is_infinite(rest)) return sum + binomial(ahead - 1, rest / time);
            rest -= time;
            sum += ahead;
        }
        double least = exp(-rest);
        for (double product = unit(); product > least; product *= unit()) sum += 1;
        return sum;
    }

    // Draws a binomial number. Bisects the sorted uniform numbers at the middle one, a beta number, until few trials succeed or fail. Then
    // counts the successes by the gaps between them.
    __device__ double binomial(double count, double chance) {
        if (is_nan(count) || is_nan(chance)) return Bounds<double>::nan();
        double n = count, p = chance, sum = 0;
        while (n * fmin(p, 1 - p) > 12 && !is_infinite(n)) {
            double middle = floor(0.5 * n) + 1, below = gamma(middle), above = gamma(n + 1 - middle), place = below / (below + above);
            if (place >= p) {
                n = middle - 1;
                p = p / place;
            } else {
                n -= middle;
                p = (p - place) / (1 - place);
                sum += middle;
            }
        }
        if (n <= 0 || p <= 0) return sum;
        return p > 0.5 ? sum + n - successes(n, 1 - p) : sum + successes(n, p);
    }

    __device__ double successes(double n, double p) {
        if (p <= 0) return 0;
        double scale = 1 / log1p(-p), place = 0, sum = 0;
        for (u32 tries = 0; tries < TRIES; tries++) {
            place += floor(log(unit()) * scale) + 1;
            if (place > n) break;
            sum += 1;
        }
        return sum;
    }
};

template <class O> __global__ void __launch_bounds__(256) poissons(O *out, Stream stream, const double *rates, u32 site, Fault *fault) {
    filled<1>(out, stream, [=](const Words &words, int, u64 at) {
        double rate = rates[at];
        if (rate >= 0) return as<O>(Own(words).poisson(rate));
        report_number(fault, site, rate, 0);
        return as<O>(Bounds<double>::nan());
    });
}

template <class O> __global__ void __launch_bounds__(256) binomials(O *out, Stream stream, const double *counts, const double *chances) {
    filled<1>(out, stream, [=](const Words &words, int, u64 at) { return as<O>(Own(words).binomial(floor(counts[at]), chances[at])); });
}

// Draws gamma numbers. A number that would round to zero becomes `least`.
template <class O> __global__ void __launch_bounds__(256) gammas(O *out, Stream stream, const double *shapes, double least) {
    filled<1>(out, stream, [=](const Words &words, int, u64 at) {
        if (shapes[at] == 0) return as<O>(0.0);
        double x = Own(words).gamma(shapes[at]);
        return as<O>(x < least ? least : x);
    });
}
