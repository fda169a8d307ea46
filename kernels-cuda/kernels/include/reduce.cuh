// The loops of reductions. The includer defines `template <class C> struct Fold`: the type of a total (`Total`), the first total, how an
// element and its index are added, how two totals are joined, and the one or two results.
#pragma once
#include "block.cuh"

// The part of a reduction that one launch computes: some of the results, from some parts of their elements. `chunks` is the number of
// pieces that a line is cut into.
struct ReductionShape {
    double scalars[2];
    u64 first_result;
    i64 length, chunk;
    u32 results, lanes, chunks, parts, first_part, column_stride;
    i32 dtypes[2];
    u32 element_sizes[2];
};

// The addresses of the one or two results, and of the partial totals.
struct ReductionTarget {
    u8 *results[2];
    u8 *partials;
};

const u32 THREADS = 256, COLUMNS_PER_THREAD = 4;

template <class C> __device__ __forceinline__ void write_result_or_partial_total(const Fold<C> &fold, const typename Fold<C>::Total &total, u64 result, u32 part, const ReductionTarget &to, const ReductionShape &shape) {
    typedef typename Fold<C>::Total Total;
    static_assert(sizeof(Total) <= 4 * sizeof(C), "partial totals must fit into their memory");
    if (shape.parts > 1) {
        ((Total *)to.partials)[result * shape.parts + shape.first_part + part] = total;
        return;
    }
    store(to.results[0] + result * shape.element_sizes[0], shape.dtypes[0], fold.first(total));
    if (to.results[1]) store(to.results[1] + result * shape.element_sizes[1], shape.dtypes[1], fold.second(total));
}

template <class C> __device__ __forceinline__ auto joiner_of_fold(const Fold<C> &fold) {
    return [&fold](typename Fold<C>::Total a, typename Fold<C>::Total b) { return fold.join(a, b); };
}

// The result and the part that a group of threads computes.
struct ThreadGroupTask {
    u32 result, part, lane;
    bool is_active;
    __device__ __forceinline__ ThreadGroupTask(const ReductionShape &shape) {
        u32 together = THREADS / shape.lanes, blocks = (shape.results - 1) / together + 1;
        part = blockIdx.x / blocks;
        result = (blockIdx.x - part * blocks) * together + threadIdx.x / shape.lanes;
        lane = threadIdx.x & (shape.lanes - 1);
        is_active = result < shape.results;
        if (!is_active) result = 0;
    }
};

// Reduces rows of adjacent elements, sixteen bytes at a time. A row may begin at any address.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) reduce_rows(const u8 *in, ReductionTarget to, Walk kept_dims, Walk reduced_dims, ReductionShape shape) {
    typedef typename Fold<C>::Total Total;
    const int V = 16 / sizeof(T), LOADS_IN_FLIGHT = V < 16 ? 16 / V : 1;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(shape.scalars[0]), C(shape.scalars[1])}};
    ThreadGroupTask task(shape);
    u32 line = task.part / shape.chunks;
    i64 begin = (task.part - line * shape.chunks) * shape.chunk, count = shape.length - begin < shape.chunk ? shape.length - begin : shape.chunk;
    i32 offsets[2], skipped[1];
    kept_dims.offsets(task.result, offsets);
    reduced_dims.offsets(line, skipped);
    const T *at = (const T *)(in + offsets[0] + skipped[0]) + begin;
    begin += line * shape.length;
    Total total = fold.initial();
    if (task.is_active) {
        i64 head = (V - (u64(at) / sizeof(T)) % V) % V;
        if (head > count) head = count;
        i64 packs = (count - head) / V;
#pragma unroll 1
        for (i64 i = task.lane; i < head; i += shape.lanes) total = fold.add(total, as<C>(at[i]), begin + i);
        const Pack<T, V> *pack = (const Pack<T, V> *)(at + head);
#pragma unroll LOADS_IN_FLIGHT
        for (i64 i = task.lane; i < packs; i += shape.lanes) {
            Pack<T, V> elements = pack[i];
#pragma unroll
            for (int v = 0; v < V; v++) total = fold.add(total, as<C>(elements.elements[v]), begin + head + i * V + v);
        }
#pragma unroll 1
        for (i64 i = head + packs * V + task.lane; i < count; i += shape.lanes) total = fold.add(total, as<C>(at[i]), begin + i);
    }
    total = reduce_group(shape.lanes, total, joiner_of_fold(fold), scratch);
    if (task.is_active && task.lane == 0) write_result_or_partial_total(fold, total, shape.first_result + offsets[1], task.part, to, shape);
}

