// Kernels of softmax, log-softmax and their gradients.
#include "folds.cuh"
#include "lines.cuh"

// Lines whose elements are not adjacent: `length` rows of `inner` elements each, `columns` lines in all.
struct StridedLines {
    i64 length, inner;
    u64 columns;
    // The number of threads that share a line.
    u32 threads_per_line;
};

enum { SOFTMAX, LOG_SOFTMAX, SAFE_SOFTMAX };

struct MaximumOfTwo {
    template <class C> __device__ __forceinline__ C operator()(C a, C b) const { return maximum(a, b); }
};

template <class C> __device__ __forceinline__ C softmax_of(C x, const ScaledExponentials<C> &total, i32 kind) {
    if (kind == LOG_SOFTMAX) return x - total.max - log(total.sum);
    if (kind == SAFE_SOFTMAX && total.max == Limits<C>::min_value()) return C(0);
    return exp(x - total.max) / total.sum;
}

// Computes softmax of lines, in two passes over the tiles: one sums, and one writes. A line of one tile is loaded once, and its
// exponentials are computed once, after its maximum is known. For a longer line, each thread sums exponentials relative to its own maximum.
template <class T, class O> __global__ void __launch_bounds__(512) softmax_lines(const T *in, O *out, Lines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    ThreadLine line(lines);
    in += line.start();
    out += line.start();
    C x[ELEMENTS_PER_THREAD], max = Limits<C>::min_value(), sum = C(0), shift;
    bool nothing;
    u32 tiles = line.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == 0 || tiles > 1) line.load_tile(x, in, tile, Limits<C>::min_value());
        if (step < tiles) {
            C before = max;
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) max = maximum(x[i], max);
            if (tiles > 1 && max != Limits<C>::min_value()) {
                sum *= exp(before - max);
#pragma unroll
                for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) sum += exp(x[i] - max);
            }
            continue;
        }
        if (step == tiles) {
            C own = max;
            max = reduce_group(line.lanes, max, MaximumOfTwo(), scratch);
            sum = own == Limits<C>::min_value() ? C(0) : sum * exp(own - max);
        }
        if (kind != LOG_SOFTMAX || tiles == 1) {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
                C power = exp(x[i] - max);
                if (tiles == 1) sum += power;
                x[i] = kind == LOG_SOFTMAX ? x[i] : power;
            }
        }
        if (step == tiles) {
            sum = reduce_group(line.lanes, sum, Plus(), scratch);
            shift = kind == LOG_SOFTMAX ? log(sum) : C(1) / sum;
            nothing = kind == SAFE_SOFTMAX && max == Limits<C>::min_value();
        }
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = nothing ? C(0) : kind == LOG_SOFTMAX ? x[i] - max - shift : x[i] * shift;
        line.store_tile(out, x, tile);
    }
}

// The term of a gradient that is summed over its line, and the input's gradient from that sum.
template <class C> __device__ __forceinline__ C gradient_term(C grad, C output, i32 kind) { return kind == LOG_SOFTMAX ? grad : grad * output; }
template <class C> __device__ __forceinline__ C input_gradient_from_sum(C grad, C output, C sum, i32 kind) {
    return kind == LOG_SOFTMAX ? grad - exp(output) * sum : (grad - sum) * output;
}

template <class T, class O>
__global__ void __launch_bounds__(512) softmax_lines_backward(const T *grad, const T *output, O *out, Lines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    ThreadLine line(lines);
    grad += line.start();
    output += line.start();
    out += line.start();
    C g[ELEMENTS_PER_THREAD], y[ELEMENTS_PER_THREAD], sum = C(0);
    u32 tiles = line.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) sum = reduce_group(line.lanes, sum, Plus(), scratch);
        if (step == 0 || tiles > 1) {
            line.load_tile(g, grad, tile, C(0));
            line.load_tile(y, output, tile, C(0));
        }
        if (step < tiles) {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) sum += gradient_term(g[i], y[i], kind);
        } else {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) g[i] = input_gradient_from_sum(g[i], y[i], sum, kind);
            line.store_tile(out, g, tile);
        }
    }
}

// A thread's share of a line whose elements are not adjacent. Adjacent lines are in adjacent threads.
struct StridedThreadLine {
    u32 together, lane;
    u64 number, first;
    bool is_active;
    __device__ __forceinline__ StridedThreadLine(const StridedLines &lines) {
        together = blockDim.x / lines.threads_per_line;
        lane = threadIdx.x / together;
        number = u64(blockIdx.x) * together + threadIdx.x % together;
        is_active = number < lines.columns;
        if (!is_active) number = 0;
        first = number / lines.inner * lines.inner * lines.length + number % lines.inner;
    }
    template <class V, class Join> __device__ __forceinline__ V reduce_over_line(V value, Join join, V *shared) const {
        shared[threadIdx.x] = value;
        __syncthreads();
        value = shared[threadIdx.x % together];
        for (u32 i = threadIdx.x % together + together; i < blockDim.x; i += together) value = join(value, shared[i]);
        return value;
    }
};

template <class T, class O> __global__ void __launch_bounds__(256) softmax_columns(const T *in, O *out, StridedLines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ ScaledExponentials<C> shared[256];
    StridedThreadLine column(lines);
    ScaledExponentials<C> total = {Limits<C>::min_value(), C(0)};
    auto join = [](ScaledExponentials<C> a, ScaledExponentials<C> b) { return a.merge(b); };
    if (column.is_active)
#pragma unroll 4
        for (i64 j = column.lane; j < lines.length; j += lines.threads_per_line)
            total = total.add_element(as<C>(in[column.first + j * lines.inner]));
    total = column.reduce_over_line(total, join, shared);
    if (column.is_active)
#pragma unroll 4
        for (i64 j = column.lane; j < lines.length; j += lines.threads_per_line) {
            i64 at = column.first + j * lines.inner;
            out[at] = as<O>(softmax_of(as<C>(in[at]), total, kind));
        }
}

template <class T, class O>
__global__ void __launch_bounds__(256) softmax_columns_backward(const T *grad, const T *output, O *out, StridedLines lines, i32 kind) {
    typedef compute_t<T> C;
    __shared__ C shared[256];
    StridedThreadLine column(lines);
    C sum = C(0);
    if (column.is_active)
#pragma unroll 4
        for (i64 j = column.lane; j < lines.length; j += lines.threads_per_line) {
            i64 at = column.first + j * lines.inner;
            sum += gradient_term(as<C>(grad[at]), as<C>(output[at]), kind);
        }
    sum = column.reduce_over_line(sum, Plus(), shared);
    if (column.is_active)
#pragma unroll 4
        for (i64 j = column.lane; j < lines.length; j += lines.threads_per_line) {
            i64 at = column.first + j * lines.inner;
            out[at] = as<O>(input_gradient_from_sum(as<C>(grad[at]), as<C>(output[at]), sum, kind));
        }
}
