// Numbers that are rounded to half precision after each operation.
#pragma once
#include "opdispatch.cuh"

// A half-precision number, rounded after each operation. Most kernels compute in `float` and round once. PyTorch's templates over the
// scalar type round after each operation, which in a long formula differs by several units.
template <class T> struct Rounded {
    float value;
    Rounded() = default;
    __device__ __forceinline__ Rounded(float x) : value(T(x)) {}
    __device__ __forceinline__ operator float() const { return value; }
    __device__ __forceinline__ Rounded operator-() const { return Rounded(-value); }
    friend __device__ __forceinline__ Rounded operator+(Rounded a, Rounded b) { return Rounded(a.value + b.value); }
    friend __device__ __forceinline__ Rounded operator-(Rounded a, Rounded b) { return Rounded(a.value - b.value); }
    friend __device__ __forceinline__ Rounded operator*(Rounded a, Rounded b) { return Rounded(a.value * b.value); }
    friend __device__ __forceinline__ Rounded operator/(Rounded a, Rounded b) { return Rounded(a.value / b.value); }
};

// The type that a formula computes in if it rounds after each operation.
template <class T> struct RoundedType { typedef T type; };
template <> struct RoundedType<f16> { typedef Rounded<f16> type; };
template <> struct RoundedType<bf16> { typedef Rounded<bf16> type; };
template <class T> using rounded_t = typename RoundedType<T>::type;

template <class C> constexpr bool IS_ROUNDED = false;
template <class T> constexpr bool IS_ROUNDED<Rounded<T>> = true;

// The type that represents the position of an element exactly.
template <class C> struct PositionType { typedef C type; };
template <class T> struct PositionType<Rounded<T>> { typedef float type; };
