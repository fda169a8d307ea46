#include "cubic.cuh"
#include "images.cuh"
#include "rounded.cuh"

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, MIRROR };

// The modes of sampling. For each position, a grid has a coordinate for each dimension, the last dimension first.
struct Sampling {
    i64 grid_steps[5];
    u32 between, beside, align_corners, rank;
};

// The taps of one coordinate: their indices, their weights, and the weights' derivatives by the position. `scale` is the derivative of the
// position by the coordinate.
template <class C> struct Along {
    i32 at[4];
    C weight[4], slope[4], scale;
    i32 count;
    __device__ __forceinline__ C scaled(i32 number) const { return slope[number] * scale; }
};

template <class C> __device__ __forceinline__ C mirrored(C position, C start, C span, C &sign) {
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
template <class C> __device__ __forceinline__ C kept(const Sampling &sampling, C position, i32 size, C &sign) {
    C last = C(size - 1);
    sign = C(1);
    if (sampling.beside == ZEROS) return position;
    if (sampling.beside == MIRROR)
        position = sampling.align_corners ? mirrored(position, C(0), last, sign) : mirrored(position, C(-0.5), C(size), sign);
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
template <class C> __device__ __forceinline__ i32 inside(C position, i32 size, i32 offset = 0) {
    typedef typename Wide<C>::type W;
    W at = W(position) + W(offset);
    return at >= W(0) && at < W(size) ? i32(at) : -1;
}

template <class C> __device__ __forceinline__ void look(const Sampling &sampling, C coordinate, i32 size, Along<C> &along) {
    C scale = (sampling.align_corners ? C(size - 1) : C(size)) * C(0.5), sign;
    C middle = (coordinate + C(1)) * scale;
    if (!sampling.align_corners) middle = middle - C(0.5);
    along.scale = scale;
    if (sampling.between == CUBIC) {
        C first = floor(middle), right = middle - first;
        along.count = 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Bend<C> bend = Bend<C>::of(i, right);
            along.at[i] = inside(kept(sampling, first + C(i - 1), size, sign), size);
            along.weight[i] = bend.weight, along.slope[i] = bend.slope;
        }
        return;
    }
    middle = kept(sampling, middle, size, sign);
    if (sampling.between == NEAREST) {
        along.count = 1;
        along.at[0] = inside(C(rint(middle)), size), along.weight[0] = C(1), along.slope[0] = C(0);
        return;
    }
    C first = floor(middle), right = middle - first;
    along.scale = scale * sign;
    along.count = 2;
    along.at[0] = inside(first, size), along.weight[0] = C(1) - right, along.slope[0] = C(-1);
    along.at[1] = inside(first, size, 1), along.weight[1] = right, along.slope[1] = C(1);
}

// The taps of one position of the grid, for all channels. The dimensions are planes, rows and columns.
//
// In types that round after each operation, the order of operations is PyTorch's.
template <class T, class C> struct View {
    Along<C> along[3];
    u32 between;
    __device__ __forceinline__ View(const Sampling &sampling, const T *grid, const Images &images, const Spot &spot) {
        between = sampling.between;
        i64 at = spot.batch * sampling.grid_steps[0] + spot.at[0] * sampling.grid_steps[1] + spot.at[1] * sampling.grid_steps[2] +
                 spot.at[2] * sampling.grid_steps[3];
#pragma unroll 1
        for (int dim = 0; dim < 3; dim++) {
            if (dim < 3 - i32(sampling.rank)) {
                along[dim].count = 1, along[dim].at[0] = 0, along[dim].weight[0] = C(1), along[dim].slope[0] = C(0), along[dim].scale = C(0);
            } else {
                look(sampling, as<C>(grid[at + (2 - dim) * sampling.grid_steps[4]]), images.size(dim), along[dim]);
            }
        }
    }
    // Visits the taps that are inside of the image, with the offset and each dimension's tap number.
    template <class Visit> __device__ __forceinline__ void each(const Images &images, Visit visit) const {
#pragma unroll 1
        for (i32 i = 0; i < along[0].count; i++)
#pragma unroll 1
            for (i32 j = 0; j < along[1].count; j++)
#pragma unroll 1
                for (i32 k = 0; k < along[2].count; k++) {
                    i32 plane = along[0].at[i], row = along[1].at[j], column = along[2].at[k];
                    if (plane >= 0 && row >= 0 && column >= 0) visit(images.inside(plane, row, column), i, j, k);
                }
    }
    __device__ __forceinline__ C weight(i32 i, i32 j, i32 k) const {
        if constexpr (IS_ROUNDED<C>) return along[2].weight[k] * along[1].weight[j] * along[0].weight[i];
        return along[0].weight[i] * along[1].weight[j] * along[2].weight[k];
    }
    // Returns the contribution of a tap to the image's gradient, where `above` is the result's gradient.
    __device__ __forceinline__ C weighted(C above, i32 i, i32 j, i32 k) const {
        if constexpr (IS_ROUNDED<C>)
            if (between == CUBIC) return above * along[2].weight[k] * along[1].weight[j];
        return above * weight(i, j, k);
    }
    // Returns an element of an image, or zero outside of it.
    __device__ __forceinline__ C value(const Images &images, const T *image, i32 j, i32 k) const {
        i32 row = along[1].at[j], column = along[2].at[k];
        return row >= 0 && column >= 0 ? as<C>(image[images.inside(0, row, column)]) : C(0);
    }
    // Returns an element of the result.
    __device__ __forceinline__ C sum(const Images &images, const T *image) const {
        C sum = C(0);
        if constexpr (IS_ROUNDED<C>) {
            if (between == CUBIC) {
#pragma unroll 1
                for (i32 j = 0; j < 4; j++) {
                    C row = C(0);
#pragma unroll 1
                    for (i32 k = 0; k < 4; k++) row = row + value(images, image, j, k) * along[2].weight[k];
                    sum = sum + row * along[1].weight[j];
                }
                return sum;
            }
        }
        each(images, [&](i64 at, i32 i, i32 j, i32 k) { sum = sum + weight(i, j, k) * as<C>(image[at]); });
        return sum;
    }
    // Adds the derivatives of an element of the result by the coordinates of its position; or by the position, if each operation rounds.
    __device__ __forceinline__ void add_slopes(const Images &images, const T *image, C above, u32 rank, C (&sums)[3]) const {
        if constexpr (IS_ROUNDED<C>) {
            if (between == NEAREST) return;
            if (between == CUBIC) {
#pragma unroll 1
                for (i32 k = 0; k < 4; k++)
#pragma unroll 1
                    for (i32 j = 0; j < 4; j++) {
                        C x = value(images, image, j, k) * above;
                        sums[0] = sums[0] + x * along[2].slope[k] * along[1].weight[j];
                        sums[1] = sums[1] + x * along[1].slope[j] * along[2].weight[k];
                    }
            } else if (rank == 2) {
                C first = value(images, image, 0, 0), right = value(images, image, 0, 1);
                C below = value(images, image, 1, 0), last = value(images, image, 1, 1);
                const C *x = along[2].weight, *y = along[1].weight;
                sums[0] = sums[0] + ((right - first) * y[0] + (last - below) * y[1]) * above;
                sums[1] = sums[1] + ((below - first) * x[0] + (last - right) * x[1]) * above;
            } else {
                each(images, [&](i64 at, i32 i, i32 j, i32 k) {
                    C value = as<C>(image[at]), x = along[2].weight[k], y = along[1].weight[j], z = along[0].weight[i];
                    sums[0] = sums[0] + value * y * z * above * along[2].slope[k];
                    sums[1] = sums[1] + value * x * z * above * along[1].slope[j];
                    sums[2] = sums[2] + value * x * y * above * along[0].slope[i];
                });
            }
            return;
        }
        each(images, [&](i64 at, i32 i, i32 j, i32 k) {
            C x = above * as<C>(image[at]);
            sums[2] = sums[2] + x * along[0].scaled(i) * along[1].weight[j] * along[2].weight[k];
            sums[1] = sums[1] + x * along[0].weight[i] * along[1].scaled(j) * along[2].weight[k];
            sums[0] = sums[0] + x * along[0].weight[i] * along[1].weight[j] * along[2].scaled(k);
        });
    }
};

template <class T>
__global__ void __launch_bounds__(256) sampled(u64 places, T *out, const T *in, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef stepwise_t<T> C;
    u64 number = thread_number();
    if (number >= places) return;
    Spot spot;
    spot.channel = 0;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    for (spot.channel = blockIdx.y; spot.channel < seen.channels.by; spot.channel += gridDim.y)
        out[seen.place(spot)] = as<T>(view.sum(images, in + images.image(spot)));
}

// Computes the gradient of a grid. A thread for each position loops over all channels.
template <class T>
__global__ void __launch_bounds__(256)
    to_grid(u64 places, T *out, const T *grad, const T *in, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef stepwise_t<T> C;
    u64 place = thread_number(), number = place;
    if (number >= places) return;
    Spot spot;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    C sums[3] = {C(0), C(0), C(0)};
    for (spot.channel = 0; spot.channel < seen.channels.by; spot.channel++)
        view.add_slopes(images, in + images.image(spot), as<C>(grad[seen.place(spot)]), sampling.rank, sums);
#pragma unroll
    for (u32 dim = 0; dim < 3; dim++) {
        if constexpr (IS_ROUNDED<C>) sums[dim] = sums[dim] * view.along[2 - dim].scale;
        if (dim < sampling.rank) out[place * sampling.rank + dim] = as<T>(sums[dim]);
    }
}

// Adds the gradient of images to `sums`, which are initially zero. Several positions sample one element, and the order in which threads add
// is undefined. So sums are wide, and only the addends are rounded at each step.
template <class T>
__global__ void __launch_bounds__(256)
    to_images(u64 places, compute_t<T> *sums, const T *grad, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef stepwise_t<T> C;
    u64 number = thread_number();
    if (number >= places) return;
    Spot spot;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    for (spot.channel = blockIdx.y; spot.channel < seen.channels.by; spot.channel += gridDim.y) {
        C above = as<C>(grad[seen.place(spot)]);
        view.each(images, [&](i64 at, i32 i, i32 j, i32 k) {
            atomicAdd(sums + images.image(spot) + at, compute_t<T>(view.weighted(above, i, j, k)));
        });
    }
}
