// Scalar functions that C++ lacks, or defines differently from PyTorch.
#pragma once
#include "implicit_gradient.cuh"
#include "polynomials.cuh"

#define FUNCTION template <class C> __device__ __forceinline__

FUNCTION bool is_nan(C x) { return x != x; }
FUNCTION bool is_infinite(C x) { return x == Bounds<C>::most() || x == Bounds<C>::least(); }
template <> __device__ __forceinline__ bool is_infinite<i32>(i32) { return false; }
template <> __device__ __forceinline__ bool is_infinite<i64>(i64) { return false; }
FUNCTION bool is_minus(C x) { return x < C(0); }
template <> __device__ __forceinline__ bool is_minus<float>(float x) { return bit_cast<u32>(x) >> 31; }
template <> __device__ __forceinline__ bool is_minus<double>(double x) { return bit_cast<u64>(x) >> 63; }

// Return NaN if an argument is NaN.
FUNCTION C larger(C a, C b) { return is_nan(a) || a > b ? a : b; }
FUNCTION C smaller(C a, C b) { return is_nan(a) || a < b ? a : b; }
// Return the other argument if one is NaN.
FUNCTION C larger_number(C a, C b) { return is_nan(b) || a > b ? a : b; }
FUNCTION C smaller_number(C a, C b) { return is_nan(b) || a < b ? a : b; }
FUNCTION C magnitude(C x) { return fabs(x); }
template <> __device__ __forceinline__ i32 magnitude<i32>(i32 x) { return x < 0 ? i32(0u - u32(x)) : x; }
template <> __device__ __forceinline__ i64 magnitude<i64>(i64 x) { return x < 0 ? i64(0ull - u64(x)) : x; }
FUNCTION C direction(C x) { return is_nan(x) ? x : C((x > C(0)) - (x < C(0))); }

FUNCTION C sigmoid(C x) { return C(1) / (C(1) + exp(-x)); }
FUNCTION C soft_plus(C x) { return x > C(40) ? x : log1p(exp(x)); }
FUNCTION C log_sigmoid(C x) { return (x < C(0) ? x : C(0)) - log1p(exp(-fabs(x))); }
// Returns `x + 3`, clamped to 0 and 6.
FUNCTION C gate(C x) { return smaller(larger(x + C(3), C(0)), C(6)); }
// Returns the normal distribution function, for a result of type `O`. In half precision, the sum of one and `erf` is precise enough,
// although it cancels far below zero. It takes half the time.
template <class O, class C> __device__ __forceinline__ C normal_cdf(C x) {
    if (sizeof(O) == 2) return C(0.5) + C(0.5) * erf(x * C(0.7071067811865476));
    return C(0.5) * erfc(-x * C(0.7071067811865476));
}
FUNCTION C gelu_inner(C x) { return C(0.7978845608028654) * (x + C(0.044715) * x * x * x); }
template <class O, class C> __device__ __forceinline__ C gelu_slope(C x) { return normal_cdf<O>(x) + x * C(0.3989422804014327) * exp(C(-0.5) * x * x); }
FUNCTION C gelu_slope_by_tanh(C x) {
    C t = tanh(gelu_inner(x));
    return C(0.5) * (C(1) + t) + C(0.5) * x * (C(1) - t * t) * C(0.7978845608028654) * (C(1) + C(0.134145) * x * x);
}
// Returns `a log(b)`, which is zero if `a` is zero.
FUNCTION C times_log(C a, C b) { return is_nan(b) ? b : a == C(0) ? C(0) : a * log(b); }
FUNCTION C times_log1p(C a, C b) { return is_nan(b) ? b : a == C(0) ? C(0) : a * log1p(b); }

FUNCTION C modulo(C a, C b) {
    C rest = fmod(a, b);
    return rest != C(0) && (b < C(0)) != (rest < C(0)) ? rest + b : rest;
}
FUNCTION C left_over(C a, C b) { return fmod(a, b); }
FUNCTION C floor_divided(C a, C b) {
    if (b == C(0)) return a / b;
    C rest = fmod(a, b), whole = (a - rest) / b;
    if (rest != C(0) && (b < C(0)) != (rest < C(0))) whole -= C(1);
    if (whole == C(0)) return copysign(C(0), a / b);
    C below = floor(whole);
    return whole - below > C(0.5) ? below + C(1) : below;
}
FUNCTION C trunc_divided(C a, C b) { return trunc(a / b); }
FUNCTION C to_the(C a, C b) { return pow(a, b); }

