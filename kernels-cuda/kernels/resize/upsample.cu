#include "cubic.cuh"
#include "images.cuh"

enum { NEAREST, EXACT, LINEAR, CUBIC, SMOOTH_LINEAR, SMOOTH_CUBIC };

// The scale of one dimension: the step, and the sizes before and after.
struct Scale {
    double step;
    i32 from, to;
    u32 align_corners;
};
struct Scales {
    Scale of[3];
    u32 way;
};

// The type of positions and weights: single precision, or double if the elements are. The nearest mode always uses single precision.
template <class T> struct Precision { typedef float type; };
template <> struct Precision<double> { typedef double type; };

template <class P> __device__ __forceinline__ P soft(P x) {
    if (x < P(1)) return (P(1.5) * x - P(2.5)) * x * x + P(1);
    if (x < P(2)) return (((x - P(5)) * x + P(8)) * x - P(4)) * P(-0.5);
    return P(0);
}

// The taps of one element of the result in one dimension, each visited with its weight.
template <class P, int WAY> struct Taps {
    static __device__ __forceinline__ i32 kept(i32 at, i32 last) { return at < 0 ? 0 : at > last ? last : at; }
    template <class Visit> static __device__ __forceinline__ void each(const Scale &scale, u32 way, u32 place, Visit visit) {
        i32 last = scale.from - 1;
        if (WAY == NEAREST) {
            float at = way == EXACT ? (float(place) + 0.5f) * float(scale.step) : float(place) * float(scale.step);
            at = floor(at);
            visit(at < float(last) ? kept(i32(at), last) : last, P(1));
            return;
        }
        P step = P(scale.step);
        P middle = scale.align_corners ? step * P(place) : step * (P(place) + P(0.5)) - P(0.5);
        if (WAY == LINEAR) {
            if (scale.from == scale.to) return visit(i32(place), P(1));
            middle = middle > P(0) ? middle : P(0);
            i32 at = middle < P(last) ? i32(middle) : last;
            P right = middle - P(at);
            right = right > P(1) ? P(1) : right;
            visit(at, P(1) - right);
            visit(at + (at < last), right);
        } else if (WAY == CUBIC) {
            P first = floor(middle), right = middle - first;
#pragma unroll
            for (int i = 0; i < 4; i++) visit(kept(i32(first) + i - 1, last), Bend<P>::of(i, right).weight);
        } else {
            bool cubic = way == SMOOTH_CUBIC;
            P wide = step > P(1) ? step : P(1), reach = cubic ? P(2) : P(1), total = P(0);
            middle = step * (P(place) + P(0.5));
            P low = middle - reach * wide + P(0.5), high = middle + reach * wide + P(0.5);
            i32 first = low > P(0) ? i32(low) : 0, end = high < P(scale.from) ? i32(high) : scale.from;
            auto weight = [&](i32 at) {
                P x = (P(at) - middle + P(0.5)) / wide;
                x = x < P(0) ? -x : x;
                return cubic ? soft(x) : x < P(1) ? P(1) - x : P(0);
            };
#pragma unroll 1
            for (i32 at = first; at < end; at++) total += weight(at);
#pragma unroll 1
            for (i32 at = first; at < end; at++) visit(at, total == P(0) ? weight(at) : weight(at) / total);
        }
    }
};

// A thread's position, or for channels-last images one channel of it. The thread loops over the images of its row of blocks.
struct Turn {
    Spot spot;
    u64 end;
    bool innermost;
    __device__ __forceinline__ Turn(const Images &images, u64 planes, u64 lanes) : innermost(images.channels_last) {
        u64 number = thread_number();
        bool idle = number >= lanes;
        spot = images.spot(idle ? 0 : number);
        end = idle ? 0 : innermost ? divided(planes, images.channels) : planes;
    }
    template <class Visit> __device__ __forceinline__ void each(const Images &images, Visit visit) {
#pragma unroll 1
        for (u64 plane = blockIdx.y; plane < end; plane += gridDim.y) {
            u64 batch = innermost ? plane : divided(plane, images.channels);
            spot.batch = u32(batch);
            if (!innermost) spot.channel = u32(plane - batch * images.channels.by);
            visit();
        }
    }
};

template <class T, int WAY> __device__ __forceinline__ void resized(u64 planes, u64 lanes, T *out, const T *in, const Images &to, const Images &from, const Scales &scales) {
    typedef typename Precision<T>::type P;
    Turn turn(to, planes, lanes);
    turn.each(to, [&]() {
        const T *image = in + from.image(turn.spot);
        P sum = P(0);
        Taps<P, WAY>::each(scales.of[0], scales.way, turn.spot.at[0], [&](i32 plane, P deep) {
            Taps<P, WAY>::each(scales.of[1], scales.way, turn.spot.at[1], [&](i32 row, P down) {
                P line = P(0);
                Taps<P, WAY>::each(scales.of[2], scales.way, turn.spot.at[2], [&](i32 column, P across) {
                    line += across * as<P>(image[from.inside(plane, row, column)]);
                });
                sum += deep * down * line;
            });
        });
        out[to.place(turn.spot)] = as<T>(sum);
    });
}

