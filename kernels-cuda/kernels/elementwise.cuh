// The loops of elementwise operators. What comes before brings `struct Operator`: how many OPERANDS and NUMBERS it takes, and a function
// `of` of as many elements.
#pragma once
#include "opdispatch.cuh"

// Where operands are; one without a place has the same element everywhere, which is `single`.
template <int N> struct Operands {
    const u8 *at[N];
    u64 single[N];
    // Those of one element, a bit each.
    u32 singles;
    u8 dtypes[N];
};

// Numbers that an operator takes, in the type that elements are computed in.
struct Numbers {
    u64 bits[4];
};

template <class C> __device__ __forceinline__ C number(u64 bits);
template <> __device__ __forceinline__ float number<float>(u64 bits) { return bit_cast<float>(u32(bits)); }
template <> __device__ __forceinline__ double number<double>(u64 bits) { return bit_cast<double>(bits); }
template <> __device__ __forceinline__ i32 number<i32>(u64 bits) { return i32(bits); }
template <> __device__ __forceinline__ i64 number<i64>(u64 bits) { return i64(bits); }

template <class C, int... K, class... X>
__device__ __forceinline__ auto with_numbers(const Numbers &numbers, Places<K...>, X... elements) {
    return Operator::of(elements..., number<C>(numbers.bits[K])...);
}
template <class C, class... X> __device__ __forceinline__ auto apply(const Numbers &numbers, X... elements) {
    return with_numbers<C>(numbers, typename Counted<Operator::NUMBERS>::type(), elements...);
}

template <class... T> struct Types {
    static const int WIDEST = 1;
};
template <class T, class... More> struct Types<T, More...> {
    static const int WIDEST = int(sizeof(T)) > Types<More...>::WIDEST ? int(sizeof(T)) : Types<More...>::WIDEST;
};

// Not aligned as a whole, so that it stays in registers.
template <class C, int V> struct Run {
    C of[V];
};

template <class C, class T, int V, int N> __device__ __forceinline__ Run<C, V> taken(const Operands<N> &in, int k, u64 at) {
    Run<C, V> run;
    if (in.singles >> k & 1) {
        C x = in.at[k] ? as<C>(*(const T *)in.at[k]) : number<C>(in.single[k]);
#pragma unroll
        for (int i = 0; i < V; i++) run.of[i] = x;
    } else {
        Pack<T, V> pack = *(const Pack<T, V> *)((const T *)in.at[k] + at);
#pragma unroll
        for (int i = 0; i < V; i++) run.of[i] = as<C>(pack.of[i]);
    }
    return run;
}

template <class C, class O, int V, class... R>
__device__ __forceinline__ void computed(O *out, const Numbers &numbers, const R &...runs) {
    Pack<O, V> results;
#pragma unroll
    for (int i = 0; i < V; i++) results.of[i] = as<O>(apply<C>(numbers, runs.of[i]...));
    *(Pack<O, V> *)out = results;
}

template <class C, class O, int V, class... I, int... K>
__device__ __forceinline__ void piece(O *out, u64 at, const Operands<sizeof...(I)> &in, const Numbers &numbers, Types<I...>, Places<K...>) {
    computed<C, O, V>(out + at, numbers, taken<C, I, V>(in, K, at)...);
}

// Elements side by side, sixteen bytes of the widest operand at a time; every place is aligned for that.
template <class P, class O, class... I>
__global__ void __launch_bounds__(256) packed(u64 count, O *out, Operands<sizeof...(I)> in, Numbers numbers) {
    const int V = 16 / Types<O, I...>::WIDEST;
    typename Counted<sizeof...(I)>::type places;
    u64 at = (u64(blockIdx.x) * blockDim.x + threadIdx.x) * V;
    if (at + V <= count) {
        piece<compute_t<P>, O, V>(out, at, in, numbers, Types<I...>(), places);
    } else {
#pragma unroll 1
        for (; at < count; at++) piece<compute_t<P>, O, 1>(out, at, in, numbers, Types<I...>(), places);
    }
}

template <class C, class T, int N> __device__ __forceinline__ C element(const Operands<N> &in, int k, const i32 *offsets) {
    return in.at[k] ? as<C>(*(const T *)(in.at[k] + offsets[k + 1])) : number<C>(in.single[k]);
}
template <class C, class O, class... I, int... K>
__device__ __forceinline__ void step(u8 *out, const Operands<sizeof...(I)> &in, const Numbers &numbers, const i32 *offsets, Types<I...>, Places<K...>) {
    *(O *)(out + offsets[0]) = as<O>(apply<C>(numbers, element<C, I>(in, K, offsets)...));
}

// Elements at any places.
template <class P, class O, class... I>
__global__ void __launch_bounds__(256)
    strided(u32 count, u8 *out, Operands<sizeof...(I)> in, Numbers numbers, Walk walk) {
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        i32 offsets[sizeof...(I) + 1];
        walk.places(at, offsets);
        step<compute_t<P>, O>(out, in, numbers, offsets, Types<I...>(), typename Counted<sizeof...(I)>::type());
    }
}

template <class C, int N> __device__ __forceinline__ C any_element(const Operands<N> &in, int k, const i32 *offsets) {
    return in.at[k] ? load<C>(in.at[k] + offsets[k + 1], in.dtypes[k]) : number<C>(in.single[k]);
}
template <class C, int N, int... K>
__device__ __forceinline__ void any_step(u8 *out, i32 dtype, const Operands<N> &in, const Numbers &numbers, const i32 *offsets, Places<K...>) {
    store(out + offsets[0], dtype, apply<C>(numbers, any_element<C>(in, K, offsets)...));
}

// Elements at any places, of any dtypes.
template <class P>
__global__ void __launch_bounds__(256)
    mixed(u32 count, u8 *out, Operands<Operator::OPERANDS> in, Numbers numbers, Walk walk, i32 dtype) {
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        i32 offsets[Operator::OPERANDS + 1];
        walk.places(at, offsets);
        any_step<compute_t<P>>(out, dtype, in, numbers, offsets, typename Counted<Operator::OPERANDS>::type());
    }
}
