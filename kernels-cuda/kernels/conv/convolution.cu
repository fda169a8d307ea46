#include "block.cuh"
#include "images.cuh"
#include "tiles.cuh"

// A convolution: a window moves over large images, and each of its positions belongs to an element of the small images.
struct ConvGeometry {
    Images large, small;
    Divisor stride[3];
    i32 padding[3], dilation[3];
    // The number of elements of a window, of a plane of a window and of a row of a window.
    Divisor taps, plane_taps, row_taps;
    // The number of channels of a group, in the small and in the large images.
    Divisor filters, channels;
    u32 groups, portions;
    // The number of the window's positions, and of the elements of a channel of the large images, over the whole batch.
    u64 window_positions, large_elements;
    // The weight has contiguous filters, channels and taps.
    const u8 *weight, *bias;
    u8 *out, *parts;
};

struct TapOffset {
    i32 offset[3];
    __device__ __forceinline__ TapOffset(const ConvGeometry &m, u32 number) {
        u32 plane = m.plane_taps.divide(number);
        number -= plane * m.plane_taps.value;
        u32 row = m.row_taps.divide(number);
        offset[0] = i32(plane) * m.dilation[0], offset[1] = i32(row) * m.dilation[1];
        offset[2] = i32(number - row * m.row_taps.value) * m.dilation[2];
    }
};

// Returns the batch and spatial indices of the element with a given number within one channel of all images.
__device__ __forceinline__ ImageIndex index_in_first_channel(const Images &images, u64 number) {
    ImageIndex index;
    index.channel = 0;
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) images.split_off_index(number, images.sizes[dim], index.spatial[dim]);
    index.batch = u32(number);
    return index;
}

// The elements of the large images that one position of the window covers.
struct LargeImageElements {
    i32 first[3];
    i64 image;
    __device__ __forceinline__ LargeImageElements(const ConvGeometry &m, u64 place) {
        ImageIndex index = index_in_first_channel(m.small, place);
#pragma unroll
        for (int dim = 0; dim < 3; dim++) first[dim] = i32(index.spatial[dim] * m.stride[dim].value) - m.padding[dim];
        image = m.large.image_offset(index);
    }
    template <class S, class T> __device__ __forceinline__ S element_at_tap(const ConvGeometry &m, const T *large, const TapOffset &tap, u32 channel) const {
        i32 at[3];
        bool inside = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            at[dim] = first[dim] + tap.offset[dim];
            inside = inside && u32(at[dim]) < m.large.sizes[dim].value;
        }
        return inside ? as<S>(large[image + channel * m.large.steps[1] + m.large.offset_in_image(at[0], at[1], at[2])]) : S(0);
    }
};

// The elements of the small images whose windows cover one element of the large images.
struct SmallImageElements {
    i32 at[3];
    i64 image;
    __device__ __forceinline__ SmallImageElements(const ConvGeometry &m, u64 position) {
        ImageIndex index = index_in_first_channel(m.large, position);
#pragma unroll
        for (int dim = 0; dim < 3; dim++) at[dim] = i32(index.spatial[dim]) + m.padding[dim];
        image = m.small.image_offset(index);
    }
    template <class S, class T> __device__ __forceinline__ S element_at_tap(const ConvGeometry &m, const T *small, const TapOffset &tap, u32 filter) const {
        i32 position[3];
        bool inside = true;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            i32 from = at[dim] - tap.offset[dim];
            position[dim] = i32(m.stride[dim].divide(u32(from < 0 ? 0 : from)));
            inside = inside && position[dim] * i32(m.stride[dim].value) == from && u32(position[dim]) < m.small.sizes[dim].value;
        }
        return inside ? as<S>(small[image + filter * m.small.steps[1] + m.small.offset_in_image(position[0], position[1], position[2])]) : S(0);
    }
};

