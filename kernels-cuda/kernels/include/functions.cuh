// Scalar functions that C++ lacks, or defines differently from PyTorch.
#pragma once
#include "implicit_gradient.cuh"
#include "polynomials.cuh"

#define SCALAR_FUNCTION template <class C> __device__ __forceinline__

SCALAR_FUNCTION bool is_nan(C x) { return x != x; }
SCALAR_FUNCTION bool is_infinite(C x) { return x == Limits<C>::max_value() || x == Limits<C>::min_value(); }
template <> __device__ __forceinline__ bool is_infinite<i32>(i32) { return false; }
template <> __device__ __forceinline__ bool is_infinite<i64>(i64) { return false; }
SCALAR_FUNCTION bool sign_bit(C x) { return x < C(0); }
template <> __device__ __forceinline__ bool sign_bit<float>(float x) { return bit_cast<u32>(x) >> 31; }
template <> __device__ __forceinline__ bool sign_bit<double>(double x) { return bit_cast<u64>(x) >> 63; }

// The maximum and minimum of two numbers, or NaN if one is NaN.
SCALAR_FUNCTION C maximum(C a, C b) { return is_nan(a) || a > b ? a : b; }
SCALAR_FUNCTION C minimum(C a, C b) { return is_nan(a) || a < b ? a : b; }
// The maximum and minimum of two numbers, or the other number if one is NaN.
SCALAR_FUNCTION C max_ignoring_nan(C a, C b) { return is_nan(b) || a > b ? a : b; }
SCALAR_FUNCTION C min_ignoring_nan(C a, C b) { return is_nan(b) || a < b ? a : b; }
SCALAR_FUNCTION C magnitude(C x) { return fabs(x); }
template <> __device__ __forceinline__ i32 magnitude<i32>(i32 x) { return x < 0 ? i32(0u - u32(x)) : x; }
template <> __device__ __forceinline__ i64 magnitude<i64>(i64 x) { return x < 0 ? i64(0ull - u64(x)) : x; }
SCALAR_FUNCTION C sign_of(C x) { return C((x > C(0)) - (x < C(0))); }

SCALAR_FUNCTION C sigmoid(C x) { return C(1) / (C(1) + exp(-x)); }
SCALAR_FUNCTION C softplus(C x) { return x > C(40) ? x : log1p(exp(x)); }
SCALAR_FUNCTION C log_sigmoid(C x) { return (x < C(0) ? x : C(0)) - log1p(exp(-fabs(x))); }
// Returns `x + 3`, clamped to 0 and 6.
SCALAR_FUNCTION C relu6_of_plus_3(C x) { return minimum(maximum(x + C(3), C(0)), C(6)); }
// Returns the normal distribution function, for a result of type `O`. In half precision, the sum of one and `erf` is precise enough,
// although it cancels far below zero. It takes half the time.
template <class O, class C> __device__ __forceinline__ C normal_cdf(C x) {
    if (sizeof(O) == 2) return C(0.5) + C(0.5) * erf(x * C(0.7071067811865476));
    return C(0.5) * erfc(-x * C(0.7071067811865476));
}
SCALAR_FUNCTION C gelu_tanh_argument(C x) { return C(0.7978845608028654) * (x + C(0.044715) * x * x * x); }
template <class O, class C> __device__ __forceinline__ C gelu_derivative(C x) { return normal_cdf<O>(x) + x * C(0.3989422804014327) * exp(C(-0.5) * x * x); }
SCALAR_FUNCTION C gelu_tanh_derivative(C x) {
    C t = tanh(gelu_tanh_argument(x));
    return C(0.5) * (C(1) + t) + C(0.5) * x * (C(1) - t * t) * C(0.7978845608028654) * (C(1) + C(0.134145) * x * x);
}
// Returns `a log(b)`, which is zero if `a` is zero.
SCALAR_FUNCTION C xlogy(C a, C b) { return is_nan(b) ? b : a == C(0) ? C(0) : a * log(b); }
SCALAR_FUNCTION C xlog1py(C a, C b) { return is_nan(b) ? b : a == C(0) ? C(0) : a * log1p(b); }

SCALAR_FUNCTION C floor_remainder(C a, C b) {
    C rest = fmod(a, b);
    return rest != C(0) && (b < C(0)) != (rest < C(0)) ? rest + b : rest;
}
SCALAR_FUNCTION C trunc_remainder(C a, C b) { return fmod(a, b); }
SCALAR_FUNCTION C floor_divide(C a, C b) {
    if (b == C(0)) return a / b;
    C rest = fmod(a, b), whole = (a - rest) / b;
    if (rest != C(0) && (b < C(0)) != (rest < C(0))) whole -= C(1);
    if (whole == C(0)) return copysign(C(0), a / b);
    C below = floor(whole);
    return whole - below > C(0.5) ? below + C(1) : below;
}
SCALAR_FUNCTION C trunc_divide(C a, C b) { return trunc(a / b); }
SCALAR_FUNCTION C power(C a, C b) { return pow(a, b); }

