#include "block.cuh"
#include "images.cuh"
#include "tiles.cuh"

// A convolution: a window moves over the large side, and each of its positions belongs to an element of the small side.
struct ConvGeometry {
    Images large, small;
    Divisor stride[3];
    i32 padding[3], dilation[3];
    // The number of elements of a window, of a plane and of a row of it.
    Divisor taps, plane_taps, row_taps;
    // The number of channels of a group, on the small side and on the large one.
    Divisor filters, channels;
    u32 groups, portions;
    // The number of the window's positions, and of the elements of a channel of the large side, over all images.
    u64 places, positions;
    // The weight has contiguous filters, channels and taps.
    const u8 *weight, *bias;
    u8 *out, *parts;
};

struct Tap {
    i32 at[3];
    __device__ __forceinline__ Tap(const ConvGeometry &m, u32 number) {
        u32 plane = m.plane_taps.divide(number);
        number -= plane * m.plane_taps.by;
        u32 row = m.row_taps.divide(number);
        at[0] = i32(plane) * m.dilation[0], at[1] = i32(row) * m.dilation[1];
        at[2] = i32(number - row * m.row_taps.by) * m.dilation[2];
    }
};

// Returns the indices of an element of either side, in the first channel of a group.
__device__ __forceinline__ Spot spot_of(const Images &images, u64 number) {
    Spot spot;
    spot.channel = 0;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) images.next(number, images.sizes[dim], spot.at[dim]);
    spot.batch = u32(number);
    return spot;
}

// The elements of the large side under one position of the window.
struct Under {
    i32 first[3];
    i64 image;
    __device__ __forceinline__ Under(const ConvGeometry &m, u64 place) {
        Spot spot = spot_of(m.small, place);
#pragma unroll
        for (int dim = 0; dim < 3; dim++) first[dim] = i32(spot.at[dim] * m.stride[dim].by) - m.padding[dim];
        image = m.large.image(spot);
    }
    template <class S, class T> __device__ __forceinline__ S element(const ConvGeometry &m, const T *large, const Tap &tap, u32 channel) const {
        i32 at[3];
        bool inside = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            at[dim] = first[dim] + tap.at[dim];
            inside = inside && u32(at[dim]) < m.large.sizes[dim].by;
        }
        return inside ? as<S>(large[image + channel * m.large.steps[1] + m.large.inside(at[0], at[1], at[2])]) : S(0);
    }
};

// The window's positions that contain an element of the large side.
struct Over {
    i32 at[3];
    i64 image;
    __device__ __forceinline__ Over(const ConvGeometry &m, u64 position) {
        Spot spot = spot_of(m.large, position);
#pragma unroll
        for (int dim = 0; dim < 3; dim++) at[dim] = i32(spot.at[dim]) + m.padding[dim];
        image = m.small.image(spot);
    }
    template <class S, class T> __device__ __forceinline__ S element(const ConvGeometry &m, const T *small, const Tap &tap, u32 filter) const {
        i32 place[3];
        bool inside = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            i32 from = at[dim] - tap.at[dim];
            place[dim] = i32(m.stride[dim].divide(u32(from < 0 ? 0 : from)));
            inside = inside && place[dim] * i32(m.stride[dim].by) == from && u32(place[dim]) < m.small.sizes[dim].by;
        }
        return inside ? as<S>(small[image + filter * m.small.steps[1] + m.small.inside(place[0], place[1], place[2])]) : S(0);
    }
};

// Computes the small side from the large one.
struct Gather {
    typedef Under Line;
    static __device__ __forceinline__ const Divisor &rows(const ConvGeometry &m) { return m.filters; }
    static __device__ __forceinline__ const Divisor &summed(const ConvGeometry &m) { return m.channels; }
    static __device__ __forceinline__ u64 columns(const ConvGeometry &m) { return m.places; }
    static __device__ __forceinline__ const Images &from(const ConvGeometry &m) { return m.large; }
    static __device__ __forceinline__ const Images &to(const ConvGeometry &m) { return m.small; }
    static __device__ __forceinline__ u64 weight(const ConvGeometry &m, u32 row, u32 channel) { return u64(row) * m.channels.by + channel; }
};
// Computes the large side from the small one.
struct Scatter {
    typedef Over Line;
    static __device__ __forceinline__ const Divisor &rows(const ConvGeometry &m) { return m.channels; }
    static __device__ __forceinline__ const Divisor &summed(const ConvGeometry &m) { return m.filters; }
    static __device__ __forceinline__ u64 columns(const ConvGeometry &m) { return m.positions; }
    static __device__ __forceinline__ const Images &from(const ConvGeometry &m) { return m.small; }
    static __device__ __forceinline__ const Images &to(const ConvGeometry &m) { return m.large; }
    static __device__ __forceinline__ u64 weight(const ConvGeometry &m, u32 row, u32 channel) { return u64(channel) * m.channels.by + row; }
};

