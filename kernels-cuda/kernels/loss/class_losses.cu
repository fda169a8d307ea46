// Kernels of `nll_loss` and margin losses.
#include "functions.cuh"
#include "block.cuh"

// The sum of losses, and the sum of their classes' weights.
template <class C> struct LossSum {
    C sum, weight;
};
template <class C> struct AddLosses {
    __device__ __forceinline__ LossSum<C> operator()(LossSum<C> a, LossSum<C> b) const { return {a.sum + b.sum, a.weight + b.weight}; }
};

// The classes that a target selects: one element of each line of `classes` elements, which are `stride` elements apart.
struct ClassTargets {
    i64 count, classes, stride, ignored;
    i32 dtype;
    u32 site;
    Fault *fault;
    __device__ __forceinline__ i64 first_offset(i64 at) const { return at / stride * classes * stride + at % stride; }
    // Returns the class of an element of the target, or -1 if it is ignored or invalid.
    __device__ __forceinline__ i64 class_of(const u8 *target, i64 at) const {
        i64 found = dtype == U8 ? i64(target[at]) : ((const i64 *)target)[at];
        if (found == ignored) return -1;
        if (found >= 0 && found < classes) return found;
        report_fault(fault, site, INDEX_OUT_OF_RANGE, found, classes);
        return -1;
    }
};

// Computes `nll_loss`: single losses if `out` is not null, and otherwise the sum of each block.
template <class T>
__global__ void __launch_bounds__(256) nll_loss(const T *in, const u8 *target, const T *weights, T *out, compute_t<T> *partials, ClassTargets targets) {
    typedef compute_t<T> C;
    __shared__ LossSum<C> scratch[32];
    LossSum<C> all = {C(0), C(0)};
    for (i64 at = i64(blockIdx.x) * 256 + threadIdx.x; at < targets.count; at += i64(gridDim.x) * 256) {
        i64 of = targets.class_of(target, at);
        C weight = of < 0 ? C(0) : weights ? as<C>(weights[of]) : C(1);
        C loss = weight == C(0) ? C(0) : -as<C>(in[targets.first_offset(at) + of * targets.stride]) * weight;
        if (out) out[at] = as<T>(loss);
        all = {all.sum + loss, all.weight + weight};
    }
    if (out) return;
    all = reduce_block(all, AddLosses<C>(), scratch);
    if (threadIdx.x == 0) ((LossSum<C> *)partials)[blockIdx.x] = all;
}

// Adds up the blocks' losses and weights.
template <class T>
__global__ void __launch_bounds__(256) sum_losses(const compute_t<T> *partials, u32 count, T *out, T *weight, i32 mean) {
    typedef compute_t<T> C;
    __shared__ LossSum<C> scratch[32];
    LossSum<C> all = {C(0), C(0)};
    for (u32 i = threadIdx.x; i < count; i += 256) all = AddLosses<C>()(all, ((const LossSum<C> *)partials)[i]);
    all = reduce_block(all, AddLosses<C>(), scratch);
    if (threadIdx.x) return;
    *out = as<T>(mean ? all.sum / all.weight : all.sum);
    *weight = as<T>(all.weight);
}

// Writes the gradients of the selected elements. All others are zero already.
template <class T>
__global__ void __launch_bounds__(256) nll_loss_backward(T *out, const u8 *target, const T *weights, const T *grad, const T *total, ClassTargets targets, i32 one) {
    typedef compute_t<T> C;
    i64 at = i64(blockIdx.x) * 256 + threadIdx.x;
    if (at >= targets.count) return;
    i64 of = targets.class_of(target, at);
    if (of < 0) return;
    C weight = weights ? as<C>(weights[of]) : C(1), g = as<C>(grad[one ? 0 : at]);
    if (weight != C(0)) out[targets.first_offset(at) + of * targets.stride] = as<T>(-weight * g / (total ? as<C>(*total) : C(1)));
}

// The parameters of margin losses. A line has one true class, or those before the first -1.
struct MarginLossParameters {
    i64 lines, classes;
    double margin;
    i32 squared, multi_label;
    u32 site;
    Fault *fault;
};

