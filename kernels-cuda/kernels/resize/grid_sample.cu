#include "cubic.cuh"
#include "images.cuh"
#include "rounded.cuh"

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, REFLECTION };

// The modes of sampling. For each position, a grid has a coordinate for each dimension, the last dimension first.
struct Sampling {
    i64 grid_strides[5];
    u32 interpolation, padding_mode, align_corners, rank;
};

// The taps of one coordinate: their indices, their weights, and the weights' derivatives by the position. `scale` is the derivative of the
// position by the coordinate.
template <class C> struct AxisTaps {
    i32 index[4];
    C weight[4], derivative[4], scale;
    i32 count;
    __device__ __forceinline__ C scaled_derivative(i32 number) const { return derivative[number] * scale; }
};

template <class C> __device__ __forceinline__ C reflect_position(C position, C start, C span, C &sign) {
    if (span == C(0)) {
        sign = C(0);
        return C(0);
    }
    sign = position < start ? C(-1) : C(1);
    C from = position < start ? start - position : position - start;
    C times = floor(from / span), rest = fmod(from, span);
    if (fmod(times, C(2)) == C(0)) return rest + start;
    sign = -sign;
    return span - rest + start;
}

// Applies the padding mode to a position, and returns the derivative's sign in `sign`.
template <class C> __device__ __forceinline__ C pad_position(const Sampling &sampling, C position, i32 size, C &sign) {
    C last = C(size - 1);
    sign = C(1);
    if (sampling.padding_mode == ZEROS) return position;
    if (sampling.padding_mode == REFLECTION)
        position = sampling.align_corners ? reflect_position(position, C(0), last, sign) : reflect_position(position, C(-0.5), C(size), sign);
    if (position <= C(0) || position != position) {
        sign = C(0);
        return C(0);
    }
    if (position >= last) {
        sign = C(0);
        return last;
    }
    return position;
}

// Returns the index of a position, or -1 if it is outside of the image. It is computed in a wide type, as a narrow one may not hold the
// size or the next integer.
template <class C> __device__ __forceinline__ i32 index_or_outside(C position, i32 size, i32 offset = 0) {
    typedef typename PositionType<C>::type W;
    W at = W(position) + W(offset);
    return at >= W(0) && at < W(size) ? i32(at) : -1;
}

template <class C> __device__ __forceinline__ void compute_axis_taps(const Sampling &sampling, C coordinate, i32 size, AxisTaps<C> &taps) {
    C scale = (sampling.align_corners ? C(size - 1) : C(size)) * C(0.5), sign;
    C middle = (coordinate + C(1)) * scale;
    if (!sampling.align_corners) middle = middle - C(0.5);
    taps.scale = scale;
    if (sampling.interpolation == CUBIC) {
        C first = floor(middle), right = middle - first;
        taps.count = 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            CubicWeight<C> cubic = CubicWeight<C>::weight_of_tap(i, right);
            taps.index[i] = index_or_outside(pad_position(sampling, first + C(i - 1), size, sign), size);
            taps.weight[i] = cubic.weight, taps.derivative[i] = cubic.derivative;
        }
        return;
    }
    middle = pad_position(sampling, middle, size, sign);
    if (sampling.interpolation == NEAREST) {
        taps.count = 1;
        taps.index[0] = index_or_outside(C(rint(middle)), size), taps.weight[0] = C(1), taps.derivative[0] = C(0);
        return;
    }
    C first = floor(middle), right = middle - first;
    taps.scale = scale * sign;
    taps.count = 2;
    taps.index[0] = index_or_outside(first, size), taps.weight[0] = C(1) - right, taps.derivative[0] = C(-1);
    taps.index[1] = index_or_outside(first, size, 1), taps.weight[1] = right, taps.derivative[1] = C(1);
}