// Integer functions. A division by zero was reported before; here its result is zero.
#define WHOLE(C)                                                                                                                 \
    template <> __device__ __forceinline__ C left_over<C>(C a, C b) { return b == 0 || b == -1 ? 0 : a % b; }                   \
    template <> __device__ __forceinline__ C modulo<C>(C a, C b) {                                                              \
        C rest = left_over(a, b);                                                                                                \
        return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;                                                             \
    }                                                                                                                            \
    template <> __device__ __forceinline__ C trunc_divided<C>(C a, C b) { return b == 0 ? 0 : b == -1 ? C(0 - a) : a / b; }     \
    template <> __device__ __forceinline__ C floor_divided<C>(C a, C b) {                                                       \
        return trunc_divided(a, b) - (left_over(a, b) != 0 && (a < 0) != (b < 0));                                               \
    }                                                                                                                            \
    template <> __device__ __forceinline__ C to_the<C>(C a, C b) {                                                              \
        if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;                                                           \
        C result = 1;                                                                                                            \
        for (; b; b >>= 1, a *= a)                                                                                               \
            if (b & 1) result *= a;                                                                                              \
        return result;                                                                                                           \
    }
WHOLE(i32)
WHOLE(i64)
#undef WHOLE

// Rounding functions. Integers stay as they are.
#define ROUNDING(name, function)                                                                                                 \
    FUNCTION C name(C x) { return function(x); }                                                                                 \
    template <> __device__ __forceinline__ i32 name<i32>(i32 x) { return x; }                                                   \
    template <> __device__ __forceinline__ i64 name<i64>(i64 x) { return x; }
ROUNDING(rounded_down, floor)
ROUNDING(rounded_up, ceil)
ROUNDING(rounded_to_zero, trunc)
ROUNDING(rounded_to_nearest, rint)
#undef ROUNDING

FUNCTION C largest_finite();
template <> __device__ __forceinline__ float largest_finite<float>() { return 3.40282346638528859812e38f; }
template <> __device__ __forceinline__ double largest_finite<double>() { return 1.7976931348623157e308; }

FUNCTION C log_sum(C a, C b) {
    C most = larger(a, b);
    return a == b && is_infinite(a) ? a : most + log1p(exp(-fabs(a - b)));
}
FUNCTION C log2_sum(C a, C b) {
    C most = larger(a, b);
    return a == b && is_infinite(a) ? a : most + log1p(exp2(-fabs(a - b))) * C(1.4426950408889634);
}

// Returns the next value of type `T` after `a` towards `b`. The bits without the sign are in the order of the values.
template <class T, class Bits, class C> __device__ __forceinline__ C stepped(C a, C b) {
    if (is_nan(a) || is_nan(b)) return Bounds<C>::nan();
    if (a == b) return b;
    const Bits sign = Bits(Bits(1) << (8 * sizeof(T) - 1));
    Bits bits = bit_cast<Bits>(as<T>(a));
    bool up = a < b, zero = a == C(0), away = up == !(bits & sign);
    bits = zero ? Bits(up ? 1 : sign | 1) : Bits(away ? bits + 1 : bits - 1);
    return as<C>(bit_cast<T>(bits));
}
template <class C> struct Steps;
template <> struct Steps<float> { typedef u32 bits; };
template <> struct Steps<double> { typedef u64 bits; };
// Returns the next value of a dtype that is computed in `C`.
FUNCTION C towards(C a, C b, C dtype) {
    if (dtype == C(F16)) return stepped<f16, unsigned short>(a, b);
    if (dtype == C(BF16)) return stepped<bf16, unsigned short>(a, b);
    return stepped<C, typename Steps<C>::bits>(a, b);
}
#undef FUNCTION
