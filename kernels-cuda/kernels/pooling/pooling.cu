#include "images.cuh"

enum { WINDOWS, ADAPTIVE, RANDOM };

// The windows that are pooled: at regular positions, adaptive windows of nearly equal size, or windows of one size at random positions.
struct PoolWindows {
    Window window;
    i64 divisor;
    u32 kind, counts_padding;
};

// A window in one dimension, and the number of elements that an average counts in it.
struct WindowAlongDim {
    i32 start, end, step;
    i64 count;
    __device__ __forceinline__ bool is_empty() const { return start >= end; }
};

__device__ __forceinline__ WindowAlongDim window_along_dim(const PoolWindows &windows, const Images &in, const Images &out, int dim, u32 index) {
    i64 size = in.size(dim);
    if (windows.kind == ADAPTIVE) {
        u64 count = out.sizes[dim].value;
        i64 start = u64(index) * size / count, end = ((u64(index) + 1) * size + count - 1) / count;
        return {i32(start), i32(end), 1, end - start};
    }
    i64 kernel = windows.window.kernel[dim], padding = windows.window.padding[dim], dilation = windows.window.dilation[dim];
    i64 first = index * windows.window.stride[dim] - padding, end = first + (kernel - 1) * dilation + 1;
    i64 counts = min_i64(end, size + padding) - first;
    i64 start = first < 0 ? first + ((-first - 1) / dilation + 1) * dilation : first;
    start = min_i64(start, size), end = min_i64(end, size);
    return {i32(start), i32(end), i32(min_i64(dilation, 0x7fffffff)), windows.counts_padding ? counts : max_i64(end - start, 0)};
}

// Returns a random window of fractional pooling. The windows are about equally far apart, rounded as in PyTorch, and the last one is at the
// end.
template <class T> __device__ __forceinline__ WindowAlongDim random_window_along_dim(i64 kernel, const T *sample, i64 size, u32 count, u32 index) {
    typedef compute_t<T> C;
    i64 last = size - kernel, start = last;
    if (index + 1 < count) {
        C apart = C(last) / C(count - 1), first = as<C>(*sample);
        start = i64((C(index) + first) * apart) - i64(first * apart);
        start = max_i64(0, min_i64(start, last));
    }
    return {i32(start), i32(start + kernel), 1, kernel};
}

// The elements of the image in a window.
struct ElementsOfWindow {
    WindowAlongDim planes, rows, columns;
    __device__ __forceinline__ ElementsOfWindow(const PoolWindows &windows, const Images &in, const Images &out, u32 plane, u32 row, u32 column)
        : planes(window_along_dim(windows, in, out, 0, plane)), rows(window_along_dim(windows, in, out, 1, row)), columns(window_along_dim(windows, in, out, 2, column)) {}
    __device__ __forceinline__ ElementsOfWindow(const WindowAlongDim &planes, const WindowAlongDim &rows, const WindowAlongDim &columns) : planes(planes), rows(rows), columns(columns) {}
    __device__ __forceinline__ bool is_empty() const { return planes.is_empty() || rows.is_empty() || columns.is_empty(); }
    __device__ __forceinline__ i64 divisor_of(const PoolWindows &windows) const {
        return windows.divisor ? windows.divisor : planes.count * rows.count * columns.count;
    }
    template <class Visit> __device__ __forceinline__ void for_each_element(Visit visit) const {
        for (i64 plane = planes.start; plane < planes.end; plane += planes.step)
            for (i64 row = rows.start; row < rows.end; row += rows.step)
#pragma unroll 1
                for (i64 column = columns.start; column < columns.end; column += columns.step) visit(i32(plane), i32(row), i32(column));
    }
};

