#include "images.cuh"

// A matrix of patches: a row for each channel and element of the window, and a column for each position of the window.
struct Columns {
    Divisor across, down, kernel_width, kernel_height;
    i64 batch, row, column;
};

template <class T>
__global__ void __launch_bounds__(256) unfolded(u64 count, T *out, const T *in, Images images, Columns columns, Window window) {
    u64 number = thread_number();
    if (number >= count) return;
    u64 rest = number, next = divided(rest, columns.across);
    u32 column = u32(rest - next * columns.across.by);
    rest = next, next = divided(rest, columns.down);
    u32 row = u32(rest - next * columns.down.by);
    rest = next, next = divided(rest, columns.kernel_width);
    u32 right = u32(rest - next * columns.kernel_width.by);
    rest = next, next = divided(rest, columns.kernel_height);
    u32 below = u32(rest - next * columns.kernel_height.by);
    rest = next, next = divided(rest, images.channels);
    i64 y = row * window.stride[1] - window.padding[1] + below * window.dilation[1];
    i64 x = column * window.stride[2] - window.padding[2] + right * window.dilation[2];
    bool inside = y >= 0 && y < images.size(1) && x >= 0 && x < images.size(2);
    i64 image = images.image(u32(next), u32(rest - next * images.channels.by));
    out[number] = inside ? in[image + images.inside(0, i32(y), i32(x))] : T(0);
}

template <class T>
__global__ void __launch_bounds__(256) folded(u64 count, T *out, const T *in, Images images, Columns columns, Window window) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = images.spot(number);
    const T *item = in + i64(spot.batch) * columns.batch;
    i64 row = i64(spot.channel) * columns.kernel_height.by * columns.kernel_width.by;
    added_t<T> sum = 0;
    for (u32 below = 0; below < columns.kernel_height.by; below++) {
        i64 y = spot.at[1] + window.padding[1] - below * window.dilation[1];
        if (y < 0 || y % window.stride[1] || y / window.stride[1] >= columns.down.by) continue;
#pragma unroll 1
        for (u32 right = 0; right < columns.kernel_width.by; right++) {
            i64 x = spot.at[2] + window.padding[2] - right * window.dilation[2];
            if (x < 0 || x % window.stride[2] || x / window.stride[2] >= columns.across.by) continue;
            i64 line = row + i64(below) * columns.kernel_width.by + right, place = y / window.stride[1] * columns.across.by + x / window.stride[2];
            sum += as<added_t<T>>(item[line * columns.row + place * columns.column]);
        }
    }
    out[images.place(spot)] = as<T>(sum);
}
