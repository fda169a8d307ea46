// Totals of reductions that are more than one number.
#pragma once
#include "functions.cuh"

// A value and its index. Among equal values, the smaller index wins. NaN wins over all numbers.
template <class C> struct ValueAndIndex {
    C value;
    i64 index;
};
template <class C> __device__ __forceinline__ bool same_value(C a, C b) { return a == b || (is_nan(a) && is_nan(b)); }
template <class C> __device__ __forceinline__ ValueAndIndex<C> max_with_first_index(ValueAndIndex<C> a, ValueAndIndex<C> b) {
    return (same_value(a.value, b.value) ? a.index < b.index : is_nan(a.value) || a.value > b.value) ? a : b;
}
template <class C> __device__ __forceinline__ ValueAndIndex<C> min_with_first_index(ValueAndIndex<C> a, ValueAndIndex<C> b) {
    return (same_value(a.value, b.value) ? a.index < b.index : is_nan(a.value) || a.value < b.value) ? a : b;
}

// The larger or the smaller of two values in a scan, where `b` comes after `a`: among equal values, the last one wins.
template <class C> __device__ __forceinline__ ValueAndIndex<C> max_with_last_index(ValueAndIndex<C> a, ValueAndIndex<C> b) {
    return is_nan(b.value) || b.value >= a.value ? b : a;
}
template <class C> __device__ __forceinline__ ValueAndIndex<C> min_with_last_index(ValueAndIndex<C> a, ValueAndIndex<C> b) {
    return is_nan(b.value) || b.value <= a.value ? b : a;
}

template <class C> struct MinMax {
    C min, max;
};

// The count of numbers, and their sum and sum of squares relative to an origin, the first number. If the origin is near the other numbers,
// the sums stay small. If it is far from them, it dominates the variance.
template <class C> struct Moments {
    C count, origin, sum, squares;
    __device__ __forceinline__ Moments add_element(C x) const {
        C from = count == C(0) ? x : origin, apart = x - from;
        return {count + C(1), from, sum + apart, squares + apart * apart};
    }
    __device__ __forceinline__ C mean() const { return origin + sum / count; }
    // Returns the sum of squared distances from the mean.
    __device__ __forceinline__ C squared_deviations() const {
        C rest = squares - sum / count * sum;
        return rest < C(0) ? C(0) : rest;
    }
    __device__ __forceinline__ Moments merge(const Moments &other) const {
        if (other.count == C(0)) return *this;
        if (count == C(0)) return other;
        C all = count + other.count, share = other.count / all;
        C own = sum / count, apart = (other.origin - origin) + (other.sum / other.count - own);
        return {all, origin + own + apart * share, C(0), squared_deviations() + other.squared_deviations() + apart * apart * count * share};
    }
    __device__ __forceinline__ C variance(C correction) const {
        if (count == C(0)) return Limits<C>::nan();
        C left = count - correction;
        return squared_deviations() / (left > C(0) ? left : C(0));
    }
};

// The steps of a vector norm: sums of powers of magnitudes, or the maximum or minimum for infinite orders.
template <class C> __device__ __forceinline__ C add_norm_term(C total, C x, C order) {
    x = fabs(x);
    if (order == C(2)) return total + x * x;
    if (order == C(1)) return total + x;
    if (order == C(0)) return total + (x != C(0) ? C(1) : C(0));
    if (order == Limits<C>::max_value()) return maximum(x, total);
    if (order == Limits<C>::min_value()) return minimum(x, total);
    return total + pow(x, order);
}
template <class C> __device__ __forceinline__ C merge_norms(C a, C b, C order) {
    if (order == Limits<C>::max_value()) return maximum(a, b);
    if (order == Limits<C>::min_value()) return minimum(a, b);
    return a + b;
}
template <class C> __device__ __forceinline__ C norm_root(C total, C order) {
    if (order == C(2)) return sqrt(total);
    if (order == C(1) || order == C(0) || is_infinite(order)) return total;
    return pow(total, C(1) / order);
}

// A sum of exponentials, scaled by the largest one.
template <class C> struct ScaledExponentials {
    C max, sum;
    __device__ __forceinline__ ScaledExponentials merge(const ScaledExponentials &other) const {
        C highest = maximum(max, other.max);
        if (is_infinite(highest)) return {highest, C(0)};
        return {highest, sum * exp(max - highest) + other.sum * exp(other.max - highest)};
    }
    // Returns the sum with `exp(x)` added. One of the two scaled exponentials is 1.
    __device__ __forceinline__ ScaledExponentials add_element(C x) const {
        C highest = maximum(max, x);
        if (is_infinite(highest)) return {highest, C(0)};
        C less = exp(-fabs(x - max));
        return {highest, x > max ? sum * less + C(1) : sum + less};
    }
    __device__ __forceinline__ C logsumexp() const { return is_infinite(max) ? max : max + log(sum); }
};
