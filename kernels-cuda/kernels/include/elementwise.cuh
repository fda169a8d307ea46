// The loops of elementwise operators. The includer defines `struct Operator`: the numbers of its operands (OPERANDS) and of its scalar
// arguments (SCALARS), and a function `of` that computes an element. `O` is the dtype of the result, or another type if the dtype is not
// known at compile time.
#pragma once
#include "opdispatch.cuh"

// The operands' addresses and dtypes. An operand with a null address is the scalar in `scalars`.
template <int N> struct Operands {
    const u8 *addresses[N];
    u64 scalars[N];
    // A bit for each operand that has a single element.
    u32 single_elements;
    u8 dtypes[N];
    // The dtype that the operands promote to.
    u8 promoted;
};

// The scalar arguments of an operator, in the type that elements are computed in.
struct Scalars {
    u64 bits[4];
};

template <class C> __device__ __forceinline__ C scalar(u64 bits);
template <> __device__ __forceinline__ float scalar<float>(u64 bits) { return bit_cast<float>(u32(bits)); }
template <> __device__ __forceinline__ double scalar<double>(u64 bits) { return bit_cast<double>(bits); }
template <> __device__ __forceinline__ i32 scalar<i32>(u64 bits) { return i32(bits); }
template <> __device__ __forceinline__ i64 scalar<i64>(u64 bits) { return i64(bits); }

template <class O, class C, int... K, class... X>
__device__ __forceinline__ auto apply_operator_with_scalars(const Scalars &scalars, IndexSequence<K...>, X... elements) {
    return Operator::template of<O>(elements..., scalar<C>(scalars.bits[K])...);
}
template <class O, class C, class... X> __device__ __forceinline__ auto apply_operator(const Scalars &scalars, X... elements) {
    return apply_operator_with_scalars<O, C>(scalars, typename MakeIndexSequence<Operator::SCALARS>::type(), elements...);
}

template <class... T> struct TypeList {
    static const int WIDEST = 1;
};
template <class T, class... More> struct TypeList<T, More...> {
    static const int WIDEST = int(sizeof(T)) > TypeList<More...>::WIDEST ? int(sizeof(T)) : TypeList<More...>::WIDEST;
};

// The elements of a pack that is not in memory. It has no alignment of its own, so that it stays in registers.
template <class C, int V> struct RegisterPack {
    C elements[V];
};

// Loads a thread's elements of an operand: adjacent ones, or a single one repeated.
template <class T, int V> __device__ __forceinline__ Pack<T, V> load_pack(const u8 *at, bool one) {
    Pack<T, V> pack;
    if (one) {
        T x{};
        if (at) x = *(const T *)at;
#pragma unroll
        for (int i = 0; i < V; i++) pack.elements[i] = x;
    } else {
        pack = *(const Pack<T, V> *)at;
    }
    return pack;
}
template <class C, class T, int V, int N> __device__ __forceinline__ RegisterPack<C, V> convert_pack(const Operands<N> &in, int k, const Pack<T, V> &pack) {
    RegisterPack<C, V> converted;
#pragma unroll
    for (int i = 0; i < V; i++) converted.elements[i] = in.addresses[k] ? as<C>(pack.elements[i]) : scalar<C>(in.scalars[k]);
    return converted;
}
template <class P, class O, int V, class... R> __device__ __forceinline__ Pack<O, V> apply_to_elements(const Scalars &scalars, const R &...packs) {
    Pack<O, V> results;
#pragma unroll
    for (int i = 0; i < V; i++) results.elements[i] = as<O>(apply_operator<O, compute_t<P>>(scalars, packs.elements[i]...));
    return results;
}
template <class P, class O, int V, class... I, int... K>
__device__ __forceinline__ Pack<O, V> compute_result_pack(const Operands<sizeof...(I)> &in, const Scalars &scalars, IndexSequence<K...>, const Pack<I, V> &...packs) {
    return apply_to_elements<P, O, V>(scalars, convert_pack<compute_t<P>, I, V>(in, K, packs)...);
}

// Computes one pack of results. Without `SINGLES`, all operands are loaded before any is used, as no branch is between the loads.
template <class P, class O, int V, bool SINGLES, class... I, int... K>
__device__ __forceinline__ void process_pack(O *out, u64 at, const Operands<sizeof...(I)> &in, const Scalars &scalars, TypeList<I...>, IndexSequence<K...> indices) {
    *(Pack<O, V> *)(out + at) = compute_result_pack<P, O, V, I...>(
        in, scalars, indices, load_pack<I, V>(in.addresses[K] + (SINGLES && in.single_elements >> K & 1 ? 0 : at * sizeof(I)), SINGLES && in.single_elements >> K & 1)...);
}

