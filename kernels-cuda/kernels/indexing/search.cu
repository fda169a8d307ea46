// Kernels of `searchsorted`, `bucketize` and `isin`.
#include "opdispatch.cuh"

// Contiguous rows of elements of any dtype.
struct ElementRows {
    const u8 *elements;
    i32 dtype;
    i64 width;
};

// Finds the insertion positions of values in sorted rows. Each row has `each` values of its own. `order`, if not null, has the indices that
// sort a row.
template <class C>
__global__ void __launch_bounds__(256)
    searchsorted(i64 count, ElementRows wanted, ElementRows sorted, i64 each, bool right, const i64 *order, u8 *to, bool is_32_bit, u32 site, Fault *fault) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    C x = load<C>(wanted.elements + at * dtype_size(wanted.dtype), wanted.dtype);
    i64 first = at / each * sorted.width, low = 0, left = sorted.width;
    while (left > 0) {
        i64 half = left / 2, place = low + half;
        if (order) {
            i64 position = order[first + place];
            if (u64(position) >= u64(sorted.width)) {
                report_fault(fault, site, INDEX_OUT_OF_RANGE, position, sorted.width);
                break;
            }
            place = position;
        }
        C other = load<C>(sorted.elements + (first + place) * dtype_size(sorted.dtype), sorted.dtype);
        // If `x` is NaN, its position is after all numbers of the row.
        bool before = right ? !(other > x) : !(other >= x);
        low = before ? low + half + 1 : low;
        left = before ? left - half - 1 : half;
    }
    if (is_32_bit) {
        ((i32 *)to)[at] = i32(low);
    } else {
        ((i64 *)to)[at] = low;
    }
}

// Finds whether values are in a sorted row.
template <class C> __global__ void __launch_bounds__(256) isin(i64 count, ElementRows wanted, const C *sorted, i64 size, bool invert, boolean *to) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    C x = load<C>(wanted.elements + at * dtype_size(wanted.dtype), wanted.dtype);
    i64 low = 0, left = size;
    while (left > 0) {
        i64 half = left / 2;
        bool before = sorted[low + half] < x;
        low = before ? low + half + 1 : low;
        left = before ? left - half - 1 : half;
    }
    to[at] = (low < size && sorted[low] == x) != invert;
}
