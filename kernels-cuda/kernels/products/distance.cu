#include "block.cuh"

enum { NONZERO_COUNT, ABSOLUTE_SUM, EUCLIDEAN, GENERAL_POWER, MAXIMUM };

// The norm of a vector of differences.
struct Norm {
    double power;
    u32 kind;
    template <class C> __device__ __forceinline__ C join(C a, C b) const { return kind != MAXIMUM ? a + b : b > a || b != b ? b : a; }
    template <class C> __device__ __forceinline__ C norm_term(C difference) const {
        C size = difference < C(0) ? -difference : difference;
        switch (kind) {
        case NONZERO_COUNT: return difference == C(0) ? C(0) : C(1);
        case EUCLIDEAN: return difference * difference;
        case GENERAL_POWER: return pow(size, C(power));
        default: return size;
        }
    }
    template <class C> __device__ __forceinline__ C norm_from_sum(C sum) const {
        return kind == EUCLIDEAN ? sqrt(sum) : kind == GENERAL_POWER ? pow(sum, C(1) / C(power)) : sum;
    }
    // Returns the derivative of the distance by one difference.
    template <class C> __device__ __forceinline__ C derivative(C difference, C distance) const {
        if (difference == C(0) || distance == C(0)) return C(0);
        C size = difference < C(0) ? -difference : difference, sign = difference < C(0) ? C(-1) : C(1);
        switch (kind) {
        case ABSOLUTE_SUM: return sign;
        case EUCLIDEAN: return difference / distance;
        case GENERAL_POWER: return sign * pow(size / distance, C(power) - C(1));
        case MAXIMUM: return size == distance ? sign : C(0);
        default: return C(0);
        }
    }
};

// The sizes of two batches of contiguous rows: `height` and `breadth` rows in each item, of `width` elements.
struct DistanceShape {
    u64 height, breadth, width;
};

// Returns the index of a row's first pair. The pairs of a matrix's rows are ordered by the first row, then by the second, without
// duplicates.
__device__ __forceinline__ u64 first_pair(u64 row, u64 rows) { return row * (2 * rows - row - 1) / 2; }

template <class C, class T> __device__ __forceinline__ C distance_by_warp(const T *a, const T *b, u64 width, const Norm &norm) {
    C sum = C(0);
#pragma unroll 4
    for (u64 i = threadIdx.x % 32; i < width; i += 32) sum = norm.join(sum, norm.norm_term(as<C>(a[i]) - as<C>(b[i])));
    return norm.norm_from_sum(reduce_warp(sum, [&](C a, C b) { return norm.join(a, b); }));
}

// Computes the distances of two batches of rows, with a warp for each pair.
template <class T> __global__ void __launch_bounds__(256) distances(u64 count, T *out, const T *left, const T *right, DistanceShape shape, Norm norm) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= count) return;
    u64 line = at / shape.breadth, column = line / shape.height * shape.breadth + at % shape.breadth;
    auto found = distance_by_warp<compute_t<T>>(left + line * shape.width, right + column * shape.width, shape.width, norm);
    if (threadIdx.x % 32 == 0) out[at] = as<T>(found);
}

template <class T> __global__ void __launch_bounds__(256) pair_distances(u64 count, T *out, const T *in, DistanceShape shape, Norm norm) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= count) return;
    // Finds the first row of this pair by binary search.
    u64 low = 0, high = shape.height - 1;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (first_pair(middle, shape.height) <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    u64 other = low + 1 + at - first_pair(low, shape.height);
    auto found = distance_by_warp<compute_t<T>>(in + low * shape.width, in + other * shape.width, shape.width, norm);
    if (threadIdx.x % 32 == 0) out[at] = as<T>(found);
}

// Computes the gradient of the left rows, with a thread for each element.
template <class T>
__global__ void __launch_bounds__(256)
    distance_gradient(u64 count, T *out, const T *grad, const T *left, const T *right, const T *distances, DistanceShape shape, Norm norm) {
    typedef compute_t<T> C;
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    u64 line = at / shape.width, element = at % shape.width, first = line / shape.height * shape.breadth;
    C sum = C(0), here = as<C>(left[at]);
    for (u64 column = 0; column < shape.breadth; column++) {
        u64 pair = line * shape.breadth + column;
        C difference = here - as<C>(right[(first + column) * shape.width + element]);
        sum += as<C>(grad[pair]) * norm.derivative(difference, as<C>(distances[pair]));
    }
    out[at] = as<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(256)
    pair_distance_gradient(u64 count, T *out, const T *grad, const T *in, const T *distances, DistanceShape shape, Norm norm) {
    typedef compute_t<T> C;
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    u64 row = at / shape.width, element = at % shape.width;
    C sum = C(0), here = as<C>(in[at]);
    for (u64 other = 0; other < shape.height; other++) {
        if (other == row) continue;
        u64 low = row < other ? row : other, high = row < other ? other : row, pair = first_pair(low, shape.height) + high - low - 1;
        C difference = here - as<C>(in[other * shape.width + element]);
        sum += as<C>(grad[pair]) * norm.derivative(difference, as<C>(distances[pair]));
    }
    out[at] = as<T>(sum);
}