template <class T>
__device__ __forceinline__ void max_in_window(const ElementsOfWindow &box, T *out, i64 *found, const T *image, const Images &images) {
    i64 height = images.size(1), width = images.size(2), area = images.size(0) * height * width;
    i64 best = min_i64((box.planes.start * height + box.rows.start) * width + box.columns.start, area - 1);
    compute_t<T> max = Limits<compute_t<T>>::min_value();
    bool first = true;
    box.for_each_element([&](i32 plane, i32 row, i32 column) {
        compute_t<T> x = as<compute_t<T>>(image[images.offset_in_image(plane, row, column)]);
        // NaN is larger than all numbers.
        if (first || x > max || x != x) max = x, best = (plane * height + row) * width + column;
        first = false;
    });
    *out = as<T>(max);
    *found = best;
}

template <class T>
__global__ void __launch_bounds__(256) max_pool(u64 count, T *out, i64 *found, const T *in, Images results, Images images, PoolWindows windows) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = results.unravel_index(number);
    ElementsOfWindow box(windows, images, results, index.spatial[0], index.spatial[1], index.spatial[2]);
    i64 result = results.offset_of(index);
    max_in_window(box, out + result, found + result, in + images.image_offset(index), images);
}

// Max pooling over random windows. Each image has a random number for each of its dimensions, which determines the windows.
template <class T>
__global__ void __launch_bounds__(256) fractional_max_pool(u64 count, T *out, i64 *found, const T *in, Images results, Images images,
                                                         PoolWindows windows, const T *samples, u64 rank) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = results.unravel_index(number);
    const T *own = samples + (u64(index.batch) * images.channels.value + index.channel) * rank;
    auto along = [&](int dim) {
        // For two-dimensional images the first random number is the last dimension's, for three-dimensional ones the first dimension's.
        const T *sample = own + (rank == 2 ? 2 - dim : dim);
        return random_window_along_dim(windows.window.kernel[dim], sample, images.size(dim), results.sizes[dim].value, index.spatial[dim]);
    };
    i64 result = results.offset_of(index);
    max_in_window({along(0), along(1), along(2)}, out + result, found + result, in + images.image_offset(index), images);
}

// The range of the result's elements whose windows may contain an element of an image.
struct ResultsOfElement {
    i32 first[3], last[3];
    __device__ __forceinline__ ResultsOfElement(const PoolWindows &windows, const Images &in, const Images &out, const ImageIndex &index) {
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            i64 at = index.spatial[dim], count = out.size(dim), size = in.size(dim), from, to;
            if (windows.kind == ADAPTIVE) {
                from = at * count / size, to = ((at + 1) * count + size - 1) / size - 1;
            } else if (windows.kind == RANDOM) {
                // A window begins less than one element before or after its position at equal distances.
                i64 kernel = windows.window.kernel[dim], last = size - kernel;
                from = last ? (at - kernel) * (count - 1) / last - 1 : 0, to = last ? (at + 1) * (count - 1) / last + 1 : 0;
                from = max_i64(from, 0);
            } else {
                i64 stride = windows.window.stride[dim], reach = (windows.window.kernel[dim] - 1) * windows.window.dilation[dim];
                i64 end = at + windows.window.padding[dim], begin = end - reach;
                from = begin <= 0 ? 0 : (begin + stride - 1) / stride, to = end / stride;
            }
            first[dim] = i32(from), last[dim] = i32(min_i64(to, count - 1));
        }
    }
    __device__ __forceinline__ bool contains_result(const ImageIndex &index) const {
        bool all = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) all = all && i32(index.spatial[dim]) >= first[dim] && i32(index.spatial[dim]) <= last[dim];
        return all;
    }
    template <class Visit> __device__ __forceinline__ void for_each_result(Visit visit) const {
        for (i32 plane = first[0]; plane <= last[0]; plane++)
            for (i32 row = first[1]; row <= last[1]; row++)
#pragma unroll 1
                for (i32 column = first[2]; column <= last[2]; column++) visit(plane, row, column);
    }
};