// Resizes by the nearest element, which is only copied.
template <class T>
__global__ void __launch_bounds__(256) nearest(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, Scales scales) {
    Turn turn(to, planes, lanes);
    i32 at[3];
#pragma unroll
    for (int dim = 0; dim < 3; dim++)
        Taps<float, NEAREST>::each(scales.of[dim], scales.way, turn.spot.at[dim], [&](i32 place, float) { at[dim] = place; });
    i64 inside = from.inside(at[0], at[1], at[2]);
    turn.each(to, [&]() { out[to.place(turn.spot)] = in[from.image(turn.spot) + inside]; });
}
template <class T>
__global__ void __launch_bounds__(256) linear(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, Scales scales) {
    resized<T, LINEAR>(planes, lanes, out, in, to, from, scales);
}
template <class T>
__global__ void __launch_bounds__(256) cubic(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, Scales scales) {
    resized<T, CUBIC>(planes, lanes, out, in, to, from, scales);
}
template <class T>
__global__ void __launch_bounds__(256) smooth(u64 planes, u64 lanes, T *out, const T *in, Images to, Images from, Scales scales) {
    resized<T, SMOOTH_LINEAR>(planes, lanes, out, in, to, from, scales);
}

// The range of the result's elements that an element of the image may be a tap of. It may be slightly too large.
struct Reach {
    i32 first, last;
    __device__ __forceinline__ Reach(const Scale &scale, u32 way, u32 at) {
        float step = float(scale.step), wide = step > 1.0f ? step : 1.0f;
        float reach = way == CUBIC || way == SMOOTH_CUBIC ? 2.0f : 1.0f;
        if (way >= SMOOTH_LINEAR) reach *= wide;
        first = 0, last = scale.to - 1;
        if (step > 0) {
            float low = (float(at) - reach) / step - 2.0f, high = (float(at) + reach + 1.0f) / step + 2.0f;
            // Elements outside of the image are the outermost ones.
            if (at > 0 && low > 0) first = low < float(last) ? i32(low) : last;
            if (i32(at) < scale.from - 1 && high < float(last)) last = i32(high);
        }
    }
};

template <class P, int WAY> __device__ __forceinline__ P weight_of(const Scale &scale, u32 way, i32 place, u32 at) {
    P weight = P(0);
    Taps<P, WAY>::each(scale, way, u32(place), [&](i32 tap, P part) { weight += tap == i32(at) ? part : P(0); });
    return weight;
}

template <class T, int WAY> __device__ __forceinline__ void gathered(u64 count, T *out, const T *grad, const Images &from, const Images &to, const Scales &scales) {
    typedef typename Precision<T>::type P;
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = from.spot(number);
    const T *slopes = grad + to.image(spot);
    Reach deep(scales.of[0], scales.way, spot.at[0]), down(scales.of[1], scales.way, spot.at[1]), across(scales.of[2], scales.way, spot.at[2]);
    P sum = P(0);
    for (i32 plane = deep.first; plane <= deep.last; plane++) {
        P depth = weight_of<P, WAY>(scales.of[0], scales.way, plane, spot.at[0]);
        if (depth == P(0)) continue;
        for (i32 row = down.first; row <= down.last; row++) {
            P height = depth * weight_of<P, WAY>(scales.of[1], scales.way, row, spot.at[1]);
            if (height == P(0)) continue;
            for (i32 column = across.first; column <= across.last; column++) {
                P width = weight_of<P, WAY>(scales.of[2], scales.way, column, spot.at[2]);
                if (width != P(0)) sum += height * width * as<P>(slopes[to.inside(plane, row, column)]);
            }
        }
    }
    out[from.place(spot)] = as<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(256) from_nearest(u64 count, T *out, const T *grad, Images from, Images to, Scales scales) {
    gathered<T, NEAREST>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) from_linear(u64 count, T *out, const T *grad, Images from, Images to, Scales scales) {
    gathered<T, LINEAR>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) from_cubic(u64 count, T *out, const T *grad, Images from, Images to, Scales scales) {
    gathered<T, CUBIC>(count, out, grad, from, to, scales);
}
template <class T>
__global__ void __launch_bounds__(256) from_smooth(u64 count, T *out, const T *grad, Images from, Images to, Scales scales) {
    gathered<T, SMOOTH_LINEAR>(count, out, grad, from, to, scales);
}
