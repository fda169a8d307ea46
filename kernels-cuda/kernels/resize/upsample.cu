#include "cubic.cuh"
#include "images.cuh"

enum { NEAREST, NEAREST_EXACT, LINEAR, CUBIC, ANTIALIASED_LINEAR, ANTIALIASED_CUBIC, ANTIALIASED_LANCZOS };

// The scale of one dimension: the step, and the sizes before and after.
struct AxisResize {
    double step;
    i32 from, to;
    u32 align_corners;
};
struct ResizeParameters {
    AxisResize axes[3];
    u32 mode;
};

// The type of positions and weights: single precision, or double if the elements are. The nearest mode always uses single precision.
template <class T> struct PositionType { typedef float type; };
template <> struct PositionType<double> { typedef double type; };

template <class P> __device__ __forceinline__ P antialiased_cubic_weight(P x) {
    if (x < P(1)) return (P(1.5) * x - P(2.5)) * x * x + P(1);
    if (x < P(2)) return (((x - P(5)) * x + P(8)) * x - P(4)) * P(-0.5);
    return P(0);
}

template <class P> __device__ __forceinline__ P sinc(P x) { return x == P(0) ? P(1) : sin(P(3.141592653589793) * x) / (P(3.141592653589793) * x); }

template <class P> __device__ __forceinline__ P antialiased_weight(u32 mode, P x) {
    if (mode == ANTIALIASED_CUBIC) return antialiased_cubic_weight(x);
    if (mode == ANTIALIASED_LANCZOS) return x < P(3) ? sinc(x) * sinc(x / P(3)) : P(0);
    return x < P(1) ? P(1) - x : P(0);
}

// The elements of an image that contribute to one element of the result in one dimension (taps), each visited with its weight.
template <class P, int MODE> struct Taps {
    static __device__ __forceinline__ i32 clamp(i32 at, i32 last) { return at < 0 ? 0 : at > last ? last : at; }
    template <class Visit> static __device__ __forceinline__ void for_each_tap(const AxisResize &scale, u32 mode, u32 out_index, Visit visit) {
        i32 last = scale.from - 1;
        if (MODE == NEAREST) {
            float at = mode == NEAREST_EXACT ? (float(out_index) + 0.5f) * float(scale.step) : float(out_index) * float(scale.step);
            at = floor(at);
            visit(at < float(last) ? clamp(i32(at), last) : last, P(1));
            return;
        }
        P step = P(scale.step);
        P middle = scale.align_corners ? step * P(out_index) : step * (P(out_index) + P(0.5)) - P(0.5);
        if (MODE == LINEAR) {
            if (scale.from == scale.to) return visit(i32(out_index), P(1));
            middle = middle > P(0) ? middle : P(0);
            i32 at = middle < P(last) ? i32(middle) : last;
            P right = middle - P(at);
            right = right > P(1) ? P(1) : right;
            visit(at, P(1) - right);
            visit(at + (at < last), right);
        } else if (MODE == CUBIC) {
            P first = floor(middle), right = middle - first;
#pragma unroll
            for (int i = 0; i < 4; i++) visit(clamp(i32(first) + i - 1, last), CubicWeight<P>::weight_of_tap(i, right).weight);
        } else {
            P wide = step > P(1) ? step : P(1), reach = P(1 + (mode - ANTIALIASED_LINEAR)), total = P(0);
            middle = step * (P(out_index) + P(0.5));
            P low = middle - reach * wide + P(0.5), high = middle + reach * wide + P(0.5);
            i32 first = low > P(0) ? i32(low) : 0, end = high < P(scale.from) ? i32(high) : scale.from;
            auto weight = [&](i32 at) {
                P x = (P(at) - middle + P(0.5)) / wide;
                return antialiased_weight(mode, x < P(0) ? -x : x);
            };
#pragma unroll 1
            for (i32 at = first; at < end; at++) total += weight(at);
#pragma unroll 1
            for (i32 at = first; at < end; at++) visit(at, total == P(0) ? weight(at) : weight(at) / total);
        }
    }
};

// A thread's position, or for channels-last images one channel of it. The thread loops over the images of its row of blocks.
struct ThreadPosition {
    ImageIndex index;
    u64 end;
    bool innermost;
    __device__ __forceinline__ ThreadPosition(const Images &images, u64 planes, u64 lanes) : innermost(images.channels_last) {
        u64 number = global_thread_index();
        bool idle = number >= lanes;
        index = images.unravel_index(idle ? 0 : number);
        end = idle ? 0 : innermost ? divide_u64(planes, images.channels) : planes;
    }
    template <class Visit> __device__ __forceinline__ void for_each_image(const Images &images, Visit visit) {
#pragma unroll 1
        for (u64 plane = blockIdx.y; plane < end; plane += gridDim.y) {
            u64 batch = innermost ? plane : divide_u64(plane, images.channels);
            index.batch = u32(batch);
            if (!innermost) index.channel = u32(plane - batch * images.channels.value);
            visit();
        }
    }
};