// The weight's side of a tile: adjacent threads load adjacent taps.
template <class T, int EDGE, class Sum> struct Weights {
    Share share;
    const ConvGeometry &m;
    const T *weight;
    u32 first;
    u64 end;
    __device__ __forceinline__ Weights(const ConvGeometry &m, u32 group, u32 first, u64 end)
        : share(Share::of<EDGE>(false)), m(m), first(first), end(end) {
        weight = (const T *)m.weight + u64(group) * m.filters.by * m.channels.by * m.taps.by;
    }
    template <class S, int N> __device__ __forceinline__ void take(S (&elements)[N], u64 at) {
        u32 step = u32(at) + share.step, channel = m.taps.divide(step), tap = step - channel * m.taps.by;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 row = first + share.line + i * share.lines;
            bool inside = step < end && row < Sum::rows(m).by;
            elements[i] = inside ? as<S>(weight[Sum::weight(m, row, channel) * m.taps.by + tap]) : S(0);
        }
    }
};

// The images' side of a tile: a thread keeps one position.
template <class T, int EDGE, class Sum> struct Elements {
    Share share;
    const ConvGeometry &m;
    const T *from;
    typename Sum::Line line;
    u64 end;
    __device__ __forceinline__ Elements(const ConvGeometry &m, const T *source, u32 group, u64 first, u64 end)
        : share(Share::of<EDGE>(true)), m(m), line(m, first + share.line < Sum::columns(m) ? first + share.line : 0), end(end) {
        from = source + i64(group) * Sum::summed(m).by * Sum::from(m).steps[1];
        if (first + share.line >= Sum::columns(m)) this->end = 0;
    }
    template <class S, int N> __device__ __forceinline__ void take(S (&elements)[N], u64 at) {
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 step = u32(at) + share.step + i * share.steps, channel = m.taps.divide(step);
            elements[i] = step < end ? line.template element<S>(m, from, Tap(m, step - channel * m.taps.by), channel) : S(0);
        }
    }
};

// The target of a column's sums: one position in each channel of a group; or `parts`, if several blocks share the steps.
struct Column {
    bool inside;
    i64 at;
};

template <class T, class Sum> struct Results {
    const ConvGeometry &m;
    u32 group, first_row;
    u64 first_column;
    __device__ __forceinline__ Column column(u32 at) const {
        u64 column = first_column + at;
        if (column >= Sum::columns(m)) return {false, 0};
        return {true, m.parts ? i64(column) : Sum::to(m).place(spot_of(Sum::to(m), column))};
    }
    __device__ __forceinline__ void row(const Column &column, u32 at, sum_t<T> sum) const {
        u32 row = first_row + at, rows = Sum::rows(m).by;
        if (!column.inside || row >= rows) return;
        if (m.parts) {
            ((sum_t<T> *)m.parts)[((u64(blockIdx.y) * m.groups + group) * rows + row) * Sum::columns(m) + column.at] = sum;
        } else {
            finish(column.at, row, sum);
        }
    }
    __device__ __forceinline__ void finish(i64 place, u32 row, sum_t<T> sum) const {
        u32 channel = group * Sum::rows(m).by + row;
        if (m.bias) sum += as<sum_t<T>>(((const T *)m.bias)[channel]);
        ((T *)m.out)[place + channel * Sum::to(m).steps[1]] = as<T>(sum);
    }
};

template <class T, class Sum> __device__ __forceinline__ void finish(const ConvGeometry &m, u32 group, u32 row, u64 column, sum_t<T> sum) {
    Results<T, Sum>{m, group, 0, 0}.finish(Sum::to(m).place(spot_of(Sum::to(m), column)), row, sum);
}