template <class T>
__global__ void __launch_bounds__(256)
    max_pool_backward(u64 count, T *out, const T *grad, const i64 *found, Images images, Images results, Images indices, PoolWindows windows) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = images.unravel_index(number);
    const T *grads = grad + results.image_offset(index);
    const i64 *at = found + indices.image_offset(index);
    i64 here = (i64(index.spatial[0]) * images.size(1) + index.spatial[1]) * images.size(2) + index.spatial[2];
    accumulator_t<T> sum = 0;
    ResultsOfElement(windows, images, results, index).for_each_result([&](i32 plane, i32 row, i32 column) {
        if (at[indices.offset_in_image(plane, row, column)] == here) sum += as<accumulator_t<T>>(grads[results.offset_in_image(plane, row, column)]);
    });
    out[images.offset_of(index)] = as<T>(sum);
}

__device__ __forceinline__ void atomic_add(float *at, float x) { atomicAdd(at, x); }
__device__ __forceinline__ void atomic_add(double *at, double x) { atomicAdd(at, x); }
template <class Half> __device__ __forceinline__ void atomic_add(Half *at, Half x) {
    unsigned short *bits = (unsigned short *)at, seen = *bits;
    for (;;) {
        Half old;
        old.bits = seen;
        unsigned short found = atomicCAS(bits, seen, Half(float(old) + float(x)).bits);
        if (found == seen) return;
        seen = found;
    }
}

// Adds the gradients whose index is outside of the element's window. A forward pass has no such index, but the caller may pass any.
template <class T>
__global__ void __launch_bounds__(256) max_pool_backward_outside(u64 count, T *out, const T *grad, const i64 *found, Images images, Images results,
                                                    Images indices, PoolWindows windows, Fault *fault, u32 site) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = results.unravel_index(number);
    i64 at = found[indices.offset_of(index)], width = images.size(2), area = i64(images.size(1)) * width, all = images.size(0) * area;
    if (at < 0 || at >= all) return report_fault(fault, site, INDEX_OUT_OF_RANGE, at, all);
    ImageIndex here = {index.batch, index.channel, {u32(at / area), u32(at % area / width), u32(at % width)}};
    if (ResultsOfElement(windows, images, results, here).contains_result(index)) return;
    atomic_add(out + images.offset_of(here), grad[results.offset_of(index)]);
}

template <class T>
__global__ void __launch_bounds__(256) avg_pool(u64 count, T *out, const T *in, Images results, Images images, PoolWindows windows) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = results.unravel_index(number);
    ElementsOfWindow box(windows, images, results, index.spatial[0], index.spatial[1], index.spatial[2]);
    const T *image = in + images.image_offset(index);
    accumulator_t<T> sum = 0;
    box.for_each_element([&](i32 plane, i32 row, i32 column) { sum += as<accumulator_t<T>>(image[images.offset_in_image(plane, row, column)]); });
    out[results.offset_of(index)] = as<T>(box.is_empty() ? sum : sum / accumulator_t<T>(box.divisor_of(windows)));
}

template <class T>
__global__ void __launch_bounds__(256) avg_pool_backward(u64 count, T *out, const T *grad, Images images, Images results, PoolWindows windows) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = images.unravel_index(number);
    const T *grads = grad + results.image_offset(index);
    accumulator_t<T> sum = 0;
    ResultsOfElement(windows, images, results, index).for_each_result([&](i32 plane, i32 row, i32 column) {
        ElementsOfWindow box(windows, images, results, plane, row, column);
        bool inside = i32(index.spatial[0]) >= box.planes.start && i32(index.spatial[0]) < box.planes.end && i32(index.spatial[1]) >= box.rows.start &&
                      i32(index.spatial[1]) < box.rows.end && i32(index.spatial[2]) >= box.columns.start && i32(index.spatial[2]) < box.columns.end;
        if (inside) sum += as<accumulator_t<T>>(grads[results.offset_in_image(plane, row, column)]) / accumulator_t<T>(box.divisor_of(windows));
    });
    out[images.offset_of(index)] = as<T>(sum);
}
