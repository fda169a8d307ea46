// Runs of the same row.
#include "sort_key.cuh"

// Whether each row, in an order if there is one, differs from the one before. What is not a number differs from everything.
template <class T>
__global__ void __launch_bounds__(256) differs(i64 count, i64 width, SortInput rows, const i64 *order, i64 *flags) {
    typedef typename SortKey<T>::type K;
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    bool other = at == 0;
    if (at > 0) {
        i64 a = order ? order[at] : at, b = order ? order[at - 1] : at - 1;
        K none = rows.dtype == F16 || rows.dtype == BF16 ? K(0xffff) : K(~K(0));
        for (i64 col = 0; col < width && !other; col++) {
            K key = rows.key<K>(a * width + col);
            other = key != rows.key<K>(b * width + col) || (key == none && is_fraction(rows.dtype));
        }
    }
    flags[at] = other;
}

// `before` is how many rows before each differ from those before them; `kinds` is how many do in all. Says which kind each row is of, and of
// each kind which row is its first and where in the order that is.
__global__ void __launch_bounds__(256)
    kinds(i64 count, const i64 *before, const i64 *kinds, const i64 *order, i64 *inverse, i64 *firsts, i64 *starts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 next = at + 1 < count ? before[at + 1] : *kinds, row = order ? order[at] : at;
    if (inverse) inverse[row] = next - 1;
    if (next > before[at]) firsts[next - 1] = row, starts[next - 1] = at;
}

// How long runs are that begin so.
__global__ void __launch_bounds__(256) lengths(i64 kinds, i64 count, const i64 *starts, i64 *lengths) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < kinds) lengths[at] = (at + 1 < kinds ? starts[at + 1] : count) - starts[at];
}