// The contiguous loop: each thread computes sixteen bytes of the widest operand. All addresses are aligned to that.
template <class P, class O, class... I>
__global__ void __launch_bounds__(256) contiguous(u64 count, O *out, Operands<sizeof...(I)> in, Scalars scalars) {
    const int V = 16 / TypeList<O, I...>::WIDEST;
    typename MakeIndexSequence<sizeof...(I)>::type indices;
    u64 at = (u64(blockIdx.x) * blockDim.x + threadIdx.x) * V;
    if (at + V <= count && in.single_elements == 0) {
        process_pack<P, O, V, false>(out, at, in, scalars, TypeList<I...>(), indices);
    } else if (at + V <= count) {
        process_pack<P, O, V, true>(out, at, in, scalars, TypeList<I...>(), indices);
    } else {
#pragma unroll 1
        for (; at < count; at++) process_pack<P, O, 1, true>(out, at, in, scalars, TypeList<I...>(), indices);
    }
}

// Computes one pack in the strided loop: along the innermost dimension, an operand is contiguous or has stride 0.
template <class P, class O, class... I, int... K>
__device__ __forceinline__ void process_strided_pack(u32 count, u8 *out, const Operands<sizeof...(I)> &in, const Scalars &scalars, const Walk &walk, TypeList<I...>, IndexSequence<K...> indices) {
    const int V = 16 / TypeList<O, I...>::WIDEST;
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[sizeof...(I) + 1];
    walk.offsets(at, offsets);
    *(Pack<O, V> *)(out + offsets[0]) =
        compute_result_pack<P, O, V, I...>(in, scalars, indices, load_pack<I, V>(in.addresses[K] + offsets[K + 1], walk.strides[0][K + 1] == 0)...);
}

// Computes elements with any strides, several in each thread.
const int ELEMENTS_PER_THREAD = 4;
template <class T, int N> __device__ __forceinline__ Pack<T, ELEMENTS_PER_THREAD> gather_elements(const u8 *at, const i32 (&offsets)[ELEMENTS_PER_THREAD][N], int k) {
    Pack<T, ELEMENTS_PER_THREAD> pack;
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_THREAD; i++) pack.elements[i] = at ? *(const T *)(at + offsets[i][k]) : T{};
    return pack;
}
template <class P, class O, class... I, int... K>
__device__ __forceinline__ void process_strided_elements(u32 count, u8 *out, const Operands<sizeof...(I)> &in, const Scalars &scalars, const Walk &walk, TypeList<I...>, IndexSequence<K...> indices) {
    u32 first = blockIdx.x * blockDim.x * ELEMENTS_PER_THREAD + threadIdx.x, at[ELEMENTS_PER_THREAD];
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_THREAD; i++) {
        u32 own = first + i * blockDim.x;
        at[i] = own < count ? own : count - 1;
    }
    i32 offsets[ELEMENTS_PER_THREAD][sizeof...(I) + 1];
    walk.offsets(at, offsets);
    Pack<O, ELEMENTS_PER_THREAD> results = compute_result_pack<P, O, ELEMENTS_PER_THREAD, I...>(in, scalars, indices, gather_elements<I>(in.addresses[K], offsets, K + 1)...);
#pragma unroll
    for (int i = 0; i < ELEMENTS_PER_THREAD; i++)
        if (first + i * blockDim.x < count) *(O *)(out + offsets[i][0]) = results.elements[i];
}

template <class P, class O, class... I>
__global__ void __launch_bounds__(256) strided(u32 count, u8 *out, Operands<sizeof...(I)> in, Scalars scalars, Walk walk, bool in_packs) {
    typename MakeIndexSequence<sizeof...(I)>::type indices;
    if (in_packs) {
        process_strided_pack<P, O>(count, out, in, scalars, walk, TypeList<I...>(), indices);
    } else {
        process_strided_elements<P, O>(count, out, in, scalars, walk, TypeList<I...>(), indices);
    }
}

// Loads an element of any dtype. If its dtype is not the promoted one, it is rounded to that first.
template <class C, int N> __device__ __forceinline__ C load_any_dtype(const Operands<N> &in, int k, const i32 *offsets) {
    if (!in.addresses[k]) return scalar<C>(in.scalars[k]);
    C x = load<C>(in.addresses[k] + offsets[k + 1], in.dtypes[k]);
    if (in.dtypes[k] == in.promoted || in.dtypes[k] == BOOL) return x;
    u64 rounded;
    store(&rounded, in.promoted, x);
    return load<C>(&rounded, in.promoted);
}
template <class P, int N, int... K>
__device__ __forceinline__ void process_any_dtype(u8 *out, i32 dtype, const Operands<N> &in, const Scalars &scalars, const i32 *offsets, IndexSequence<K...>) {
    store(out + offsets[0], dtype, apply_operator<P, compute_t<P>>(scalars, load_any_dtype<compute_t<P>>(in, K, offsets)...));
}

// The mixed loop: elements with any strides and any dtypes.
template <class P>
__global__ void __launch_bounds__(256)
    mixed_dtypes(u32 count, u8 *out, Operands<Operator::OPERANDS> in, Scalars scalars, Walk walk, i32 dtype) {
    for (u32 at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        i32 offsets[Operator::OPERANDS + 1];
        walk.offsets(at, offsets);
        process_any_dtype<P>(out, dtype, in, scalars, offsets, typename MakeIndexSequence<Operator::OPERANDS>::type());
    }
}