// The taps of one position of the grid, for all channels. The dimensions are planes, rows and columns.
//
// In types that round after each operation, the order of operations is PyTorch's.
template <class T, class C> struct SampleTaps {
    AxisTaps<C> taps[3];
    u32 interpolation;
    __device__ __forceinline__ SampleTaps(const Sampling &sampling, const T *grid, const Images &images, const ImageIndex &index) {
        interpolation = sampling.interpolation;
        i64 at = index.batch * sampling.grid_strides[0] + index.spatial[0] * sampling.grid_strides[1] + index.spatial[1] * sampling.grid_strides[2] +
                 index.spatial[2] * sampling.grid_strides[3];
#pragma unroll 1
        for (int dim = 0; dim < 3; dim++) {
            if (dim < 3 - i32(sampling.rank)) {
                taps[dim].count = 1, taps[dim].index[0] = 0, taps[dim].weight[0] = C(1), taps[dim].derivative[0] = C(0), taps[dim].scale = C(0);
            } else {
                compute_axis_taps(sampling, as<C>(grid[at + (2 - dim) * sampling.grid_strides[4]]), images.size(dim), taps[dim]);
            }
        }
    }
    // Visits the taps that are inside of the image, with the offset and each dimension's tap number.
    template <class Visit> __device__ __forceinline__ void for_each_tap(const Images &images, Visit visit) const {
#pragma unroll 1
        for (i32 i = 0; i < taps[0].count; i++)
#pragma unroll 1
            for (i32 j = 0; j < taps[1].count; j++)
#pragma unroll 1
                for (i32 k = 0; k < taps[2].count; k++) {
                    i32 plane = taps[0].index[i], row = taps[1].index[j], column = taps[2].index[k];
                    if (plane >= 0 && row >= 0 && column >= 0) visit(images.offset_in_image(plane, row, column), i, j, k);
                }
    }
    __device__ __forceinline__ C weight_of_taps(i32 i, i32 j, i32 k) const {
        if constexpr (IS_ROUNDED<C>) return taps[2].weight[k] * taps[1].weight[j] * taps[0].weight[i];
        return taps[0].weight[i] * taps[1].weight[j] * taps[2].weight[k];
    }
    // Returns the contribution of a tap to the image's gradient, where `grad_value` is the result's gradient.
    __device__ __forceinline__ C image_gradient_of_tap(C grad_value, i32 i, i32 j, i32 k) const {
        if constexpr (IS_ROUNDED<C>)
            if (interpolation == CUBIC) return grad_value * taps[2].weight[k] * taps[1].weight[j];
        return grad_value * weight_of_taps(i, j, k);
    }
    // Returns an element of an image, or zero outside of it.
    __device__ __forceinline__ C image_value(const Images &images, const T *image, i32 j, i32 k) const {
        i32 row = taps[1].index[j], column = taps[2].index[k];
        return row >= 0 && column >= 0 ? as<C>(image[images.offset_in_image(0, row, column)]) : C(0);
    }
    // Returns the sampled value, an element of the result.
    __device__ __forceinline__ C value_at_position(const Images &images, const T *image) const {
        C sum = C(0);
        if constexpr (IS_ROUNDED<C>) {
            if (interpolation == CUBIC) {
#pragma unroll 1
                for (i32 j = 0; j < 4; j++) {
                    C row = C(0);
#pragma unroll 1
                    for (i32 k = 0; k < 4; k++) row = row + image_value(images, image, j, k) * taps[2].weight[k];
                    sum = sum + row * taps[1].weight[j];
                }
                return sum;
            }
        }
        for_each_tap(images, [&](i64 at, i32 i, i32 j, i32 k) { sum = sum + weight_of_taps(i, j, k) * as<C>(image[at]); });
        return sum;
    }
    // Adds the gradient of one grid position to `sums`: by its coordinates, or by its position in elements in types that round after each
    // operation.
    __device__ __forceinline__ void add_grid_gradient(const Images &images, const T *image, C grad_value, u32 rank, C (&sums)[3]) const {
        if constexpr (IS_ROUNDED<C>) {
            if (interpolation == NEAREST) return;
            if (interpolation == CUBIC) {
#pragma unroll 1
                for (i32 k = 0; k < 4; k++)
#pragma unroll 1
                    for (i32 j = 0; j < 4; j++) {
                        C x = image_value(images, image, j, k) * grad_value;
                        sums[0] = sums[0] + x * taps[2].derivative[k] * taps[1].weight[j];
                        sums[1] = sums[1] + x * taps[1].derivative[j] * taps[2].weight[k];
                    }
            } else if (rank == 2) {
                C first = image_value(images, image, 0, 0), right = image_value(images, image, 0, 1);
                C below = image_value(images, image, 1, 0), last = image_value(images, image, 1, 1);
                const C *x = taps[2].weight, *y = taps[1].weight;
                sums[0] = sums[0] + ((right - first) * y[0] + (last - below) * y[1]) * grad_value;
                sums[1] = sums[1] + ((below - first) * x[0] + (last - right) * x[1]) * grad_value;
            } else {
                for_each_tap(images, [&](i64 at, i32 i, i32 j, i32 k) {
                    C value = as<C>(image[at]), x = taps[2].weight[k], y = taps[1].weight[j], z = taps[0].weight[i];
                    sums[0] = sums[0] + value * y * z * grad_value * taps[2].derivative[k];
                    sums[1] = sums[1] + value * x * z * grad_value * taps[1].derivative[j];
                    sums[2] = sums[2] + value * x * y * grad_value * taps[0].derivative[i];
                });
            }
            return;
        }
        for_each_tap(images, [&](i64 at, i32 i, i32 j, i32 k) {
            C x = grad_value * as<C>(image[at]);
            sums[2] = sums[2] + x * taps[0].scaled_derivative(i) * taps[1].weight[j] * taps[2].weight[k];
            sums[1] = sums[1] + x * taps[0].weight[i] * taps[1].scaled_derivative(j) * taps[2].weight[k];
            sums[0] = sums[0] + x * taps[0].weight[i] * taps[1].weight[j] * taps[2].scaled_derivative(k);
        });
    }
};

