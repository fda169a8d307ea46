// Kernels of gather and scatter: elements are read from, or written to, indexed positions.
#include "opdispatch.cuh"

// Lists of indices into several dimensions. In a walk, operand 2 is the first list.
struct Lists {
    static const int MOST = 4;
    const u8 *at[MOST];
    i64 sizes[MOST], steps[MOST];
    u32 count;
    // A bit for each list of 32-bit indices.
    u32 narrow;
    // Whether negative indices count from the end.
    bool wraps;
    u32 site;
    Fault *fault;
    // Computes the byte offset of an indexed element. Returns false, and reports it, if an index is out of range.
    __device__ __forceinline__ bool place(const i32 *offsets, i64 &place) const {
        place = 0;
        bool inside = true;
#pragma unroll
        for (u32 k = 0; k < MOST; k++) {
            if (k == count) break;
            const u8 *here = at[k] + offsets[k + 2];
            i64 position = narrow >> k & 1 ? i64(*(const i32 *)here) : *(const i64 *)here;
            i64 index = position < 0 && wraps ? position + sizes[k] : position;
            if (u64(index) >= u64(sizes[k])) {
                report(fault, site, INDEX_OUT_OF_RANGE, position, sizes[k]);
                inside = false;
            } else {
                place += index * steps[k];
            }
        }
        return inside;
    }
};

template <class W> __global__ void __launch_bounds__(256) gathered(u32 count, u8 *to, const u8 *from, Walk walk, Lists lists) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.places(at, offsets);
    i64 place;
    if (lists.place(offsets, place)) *(W *)(to + offsets[0]) = *(const W *)(from + offsets[1] + place);
}

// Writes elements to indexed positions. If `from` is null, each element is `number`.
template <class W>
__global__ void __launch_bounds__(256) put(u32 count, u8 *to, const u8 *from, Walk walk, Lists lists, u64 number) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.places(at, offsets);
    i64 place;
    if (!lists.place(offsets, place)) return;
    W *spot = (W *)(to + offsets[0] + place);
    *spot = *(const W *)(from ? from + offsets[1] : (const u8 *)&number);
}

// Writes the byte offset of each index, or `otherwise` if an index is out of range.
__global__ void __launch_bounds__(256) places(u32 count, u8 *to, Walk walk, Lists lists, i64 otherwise) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.places(at, offsets);
    i64 place;
    *(i64 *)(to + offsets[0]) = lists.place(offsets, place) ? place : otherwise;
}

template <class T> struct Word;
template <> struct Word<float> { typedef u32 type; };
template <> struct Word<i32> { typedef u32 type; };
template <> struct Word<double> { typedef u64 type; };
template <> struct Word<i64> { typedef u64 type; };

// Combines an element with `value` atomically.
template <class T, class Join> __device__ __forceinline__ void become(T *at, T value, Join join) {
    typedef typename Word<T>::type W;
    W *word = (W *)at, seen = *word;
    for (;;) {
        T old = bit_cast<T>(seen), made = join(old, value);
        W wanted = bit_cast<W>(made);
        if (wanted == seen) return;
        W found = atomicCAS(word, seen, wanted);
        if (found == seen) return;
        seen = found;
    }
}

__device__ __forceinline__ void add(float *at, float x) { atomicAdd(at, x); }
__device__ __forceinline__ void add(double *at, double x) { atomicAdd(at, x); }
__device__ __forceinline__ void add(i32 *at, i32 x) { atomicAdd(at, x); }
__device__ __forceinline__ void add(i64 *at, i64 x) { atomicAdd((u64 *)at, u64(x)); }

enum { SUM, PRODUCT, GREATEST, LEAST };

template <class T> __device__ __forceinline__ bool is_none(T x) { return x != x; }

template <class T> __device__ __forceinline__ T number_of(u64 bits) { return bit_cast<T>(typename Word<T>::type(bits)); }

// Combines elements with those at indexed positions. If `from` is null, each element is `number`.
template <class T>
__global__ void __launch_bounds__(256)
    reduced(u32 count, u8 *to, const u8 *from, Walk walk, Lists lists, u64 number, i32 dtype, i32 how) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[Walk::OPERANDS];
    walk.places(at, offsets);
    i64 place;
    if (!lists.place(offsets, place)) return;
    T *spot = (T *)(to + offsets[0] + place), value = from ? load<T>(from + offsets[1], dtype) : number_of<T>(number);
    switch (how) {
    case SUM: add(spot, value); break;
    case PRODUCT: become(spot, value, [](T a, T b) { return T(a * b); }); break;
    case GREATEST: become(spot, value, [](T a, T b) { return is_none(a) || a > b ? a : b; }); break;
    default: become(spot, value, [](T a, T b) { return is_none(a) || a < b ? a : b; }); break;
    }
}

__device__ __forceinline__ float quotient(float x, i64 by) { return x / float(by); }
__device__ __forceinline__ double quotient(double x, i64 by) { return x / double(by); }
template <class T> __device__ __forceinline__ T quotient(T x, i64 by) {
    i64 whole = i64(x) / by;
    return T(whole - (i64(x) - whole * by < 0));
}

// Divides sums by their counts.
template <class T> __global__ void __launch_bounds__(256) shared_among(i64 count, T *sums, const i64 *counts) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count && counts[at] > 1) sums[at] = quotient(sums[at], counts[at]);
}