// The computation of the small images from the large ones (a convolution).
struct ConvolutionForward {
    typedef LargeImageElements Line;
    static __device__ __forceinline__ const Divisor &rows(const ConvGeometry &m) { return m.filters; }
    static __device__ __forceinline__ const Divisor &inner_channels(const ConvGeometry &m) { return m.channels; }
    static __device__ __forceinline__ u64 columns(const ConvGeometry &m) { return m.window_positions; }
    static __device__ __forceinline__ const Images &source(const ConvGeometry &m) { return m.large; }
    static __device__ __forceinline__ const Images &target(const ConvGeometry &m) { return m.small; }
    static __device__ __forceinline__ u64 weight(const ConvGeometry &m, u32 row, u32 channel) { return u64(row) * m.channels.value + channel; }
};
// The computation of the large images from the small ones (a transposed convolution, or the input's gradient).
struct ConvolutionTransposed {
    typedef SmallImageElements Line;
    static __device__ __forceinline__ const Divisor &rows(const ConvGeometry &m) { return m.channels; }
    static __device__ __forceinline__ const Divisor &inner_channels(const ConvGeometry &m) { return m.filters; }
    static __device__ __forceinline__ u64 columns(const ConvGeometry &m) { return m.large_elements; }
    static __device__ __forceinline__ const Images &source(const ConvGeometry &m) { return m.small; }
    static __device__ __forceinline__ const Images &target(const ConvGeometry &m) { return m.large; }
    static __device__ __forceinline__ u64 weight(const ConvGeometry &m, u32 row, u32 channel) { return u64(channel) * m.channels.value + row; }
};

// Loads the weight's elements of a tile: adjacent threads load adjacent taps.
template <class T, int EDGE, class Sum> struct WeightLoader {
    ThreadElements share;
    const ConvGeometry &m;
    const T *weight;
    u32 first;
    u64 end;
    __device__ __forceinline__ WeightLoader(const ConvGeometry &m, u32 group, u32 first, u64 end)
        : share(ThreadElements::for_tile<EDGE>(false)), m(m), first(first), end(end) {
        weight = (const T *)m.weight + u64(group) * m.filters.value * m.channels.value * m.taps.value;
    }
    template <class S, int N> __device__ __forceinline__ void load_tile(S (&elements)[N], u64 at) {
        u32 step = u32(at) + share.step, channel = m.taps.divide(step), tap = step - channel * m.taps.value;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 row = first + share.line + i * share.lines;
            bool inside = step < end && row < Sum::rows(m).value;
            elements[i] = inside ? as<S>(weight[Sum::weight(m, row, channel) * m.taps.value + tap]) : S(0);
        }
    }
};

// Loads the images' elements of a tile: a thread keeps one position.
template <class T, int EDGE, class Sum> struct ImageLoader {
    ThreadElements share;
    const ConvGeometry &m;
    const T *from;
    typename Sum::Line line;
    u64 end;
    __device__ __forceinline__ ImageLoader(const ConvGeometry &m, const T *source, u32 group, u64 first, u64 end)
        : share(ThreadElements::for_tile<EDGE>(true)), m(m), line(m, first + share.line < Sum::columns(m) ? first + share.line : 0), end(end) {
        from = source + i64(group) * Sum::inner_channels(m).value * Sum::source(m).steps[1];
        if (first + share.line >= Sum::columns(m)) this->end = 0;
    }
    template <class S, int N> __device__ __forceinline__ void load_tile(S (&elements)[N], u64 at) {
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 step = u32(at) + share.step + i * share.steps, channel = m.taps.divide(step);
            elements[i] = step < end ? line.template element_at_tap<S>(m, from, TapOffset(m, step - channel * m.taps.value), channel) : S(0);
        }
    }
};

// The address to which the sums of a column are written: one position in each channel of a group; or to `parts`, if several blocks share
// the inner dimension.
struct ColumnAddress {
    bool inside;
    i64 at;
};

