#include "images.cuh"

enum { WINDOWS, ADAPTIVE };

// Which parts of images are pooled: those under a window at its places, or as many of about one size as there are places.
struct Parts {
    Window window;
    i64 divisor;
    u32 kind, counts_padding;
};

// A part in one dimension, and how many elements count in it.
struct Span {
    i32 start, end, step;
    i64 counts;
    __device__ __forceinline__ bool is_empty() const { return start >= end; }
};

__device__ __forceinline__ Span span(const Parts &parts, const Images &in, const Images &out, int dim, u32 place) {
    i64 size = in.size(dim);
    if (parts.kind == ADAPTIVE) {
        u64 count = out.sizes[dim].by;
        i64 start = u64(place) * size / count, end = ((u64(place) + 1) * size + count - 1) / count;
        return {i32(start), i32(end), 1, end - start};
    }
    i64 kernel = parts.window.kernel[dim], padding = parts.window.padding[dim], dilation = parts.window.dilation[dim];
    i64 first = place * parts.window.stride[dim] - padding, end = first + (kernel - 1) * dilation + 1;
    i64 counts = at_most(end, size + padding) - first;
    i64 start = first < 0 ? first + ((-first - 1) / dilation + 1) * dilation : first;
    start = at_most(start, size), end = at_most(end, size);
    return {i32(start), i32(end), i32(at_most(dilation, 0x7fffffff)), parts.counts_padding ? counts : at_least(end - start, 0)};
}

struct Box {
    Span deep, down, across;
    __device__ __forceinline__ Box(const Parts &parts, const Images &in, const Images &out, u32 plane, u32 row, u32 column)
        : deep(span(parts, in, out, 0, plane)), down(span(parts, in, out, 1, row)), across(span(parts, in, out, 2, column)) {}
    __device__ __forceinline__ bool is_empty() const { return deep.is_empty() || down.is_empty() || across.is_empty(); }
    __device__ __forceinline__ i64 counts(const Parts &parts) const {
        return parts.divisor ? parts.divisor : deep.counts * down.counts * across.counts;
    }
    template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
        for (i64 plane = deep.start; plane < deep.end; plane += deep.step)
            for (i64 row = down.start; row < down.end; row += down.step)
#pragma unroll 1
                for (i64 column = across.start; column < across.end; column += across.step) visit(i32(plane), i32(row), i32(column));
    }
};

template <class T>
__global__ void __launch_bounds__(256) largest(u64 count, T *out, i64 *found, const T *in, Images results, Images images, Parts parts) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    Box box(parts, images, results, spot.at[0], spot.at[1], spot.at[2]);
    const T *image = in + images.image(spot);
    i64 height = images.size(1), width = images.size(2), area = images.size(0) * height * width;
    i64 best = at_most((box.deep.start * height + box.down.start) * width + box.across.start, area - 1);
    compute_t<T> most = Bounds<compute_t<T>>::least();
    bool first = true;
    box.each([&](i32 plane, i32 row, i32 column) {
        compute_t<T> x = as<compute_t<T>>(image[images.inside(plane, row, column)]);
        // What is not a number is larger than everything.
        if (first || x > most || x != x) most = x, best = (plane * height + row) * width + column;
        first = false;
    });
    i64 place = results.place(spot);
    out[place] = as<T>(most);
    found[place] = best;
}

// The places of the result whose parts an element of an image may be in.
struct Places3 {
    i32 first[3], last[3];
    __device__ __forceinline__ Places3(const Parts &parts, const Images &in, const Images &out, const Spot &spot) {
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            i64 at = spot.at[dim], count = out.size(dim), size = in.size(dim), from, to;
            if (parts.kind == ADAPTIVE) {
                from = at * count / size, to = ((at + 1) * count + size - 1) / size - 1;
            } else {
                i64 stride = parts.window.stride[dim], reach = (parts.window.kernel[dim] - 1) * parts.window.dilation[dim];
                i64 end = at + parts.window.padding[dim], begin = end - reach;
                from = begin <= 0 ? 0 : (begin + stride - 1) / stride, to = end / stride;
            }
            first[dim] = i32(from), last[dim] = i32(at_most(to, count - 1));
        }
    }
    template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
        for (i32 plane = first[0]; plane <= last[0]; plane++)
            for (i32 row = first[1]; row <= last[1]; row++)
