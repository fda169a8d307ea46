// Element types, conversions and other basics of all kernels. Includes no header.
#pragma once

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef EMULATED
#define DYNAMIC_SHARED_MEMORY(name) unsigned char *name = emulator::shared
#else
#define DYNAMIC_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#endif

template <class To, class From> __device__ __forceinline__ To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    union Bits {
        From from;
        To to;
        __device__ Bits() {}
    } bits;
    bits.from = from;
    return bits.to;
}

// A boolean: a byte that is true unless it is zero.
struct boolean {
    u8 byte;
    boolean() = default;
    __device__ __forceinline__ boolean(bool value) : byte(value) {}
    __device__ __forceinline__ operator bool() const { return byte != 0; }
};

// IEEE half precision. Computed as `float`, and rounded to nearest even when it is stored.
struct f16 {
    unsigned short bits;
    f16() = default;
    __device__ __forceinline__ f16(float x) {
#ifdef EMULATED
        u32 in = bit_cast<u32>(x), sign = in >> 16 & 0x8000, magnitude = in & 0x7fffffff;
        if (magnitude > 0x7f800000) {
            bits = sign | 0x7e00;
        } else if (magnitude >= 0x477ff000) {
            bits = sign | 0x7c00;
        } else if (magnitude < 0x38800000) {
            // Subnormal in half precision: adding 0.5 in single precision rounds at a half's last bit.
            bits = sign | bit_cast<u32>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
        } else {
            u32 odd = magnitude >> 13 & 1;
            bits = sign | (magnitude + 0xfff + odd - 0x38000000) >> 13;
        }
#else
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#endif
    }
    __device__ __forceinline__ operator float() const {
#ifdef EMULATED
        u32 sign = u32(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
        if (exponent == 31) return bit_cast<float>(sign | 0x7f800000 | fraction << 13);
        if (exponent == 0) return bit_cast<float>(sign | bit_cast<u32>(float(fraction) * 5.9604644775390625e-8f));
        return bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
#else
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
#endif
    }
};

// Bfloat16: the upper half of a `float`. Computed as `float`, and rounded to nearest even when it is stored.
struct bf16 {
    unsigned short bits;
    bf16() = default;
    __device__ __forceinline__ bf16(float x) {
#ifdef EMULATED
        u32 in = bit_cast<u32>(x);
        bits = (in & 0x7fffffff) > 0x7f800000 ? in >> 16 | 0x40 : (in + 0x7fff + (in >> 16 & 1)) >> 16;
#else
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#endif
    }
    __device__ __forceinline__ operator float() const { return bit_cast<float>(u32(bits) << 16); }
};

// A word of sixteen bytes, for elements of that size (complex128). It is only copied: as an element of that size, or as a word of several
// elements.
struct alignas(16) c128 {
    double re, im;
};

// The type that elements are computed in.
template <class T> struct ComputeType;
template <> struct ComputeType<float> { typedef float type; };
template <> struct ComputeType<double> { typedef double type; };
template <> struct ComputeType<f16> { typedef float type; };
template <> struct ComputeType<bf16> { typedef float type; };
template <> struct ComputeType<boolean> { typedef i32 type; };
template <> struct ComputeType<u8> { typedef i32 type; };
template <> struct ComputeType<i8> { typedef i32 type; };
template <> struct ComputeType<i16> { typedef i32 type; };
template <> struct ComputeType<i32> { typedef i32 type; };
template <> struct ComputeType<i64> { typedef i64 type; };
template <class T> using compute_t = typename ComputeType<T>::type;

// Conversion between element types. A number that is too large for a narrower integer wraps around.
template <class To, class From> struct Convert {
    static __device__ __forceinline__ To of(From x) { return To(x); }
};
template <class To> struct Convert<To, f16> {
    static __device__ __forceinline__ To of(f16 x) { return Convert<To, float>::of(float(x)); }
};
template <class To> struct Convert<To, bf16> {
    static __device__ __forceinline__ To of(bf16 x) { return Convert<To, float>::of(float(x)); }
};
template <> struct Convert<f16, f16> {
    static __device__ __forceinline__ f16 of(f16 x) { return x; }
};
template <> struct Convert<bf16, bf16> {
    static __device__ __forceinline__ bf16 of(bf16 x) { return x; }
};
template <class From> struct Convert<f16, From> {
    static __device__ __forceinline__ f16 of(From x) { return f16(float(x)); }
};
template <class From> struct Convert<bf16, From> {
    static __device__ __forceinline__ bf16 of(From x) { return bf16(float(x)); }
};
template <> struct Convert<f16, bf16> {
    static __device__ __forceinline__ f16 of(bf16 x) { return f16(float(x)); }
};
template <> struct Convert<bf16, f16> {
    static __device__ __forceinline__ bf16 of(f16 x) { return bf16(float(x)); }
};
template <class To> struct Convert<To, boolean> {
    static __device__ __forceinline__ To of(boolean x) { return To(bool(x)); }
};
template <> struct Convert<f16, boolean> {
    static __device__ __forceinline__ f16 of(boolean x) { return f16(float(bool(x))); }
};
template <> struct Convert<bf16, boolean> {
    static __device__ __forceinline__ bf16 of(boolean x) { return bf16(float(bool(x))); }
};
template <class From> struct Convert<boolean, From> {
    static __device__ __forceinline__ boolean of(From x) { return boolean(x != From(0)); }
};
template <> struct Convert<boolean, boolean> {
    static __device__ __forceinline__ boolean of(boolean x) { return boolean(bool(x)); }
};
template <> struct Convert<boolean, f16> {
    static __device__ __forceinline__ boolean of(f16 x) { return boolean(float(x) != 0); }
};
template <> struct Convert<boolean, bf16> {
    static __device__ __forceinline__ boolean of(bf16 x) { return boolean(float(x) != 0); }
};
// Converts to an integer as a CPU does: saturates, and converts NaN to zero.
template <class F> __device__ __forceinline__ i64 to_i64_saturating(F x) {
#ifdef EMULATED
    if (x >= F(9223372036854775808.0)) return 0x7fffffffffffffffll;
    if (x < F(-9223372036854775808.0)) return -0x7fffffffffffffffll - 1;
#endif
    return x == x ? i64(x) : 0;
}
#define CONVERT_BY_WRAPPING(To)                                                                                                                \
    template <> struct Convert<To, float> {                                                                                      \
        static __device__ __forceinline__ To of(float x) { return To(to_i64_saturating(x)); }                                                 \
    };                                                                                                                           \
    template <> struct Convert<To, double> {                                                                                     \
        static __device__ __forceinline__ To of(double x) { return To(to_i64_saturating(x)); }                                                \
    };
CONVERT_BY_WRAPPING(u8) CONVERT_BY_WRAPPING(i8) CONVERT_BY_WRAPPING(i16) CONVERT_BY_WRAPPING(i32) CONVERT_BY_WRAPPING(i64)
#undef CONVERT_BY_WRAPPING

template <class To, class From> __device__ __forceinline__ To as(From x) { return Convert<To, From>::of(x); }

// Adjacent elements that are loaded and stored together.
template <class T, int V> struct alignas(sizeof(T) * V) Pack {
    T elements[V];
};

// The dtypes, with PyTorch's numbers, for kernels that get a dtype as an argument.
enum { U8, I8, I16, I32, I64, F16, F32, F64, BOOL = 11, BF16 = 15, F8E5M2 = 23, F8E4M3FN, F8E5M2FNUZ, F8E4M3FNUZ, F8E8M0FNU = 44 };

// Returns the size of an element in bytes.
__device__ __forceinline__ u32 dtype_size(int dtype) {
    switch (dtype) {
    case U8: case I8: case BOOL: case F8E5M2: case F8E4M3FN: case F8E5M2FNUZ: case F8E4M3FNUZ: case F8E8M0FNU: return 1;
    case I32: case F32: return 4;
    case I64: case F64: return 8;
    default: return 2;
    }
}

// The formats of float8 dtypes with a sign: bits of the fraction, and the bias of the exponent.
__device__ __forceinline__ u32 float8_fraction_bits(int dtype) { return dtype == F8E4M3FN || dtype == F8E4M3FNUZ ? 3 : 2; }
__device__ __forceinline__ u32 float8_bias(int dtype) {
    return (float8_fraction_bits(dtype) == 3 ? 7 : 15) + (dtype == F8E4M3FNUZ || dtype == F8E5M2FNUZ);
}

// Converts a code of a float8 dtype to a number.
__device__ inline float decode_float8(u32 code, int dtype) {
    u32 magnitude = code & 0x7f, sign = (code & 0x80) << 24, nan = 0x7fc00000;
    if (dtype == F8E8M0FNU) return bit_cast<float>(code == 255 ? nan : code == 0 ? 0x400000u : code << 23);
    if (dtype == F8E5M2 && magnitude >= 0x7c) return bit_cast<float>(magnitude == 0x7c ? sign | 0x7f800000u : nan);
    if (dtype == F8E4M3FN && magnitude == 0x7f || (dtype == F8E5M2FNUZ || dtype == F8E4M3FNUZ) && code == 0x80) return bit_cast<float>(nan);
    // The multiplication adapts the bias of the exponent, also of subnormal numbers.
    float number = bit_cast<float>(magnitude << (23 - float8_fraction_bits(dtype))) * bit_cast<float>((254 - float8_bias(dtype)) << 23);
    return bit_cast<float>(sign | bit_cast<u32>(number));
}

// Rounds a number to a float8 dtype, ties to even. What is too large becomes the largest number, infinity or NaN, as the dtype has them.
__device__ inline u8 encode_float8(float x, int dtype) {
    u32 magnitude = bit_cast<u32>(x) & 0x7fffffff, sign = bit_cast<u32>(x) >> 24 & 0x80;
    bool is_nan = magnitude > 0x7f800000;
    if (dtype == F8E8M0FNU) {
        u32 exponent = magnitude >> 23, fraction = magnitude & 0x7fffff;
        bool rounds_up = fraction > 0x400000 || fraction == 0x400000 && exponent > 0;
        return exponent == 255 ? 255 : exponent + rounds_up;
    }
    u32 shift = 23 - float8_fraction_bits(dtype), bias = float8_bias(dtype), lowest_normal = (128 - bias) << 23, code;
    if (magnitude < lowest_normal) {
        // The addition of this power of two rounds to the last bit of subnormal numbers.
        u32 aligning = lowest_normal + (shift << 23);
        code = bit_cast<u32>(bit_cast<float>(magnitude) + bit_cast<float>(aligning)) - aligning;
    } else {
        code = (magnitude - ((127 - bias) << 23) + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1)) >> shift;
    }
    switch (dtype) {
    case F8E4M3FN: return sign | (is_nan ? 0x7f : code < 0x7f ? code : 0x7e);
    case F8E5M2: return sign | (is_nan ? 0x7f : code < 0x7c ? code : 0x7c);
    default: return is_nan || code > 0x7f ? 0x80 : code == 0 ? 0 : sign | code;
    }
}

