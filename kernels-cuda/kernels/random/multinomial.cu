// Kernels of `multinomial`: indices drawn with the given weights.
#include "philox.cuh"

// Rows of weights. The weights of a row are summed in pieces, and then the pieces are summed, so that neither sum is long.
struct WeightRows {
    u64 count, width, piece;
    u32 site;
    Fault *fault;
    __device__ __forceinline__ u64 pieces() const { return (width - 1) / piece + 1; }
    // Returns the end of a piece within its row.
    __device__ __forceinline__ u64 piece_end(u64 at) const { return at + 1 < pieces() ? (at + 1) * piece : width; }
    __device__ __forceinline__ double checked_weight(double weight) const {
        if (!(weight >= 0 && weight < Limits<double>::max_value())) report_invalid_float(fault, site, weight, 0);
        return weight;
    }
};

// Computes the running sums of each piece, with a thread for each piece.
__global__ void __launch_bounds__(256) sum_within_pieces(const double *__restrict__ weights, double *__restrict__ within, WeightRows rows) {
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x, pieces = rows.pieces(), row = at / pieces, piece = at % pieces;
    if (row >= rows.count) return;
    u64 end = row * rows.width + rows.piece_end(piece);
    double sum = 0;
#pragma unroll 8
    for (u64 i = row * rows.width + piece * rows.piece; i < end; i++) within[i] = sum += rows.checked_weight(weights[i]);
}

// Computes the sum of the weights before each piece and of all weights, with a thread for each row.
__global__ void __launch_bounds__(256) sum_before_pieces(const double *__restrict__ within, double *__restrict__ before, WeightRows rows) {
    u64 row = u64(blockIdx.x) * blockDim.x + threadIdx.x, pieces = rows.pieces();
    if (row >= rows.count) return;
    within += row * rows.width;
    before += row * (pieces + 1);
    double sum = 0;
#pragma unroll 8
    for (u64 piece = 0; piece < pieces; piece++) {
        before[piece] = sum;
        sum += within[rows.piece_end(piece) - 1];
    }
    before[pieces] = sum;
    if (!(sum > 0 && sum < Limits<double>::max_value())) report_fault(rows.fault, rows.site, INVALID_WEIGHT_SUM, 0, 0);
}

// Returns how many of the indices below `count` fulfil `before`, which holds for the first ones only (binary search).
template <class Before> __device__ __forceinline__ u64 partition_point(u64 count, Before before) {
    u64 low = 0;
    while (count > 0) {
        u64 half = count / 2;
        bool right = before(low + half);
        low = right ? low + half + 1 : low;
        count = right ? count - half - 1 : half;
    }
    return low;
}

// Draws with replacement: finds the index where a random number falls in the running sums of its row.
__global__ void __launch_bounds__(256) with_replacement(i64 *out, RandomStream stream, const double *within, const double *before, u64 samples, WeightRows rows) {
    fill_random<2>(out, stream, [=](const RandomWords &words, int row, u64 at) {
        u64 line = at / samples, pieces = rows.pieces();
        const double *sums = within + line * rows.width, *starts = before + line * (pieces + 1);
        double all = starts[pieces], point = UniformNumbers<double>::uniform_from_zero_to_one(words, row, 52) * all;
        // The product may be rounded up to `all`, where no index lies. Such a point becomes 0.
        if (!(point < all)) point = 0;
        u64 piece = partition_point(pieces - 1, [=](u64 i) { return starts[i + 1] <= point; });
        u64 first = piece * rows.piece;
        return i64(first + partition_point(rows.piece_end(piece) - 1 - first, [=](u64 i) { return starts[piece] + sums[first + i] <= point; }));
    });
}

// Draws an exponentially distributed time for each index, with its weight as the rate. It is infinite if the weight is zero.
__global__ void __launch_bounds__(256) without_replacement(double *out, RandomStream stream, const double *weights, WeightRows rows) {
    fill_random<2>(out, stream, [=](const RandomWords &words, int row, u64 at) {
        double weight = rows.checked_weight(weights[at]), time = -log(UniformNumbers<double>::uniform_without_zero(words, row)) / weight;
        return weight > 0 ? minimum(time, largest_finite<double>()) : Limits<double>::max_value();
    });
}

// Reports a row whose weights are all zero: its smallest time is infinite. A thread for each row.
__global__ void __launch_bounds__(256) check_weight_sums(const double *times, u64 samples, WeightRows rows) {
    u64 row = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row < rows.count && is_infinite(times[row * samples])) report_fault(rows.fault, rows.site, INVALID_WEIGHT_SUM, 0, 0);
}
