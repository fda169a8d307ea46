// Kernels of gather and scatter: elements are read from, or written to, indexed positions.
#include "opdispatch.cuh"

// Lists of indices, one for each indexed dimension. In a walk, operand 2 is the first list.
struct IndexLists {
    static const int MAX_LISTS = 4;
    const u8 *addresses[MAX_LISTS];
    i64 sizes[MAX_LISTS], strides[MAX_LISTS];
    u32 count;
    // A bit for each list of 32-bit indices.
    u32 is_32_bit;
    // Whether negative indices count from the end.
    bool wraps_negative;
    u32 site;
    Fault *fault;
    // Computes the byte offset of an indexed element. Returns false, and reports it, if an index is out of range.
    __device__ __forceinline__ bool offset_of(const i32 *offsets, i64 &offset) const {
        offset = 0;
        bool inside = true;
#pragma unroll
        for (u32 k = 0; k < MAX_LISTS; k++) {
            if (k == count) break;
            const u8 *here = addresses[k] + offsets[k + 2];
            i64 position = is_32_bit >> k & 1 ? i64(*(const i32 *)here) : *(const i64 *)here;
            i64 index = position < 0 && wraps_negative ? position + sizes[k] : position;
            if (u64(index) >= u64(sizes[k])) {
                report_fault(fault, site, INDEX_OUT_OF_RANGE, position, sizes[k]);
                inside = false;
            } else {
                offset += index * strides[k];
            }
        }
        return inside;
    }
};

template <class W> __global__ void __launch_bounds__(256) gather(u32 count, u8 *to, const u8 *from, Walk walk, IndexLists lists) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.offsets(at, offsets);
    i64 offset;
    if (lists.offset_of(offsets, offset)) *(W *)(to + offsets[0]) = *(const W *)(from + offsets[1] + offset);
}

// Writes elements to indexed positions. If `from` is null, each element is `scalar`.
template <class W>
__global__ void __launch_bounds__(256) scatter(u32 count, u8 *to, const u8 *from, Walk walk, IndexLists lists, u64 scalar) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.offsets(at, offsets);
    i64 offset;
    if (!lists.offset_of(offsets, offset)) return;
    W *target = (W *)(to + offsets[0] + offset);
    *target = *(const W *)(from ? from + offsets[1] : (const u8 *)&scalar);
}

// Writes the byte offset of each index, or `otherwise` if an index is out of range.
__global__ void __launch_bounds__(256) index_offsets(u32 count, u8 *to, Walk walk, IndexLists lists, i64 otherwise) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.offsets(at, offsets);
    i64 offset;
    *(i64 *)(to + offsets[0]) = lists.offset_of(offsets, offset) ? offset : otherwise;
}

template <class T> struct AtomicWord;
template <> struct AtomicWord<float> { typedef u32 type; };
template <> struct AtomicWord<i32> { typedef u32 type; };
template <> struct AtomicWord<double> { typedef u64 type; };
template <> struct AtomicWord<i64> { typedef u64 type; };

// Combines an element with `value` atomically.
template <class T, class Join> __device__ __forceinline__ void atomic_combine(T *at, T value, Join join) {
    typedef typename AtomicWord<T>::type W;
    W *word = (W *)at, seen = *word;
    for (;;) {
        T old = bit_cast<T>(seen), combined = join(old, value);
        W wanted = bit_cast<W>(combined);
        if (wanted == seen) return;
        W found = atomicCAS(word, seen, wanted);
        if (found == seen) return;
        seen = found;
    }
}

__device__ __forceinline__ void atomic_add(float *at, float x) { atomicAdd(at, x); }
__device__ __forceinline__ void atomic_add(double *at, double x) { atomicAdd(at, x); }
__device__ __forceinline__ void atomic_add(i32 *at, i32 x) { atomicAdd(at, x); }
__device__ __forceinline__ void atomic_add(i64 *at, i64 x) { atomicAdd((u64 *)at, u64(x)); }

enum { SUM, PRODUCT, MAX, MIN };

template <class T> __device__ __forceinline__ bool is_nan(T x) { return x != x; }

template <class T> __device__ __forceinline__ T scalar_from_bits(u64 bits) { return bit_cast<T>(typename AtomicWord<T>::type(bits)); }

// Combines elements with those at indexed positions. If `from` is null, each element is `scalar`.
template <class T>
__global__ void __launch_bounds__(256)
    scatter_reduce(u32 count, u8 *to, const u8 *from, Walk walk, IndexLists lists, u64 scalar, i32 dtype, i32 operation) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.offsets(at, offsets);
    i64 offset;
    if (!lists.offset_of(offsets, offset)) return;
    T *target = (T *)(to + offsets[0] + offset), value = from ? load<T>(from + offsets[1], dtype) : scalar_from_bits<T>(scalar);
    switch (operation) {
    case SUM: atomic_add(target, value); break;
    case PRODUCT: atomic_combine(target, value, [](T a, T b) { return T(a * b); }); break;
    case MAX: atomic_combine(target, value, [](T a, T b) { return is_nan(a) || a > b ? a : b; }); break;
    default: atomic_combine(target, value, [](T a, T b) { return is_nan(a) || a < b ? a : b; }); break;
    }
}

__device__ __forceinline__ float divide_by_count(float x, i64 by) { return x / float(by); }
__device__ __forceinline__ double divide_by_count(double x, i64 by) { return x / double(by); }
template <class T> __device__ __forceinline__ T divide_by_count(T x, i64 by) {
    i64 whole = i64(x) / by;
    return T(whole - (i64(x) - whole * by < 0));
}

// Divides sums by their counts.
template <class T> __global__ void __launch_bounds__(256) divide_by_counts(i64 count, T *sums, const i64 *counts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count && counts[at] > 1) sums[at] = divide_by_count(sums[at], counts[at]);
}
