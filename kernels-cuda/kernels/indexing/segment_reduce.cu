// Kernels of `segment_reduce`: each segment of a dimension is reduced to one element.
#include "opdispatch.cuh"

struct Segments {
    // The number of segments of a line, of lines, of rows of a line, and of elements of a row.
    i64 count, lines, size, width;
    // The offsets of segments, one more than segments in each line; or else their lengths, and the lengths' prefix sums.
    const i64 *boundaries, *starts;
    i32 reduce;
    // Whether segments may leave rows uncovered.
    bool partial;
    u32 site;
    Fault *fault;
    // Computes the begin and the end of a segment in its line. Reports invalid ones and makes them empty.
    __device__ __forceinline__ void segment_range(i64 line, i64 at, i64 &begin, i64 &end) const {
        if (starts) {
            begin = starts[line * count + at] - starts[line * count];
            end = begin + boundaries[line * count + at];
        } else {
            begin = boundaries[line * (count + 1) + at];
            end = boundaries[line * (count + 1) + at + 1];
        }
        bool inside = 0 <= begin && begin <= end && end <= size;
        if (!inside || (starts && !partial && at + 1 == count && end != size)) report_fault(fault, site, INVALID_INTEGER, end, size);
        if (!inside) begin = end = 0;
    }
};

enum { SUM, MEAN, PRODUCT, MAX, MIN };

template <class C> __device__ __forceinline__ C combine_elements(i32 reduce, C a, C b) {
    switch (reduce) {
    case PRODUCT: return a * b;
    case MAX: return b > a || b != b ? b : a;
    case MIN: return b < a || b != b ? b : a;
    default: return a + b;
    }
}

// Reduces segments, with a thread for each segment and column. If `whole` is set, the mean of an empty segment is NaN.
template <class T>
__global__ void __launch_bounds__(256) reduce_segments(Segments s, const u8 *data, i32 dtype, u8 *to, double start, bool whole) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= s.lines * s.count * s.width) return;
    i64 segment = at / s.width, col = at - segment * s.width, line = segment / s.count, begin, end;
    s.segment_range(line, segment - line * s.count, begin, end);
    T sum = T(start);
    for (i64 row = begin; row < end; row++)
        sum = combine_elements(s.reduce, sum, load<T>(data + ((line * s.size + row) * s.width + col) * dtype_size(dtype), dtype));
    if (s.reduce == MEAN && (end > begin || whole)) sum /= T(end - begin);
    store(to + at * dtype_size(dtype), dtype, sum);
}

// Writes the gradient of each segment to its elements. Elements in no segment are zero already.
template <class T>
__global__ void __launch_bounds__(256)
    segment_gradients(Segments s, const u8 *grads, const u8 *results, const u8 *data, i32 dtype, T *to, double start) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= s.lines * s.count * s.width) return;
    i64 segment = at / s.width, col = at - segment * s.width, line = segment / s.count, begin, end;
    s.segment_range(line, segment - line * s.count, begin, end);
    T grad = load<T>(grads + at * dtype_size(dtype), dtype), result = load<T>(results + at * dtype_size(dtype), dtype);
    i64 first = line * s.size * s.width + col;
    auto element = [&](i64 row) { return load<T>(data + (first + row * s.width) * dtype_size(dtype), dtype); };
    if (s.reduce == PRODUCT) {
        // The product of all other elements, as one may be zero: of those before, and then of those behind.
        T before = T(start), behind = T(1);
        for (i64 row = begin; row < end; row++) to[first + row * s.width] = before * grad, before *= element(row);
        for (i64 row = end; row-- > begin;) to[first + row * s.width] *= behind, behind *= element(row);
        return;
    }
    bool extreme = s.reduce == MAX || s.reduce == MIN;
    i64 times = 0;
    for (i64 row = begin; extreme && row < end; row++) {
        T x = element(row);
        times += x == result || x != x;
    }
    if (s.reduce == MEAN) times = end - begin;
    if (s.reduce != SUM) grad /= T(times > 1 ? times : 1);
    for (i64 row = begin; row < end; row++) {
        T x = extreme ? element(row) : result;
        if (!extreme || x == result || x != x) to[first + row * s.width] = grad;
    }
}
