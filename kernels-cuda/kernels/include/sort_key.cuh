// Sort keys: unsigned integers in the order of the elements. Both zeros have equal keys, and NaN has the greatest.
#pragma once
#include "opdispatch.cuh"

// The unsigned integer type of a sort key, as wide as the elements.
template <class T> struct SortKey;
template <> struct SortKey<i32> { typedef u32 type; };
template <> struct SortKey<i64> { typedef u64 type; };

__device__ __forceinline__ u32 sort_key_of(float x) {
    u32 bits = bit_cast<u32>(x + 0.0f);
    return x != x ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ u64 sort_key_of(double x) {
    u64 bits = bit_cast<u64>(x + 0.0);
    return x != x ? ~0ull : bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
// Returns the key of a half-precision value, which has 16 bits. `infinity` is the bit pattern of infinity.
__device__ __forceinline__ u32 sort_key_of(u32 half, u32 infinity) {
    if ((half & 0x7fff) > infinity) return 0xffff;
    return half <= 0x8000 ? 0x8000 | half : ~half & 0xffff;
}

// Loads an element and returns its key. `K` is at least as wide as the element.
template <class K> __device__ __forceinline__ K sort_key_at(const u8 *at, int dtype);
template <> __device__ __forceinline__ u32 sort_key_at<u32>(const u8 *at, int dtype) {
    switch (dtype) {
    case BOOL: return *at != 0;
    case U8: return *at;
    case I8: return u32(*(const i8 *)at + 0x80);
    case I16: return u32(*(const i16 *)at + 0x8000);
    case I32: return u32(*(const i32 *)at) ^ 0x80000000u;
    case F16: return sort_key_of(*(const unsigned short *)at, 0x7c00);
    case BF16: return sort_key_of(*(const unsigned short *)at, 0x7f80);
    default: return sort_key_of(*(const float *)at);
    }
}
template <> __device__ __forceinline__ u64 sort_key_at<u64>(const u8 *at, int dtype) {
    return dtype == I64 ? u64(*(const i64 *)at) ^ 0x8000000000000000ull : sort_key_of(*(const double *)at);
}

__device__ __forceinline__ bool is_floating(int dtype) { return dtype == F32 || dtype == F64 || dtype == F16 || dtype == BF16; }

__device__ __forceinline__ void copy_element(u8 *to, const u8 *from, u32 size) {
    switch (size) {
    case 1: *to = *from; break;
    case 2: *(i16 *)to = *(const i16 *)from; break;
    case 4: *(i32 *)to = *(const i32 *)from; break;
    default: *(i64 *)to = *(const i64 *)from; break;
    }
}

// The input of a sort: contiguous lines of elements.
struct SortInput {
    const u8 *elements;
    u32 count, size, element_size;
    i32 dtype;
    // Whether the greatest elements come first.
    bool descending;
    template <class K> __device__ __forceinline__ K key_at(u64 position) const {
        K key = sort_key_at<K>(elements + position * element_size, dtype);
        return descending ? K(~key) : key;
    }
};
