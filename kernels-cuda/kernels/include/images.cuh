// Batches of images of up to three dimensions, with any strides.
#pragma once
#include "opdispatch.cuh"

// The indices of an element of a batch of images.
struct Spot {
    u32 batch, channel, at[3];
};

__device__ __forceinline__ u64 divided(u64 x, const Divisor &by) { return x >> 31 ? x / by.by : by.divide(u32(x)); }

struct Images {
    Divisor channels, sizes[3];
    // The strides of the batch, channel, plane, row and column, in elements.
    i64 steps[5];
    u32 channels_last;
    __device__ __forceinline__ void next(u64 &rest, const Divisor &size, u32 &at) const {
        u64 more = divided(rest, size);
        at = u32(rest - more * size.by);
        rest = more;
    }
    // Returns the indices of the element with this number. Consecutive numbers are adjacent in memory.
    __device__ __forceinline__ Spot spot(u64 number) const {
        Spot spot;
        if (channels_last) next(number, channels, spot.channel);
#pragma unroll
        for (int dim = 2; dim >= 0; dim--) next(number, sizes[dim], spot.at[dim]);
        if (!channels_last) next(number, channels, spot.channel);
        spot.batch = u32(number);
        return spot;
    }
    __device__ __forceinline__ i64 image(u32 batch, u32 channel) const { return i64(batch) * steps[0] + i64(channel) * steps[1]; }
    __device__ __forceinline__ i64 image(const Spot &spot) const { return image(spot.batch, spot.channel); }
    __device__ __forceinline__ i64 inside(i32 plane, i32 row, i32 column) const {
        return plane * steps[2] + row * steps[3] + column * steps[4];
    }
    __device__ __forceinline__ i64 place(const Spot &spot) const {
        return image(spot) + inside(i32(spot.at[0]), i32(spot.at[1]), i32(spot.at[2]));
    }
    __device__ __forceinline__ i32 size(int dim) const { return i32(sizes[dim].by); }
};

// The type that elements of images are accumulated in.
template <class T> struct Added { typedef i64 type; };
template <> struct Added<float> { typedef float type; };
template <> struct Added<f16> { typedef float type; };
template <> struct Added<bf16> { typedef float type; };
template <> struct Added<double> { typedef double type; };
template <class T> using added_t = typename Added<T>::type;

__device__ __forceinline__ u64 thread_number() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// A window that moves over images: kernel size, stride, padding and dilation.
struct Window {
    i64 kernel[3], stride[3], padding[3], dilation[3];
};

__device__ __forceinline__ i64 at_least(i64 a, i64 b) { return a > b ? a : b; }
__device__ __forceinline__ i64 at_most(i64 a, i64 b) { return a < b ? a : b; }