template <class T, class Sum> struct ResultWriter {
    const ConvGeometry &m;
    u32 group, first_row;
    u64 first_column;
    __device__ __forceinline__ ColumnAddress column(u32 at) const {
        u64 column = first_column + at;
        if (column >= Sum::columns(m)) return {false, 0};
        return {true, m.parts ? i64(column) : Sum::target(m).offset_of(index_in_first_channel(Sum::target(m), column))};
    }
    __device__ __forceinline__ void write_element_of_column(const ColumnAddress &column, u32 at, product_sum_t<T> sum) const {
        u32 row = first_row + at, rows = Sum::rows(m).value;
        if (!column.inside || row >= rows) return;
        if (m.parts) {
            ((product_sum_t<T> *)m.parts)[((u64(blockIdx.y) * m.groups + group) * rows + row) * Sum::columns(m) + column.at] = sum;
        } else {
            write_result(column.at, row, sum);
        }
    }
    __device__ __forceinline__ void write_result(i64 place, u32 row, product_sum_t<T> sum) const {
        u32 channel = group * Sum::rows(m).value + row;
        if (m.bias) sum += as<product_sum_t<T>>(((const T *)m.bias)[channel]);
        ((T *)m.out)[place + channel * Sum::target(m).steps[1]] = as<T>(sum);
    }
};

template <class T, class Sum> __device__ __forceinline__ void write_result(const ConvGeometry &m, u32 group, u32 row, u64 column, product_sum_t<T> sum) {
    ResultWriter<T, Sum>{m, group, 0, 0}.write_result(Sum::target(m).offset_of(index_in_first_channel(Sum::target(m), column)), row, sum);
}

template <class T, int EDGE, class Sum> __device__ __forceinline__ void convolve_tile(const ConvGeometry &m, const T *source) {
    u64 steps = u64(Sum::inner_channels(m).value) * m.taps.value, across = (Sum::columns(m) + EDGE - 1) / EDGE;
    u32 row = u32(blockIdx.x / across) * EDGE;
    u64 column = blockIdx.x % across * EDGE;
    InnerDimRange portion(steps, blockIdx.y, m.portions);
    for (u32 group = blockIdx.z; group < m.groups; group += gridDim.z) {
        WeightLoader<T, EDGE, Sum> left(m, group, row, portion.to);
        ImageLoader<T, EDGE, Sum> right(m, source, group, column, portion.to);
        multiply_tiles<product_sum_t<T>, EDGE>(left, right, portion.from, portion.to, ResultWriter<T, Sum>{m, group, row, column});
    }
}

// Adds up the partial sums of blocks that share the inner dimension, and writes the results.
template <class T, class Sum> __device__ __forceinline__ void sum_partial_results(const ConvGeometry &m) {
    u32 rows = Sum::rows(m).value;
    u64 columns = Sum::columns(m), count = m.groups * u64(rows) * columns, at = global_thread_index();
    if (at >= count) return;
    product_sum_t<T> sum = 0;
    for (u32 portion = 0; portion < m.portions; portion++) sum += ((const product_sum_t<T> *)m.parts)[portion * count + at];
    u64 line = at / columns;
    write_result<T, Sum>(m, u32(line / rows), u32(line % rows), at % columns, sum);
}

// Computes the result with a thread for each element, for groups of few channels.
template <class T, class Sum> __device__ __forceinline__ void convolve_direct(const ConvGeometry &m, const T *source) {
    u32 rows = Sum::rows(m).value;
    u64 columns = Sum::columns(m), at = global_thread_index();
    if (at >= m.groups * u64(rows) * columns) return;
    u32 line = u32(at / columns), group = line / rows, row = line % rows;
    typename Sum::Line line_of(m, at % columns);
    const T *from = source + i64(group) * Sum::inner_channels(m).value * Sum::source(m).steps[1];
    const T *weight = (const T *)m.weight + u64(group) * m.filters.value * m.channels.value * m.taps.value;
    product_sum_t<T> sum = 0;
    for (u32 channel = 0; channel < Sum::inner_channels(m).value; channel++) {
        const T *taps = weight + Sum::weight(m, row, channel) * m.taps.value;
#pragma unroll 4
        for (u32 tap = 0; tap < m.taps.value; tap++)
            sum += as<product_sum_t<T>>(taps[tap]) * line_of.template element_at_tap<product_sum_t<T>>(m, from, TapOffset(m, tap), channel);
    }
    write_result<T, Sum>(m, group, row, at % columns, sum);
}