template <class T, int EDGE, class Sum> __device__ __forceinline__ void convolved(const ConvGeometry &m, const T *source) {
    u64 steps = u64(Sum::summed(m).by) * m.taps.by, across = (Sum::columns(m) + EDGE - 1) / EDGE;
    u32 row = u32(blockIdx.x / across) * EDGE;
    u64 column = blockIdx.x % across * EDGE;
    Portion portion(steps, blockIdx.y, m.portions);
    for (u32 group = blockIdx.z; group < m.groups; group += gridDim.z) {
        Weights<T, EDGE, Sum> left(m, group, row, portion.to);
        Elements<T, EDGE, Sum> right(m, source, group, column, portion.to);
        multiply<sum_t<T>, EDGE>(left, right, portion.from, portion.to, Results<T, Sum>{m, group, row, column});
    }
}

// Adds up the partial sums of blocks that share the steps.
template <class T, class Sum> __device__ __forceinline__ void joined(const ConvGeometry &m) {
    u32 rows = Sum::rows(m).by;
    u64 columns = Sum::columns(m), count = m.groups * u64(rows) * columns, at = thread_number();
    if (at >= count) return;
    sum_t<T> sum = 0;
    for (u32 portion = 0; portion < m.portions; portion++) sum += ((const sum_t<T> *)m.parts)[portion * count + at];
    u64 line = at / columns;
    finish<T, Sum>(m, u32(line / rows), u32(line % rows), at % columns, sum);
}

// Computes the result with a thread for each element, for groups of few channels.
template <class T, class Sum> __device__ __forceinline__ void direct(const ConvGeometry &m, const T *source) {
    u32 rows = Sum::rows(m).by;
    u64 columns = Sum::columns(m), at = thread_number();
    if (at >= m.groups * u64(rows) * columns) return;
    u32 line = u32(at / columns), group = line / rows, row = line % rows;
    typename Sum::Line place(m, at % columns);
    const T *from = source + i64(group) * Sum::summed(m).by * Sum::from(m).steps[1];
    const T *weight = (const T *)m.weight + u64(group) * m.filters.by * m.channels.by * m.taps.by;
    sum_t<T> sum = 0;
    for (u32 channel = 0; channel < Sum::summed(m).by; channel++) {
        const T *taps = weight + Sum::weight(m, row, channel) * m.taps.by;
#pragma unroll 4
        for (u32 tap = 0; tap < m.taps.by; tap++)
            sum += as<sum_t<T>>(taps[tap]) * place.template element<sum_t<T>>(m, from, Tap(m, tap), channel);
    }
    finish<T, Sum>(m, group, row, at % columns, sum);
}

template <class T> __global__ void __launch_bounds__(256, 2) gather_64(ConvGeometry m, const T *large) { convolved<T, 64, Gather>(m, large); }
template <class T> __global__ void __launch_bounds__(256, 2) gather_128(ConvGeometry m, const T *large) { convolved<T, 128, Gather>(m, large); }
template <class T> __global__ void __launch_bounds__(256) gather_direct(ConvGeometry m, const T *large) { direct<T, Gather>(m, large); }
template <class T> __global__ void __launch_bounds__(256) gather_joined(ConvGeometry m, const T *) { joined<T, Gather>(m); }
template <class T> __global__ void __launch_bounds__(256, 2) scatter_64(ConvGeometry m, const T *small) { convolved<T, 64, Scatter>(m, small); }
template <class T> __global__ void __launch_bounds__(256, 2) scatter_128(ConvGeometry m, const T *small) { convolved<T, 128, Scatter>(m, small); }
template <class T> __global__ void __launch_bounds__(256) scatter_direct(ConvGeometry m, const T *small) { direct<T, Scatter>(m, small); }
template <class T> __global__ void __launch_bounds__(256) scatter_joined(ConvGeometry m, const T *) { joined<T, Scatter>(m); }

// The small side of a tile of the weight's gradient: a thread loads several filters at one position.
template <class T, int EDGE> struct Filters {
    Share share;
    const ConvGeometry &m;
    const T *small;
    u32 first;
    u64 end;
    __device__ __forceinline__ Filters(const ConvGeometry &m, const T *small, u32 group, u32 first, u64 end)
        : share(Share::of<EDGE>(false)), m(m), first(first), end(end) {
        this->small = small + i64(group) * m.filters.by * m.small.steps[1];
    }
    template <class S, int N> __device__ __forceinline__ void take(S (&elements)[N], u64 at) {
        bool there = at + share.step < end;
        i64 place = m.small.place(spot_of(m.small, there ? at + share.step : 0));
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 filter = first + share.line + i * share.lines;
            elements[i] = there && filter < m.filters.by ? as<S>(small[place + filter * m.small.steps[1]]) : S(0);
        }
    }
};

