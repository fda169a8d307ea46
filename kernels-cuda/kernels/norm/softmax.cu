// Kernels of softmax, log-softmax and their gradients.
#include "folds.cuh"
#include "lines.cuh"

// Lines whose elements are not adjacent: `length` rows of `inner` elements each, `columns` lines in all.
struct Across {
    i64 length, inner;
    u64 columns;
    // The number of threads that share a line.
    u32 ways;
};

enum { SOFTMAX, LOGARITHM, SAFE };

struct Larger {
    template <class C> __device__ __forceinline__ C operator()(C a, C b) const { return larger(a, b); }
};

template <class C> __device__ __forceinline__ C exponential(C x, const Exponentials<C> &total, i32 kind) {
    if (kind == LOGARITHM) return x - total.most - log(total.sum);
    if (kind == SAFE && total.most == Bounds<C>::least()) return C(0);
    return exp(x - total.most) / total.sum;
}

// Computes softmax of lines, in two passes over the tiles: one sums, and one writes. A line of one tile is loaded once, and its
// exponentials are computed once, after its maximum is known. For a longer line, each thread sums exponentials relative to its own maximum.
template <class T, class O> __global__ void __launch_bounds__(512) lines(const T *in, O *out, Lines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    Share share(lines);
    in += share.start();
    out += share.start();
    C x[HELD], most = Bounds<C>::least(), sum = C(0), shift;
    bool nothing;
    u32 tiles = share.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == 0 || tiles > 1) share.load(x, in, tile, Bounds<C>::least());
        if (step < tiles) {
            C before = most;
#pragma unroll
            for (u32 i = 0; i < HELD; i++) most = larger(x[i], most);
            if (tiles > 1 && most != Bounds<C>::least()) {
                sum *= exp(before - most);
#pragma unroll
                for (u32 i = 0; i < HELD; i++) sum += exp(x[i] - most);
            }
            continue;
        }
        if (step == tiles) {
            C own = most;
            most = joined_among(share.lanes, most, Larger(), scratch);
            sum = own == Bounds<C>::least() ? C(0) : sum * exp(own - most);
        }
        if (kind != LOGARITHM || tiles == 1) {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) {
                C power = exp(x[i] - most);
                if (tiles == 1) sum += power;
                x[i] = kind == LOGARITHM ? x[i] : power;
            }
        }
        if (step == tiles) {
            sum = joined_among(share.lanes, sum, Plus(), scratch);
            shift = kind == LOGARITHM ? log(sum) : C(1) / sum;
            nothing = kind == SAFE && most == Bounds<C>::least();
        }
#pragma unroll
        for (u32 i = 0; i < HELD; i++) x[i] = nothing ? C(0) : kind == LOGARITHM ? x[i] - most - shift : x[i] * shift;
        share.store(out, x, tile);
    }
}

// The term of a gradient that is summed over its line, and the input's gradient from that sum.
template <class C> __device__ __forceinline__ C term(C grad, C output, i32 kind) { return kind == LOGARITHM ? grad : grad * output; }
template <class C> __device__ __forceinline__ C slope(C grad, C output, C sum, i32 kind) {
    return kind == LOGARITHM ? grad - exp(output) * sum : (grad - sum) * output;
}

template <class T, class O>
__global__ void __launch_bounds__(512) lines_backward(const T *grad, const T *output, O *out, Lines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    Share share(lines);
    grad += share.start();
    output += share.start();
    out += share.start();
    C g[HELD], y[HELD], sum = C(0);
    u32 tiles = share.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) sum = joined_among(share.lanes, sum, Plus(), scratch);
        if (step == 0 || tiles > 1) {
            share.load(g, grad, tile, C(0));
            share.load(y, output, tile, C(0));
        }
        if (step < tiles) {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) sum += term(g[i], y[i], kind);
        } else {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) g[i] = slope(g[i], y[i], sum, kind);
            share.store(out, g, tile);
        }
    }
}

// The part of a line that a thread has. Adjacent lines are in adjacent threads.
struct Column {
    u32 together, way;
    u64 number, first;
    bool live;
    __device__ __forceinline__ Column(const Across &across) {
        together = blockDim.x / across.ways;
        way = threadIdx.x / together;
        number = u64(blockIdx.x) * together + threadIdx.x % together;
        live = number < across.columns;
        if (!live) number = 0;
        first = number / across.inner * across.inner * across.length + number % across.inner;
    }
    template <class V, class Join> __device__ __forceinline__ V joined(V value, Join join, V *shared) const {
        shared[threadIdx.x] = value;
        __syncthreads();
        value = shared[threadIdx.x % together];
        for (u32 i = threadIdx.x % together + together; i < blockDim.x; i += together) value = join(value, shared[i]);
        return value;
    }
};

template <class T, class O> __global__ void __launch_bounds__(256) columns(const T *in, O *out, Across across, i32 kind) {
    typedef compute_t<T> C;
    __shared__ Exponentials<C> shared[256];
    Column column(across);
    Exponentials<C> total = {Bounds<C>::least(), C(0)};
    auto join = [](Exponentials<C> a, Exponentials<C> b) { return a.and_of(b); };
    if (column.live)
#pragma unroll 4
        for (i64 j = column.way; j < across.length; j += across.ways)
            total = total.with(as<C>(in[column.first + j * across.inner]));
    total = column.joined(total, join, shared);
    if (column.live)
#pragma unroll 4
        for (i64 j = column.way; j < across.length; j += across.ways) {
            i64 at = column.first + j * across.inner;
            out[at] = as<O>(exponential(as<C>(in[at]), total, kind));
        }
}

template <class T, class O>
__global__ void __launch_bounds__(256) columns_backward(const T *grad, const T *output, O *out, Across across, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C shared[256];
    Column column(across);
    C sum = C(0);
    if (column.live)
#pragma unroll 4
        for (i64 j = column.way; j < across.length; j += across.ways) {
            i64 at = column.first + j * across.inner;
            sum += term(as<C>(grad[at]), as<C>(output[at]), kind);
        }
    sum = column.joined(sum, Plus(), shared);
    if (column.live)
#pragma unroll 4
        for (i64 j = column.way; j < across.length; j += across.ways) {
            i64 at = column.first + j * across.inner;
            out[at] = as<O>(slope(as<C>(grad[at]), as<C>(output[at]), sum, kind));
        }
}
