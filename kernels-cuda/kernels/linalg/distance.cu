#include "block.cuh"

enum { COUNT, SUM, ROOT, POWER, MOST };

// The norm of a vector of differences.
struct Norm {
    double power;
    u32 kind;
    template <class C> __device__ __forceinline__ C joined(C a, C b) const { return kind != MOST ? a + b : b > a || b != b ? b : a; }
    template <class C> __device__ __forceinline__ C part(C apart) const {
        C size = apart < C(0) ? -apart : apart;
        switch (kind) {
        case COUNT: return apart == C(0) ? C(0) : C(1);
        case ROOT: return apart * apart;
        case POWER: return pow(size, C(power));
        default: return size;
        }
    }
    template <class C> __device__ __forceinline__ C whole(C sum) const {
        return kind == ROOT ? sqrt(sum) : kind == POWER ? pow(sum, C(1) / C(power)) : sum;
    }
    // Returns the derivative of the distance by one difference.
    template <class C> __device__ __forceinline__ C slope(C apart, C distance) const {
        if (apart == C(0) || distance == C(0)) return C(0);
        C size = apart < C(0) ? -apart : apart, sign = apart < C(0) ? C(-1) : C(1);
        switch (kind) {
        case SUM: return sign;
        case ROOT: return apart / distance;
        case POWER: return sign * pow(size / distance, C(power) - C(1));
        case MOST: return size == distance ? sign : C(0);
        default: return C(0);
        }
    }
};

// Contiguous rows: `height` in each item of one side, and `breadth` of the other.
struct Rows {
    u64 height, breadth, width;
};

// Returns the index of the first pair of a row, where the pairs of one matrix's rows are in order, without duplicates.
__device__ __forceinline__ u64 first_pair(u64 row, u64 rows) { return row * (2 * rows - row - 1) / 2; }

template <class C, class T> __device__ __forceinline__ C distance(const T *a, const T *b, u64 width, const Norm &norm) {
    C sum = C(0);
#pragma unroll 4
    for (u64 i = threadIdx.x % 32; i < width; i += 32) sum = norm.joined(sum, norm.part(as<C>(a[i]) - as<C>(b[i])));
    return norm.whole(joined_in_warp(sum, [&](C a, C b) { return norm.joined(a, b); }));
}

// Computes the distances of two batches of rows, with a warp for each pair.
template <class T> __global__ void __launch_bounds__(256) apart(u64 count, T *out, const T *left, const T *right, Rows rows, Norm norm) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= count) return;
    u64 line = at / rows.breadth, column = line / rows.height * rows.breadth + at % rows.breadth;
    auto found = distance<compute_t<T>>(left + line * rows.width, right + column * rows.width, rows.width, norm);
    if (threadIdx.x % 32 == 0) out[at] = as<T>(found);
}

template <class T> __global__ void __launch_bounds__(256) pairs_apart(u64 count, T *out, const T *in, Rows rows, Norm norm) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= count) return;
    // Finds the last row whose first pair is not after this one.
    u64 low = 0, high = rows.height - 1;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (first_pair(middle, rows.height) <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    u64 other = low + 1 + at - first_pair(low, rows.height);
    auto found = distance<compute_t<T>>(in + low * rows.width, in + other * rows.width, rows.width, norm);
    if (threadIdx.x % 32 == 0) out[at] = as<T>(found);
}

// Computes the gradient of the left rows, with a thread for each element.
template <class T>
__global__ void __launch_bounds__(256)
    pulled(u64 count, T *out, const T *grad, const T *left, const T *right, const T *distances, Rows rows, Norm norm) {
    typedef compute_t<T> C;
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    u64 line = at / rows.width, element = at % rows.width, first = line / rows.height * rows.breadth;
    C sum = C(0), here = as<C>(left[at]);
    for (u64 column = 0; column < rows.breadth; column++) {
        u64 pair = line * rows.breadth + column;
        C apart = here - as<C>(right[(first + column) * rows.width + element]);
        sum += as<C>(grad[pair]) * norm.slope(apart, as<C>(distances[pair]));
    }
    out[at] = as<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(256)
    pairs_pulled(u64 count, T *out, const T *grad, const T *in, const T *distances, Rows rows, Norm norm) {
    typedef compute_t<T> C;
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    u64 row = at / rows.width, element = at % rows.width;
    C sum = C(0), here = as<C>(in[at]);
    for (u64 other = 0; other < rows.height; other++) {
        if (other == row) continue;
        u64 low = row < other ? row : other, high = row < other ? other : row, pair = first_pair(low, rows.height) + high - low - 1;
        C apart = here - as<C>(in[other * rows.width + element]);
        sum += as<C>(grad[pair]) * norm.slope(apart, as<C>(distances[pair]));
    }
    out[at] = as<T>(sum);
}