#pragma unroll 1
                for (i32 column = first[2]; column <= last[2]; column++) visit(plane, row, column);
    }
};

template <class T>
__global__ void __launch_bounds__(256)
    to_largest(u64 count, T *out, const T *grad, const i64 *found, Images images, Images results, Images indices, Parts parts) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = images.spot(number);
    const T *slopes = grad + results.image(spot);
    const i64 *at = found + indices.image(spot);
    i64 here = (i64(spot.at[0]) * images.size(1) + spot.at[1]) * images.size(2) + spot.at[2];
    added_t<T> sum = 0;
    Places3(parts, images, results, spot).each([&](i32 plane, i32 row, i32 column) {
        if (at[indices.inside(plane, row, column)] == here) sum += as<added_t<T>>(slopes[results.inside(plane, row, column)]);
    });
    out[images.place(spot)] = as<T>(sum);
}

__device__ __forceinline__ void add(float *at, float x) { atomicAdd(at, x); }
__device__ __forceinline__ void add(double *at, double x) { atomicAdd(at, x); }
template <class Half> __device__ __forceinline__ void add(Half *at, Half x) {
    unsigned short *bits = (unsigned short *)at, seen = *bits;
    for (;;) {
        Half old;
        old.bits = seen;
        unsigned short found = atomicCAS(bits, seen, Half(float(old) + float(x)).bits);
        if (found == seen) return;
        seen = found;
    }
}

__device__ __forceinline__ bool holds(const Span &span, i64 place) {
    return place >= span.start && place < span.end && (place - span.start) % span.step == 0;
}

// The slopes of places whose index is not under their window: none that a maximum was found at, but somebody may say so.
template <class T>
__global__ void __launch_bounds__(256) to_elsewhere(u64 count, T *out, const T *grad, const i64 *found, Images images, Images results,
                                                    Images indices, Parts parts, Fault *fault, u32 site) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    i64 at = found[indices.place(spot)], width = images.size(2), area = i64(images.size(1)) * width, all = images.size(0) * area;
    if (at < 0 || at >= all) return report(fault, site, INDEX_OUT_OF_RANGE, at, all);
    i64 plane = at / area, row = at % area / width, column = at % width;
    Box box(parts, images, results, spot.at[0], spot.at[1], spot.at[2]);
    if (holds(box.deep, plane) && holds(box.down, row) && holds(box.across, column)) return;
    add(out + images.image(spot) + images.inside(i32(plane), i32(row), i32(column)), grad[results.place(spot)]);
}

template <class T>
__global__ void __launch_bounds__(256) average(u64 count, T *out, const T *in, Images results, Images images, Parts parts) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    Box box(parts, images, results, spot.at[0], spot.at[1], spot.at[2]);
    const T *image = in + images.image(spot);
    added_t<T> sum = 0;
    box.each([&](i32 plane, i32 row, i32 column) { sum += as<added_t<T>>(image[images.inside(plane, row, column)]); });
    out[results.place(spot)] = as<T>(box.is_empty() ? sum : sum / added_t<T>(box.counts(parts)));
}

template <class T>
__global__ void __launch_bounds__(256) to_all(u64 count, T *out, const T *grad, Images images, Images results, Parts parts) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = images.spot(number);
    const T *slopes = grad + results.image(spot);
    added_t<T> sum = 0;
    Places3(parts, images, results, spot).each([&](i32 plane, i32 row, i32 column) {
        Box box(parts, images, results, plane, row, column);
        bool inside = i32(spot.at[0]) >= box.deep.start && i32(spot.at[0]) < box.deep.end && i32(spot.at[1]) >= box.down.start &&
                      i32(spot.at[1]) < box.down.end && i32(spot.at[2]) >= box.across.start && i32(spot.at[2]) < box.across.end;
        if (inside) sum += as<added_t<T>>(slopes[results.inside(plane, row, column)]) / added_t<T>(box.counts(parts));
    });
    out[images.place(spot)] = as<T>(sum);
}
