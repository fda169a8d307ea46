// Kernels of `unique`: runs of equal rows.
#include "sort_key.cuh"

// Flags each row that differs from the one before, in the given order if there is one. NaN differs from everything.
template <class T>
__global__ void __launch_bounds__(256) flag_distinct(i64 count, i64 width, SortInput rows, const i64 *order, i64 *flags) {
    typedef typename SortKey<T>::type K;
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    bool other = at == 0;
    if (at > 0) {
        i64 a = order ? order[at] : at, b = order ? order[at - 1] : at - 1;
        K none = rows.dtype == F16 || rows.dtype == BF16 ? K(0xffff) : K(~K(0));
        for (i64 col = 0; col < width && !other; col++) {
            K key = rows.key_at<K>(a * width + col);
            other = key != rows.key_at<K>(b * width + col) || (key == none && is_floating(rows.dtype));
        }
    }
    flags[at] = other;
}

// Numbers the distinct rows. `before` is the number of flagged rows before each row, and `distinct` their total. Writes the number of each
// row, and for each number its first row and that row's position in the order.
__global__ void __launch_bounds__(256)
    number_distinct(i64 count, const i64 *before, const i64 *distinct, const i64 *order, i64 *inverse, i64 *firsts, i64 *starts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 next = at + 1 < count ? before[at + 1] : *distinct, row = order ? order[at] : at;
    if (inverse) inverse[row] = next - 1;
    if (next > before[at]) firsts[next - 1] = row, starts[next - 1] = at;
}

// Computes the lengths of the runs that begin at `starts`.
__global__ void __launch_bounds__(256) run_lengths(i64 distinct, i64 count, const i64 *starts, i64 *lengths) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < distinct) lengths[at] = (at + 1 < distinct ? starts[at + 1] : count) - starts[at];
}
