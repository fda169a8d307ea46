#include "images.cuh"

// A matrix of patches: a row for each channel and element of the window, and a column for each position of the window.
struct PatchMatrix {
    Divisor across, down, kernel_width, kernel_height;
    i64 batch, row, column;
};

template <class T>
__global__ void __launch_bounds__(256) im2col(u64 count, T *out, const T *in, Images images, PatchMatrix patches, Window window) {
    u64 number = global_thread_index();
    if (number >= count) return;
    u64 rest = number, next = divide_u64(rest, patches.across);
    u32 column = u32(rest - next * patches.across.value);
    rest = next, next = divide_u64(rest, patches.down);
    u32 row = u32(rest - next * patches.down.value);
    rest = next, next = divide_u64(rest, patches.kernel_width);
    u32 right = u32(rest - next * patches.kernel_width.value);
    rest = next, next = divide_u64(rest, patches.kernel_height);
    u32 below = u32(rest - next * patches.kernel_height.value);
    rest = next, next = divide_u64(rest, images.channels);
    i64 y = row * window.stride[1] - window.padding[1] + below * window.dilation[1];
    i64 x = column * window.stride[2] - window.padding[2] + right * window.dilation[2];
    bool inside = y >= 0 && y < images.size(1) && x >= 0 && x < images.size(2);
    i64 image = images.image_offset(u32(next), u32(rest - next * images.channels.value));
    out[number] = inside ? in[image + images.offset_in_image(0, i32(y), i32(x))] : T(0);
}

template <class T>
__global__ void __launch_bounds__(256) col2im(u64 count, T *out, const T *in, Images images, PatchMatrix patches, Window window) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = images.unravel_index(number);
    const T *item = in + i64(index.batch) * patches.batch;
    i64 row = i64(index.channel) * patches.kernel_height.value * patches.kernel_width.value;
    accumulator_t<T> sum = 0;
    for (u32 below = 0; below < patches.kernel_height.value; below++) {
        i64 y = index.spatial[1] + window.padding[1] - below * window.dilation[1];
        if (y < 0 || y % window.stride[1] || y / window.stride[1] >= patches.down.value) continue;
#pragma unroll 1
        for (u32 right = 0; right < patches.kernel_width.value; right++) {
            i64 x = index.spatial[2] + window.padding[2] - right * window.dilation[2];
            if (x < 0 || x % window.stride[2] || x / window.stride[2] >= patches.across.value) continue;
            i64 line = row + i64(below) * patches.kernel_width.value + right, place = y / window.stride[1] * patches.across.value + x / window.stride[2];
            sum += as<accumulator_t<T>>(item[line * patches.row + place * patches.column]);
        }
    }
    out[images.offset_of(index)] = as<T>(sum);
}