template <class C> __device__ __forceinline__ C load(const void *at, int dtype) {
    switch (dtype) {
    case U8: return as<C>(*(const u8 *)at);
    case I8: return as<C>(*(const i8 *)at);
    case I16: return as<C>(*(const i16 *)at);
    case I32: return as<C>(*(const i32 *)at);
    case I64: return as<C>(*(const i64 *)at);
    case F16: return as<C>(*(const f16 *)at);
    case F32: return as<C>(*(const float *)at);
    case F64: return as<C>(*(const double *)at);
    case BOOL: return as<C>(*(const boolean *)at);
    case F8E5M2: case F8E4M3FN: case F8E5M2FNUZ: case F8E4M3FNUZ: case F8E8M0FNU: return as<C>(decode_float8(*(const u8 *)at, dtype));
    default: return as<C>(*(const bf16 *)at);
    }
}

template <class C> __device__ __forceinline__ void store(void *at, int dtype, C x) {
    switch (dtype) {
    case U8: *(u8 *)at = as<u8>(x); break;
    case I8: *(i8 *)at = as<i8>(x); break;
    case I16: *(i16 *)at = as<i16>(x); break;
    case I32: *(i32 *)at = as<i32>(x); break;
    case I64: *(i64 *)at = as<i64>(x); break;
    case F16: *(f16 *)at = as<f16>(x); break;
    case F32: *(float *)at = as<float>(x); break;
    case F64: *(double *)at = as<double>(x); break;
    case BOOL: *(boolean *)at = as<boolean>(x); break;
    case F8E5M2: case F8E4M3FN: case F8E5M2FNUZ: case F8E4M3FNUZ: case F8E8M0FNU: *(u8 *)at = encode_float8(as<float>(x), dtype); break;
    default: *(bf16 *)at = as<bf16>(x); break;
    }
}