// The line of a block, with its true classes.
template <class T> struct MarginLine {
    typedef compute_t<T> C;
    const T *row;
    const i64 *targets;
    u32 classes;
    const MarginLossParameters &margins;
    __device__ __forceinline__ MarginLine(const T *in, const i64 *target, const MarginLossParameters &margins)
        : row(in + blockIdx.x * margins.classes), targets(target + blockIdx.x * (margins.multi_label ? margins.classes : 1)), classes(u32(margins.classes)), margins(margins) {}
    // Returns the line's `i`th true class, or -1.
    __device__ __forceinline__ i64 true_class(u32 i) const {
        if (i >= (margins.multi_label ? classes : 1)) return -1;
        i64 of = targets[i];
        if (of >= 0 && of < margins.classes) return of;
        if (!(margins.multi_label && of == -1)) report_fault(margins.fault, margins.site, INDEX_OUT_OF_RANGE, of, margins.classes);
        return -1;
    }
    __device__ __forceinline__ bool is_true_class(u32 at) const {
        for (u32 i = 0;; i++) {
            i64 of = true_class(i);
            if (of < 0 || of == at) return of >= 0;
        }
    }
    // Returns the amount by which another class's score violates the margin of a true class, or zero.
    __device__ __forceinline__ C margin_violation(i64 of, u32 at) const {
        C violation = C(margins.margin) - as<C>(row[of]) + as<C>(row[at]);
        return violation > C(0) ? violation : C(0);
    }
};

// Computes margin losses, with a block for each line. Writes `is_target` unless it is null.
template <class T>
__global__ void __launch_bounds__(256) margin_loss(const T *in, const i64 *target, const T *weights, compute_t<T> *losses, T *is_target, MarginLossParameters margins) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    MarginLine<T> line(in, target, margins);
    C sum = C(0);
    for (u32 at = threadIdx.x; at < line.classes; at += 256) {
        bool own = line.is_true_class(at);
        if (is_target) is_target[blockIdx.x * margins.classes + at] = as<T>(own ? C(1) : C(0));
        if (own) continue;
        for (u32 i = 0;; i++) {
            i64 of = line.true_class(i);
            if (of < 0) break;
            C violation = line.margin_violation(of, at);
            sum += (margins.squared ? violation * violation : violation) * (weights ? as<C>(weights[of]) : C(1));
        }
    }
    sum = reduce_block(sum, Plus(), scratch);
    if (threadIdx.x == 0) losses[blockIdx.x] = sum / C(margins.classes);
}

// Computes the gradients of margin losses. The gradient of a true class is the negative sum of the others', so it is summed for each true
// class.
template <class T>
__global__ void __launch_bounds__(256) margin_loss_backward(const T *in, const i64 *target, const T *weights, const T *grad, T *out, MarginLossParameters margins, double scale, i32 one) {
    typedef compute_t<T> C;
    __shared__ C scratch[32];
    MarginLine<T> line(in, target, margins);
    C by = as<C>(grad[one ? 0 : blockIdx.x]) * C(scale);
    out += blockIdx.x * margins.classes;
    for (u32 at = threadIdx.x; at < line.classes; at += 256) {
        C slope = C(0);
        if (!line.is_true_class(at))
            for (u32 i = 0;; i++) {
                i64 of = line.true_class(i);
                if (of < 0) break;
                C violation = line.margin_violation(of, at);
                if (violation > C(0)) slope += (margins.squared ? C(2) * violation : C(1)) * (weights ? as<C>(weights[of]) : C(1));
            }
        out[at] = as<T>(slope * by);
    }
    for (u32 i = 0;; i++) {
        i64 of = line.true_class(i);
        if (of < 0) break;
        C sum = C(0);
        for (u32 at = threadIdx.x; at < line.classes; at += 256) {
            C violation = line.is_true_class(at) ? C(0) : line.margin_violation(of, at);
            if (violation > C(0)) sum -= (margins.squared ? C(2) * violation : C(1)) * (weights ? as<C>(weights[of]) : C(1));
        }
        sum = reduce_block(sum, Plus(), scratch);
        if (threadIdx.x == 0) out[of] = as<T>(as<C>(out[of]) + sum * by);
        __syncthreads();
    }
}