// Division, remainder and power of integers. A division by zero was reported before; here its result is zero.
#define DEFINE_INTEGER_FUNCTIONS(C)                                                                                                                 \
    template <> __device__ __forceinline__ C trunc_remainder<C>(C a, C b) { return b == 0 || b == -1 ? 0 : a % b; }                   \
    template <> __device__ __forceinline__ C floor_remainder<C>(C a, C b) {                                                              \
        C rest = trunc_remainder(a, b);                                                                                                \
        return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;                                                             \
    }                                                                                                                            \
    template <> __device__ __forceinline__ C trunc_divide<C>(C a, C b) { return b == 0 ? 0 : b == -1 ? C(0 - a) : a / b; }     \
    template <> __device__ __forceinline__ C floor_divide<C>(C a, C b) {                                                       \
        return trunc_divide(a, b) - (trunc_remainder(a, b) != 0 && (a < 0) != (b < 0));                                               \
    }                                                                                                                            \
    template <> __device__ __forceinline__ C power<C>(C a, C b) {                                                              \
        if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;                                                           \
        C result = 1;                                                                                                            \
        for (; b; b >>= 1, a *= a)                                                                                               \
            if (b & 1) result *= a;                                                                                              \
        return result;                                                                                                           \
    }
DEFINE_INTEGER_FUNCTIONS(i32)
DEFINE_INTEGER_FUNCTIONS(i64)
#undef DEFINE_INTEGER_FUNCTIONS

// Rounding of floating numbers to whole ones. Integers stay as they are.
#define DEFINE_ROUNDING_FUNCTION(name, function)                                                                                                 \
    SCALAR_FUNCTION C name(C x) { return function(x); }                                                                                 \
    template <> __device__ __forceinline__ i32 name<i32>(i32 x) { return x; }                                                   \
    template <> __device__ __forceinline__ i64 name<i64>(i64 x) { return x; }
DEFINE_ROUNDING_FUNCTION(rounded_down, floor)
DEFINE_ROUNDING_FUNCTION(rounded_up, ceil)
DEFINE_ROUNDING_FUNCTION(rounded_to_zero, trunc)
DEFINE_ROUNDING_FUNCTION(rounded_to_nearest, rint)
#undef DEFINE_ROUNDING_FUNCTION

SCALAR_FUNCTION C largest_finite();
template <> __device__ __forceinline__ float largest_finite<float>() { return 3.40282346638528859812e38f; }
template <> __device__ __forceinline__ double largest_finite<double>() { return 1.7976931348623157e308; }

SCALAR_FUNCTION C logaddexp(C a, C b) {
    C most = maximum(a, b);
    return a == b && is_infinite(a) ? a : most + log1p(exp(-fabs(a - b)));
}
SCALAR_FUNCTION C logaddexp2(C a, C b) {
    C most = maximum(a, b);
    return a == b && is_infinite(a) ? a : most + log1p(exp2(-fabs(a - b))) * C(1.4426950408889634);
}

// Returns the next value of type `T` after `a` towards `b`. The bits without the sign are in the order of the values.
template <class T, class Bits, class C> __device__ __forceinline__ C next_after(C a, C b) {
    if (is_nan(a) || is_nan(b)) return Limits<C>::nan();
    if (a == b) return b;
    const Bits sign = Bits(Bits(1) << (8 * sizeof(T) - 1));
    Bits bits = bit_cast<Bits>(as<T>(a));
    bool up = a < b, zero = a == C(0), away = up == !(bits & sign);
    bits = zero ? Bits(up ? 1 : sign | 1) : Bits(away ? bits + 1 : bits - 1);
    return as<C>(bit_cast<T>(bits));
}
template <class C> struct UnsignedBits;
template <> struct UnsignedBits<float> { typedef u32 bits; };
template <> struct UnsignedBits<double> { typedef u64 bits; };
// Returns the next value of a dtype that is computed in `C`.
SCALAR_FUNCTION C next_after_in_dtype(C a, C b, C dtype) {
    if (dtype == C(F16)) return next_after<f16, unsigned short>(a, b);
    if (dtype == C(BF16)) return next_after<bf16, unsigned short>(a, b);
    return next_after<C, typename UnsignedBits<C>::bits>(a, b);
}
#undef SCALAR_FUNCTION
