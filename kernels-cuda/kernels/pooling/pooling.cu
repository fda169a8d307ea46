#include "images.cuh"

enum { WINDOWS, ADAPTIVE, RANDOM };

// The windows that are pooled: at regular positions, adaptive windows of nearly equal size, or windows of one size at random positions.
struct Parts {
    Window window;
    i64 divisor;
    u32 kind, counts_padding;
};

// A window in one dimension, and the number of elements that an average counts in it.
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

// Returns a random window of fractional pooling. The windows are about equally far apart, rounded as in PyTorch, and the last one is at the
// end.
template <class T> __device__ __forceinline__ Span random_span(i64 kernel, const T *sample, i64 size, u32 count, u32 place) {
    typedef compute_t<T> C;
    i64 last = size - kernel, start = last;
    if (place + 1 < count) {
        C apart = C(last) / C(count - 1), first = as<C>(*sample);
        start = i64((C(place) + first) * apart) - i64(first * apart);
        start = at_least(0, at_most(start, last));
    }
    return {i32(start), i32(start + kernel), 1, kernel};
}

struct Box {
    Span deep, down, across;
    __device__ __forceinline__ Box(const Parts &parts, const Images &in, const Images &out, u32 plane, u32 row, u32 column)
        : deep(span(parts, in, out, 0, plane)), down(span(parts, in, out, 1, row)), across(span(parts, in, out, 2, column)) {}
    __device__ __forceinline__ Box(const Span &deep, const Span &down, const Span &across) : deep(deep), down(down), across(across) {}
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
__device__ __forceinline__ void largest_of(const Box &box, T *out, i64 *found, const T *image, const Images &images) {
    i64 height = images.size(1), width = images.size(2), area = images.size(0) * height * width;
    i64 best = at_most((box.deep.start * height + box.down.start) * width + box.across.start, area - 1);
    compute_t<T> most = Bounds<compute_t<T>>::least();
    bool first = true;
    box.each([&](i32 plane, i32 row, i32 column) {
        compute_t<T> x = as<compute_t<T>>(image[images.inside(plane, row, column)]);
        // NaN is larger than all numbers.
        if (first || x > most || x != x) most = x, best = (plane * height + row) * width + column;
        first = false;
    });
    *out = as<T>(most);
    *found = best;
}

template <class T>
__global__ void __launch_bounds__(256) largest(u64 count, T *out, i64 *found, const T *in, Images results, Images images, Parts parts) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    Box box(parts, images, results, spot.at[0], spot.at[1], spot.at[2]);
    i64 place = results.place(spot);
    largest_of(box, out + place, found + place, in + images.image(spot), images);
}

// Max pooling over random windows. Each image has a random number for each of its dimensions, which determines the windows.
template <class T>
__global__ void __launch_bounds__(256) largest_at_random(u64 count, T *out, i64 *found, const T *in, Images results, Images images,
                                                         Parts parts, const T *samples, u64 rank) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    const T *own = samples + (u64(spot.batch) * images.channels.by + spot.channel) * rank;
    auto along = [&](int dim) {
        // In two dimensions the numbers begin with the last dimension, in three with the first.
        const T *sample = own + (rank == 2 ? 2 - dim : dim);
        return random_span(parts.window.kernel[dim], sample, images.size(dim), results.sizes[dim].by, spot.at[dim]);
    };
    i64 place = results.place(spot);
    largest_of({along(0), along(1), along(2)}, out + place, found + place, in + images.image(spot), images);
}

// The range of the result's elements whose windows may contain an element of an image.
struct Places3 {
    i32 first[3], last[3];
    __device__ __forceinline__ Places3(const Parts &parts, const Images &in, const Images &out, const Spot &spot) {
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            i64 at = spot.at[dim], count = out.size(dim), size = in.size(dim), from, to;
            if (parts.kind == ADAPTIVE) {
                from = at * count / size, to = ((at + 1) * count + size - 1) / size - 1;
            } else if (parts.kind == RANDOM) {
                // A window begins less than one element before or after its position at equal distances.
                i64 kernel = parts.window.kernel[dim], last = size - kernel;
                from = last ? (at - kernel) * (count - 1) / last - 1 : 0, to = last ? (at + 1) * (count - 1) / last + 1 : 0;
                from = at_least(from, 0);
            } else {
                i64 stride = parts.window.stride[dim], reach = (parts.window.kernel[dim] - 1) * parts.window.dilation[dim];
                i64 end = at + parts.window.padding[dim], begin = end - reach;
                from = begin <= 0 ? 0 : (begin + stride - 1) / stride, to = end / stride;
            }
            first[dim] = i32(from), last[dim] = i32(at_most(to, count - 1));
        }
    }
    __device__ __forceinline__ bool have(const Spot &place) const {
        bool all = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) all = all && i32(place.at[dim]) >= first[dim] && i32(place.at[dim]) <= last[dim];
        return all;
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

// Adds the gradients whose index is outside of the element's window. A forward pass has no such index, but the caller may pass any.
template <class T>
__global__ void __launch_bounds__(256) to_elsewhere(u64 count, T *out, const T *grad, const i64 *found, Images images, Images results,
                                                    Images indices, Parts parts, Fault *fault, u32 site) {
    u64 number = thread_number();
    if (number >= count) return;
    Spot spot = results.spot(number);
    i64 at = found[indices.place(spot)], width = images.size(2), area = i64(images.size(1)) * width, all = images.size(0) * area;
    if (at < 0 || at >= all) return report(fault, site, INDEX_OUT_OF_RANGE, at, all);
    Spot here = {spot.batch, spot.channel, {u32(at / area), u32(at % area / width), u32(at % width)}};
    if (Places3(parts, images, results, here).have(spot)) return;
    add(out + images.place(here), grad[results.place(spot)]);
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