// The largest and the smallest value of a type (infinities for floating types), and NaN.
template <class T> struct Limits;
template <> struct Limits<float> {
    static __device__ __forceinline__ float max_value() { return bit_cast<float>(0x7f800000u); }
    static __device__ __forceinline__ float min_value() { return bit_cast<float>(0xff800000u); }
    static __device__ __forceinline__ float nan() { return bit_cast<float>(0x7fc00000u); }
};
template <> struct Limits<double> {
    static __device__ __forceinline__ double max_value() { return bit_cast<double>(0x7ff0000000000000ull); }
    static __device__ __forceinline__ double min_value() { return bit_cast<double>(0xfff0000000000000ull); }
    static __device__ __forceinline__ double nan() { return bit_cast<double>(0x7ff8000000000000ull); }
};
template <> struct Limits<i32> {
    static __device__ __forceinline__ i32 max_value() { return 0x7fffffff; }
    static __device__ __forceinline__ i32 min_value() { return -0x7fffffff - 1; }
};
template <> struct Limits<i64> {
    static __device__ __forceinline__ i64 max_value() { return 0x7fffffffffffffffll; }
    static __device__ __forceinline__ i64 min_value() { return -0x7fffffffffffffffll - 1; }
};

// A compile-time list of indices, for the operands of a kernel.
template <int... I> struct IndexSequence {};
template <int N, int... I> struct MakeIndexSequence : MakeIndexSequence<N - 1, N - 1, I...> {};
template <int... I> struct MakeIndexSequence<0, I...> {
    typedef IndexSequence<I...> type;
};