template <class T> __global__ void __launch_bounds__(256, 2) small_from_large_64(ConvGeometry m, const T *large) { convolve_tile<T, 64, ConvolutionForward>(m, large); }
template <class T> __global__ void __launch_bounds__(256, 2) small_from_large_128(ConvGeometry m, const T *large) { convolve_tile<T, 128, ConvolutionForward>(m, large); }
template <class T> __global__ void __launch_bounds__(256) small_from_large_direct(ConvGeometry m, const T *large) { convolve_direct<T, ConvolutionForward>(m, large); }
template <class T> __global__ void __launch_bounds__(256) small_from_large_sum(ConvGeometry m, const T *) { sum_partial_results<T, ConvolutionForward>(m); }
template <class T> __global__ void __launch_bounds__(256, 2) large_from_small_64(ConvGeometry m, const T *small) { convolve_tile<T, 64, ConvolutionTransposed>(m, small); }
template <class T> __global__ void __launch_bounds__(256, 2) large_from_small_128(ConvGeometry m, const T *small) { convolve_tile<T, 128, ConvolutionTransposed>(m, small); }
template <class T> __global__ void __launch_bounds__(256) large_from_small_direct(ConvGeometry m, const T *small) { convolve_direct<T, ConvolutionTransposed>(m, small); }
template <class T> __global__ void __launch_bounds__(256) large_from_small_sum(ConvGeometry m, const T *) { sum_partial_results<T, ConvolutionTransposed>(m); }

// Loads the small images' elements of a tile of the weight's gradient: a thread loads several filters at one position.
template <class T, int EDGE> struct FilterLoader {
    ThreadElements share;
    const ConvGeometry &m;
    const T *small;
    u32 first;
    u64 end;
    __device__ __forceinline__ FilterLoader(const ConvGeometry &m, const T *small, u32 group, u32 first, u64 end)
        : share(ThreadElements::for_tile<EDGE>(false)), m(m), first(first), end(end) {
        this->small = small + i64(group) * m.filters.value * m.small.steps[1];
    }
    template <class S, int N> __device__ __forceinline__ void load_tile(S (&elements)[N], u64 at) {
        bool there = at + share.step < end;
        i64 place = m.small.offset_of(index_in_first_channel(m.small, there ? at + share.step : 0));
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 filter = first + share.line + i * share.lines;
            elements[i] = there && filter < m.filters.value ? as<S>(small[place + filter * m.small.steps[1]]) : S(0);
        }
    }
};

// Loads the large images' elements of a tile of the weight's gradient: a thread loads several taps of channels at one position.
template <class T, int EDGE> struct ChannelLoader {
    ThreadElements share;
    const ConvGeometry &m;
    const T *large;
    u32 first;
    u64 end;
    __device__ __forceinline__ ChannelLoader(const ConvGeometry &m, const T *large, u32 group, u32 first, u64 end)
        : share(ThreadElements::for_tile<EDGE>(false)), m(m), first(first), end(end) {
        this->large = large + i64(group) * m.channels.value * m.large.steps[1];
    }
    template <class S, int N> __device__ __forceinline__ void load_tile(S (&elements)[N], u64 at) {
        bool there = at + share.step < end;
        LargeImageElements elements_of_window(m, there ? at + share.step : 0);
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 line = first + share.line + i * share.lines, channel = m.taps.divide(line);
            bool inside = there && channel < m.channels.value;
            elements[i] = inside ? elements_of_window.element_at_tap<S>(m, large, TapOffset(m, line - channel * m.taps.value), channel) : S(0);
        }
    }
};

