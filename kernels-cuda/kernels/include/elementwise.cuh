// The loops of elementwise operators. The includer defines `struct Operator`: the numbers of its OPERANDS and of its scalar arguments
// (NUMBERS), and a function `of` that computes an element. `O` is the dtype of the result, or another type if the dtype is not known at
// compile time.
#pragma once
#include "opdispatch.cuh"

// The operands' addresses. An operand with a null address is the scalar `single`.
template <int N> struct Operands {
    const u8 *at[N];
    u64 single[N];
    // A bit for each operand that has a single element.
    u32 singles;
    u8 dtypes[N];
    // The dtype that the operands promote to.
    u8 common;
};

// The scalar arguments of an operator, in the type that elements are computed in.
struct Numbers {
    u64 bits[4];
};

template <class C> __device__ __forceinline__ C number(u64 bits);
template <> __device__ __forceinline__ float number<float>(u64 bits) { return bit_cast<float>(u32(bits)); }
template <> __device__ __forceinline__ double number<double>(u64 bits) { return bit_cast<double>(bits); }
template <> __device__ __forceinline__ i32 number<i32>(u64 bits) { return i32(bits); }
template <> __device__ __forceinline__ i64 number<i64>(u64 bits) { return i64(bits); }

template <class O, class C, int... K, class... X>
__device__ __forceinline__ auto with_numbers(const Numbers &numbers, Places<K...>, X... elements) {
    return Operator::template of<O>(elements..., number<C>(numbers.bits[K])...);
}
template <class O, class C, class... X> __device__ __forceinline__ auto apply(const Numbers &numbers, X... elements) {
    return with_numbers<O, C>(numbers, typename Counted<Operator::NUMBERS>::type(), elements...);
}

template <class... T> struct Types {
    static const int WIDEST = 1;
};
template <class T, class... More> struct Types<T, More...> {
    static const int WIDEST = int(sizeof(T)) > Types<More...>::WIDEST ? int(sizeof(T)) : Types<More...>::WIDEST;
};

// The elements of a pack. It has no alignment of its own, so that it stays in registers.
template <class C, int V> struct Run {
    C of[V];
};

// Loads a thread's elements of an operand: adjacent ones, or a single one repeated.
template <class T, int V> __device__ __forceinline__ Pack<T, V> fetched(const u8 *at, bool one) {
    Pack<T, V> pack;
    if (one) {
        T x{};
        if (at) x = *(const T *)at;
#pragma unroll
        for (int i = 0; i < V; i++) pack.of[i] = x;
    } else {
        pack = *(const Pack<T, V> *)at;
    }
    return pack;
}
template <class C, class T, int V, int N> __device__ __forceinline__ Run<C, V> run_of(const Operands<N> &in, int k, const Pack<T, V> &pack) {
    Run<C, V> run;
#pragma unroll
    for (int i = 0; i < V; i++) run.of[i] = in.at[k] ? as<C>(pack.of[i]) : number<C>(in.single[k]);
    return run;
}
template <class P, class O, int V, class... R> __device__ __forceinline__ Pack<O, V> applied(const Numbers &numbers, const R &...runs) {
    Pack<O, V> results;
#pragma unroll
    for (int i = 0; i < V; i++) results.of[i] = as<O>(apply<O, compute_t<P>>(numbers, runs.of[i]...));
    return results;
}
template <class P, class O, int V, class... I, int... K>
__device__ __forceinline__ Pack<O, V> computed(const Operands<sizeof...(I)> &in, const Numbers &numbers, Places<K...>, const Pack<I, V> &...packs) {
    return applied<P, O, V>(numbers, run_of<compute_t<P>, I, V>(in, K, packs)...);
}

// Computes one pack of results. Without `SINGLES`, all operands are loaded before any is used, as no branch is between the loads.
template <class P, class O, int V, bool SINGLES, class... I, int... K>
__device__ __forceinline__ void piece(O *out, u64 at, const Operands<sizeof...(I)> &in, const Numbers &numbers, Types<I...>, Places<K...> places) {
    *(Pack<O, V> *)(out + at) = computed<P, O, V, I...>(
        in, numbers, places, fetched<I, V>(in.at[K] + (SINGLES && in.singles >> K & 1 ? 0 : at * sizeof(I)), SINGLES && in.singles >> K & 1)...);
}