// Integer division by an invariant divisor: a multiplication and a shift (Granlund and Montgomery, 1994).
struct Divisor {
    u32 value, factor, shift;
    __device__ __forceinline__ u32 divide(u32 x) const { return (__umulhi(x, factor) + x) >> shift; }
};

// A walk: the operands' byte strides, innermost dimension first. Operand 0 is the result.
struct Walk {
    static const int RANK = 8, OPERANDS = 6;
    u32 rank;
    Divisor sizes[RANK];
    i32 strides[RANK][OPERANDS];
    template <int N> __device__ __forceinline__ void offsets(u32 at, i32 (&offsets)[N]) const {
#pragma unroll
        for (int k = 0; k < N; k++) offsets[k] = 0;
#pragma unroll
        for (u32 dim = 0; dim < RANK; dim++) {
            if (dim == rank) break;
            u32 next = sizes[dim].divide(at), here = at - next * sizes[dim].value;
#pragma unroll
            for (int k = 0; k < N; k++) offsets[k] += i32(here) * strides[dim][k];
            at = next;
        }
    }
    // Computes the offsets of several elements. Overwrites their indices `at`.
    template <int M, int N> __device__ __forceinline__ void offsets(u32 (&at)[M], i32 (&offsets)[M][N]) const {
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int k = 0; k < N; k++) offsets[i][k] = 0;
#pragma unroll 1
        for (u32 dim = 0; dim < rank; dim++)
#pragma unroll
            for (int i = 0; i < M; i++) {
                u32 next = sizes[dim].divide(at[i]), here = at[i] - next * sizes[dim].value;
#pragma unroll
                for (int k = 0; k < N; k++) offsets[i][k] += i32(here) * strides[dim][k];
                at[i] = next;
            }
    }
};

// The first error that a kernel found in elements. It stays until the next synchronisation.
struct Fault {
    u32 site, kind;
    i64 value, limit;
    // Set by the thread that writes the record. It writes `site` last.
    u32 claimed, unused;
};
enum { INDEX_OUT_OF_RANGE = 1, DIVISION_BY_ZERO = 2, INVALID_INTEGER = 3, INVALID_FLOAT = 4, INVALID_WEIGHT_SUM = 5 };

__device__ __forceinline__ void report_fault(Fault *fault, u32 site, u32 kind, i64 value, i64 limit) {
    if (fault->claimed == 0 && atomicCAS(&fault->claimed, 0u, 1u) == 0u) {
        fault->kind = kind;
        fault->value = value;
        fault->limit = limit;
        __threadfence();
        *(volatile u32 *)&fault->site = site;
    }
}

// Reports a floating value that is invalid.
__device__ __forceinline__ void report_invalid_float(Fault *fault, u32 site, double value, double limit) {
    report_fault(fault, site, INVALID_FLOAT, bit_cast<i64>(value), bit_cast<i64>(limit));
}
