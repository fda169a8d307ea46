// Cubic convolution weights, with PyTorch's coefficients.
#pragma once
#include "opdispatch.cuh"

// The weight of an element by its distance to the sampled position, and the weight's derivative.
template <class C> struct CubicWeight {
    C weight, derivative;
    static __device__ __forceinline__ CubicWeight weight_up_to_distance_one(C x) {
        const C a = C(1.25), b = C(2.25);
        return {(a * x - b) * x * x + C(1), (C(3) * a * x - C(2) * b) * x};
    }
    static __device__ __forceinline__ CubicWeight weight_beyond_distance_one(C x) {
        const C a = C(-0.75), five = C(-3.75), eight = C(-6), four = C(-3);
        return {((a * x - five) * x + eight) * x - four, (C(3) * a * x - C(2) * five) * x + eight};
    }
    // Returns the weight of one of the four elements around a position. The position is `right` after the second element.
    static __device__ __forceinline__ CubicWeight weight_of_tap(int which, C right) {
        CubicWeight cubic = which == 0 ? weight_beyond_distance_one(right + C(1)) : which == 1 ? weight_up_to_distance_one(right) : which == 2 ? weight_up_to_distance_one(C(1) - right) : weight_beyond_distance_one(C(2) - right);
        if (which > 1) cubic.derivative = -cubic.derivative;
        return cubic;
    }
};