// The large side of a tile of the weight's gradient: a thread loads several taps of channels at one position.
template <class T, int EDGE> struct Channels {
    Share share;
    const ConvGeometry &m;
    const T *large;
    u32 first;
    u64 end;
    __device__ __forceinline__ Channels(const ConvGeometry &m, const T *large, u32 group, u32 first, u64 end)
        : share(Share::of<EDGE>(false)), m(m), first(first), end(end) {
        this->large = large + i64(group) * m.channels.by * m.large.steps[1];
    }
    template <class S, int N> __device__ __forceinline__ void take(S (&elements)[N], u64 at) {
        bool there = at + share.step < end;
        Under under(m, there ? at + share.step : 0);
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 line = first + share.line + i * share.lines, channel = m.taps.divide(line);
            bool inside = there && channel < m.channels.by;
            elements[i] = inside ? under.element<S>(m, large, Tap(m, line - channel * m.taps.by), channel) : S(0);
        }
    }
};

template <class T> struct Slopes {
    const ConvGeometry &m;
    u32 group, first_row, first_column;
    __device__ __forceinline__ u32 column(u32 at) const { return first_column + at; }
    __device__ __forceinline__ void row(u32 column, u32 at, sum_t<T> sum) const {
        u32 row = first_row + at, columns = m.channels.by * m.taps.by;
        if (row >= m.filters.by || column >= columns) return;
        u64 place = (u64(group) * m.filters.by + row) * columns + column;
        if (m.parts) {
            ((sum_t<T> *)m.parts)[u64(blockIdx.y) * m.groups * m.filters.by * columns + place] = sum;
        } else {
            ((T *)m.out)[place] = as<T>(sum);
        }
    }
};

// Computes the weight's gradient from both sides.
template <class T, int EDGE> __device__ __forceinline__ void correlated(const ConvGeometry &m, const T *large, const T *small) {
    u32 across = (m.channels.by * m.taps.by + EDGE - 1) / EDGE, row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    Portion portion(m.places, blockIdx.y, m.portions);
    for (u32 group = blockIdx.z; group < m.groups; group += gridDim.z) {
        Filters<T, EDGE> left(m, small, group, row, portion.to);
        Channels<T, EDGE> right(m, large, group, column, portion.to);
        multiply<sum_t<T>, EDGE>(left, right, portion.from, portion.to, Slopes<T>{m, group, row, column});
    }
}
template <class T> __global__ void __launch_bounds__(256, 2) weight_gradient_64(ConvGeometry m, const T *large, const T *small) { correlated<T, 64>(m, large, small); }
template <class T> __global__ void __launch_bounds__(256, 2) weight_gradient_128(ConvGeometry m, const T *large, const T *small) { correlated<T, 128>(m, large, small); }

template <class T> __global__ void __launch_bounds__(256) weight_gradient_joined(ConvGeometry m, const T *, const T *) {
    u64 count = u64(m.groups) * m.filters.by * m.channels.by * m.taps.by, at = thread_number();
    if (at >= count) return;
    sum_t<T> sum = 0;
    for (u32 portion = 0; portion < m.portions; portion++) sum += ((const sum_t<T> *)m.parts)[portion * count + at];
    ((T *)m.out)[at] = as<T>(sum);
}

// Computes the weight's gradient with a block for each element, for groups of few channels.
template <class T> __global__ void __launch_bounds__(256) weight_gradient_direct(ConvGeometry m, const T *large, const T *small) {
    __shared__ sum_t<T> scratch[32];
    u32 line = m.taps.divide(blockIdx.x), filter = m.channels.divide(line), channel = line - filter * m.channels.by;
    u32 group = m.filters.divide(filter);
    Tap tap(m, blockIdx.x - line * m.taps.by);
    sum_t<T> sum = 0;
    for (u64 place = threadIdx.x; place < m.places; place += blockDim.x) {
        Spot spot = spot_of(m.small, place);
        spot.channel = filter;
        sum += as<sum_t<T>>(small[m.small.place(spot)]) * Under(m, place).element<sum_t<T>>(m, large, tap, group * m.channels.by + channel);
    }
    sum = joined_in_block(sum, Plus(), scratch);
    if (threadIdx.x == 0) ((T *)m.out)[blockIdx.x] = as<T>(sum);
}
