#include "images.cuh"

enum { MIRRORED, REPEATED };

// The padding before each dimension, and its kind: reflection or replication.
struct Border {
    i64 before[3];
    u32 kind;
};

__device__ __forceinline__ i64 shown(const Border &border, const Images &inside, int dim, i64 place) {
    i64 at = place - border.before[dim], last = inside.size(dim) - 1;
    if (border.kind == REPEATED) return at < 0 ? 0 : at > last ? last : at;
    at = at < 0 ? -at : at;
    return at > last ? 2 * last - at : at;
}

template <class T>
__global__ void __launch_bounds__(256) bordered(u64 count, T *out, const T *in, Images padded, Images inside, Border border) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = padded.spot(number);
    i64 at[3];
#pragma unroll
    for (int dim = 0; dim < 3; dim++) at[dim] = shown(border, inside, dim, spot.at[dim]);
    out[padded.place(spot)] = in[inside.image(spot) + inside.inside(i32(at[0]), i32(at[1]), i32(at[2]))];
}

// The positions of a padded dimension that have a copy of one element.
struct Showing {
    i64 first, count, mirrors[3];
    __device__ __forceinline__ Showing(const Border &border, const Images &inside, const Images &padded, int dim, i64 at) {
        i64 before = border.before[dim], size = inside.size(dim), end = padded.size(dim);
        count = 0;
        if (border.kind == REPEATED) {
            first = at == 0 ? 0 : at_least(at + before, 0);
            count = at_least((at == size - 1 ? end : at_most(at + before + 1, end)) - first, 0);
        } else {
            i64 places[3] = {before - at, at + before, 2 * (size - 1) - at + before};
            bool there[3] = {at > 0, true, at < size - 1};
#pragma unroll
            for (int i = 0; i < 3; i++)
                if (there[i] && places[i] >= 0 && places[i] < end) mirrors[count++] = places[i];
        }
    }
    __device__ __forceinline__ i32 place(const Border &border, i64 i) const {
        return i32(border.kind == REPEATED ? first + i : i == 0 ? mirrors[0] : i == 1 ? mirrors[1] : mirrors[2]);
    }
};

template <class T>
__global__ void __launch_bounds__(256) unbordered(u64 count, T *out, const T *grad, Images inside, Images padded, Border border) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = inside.spot(number);
    const T *slopes = grad + padded.image(spot);
    Showing deep(border, inside, padded, 0, spot.at[0]), down(border, inside, padded, 1, spot.at[1]), across(border, inside, padded, 2, spot.at[2]);
    added_t<T> sum = 0;
    for (i64 i = 0; i < deep.count; i++)
        for (i64 j = 0; j < down.count; j++)
#pragma unroll 1
            for (i64 k = 0; k < across.count; k++)
                sum += as<added_t<T>>(slopes[padded.inside(deep.place(border, i), down.place(border, j), across.place(border, k))]);
    out[inside.place(spot)] = as<T>(sum);
}