// Visits every `stride`-th element. Loads several elements before the first is used.
template <class E, class Visit> __device__ __forceinline__ void for_each_element(const u8 *in, const Walk &reduced_dims, u32 at, u32 end, u32 stride, Visit visit) {
    const u32 LOADS_IN_FLIGHT = sizeof(E) < 16 ? 8 : 4;
#pragma unroll 1
    for (; u64(at) + (LOADS_IN_FLIGHT - 1) * stride < end; at += LOADS_IN_FLIGHT * stride) {
        u32 numbers[LOADS_IN_FLIGHT];
        i32 offsets[LOADS_IN_FLIGHT][1];
        E elements[LOADS_IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < LOADS_IN_FLIGHT; i++) numbers[i] = at + i * stride;
        reduced_dims.offsets(numbers, offsets);
#pragma unroll
        for (u32 i = 0; i < LOADS_IN_FLIGHT; i++) elements[i] = *(const E *)(in + offsets[i][0]);
#pragma unroll
        for (u32 i = 0; i < LOADS_IN_FLIGHT; i++) visit(elements[i], at + i * stride);
    }
#pragma unroll 1
    for (; at < end; at += stride) {
        i32 offset[1];
        reduced_dims.offsets(at, offset);
        visit(*(const E *)(in + offset[0]), at);
    }
}

// Reduces adjacent columns: a thread of a warp has four of them, and the warps of a block share the reduced elements.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) reduce_columns(const u8 *in, ReductionTarget to, Walk kept_dims, Walk reduced_dims, ReductionShape shape) {
    typedef typename Fold<C>::Total Total;
    const u32 WARPS = THREADS / 32;
    __shared__ Total shared[WARPS][COLUMNS_PER_THREAD][32];
    Fold<C> fold = {{C(shape.scalars[0]), C(shape.scalars[1])}};
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = (shape.results - 1) / 32 + 1, part = blockIdx.x / blocks;
    u32 column = (blockIdx.x - part * blocks) * 32 + lane;
    bool is_active = column < shape.results;
    u32 begin = u32(part * shape.chunk), end = u32(shape.length - begin < shape.chunk ? shape.length : begin + shape.chunk);
    i32 offsets[2];
    kept_dims.offsets(is_active ? column : 0, offsets);
    Total totals[COLUMNS_PER_THREAD];
#pragma unroll
    for (u32 v = 0; v < COLUMNS_PER_THREAD; v++) totals[v] = fold.initial();
    if (is_active) {
        for_each_element<Pack<T, COLUMNS_PER_THREAD>>(in + offsets[0], reduced_dims, begin + warp, end, WARPS, [&](const Pack<T, COLUMNS_PER_THREAD> &elements, u32 j) {
#pragma unroll
            for (u32 v = 0; v < COLUMNS_PER_THREAD; v++) totals[v] = fold.add(totals[v], as<C>(elements.elements[v]), j);
        });
    }
#pragma unroll
    for (u32 v = 0; v < COLUMNS_PER_THREAD; v++) shared[warp][v][lane] = totals[v];
    __syncthreads();
    if (warp < COLUMNS_PER_THREAD && is_active) {
        Total total = shared[0][warp][lane];
        for (u32 i = 1; i < WARPS; i++) total = fold.join(total, shared[i][warp][lane]);
        write_result_or_partial_total(fold, total, shape.first_result + offsets[1] + u64(warp) * shape.column_stride, part, to, shape);
    }
}

// Reduces elements with any strides.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) reduce_strided(const u8 *in, ReductionTarget to, Walk kept_dims, Walk reduced_dims, ReductionShape shape) {
    typedef typename Fold<C>::Total Total;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(shape.scalars[0]), C(shape.scalars[1])}};
    ThreadGroupTask task(shape);
    u32 begin = u32(task.part * shape.chunk), end = u32(shape.length - begin < shape.chunk ? shape.length : begin + shape.chunk);
    i32 offsets[2];
    kept_dims.offsets(task.result, offsets);
    Total total = fold.initial();
    if (task.is_active)
        for_each_element<T>(in + offsets[0], reduced_dims, begin + task.lane, end, shape.lanes, [&](T element, u32 j) { total = fold.add(total, as<C>(element), j); });
    total = reduce_group(shape.lanes, total, joiner_of_fold(fold), scratch);
    if (task.is_active && task.lane == 0) write_result_or_partial_total(fold, total, shape.first_result + offsets[1], task.part, to, shape);
}

// Joins the partial totals, `length` of them for each result.
template <class C> __global__ void __launch_bounds__(THREADS) merge_partials(const u8 *partials, ReductionTarget to, ReductionShape shape) {
    typedef typename Fold<C>::Total Total;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(shape.scalars[0]), C(shape.scalars[1])}};
    ThreadGroupTask task(shape);
    Total total = fold.initial();
    const Total *parts = (const Total *)partials + u64(task.result) * shape.length;
    if (task.is_active)
        for (i64 i = task.lane; i < shape.length; i += shape.lanes) total = fold.join(total, parts[i]);
    total = reduce_group(shape.lanes, total, joiner_of_fold(fold), scratch);
    if (task.is_active && task.lane == 0) write_result_or_partial_total(fold, total, task.result, 0, to, shape);
}