template <class T> struct WeightGradientWriter {
    const ConvGeometry &m;
    u32 group, first_row, first_column;
    __device__ __forceinline__ u32 column(u32 at) const { return first_column + at; }
    __device__ __forceinline__ void write_element_of_column(u32 column, u32 at, product_sum_t<T> sum) const {
        u32 row = first_row + at, columns = m.channels.value * m.taps.value;
        if (row >= m.filters.value || column >= columns) return;
        u64 place = (u64(group) * m.filters.value + row) * columns + column;
        if (m.parts) {
            ((product_sum_t<T> *)m.parts)[u64(blockIdx.y) * m.groups * m.filters.value * columns + place] = sum;
        } else {
            ((T *)m.out)[place] = as<T>(sum);
        }
    }
};

// Computes a tile of the weight's gradient from the small and the large images.
template <class T, int EDGE> __device__ __forceinline__ void weight_gradient_tile(const ConvGeometry &m, const T *large, const T *small) {
    u32 across = (m.channels.value * m.taps.value + EDGE - 1) / EDGE, row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    InnerDimRange portion(m.window_positions, blockIdx.y, m.portions);
    for (u32 group = blockIdx.z; group < m.groups; group += gridDim.z) {
        FilterLoader<T, EDGE> left(m, small, group, row, portion.to);
        ChannelLoader<T, EDGE> right(m, large, group, column, portion.to);
        multiply_tiles<product_sum_t<T>, EDGE>(left, right, portion.from, portion.to, WeightGradientWriter<T>{m, group, row, column});
    }
}
template <class T> __global__ void __launch_bounds__(256, 2) weight_gradient_64(ConvGeometry m, const T *large, const T *small) { weight_gradient_tile<T, 64>(m, large, small); }
template <class T> __global__ void __launch_bounds__(256, 2) weight_gradient_128(ConvGeometry m, const T *large, const T *small) { weight_gradient_tile<T, 128>(m, large, small); }

template <class T> __global__ void __launch_bounds__(256) weight_gradient_sum(ConvGeometry m, const T *, const T *) {
    u64 count = u64(m.groups) * m.filters.value * m.channels.value * m.taps.value, at = global_thread_index();
    if (at >= count) return;
    product_sum_t<T> sum = 0;
    for (u32 portion = 0; portion < m.portions; portion++) sum += ((const product_sum_t<T> *)m.parts)[portion * count + at];
    ((T *)m.out)[at] = as<T>(sum);
}

// Computes the weight's gradient with a block for each element, for groups of few channels.
template <class T> __global__ void __launch_bounds__(256) weight_gradient_direct(ConvGeometry m, const T *large, const T *small) {
    __shared__ product_sum_t<T> scratch[32];
    u32 line = m.taps.divide(blockIdx.x), filter = m.channels.divide(line), channel = line - filter * m.channels.value;
    u32 group = m.filters.divide(filter);
    TapOffset tap(m, blockIdx.x - line * m.taps.value);
    product_sum_t<T> sum = 0;
    for (u64 place = threadIdx.x; place < m.window_positions; place += blockDim.x) {
        ImageIndex index = index_in_first_channel(m.small, place);
        index.channel = filter;
        sum += as<product_sum_t<T>>(small[m.small.offset_of(index)]) * LargeImageElements(m, place).element_at_tap<product_sum_t<T>>(m, large, tap, group * m.channels.value + channel);
    }
    sum = reduce_block(sum, Plus(), scratch);
    if (threadIdx.x == 0) ((T *)m.out)[blockIdx.x] = as<T>(sum);
}