template <class T, int MODE> __device__ __forceinline__ void resize_by_taps(u64 planes, u64 lanes, T *out, const T *in, const Images &to, const Images &from, const ResizeParameters &scales) {
    typedef typename PositionType<T>::type P;
    ThreadPosition position(to, planes, lanes);
    position.for_each_image(to, [&]() {
        const T *image = in + from.image_offset(position.index);
        P sum = P(0);
        Taps<P, MODE>::for_each_tap(scales.axes[0], scales.mode, position.index.spatial[0], [&](i32 plane, P deep) {
            Taps<P, MODE>::for_each_tap(scales.axes[1], scales.mode, position.index.spatial[1], [&](i32 row, P down) {
                P line = P(0);
                Taps<P, MODE>::for_each_tap(scales.axes[2], scales.mode, position.index.spatial[2], [&](i32 column, P across) {
                    line += across * as<P>(image[from.offset_in_image(plane, row, column)]);
                });
                sum += deep * down * line;
            });
        });
        out[to.offset_of(position.index)] = as<T>(sum);
    });
}

// Resizes by the nearest element, which is only copied.
template <class T>
__global__ void __launch_bounds__(256) upsample_nearest(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, ResizeParameters scales) {
    ThreadPosition position(to, planes, lanes);
    i32 at[3];
#pragma unroll
    for (int dim = 0; dim < 3; dim++)
        Taps<float, NEAREST>::for_each_tap(scales.axes[dim], scales.mode, position.index.spatial[dim], [&](i32 place, float) { at[dim] = place; });
    i64 inside = from.offset_in_image(at[0], at[1], at[2]);
    position.for_each_image(to, [&]() { out[to.offset_of(position.index)] = in[from.image_offset(position.index) + inside]; });
}
template <class T>
__global__ void __launch_bounds__(256) upsample_linear(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, ResizeParameters scales) {
    resize_by_taps<T, LINEAR>(planes, lanes, out, in, to, from, scales);
}
template <class T>
__global__ void __launch_bounds__(256) upsample_cubic(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, ResizeParameters scales) {
    resize_by_taps<T, CUBIC>(planes, lanes, out, in, to, from, scales);
}
template <class T>
__global__ void __launch_bounds__(256) upsample_antialiased(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, ResizeParameters scales) {
    resize_by_taps<T, ANTIALIASED_LINEAR>(planes, lanes, out, in, to, from, scales);
}

// The range of the result's elements that an element of the image may be a tap of. It may be slightly too large.
struct ResultRange {
    i32 first, last;
    __device__ __forceinline__ ResultRange(const AxisResize &scale, u32 mode, u32 at) {
        float step = float(scale.step), wide = step > 1.0f ? step : 1.0f;
        float reach = mode == CUBIC ? 2.0f : 1.0f;
        if (mode >= ANTIALIASED_LINEAR) reach = float(1 + (mode - ANTIALIASED_LINEAR)) * wide;
        first = 0, last = scale.to - 1;
        if (step > 0) {
            float low = (float(at) - reach) / step - 2.0f, high = (float(at) + reach + 1.0f) / step + 2.0f;
            // The border elements of the image also stand for those outside, so their range ends at the border of the result.
            if (at > 0 && low > 0) first = low < float(last) ? i32(low) : last;
            if (i32(at) < scale.from - 1 && high < float(last)) last = i32(high);
        }
    }
};

template <class P, int MODE> __device__ __forceinline__ P tap_weight(const AxisResize &scale, u32 mode, i32 out_index, u32 at) {
    P weight = P(0);
    Taps<P, MODE>::for_each_tap(scale, mode, u32(out_index), [&](i32 tap, P part) { weight += tap == i32(at) ? part : P(0); });
    return weight;
}

template <class T, int MODE> __device__ __forceinline__ void resize_gradient_by_taps(u64 count, T *out, const T *grad, const Images &from, const Images &to, const ResizeParameters &scales) {
    typedef typename PositionType<T>::type P;
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = from.unravel_index(number);
    const T *grads = grad + to.image_offset(index);
    ResultRange deep(scales.axes[0], scales.mode, index.spatial[0]), down(scales.axes[1], scales.mode, index.spatial[1]), across(scales.axes[2], scales.mode, index.spatial[2]);
    P sum = P(0);
    for (i32 plane = deep.first; plane <= deep.last; plane++) {
        P depth = tap_weight<P, MODE>(scales.axes[0], scales.mode, plane, index.spatial[0]);
        if (depth == P(0)) continue;
        for (i32 row = down.first; row <= down.last; row++) {
            P height = depth * tap_weight<P, MODE>(scales.axes[1], scales.mode, row, index.spatial[1]);
            if (height == P(0)) continue;
            for (i32 column = across.first; column <= across.last; column++) {
                P width = tap_weight<P, MODE>(scales.axes[2], scales.mode, column, index.spatial[2]);
                if (width != P(0)) sum += height * width * as<P>(grads[to.offset_in_image(plane, row, column)]);
            }
        }
    }
    out[from.offset_of(index)] = as<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(256) upsample_nearest_backward(u64 count, T *out, const T *grad, Images from, Images to, ResizeParameters scales) {
    resize_gradient_by_taps<T, NEAREST>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) upsample_linear_backward(u64 count, T *out, const T *grad, Images from, Images to, ResizeParameters scales) {
    resize_gradient_by_taps<T, LINEAR>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) upsample_cubic_backward(u64 count, T *out, const T *grad, Images from, Images to, ResizeParameters scales) {
    resize_gradient_by_taps<T, CUBIC>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) upsample_antialiased_backward(u64 count, T *out, const T *grad, Images from, Images to, ResizeParameters scales) {
    resize_gradient_by_taps<T, ANTIALIASED_LINEAR>(count, out, grad, from, to, scales);
}