template <class T>
__global__ void __launch_bounds__(256) grid_sample(u64 positions, T *out, const T *in, const T *grid, Images output, Images images, Sampling sampling) {
    typedef rounded_t<T> C;
    u64 number = global_thread_index();
    if (number >= positions) return;
    ImageIndex index;
    index.channel = 0;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) output.split_off_index(number, output.sizes[dim], index.spatial[dim]);
    index.batch = u32(number);
    SampleTaps<T, C> sample_taps(sampling, grid, images, index);
    for (index.channel = blockIdx.y; index.channel < output.channels.value; index.channel += gridDim.y)
        out[output.offset_of(index)] = as<T>(sample_taps.value_at_position(images, in + images.image_offset(index)));
}

// Computes the gradient of a grid. A thread for each position loops over all channels.
template <class T>
__global__ void __launch_bounds__(256)
    grid_gradient(u64 positions, T *out, const T *grad, const T *in, const T *grid, Images output, Images images, Sampling sampling) {
    typedef rounded_t<T> C;
    u64 position = global_thread_index(), number = position;
    if (number >= positions) return;
    ImageIndex index;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) output.split_off_index(number, output.sizes[dim], index.spatial[dim]);
    index.batch = u32(number);
    SampleTaps<T, C> sample_taps(sampling, grid, images, index);
    C sums[3] = {C(0), C(0), C(0)};
    for (index.channel = 0; index.channel < output.channels.value; index.channel++)
        sample_taps.add_grid_gradient(images, in + images.image_offset(index), as<C>(grad[output.offset_of(index)]), sampling.rank, sums);
#pragma unroll
    for (u32 dim = 0; dim < 3; dim++) {
        if constexpr (IS_ROUNDED<C>) sums[dim] = sums[dim] * sample_taps.taps[2 - dim].scale;
        if (dim < sampling.rank) out[position * sampling.rank + dim] = as<T>(sums[dim]);
    }
}

// Adds the gradient of images to `sums`, which are initially zero. Several positions sample one element, and the order in which threads add
// is undefined. So sums are wide, and only the addends are rounded at each step.
template <class T>
__global__ void __launch_bounds__(256)
    image_gradient(u64 positions, compute_t<T> *sums, const T *grad, const T *grid, Images output, Images images, Sampling sampling) {
    typedef rounded_t<T> C;
    u64 number = global_thread_index();
    if (number >= positions) return;
    ImageIndex index;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) output.split_off_index(number, output.sizes[dim], index.spatial[dim]);
    index.batch = u32(number);
    SampleTaps<T, C> sample_taps(sampling, grid, images, index);
    for (index.channel = blockIdx.y; index.channel < output.channels.value; index.channel += gridDim.y) {
        C grad_value = as<C>(grad[output.offset_of(index)]);
        sample_taps.for_each_tap(images, [&](i64 at, i32 i, i32 j, i32 k) {
            atomicAdd(sums + images.image_offset(index) + at, compute_t<T>(sample_taps.image_gradient_of_tap(grad_value, i, j, k)));
        });
    }
}
