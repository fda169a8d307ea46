#include "curve.cuh"
#include "images.cuh"

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, MIRROR };

// How images are looked at. A grid has, for each place, a coordinate for each dimension, the last dimension's first.
struct Sampling {
    i64 grid_steps[5];
    u32 between, beside, align_corners, rank;
};

// A position in one dimension, what the element there counts, and by how much that grows with the coordinate.
template <class C> struct Along {
    i32 at[4];
    C weight[4], slope[4];
    i32 count;
};

template <class C> __device__ __forceinline__ C mirrored(C position, C start, C span, C &sign) {
    if (span == C(0)) {
        sign = C(0);
        return C(0);
    }
    sign = position < start ? C(-1) : C(1);
    C from = position < start ? start - position : position - start;
    C times = floor(from / span), rest = fmod(from, span);
    if (fmod(times, C(2)) == C(0)) return start + rest;
    sign = -sign;
    return start + span - rest;
}

// A position as it is inside of the image, unless there is nothing beside it, and by how much that one moves with it.
template <class C> __device__ __forceinline__ C kept(const Sampling &sampling, C position, C whole, C &sign) {
    sign = C(1);
    if (sampling.beside == ZEROS) return position;
    if (sampling.beside == MIRROR)
        position = sampling.align_corners ? mirrored(position, C(0), whole - C(1), sign) : mirrored(position, C(-0.5), whole, sign);
    if (position <= C(0) || position != position) {
        sign = C(0);
        return C(0);
    }
    if (position >= whole - C(1)) {
        sign = C(0);
        return whole - C(1);
    }
    return position;
}

template <class C> __device__ __forceinline__ i32 inside(C position, C whole) {
    return position >= C(0) && position < whole ? i32(position) : -1;
}

// Where the nearest element depends on it, coordinates are rounded as the grid's dtype is.
template <class T, class C> __device__ __forceinline__ C rounded(const Sampling &sampling, C x) {
    return sampling.between == NEAREST ? as<C>(as<T>(x)) : x;
}

template <class T, class C> __device__ __forceinline__ void look(const Sampling &sampling, C coordinate, i32 size, Along<C> &along) {
    C whole = C(size), scale = (sampling.align_corners ? whole - C(1) : whole) * C(0.5), sign;
    C middle = rounded<T>(sampling, rounded<T>(sampling, coordinate + C(1)) * scale);
    if (!sampling.align_corners) middle = rounded<T>(sampling, middle - C(0.5));
    if (sampling.between == CUBIC) {
        C first = floor(middle), right = middle - first;
        along.count = 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Bend<C> bend = Bend<C>::of(i, right);
            along.at[i] = inside(kept(sampling, first + C(i - 1), whole, sign), whole);
            along.weight[i] = bend.weight, along.slope[i] = bend.slope * scale;
        }
        return;
    }
    middle = kept(sampling, middle, whole, sign);
    if (sampling.between == NEAREST) {
        along.count = 1;
        along.at[0] = inside(rint(middle), whole), along.weight[0] = C(1), along.slope[0] = C(0);
        return;
    }
    C first = floor(middle), right = middle - first;
    scale *= sign;
    along.count = 2;
    along.at[0] = inside(first, whole), along.weight[0] = C(1) - right, along.slope[0] = -scale;
    along.at[1] = inside(first + C(1), whole), along.weight[1] = right, along.slope[1] = scale;
}

// What is seen at a place of the grid, in all channels.
template <class T, class C> struct View {
    Along<C> along[3];
    __device__ __forceinline__ View(const Sampling &sampling, const T *grid, const Images &images, const Spot &spot) {
        i64 at = spot.batch * sampling.grid_steps[0] + spot.at[0] * sampling.grid_steps[1] + spot.at[1] * sampling.grid_steps[2] +
                 spot.at[2] * sampling.grid_steps[3];
#pragma unroll 1
        for (int dim = 0; dim < 3; dim++) {
            if (dim < 3 - i32(sampling.rank)) {
                along[dim].count = 1, along[dim].at[0] = 0, along[dim].weight[0] = C(1), along[dim].slope[0] = C(0);
            } else {
                look<T>(sampling, as<C>(grid[at + (2 - dim) * sampling.grid_steps[4]]), images.size(dim), along[dim]);
            }
        }
    }
    // Visits the taps that are inside of the image: where, and the number of each dimension's.
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
    __device__ __forceinline__ C weight(i32 i, i32 j, i32 k) const { return along[0].weight[i] * along[1].weight[j] * along[2].weight[k]; }
};

template <class T>
__global__ void __launch_bounds__(256) sampled(u64 places, T *out, const T *in, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef compute_t<T> C;
    u64 number = thread_number();
    if (number >= places) return;
    Spot spot;
    spot.channel = 0;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    for (spot.channel = blockIdx.y; spot.channel < seen.channels.by; spot.channel += gridDim.y) {
        const T *image = in + images.image(spot);
        C sum = C(0);
        view.each(images, [&](i64 at, i32 i, i32 j, i32 k) { sum += view.weight(i, j, k) * as<C>(image[at]); });
        out[seen.place(spot)] = as<T>(sum);
    }
}

// The gradient of a grid: a thread for each place goes through all channels.
template <class T>
__global__ void __launch_bounds__(256)
    to_grid(u64 places, T *out, const T *grad, const T *in, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef compute_t<T> C;
    u64 place = thread_number(), number = place;
    if (number >= places) return;
    Spot spot;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    C sums[3] = {C(0), C(0), C(0)};
    for (spot.channel = 0; spot.channel < seen.channels.by; spot.channel++) {
        const T *image = in + images.image(spot);
        C above = as<C>(grad[seen.place(spot)]);
        view.each(images, [&](i64 at, i32 i, i32 j, i32 k) {
            C x = above * as<C>(image[at]);
            sums[2] += x * view.along[0].slope[i] * view.along[1].weight[j] * view.along[2].weight[k];
            sums[1] += x * view.along[0].weight[i] * view.along[1].slope[j] * view.along[2].weight[k];
            sums[0] += x * view.along[0].weight[i] * view.along[1].weight[j] * view.along[2].slope[k];
        });
    }
#pragma unroll
    for (u32 dim = 0; dim < 3; dim++)
        if (dim < sampling.rank) out[place * sampling.rank + dim] = as<T>(sums[dim]);
}

// The gradient of images, added to `sums`, which are zero before. Several places see one element: the order of what is added is anybody's.
template <class T>
__global__ void __launch_bounds__(256)
    to_images(u64 places, compute_t<T> *sums, const T *grad, const T *grid, Images seen, Images images, Sampling sampling) {
    typedef compute_t<T> C;
    u64 number = thread_number();
    if (number >= places) return;
    Spot spot;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) seen.next(number, seen.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    View<T, C> view(sampling, grid, images, spot);
    for (spot.channel = blockIdx.y; spot.channel < seen.channels.by; spot.channel += gridDim.y) {
        C above = as<C>(grad[seen.place(spot)]);
        view.each(images, [&](i64 at, i32 i, i32 j, i32 k) { atomicAdd(sums + images.image(spot) + at, above * view.weight(i, j, k)); });
    }
}