// The contiguous loop: each thread computes sixteen bytes of the widest operand. All addresses are aligned to that.
template <class P, class O, class... I>
__global__ void __launch_bounds__(256) packed(u64 count, O *out, Operands<sizeof...(I)> in, Numbers numbers) {
    const int V = 16 / Types<O, I...>::WIDEST;
    typename Counted<sizeof...(I)>::type places;
    u64 at = (u64(blockIdx.x) * blockDim.x + threadIdx.x) * V;
    if (at + V <= count && in.singles == 0) {
        piece<P, O, V, false>(out, at, in, numbers, Types<I...>(), places);
    } else if (at + V <= count) {
        piece<P, O, V, true>(out, at, in, numbers, Types<I...>(), places);
    } else {
#pragma unroll 1
        for (; at < count; at++) piece<P, O, 1, true>(out, at, in, numbers, Types<I...>(), places);
    }
}

// Computes one pack in the strided loop: along the innermost dimension, an operand is contiguous or has stride 0.
template <class P, class O, class... I, int... K>
__device__ __forceinline__ void stretched(u32 count, u8 *out, const Operands<sizeof...(I)> &in, const Numbers &numbers, const Walk &walk, Types<I...>, Places<K...> places) {
    const int V = 16 / Types<O, I...>::WIDEST;
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[sizeof...(I) + 1];
    walk.places(at, offsets);
    *(Pack<O, V> *)(out + offsets[0]) =
        computed<P, O, V, I...>(in, numbers, places, fetched<I, V>(in.at[K] + offsets[K + 1], walk.steps[0][K + 1] == 0)...);
}

// Computes elements with any strides, several in each thread.
const int SCATTERED = 4;
template <class T, int N> __device__ __forceinline__ Pack<T, SCATTERED> gathered(const u8 *at, const i32 (&offsets)[SCATTERED][N], int k) {
    Pack<T, SCATTERED> pack;
#pragma unroll
    for (int i = 0; i < SCATTERED; i++) pack.of[i] = at ? *(const T *)(at + offsets[i][k]) : T{};
    return pack;
}
template <class P, class O, class... I, int... K>
__device__ __forceinline__ void scattered(u32 count, u8 *out, const Operands<sizeof...(I)> &in, const Numbers &numbers, const Walk &walk, Types<I...>, Places<K...> places) {
    u32 first = blockIdx.x * blockDim.x * SCATTERED + threadIdx.x, at[SCATTERED];
#pragma unroll
    for (int i = 0; i < SCATTERED; i++) {
        u32 own = first + i * blockDim.x;
        at[i] = own < count ? own : count - 1;
    }
    i32 offsets[SCATTERED][sizeof...(I) + 1];
    walk.places(at, offsets);
    Pack<O, SCATTERED> results = computed<P, O, SCATTERED, I...>(in, numbers, places, gathered<I>(in.at[K], offsets, K + 1)...);
#pragma unroll
    for (int i = 0; i < SCATTERED; i++)
        if (first + i * blockDim.x < count) *(O *)(out + offsets[i][0]) = results.of[i];
}

template <class P, class O, class... I>
__global__ void __launch_bounds__(256) strided(u32 count, u8 *out, Operands<sizeof...(I)> in, Numbers numbers, Walk walk, bool in_packs) {
    typename Counted<sizeof...(I)>::type places;
    if (in_packs) {
        stretched<P, O>(count, out, in, numbers, walk, Types<I...>(), places);
    } else {
        scattered<P, O>(count, out, in, numbers, walk, Types<I...>(), places);
    }
}

// Loads an element of any dtype. If its dtype is not the promoted one, it is rounded to that first.
template <class C, int N> __device__ __forceinline__ C any_element(const Operands<N> &in, int k, const i32 *offsets) {
    if (!in.at[k]) return number<C>(in.single[k]);
    C x = load<C>(in.at[k] + offsets[k + 1], in.dtypes[k]);
    if (in.dtypes[k] == in.common) return x;
    u64 place;
    store(&place, in.common, x);
    return load<C>(&place, in.common);
}
template <class P, int N, int... K>
__device__ __forceinline__ void any_step(u8 *out, i32 dtype, const Operands<N> &in, const Numbers &numbers, const i32 *offsets, Places<K...>) {
    store(out + offsets[0], dtype, apply<P, compute_t<P>>(numbers, any_element<compute_t<P>>(in, K, offsets)...));
}

// The mixed loop: elements with any strides and any dtypes.
template <class P>
__global__ void __launch_bounds__(256)
    mixed(u32 count, u8 *out, Operands<Operator::OPERANDS> in, Numbers numbers, Walk walk, i32 dtype) {
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        i32 offsets[Operator::OPERANDS + 1];
        walk.places(at, offsets);
        any_step<P>(out, dtype, in, numbers, offsets, typename Counted<Operator::OPERANDS>::type());
    }
}
