// The loops of reductions. The includer defines `template <class C> struct Fold`: the type of a total (`Total`), the first total, how an
// element and its index are added, how two totals are joined, and the one or two results.
#pragma once
#include "block.cuh"

// The part of a reduction that one launch computes: some of the results, from some parts of their elements. `chunks` is the number of
// pieces that a line is cut into.
struct Cut {
    double given[2];
    u64 first;
    i64 length, chunk;
    u32 results, lanes, chunks, parts, first_part, along;
    i32 dtypes[2];
    u32 bytes[2];
};

struct Target {
    u8 *results[2];
    u8 *partials;
};

const u32 THREADS = 256, WIDTH = 4;

template <class C> __device__ __forceinline__ void give(const Fold<C> &fold, const typename Fold<C>::Total &total, u64 result, u32 part, const Target &to, const Cut &cut) {
    typedef typename Fold<C>::Total Total;
    static_assert(sizeof(Total) <= 4 * sizeof(C), "the room that partial totals have");
    if (cut.parts > 1) {
        ((Total *)to.partials)[result * cut.parts + cut.first_part + part] = total;
        return;
    }
    store(to.results[0] + result * cut.bytes[0], cut.dtypes[0], fold.first(total));
    if (to.results[1]) store(to.results[1] + result * cut.bytes[1], cut.dtypes[1], fold.second(total));
}

template <class C> __device__ __forceinline__ auto joiner(const Fold<C> &fold) {
    return [&fold](typename Fold<C>::Total a, typename Fold<C>::Total b) { return fold.join(a, b); };
}

// The result and the part that a group of threads computes.
struct Turn {
    u32 result, part, lane;
    bool live;
    __device__ __forceinline__ Turn(const Cut &cut) {
        u32 together = THREADS / cut.lanes, blocks = (cut.results - 1) / together + 1;
        part = blockIdx.x / blocks;
        result = (blockIdx.x - part * blocks) * together + threadIdx.x / cut.lanes;
        lane = threadIdx.x & (cut.lanes - 1);
        live = result < cut.results;
        if (!live) result = 0;
    }
};

// Reduces rows of adjacent elements, sixteen bytes at a time. A row may begin at any address.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) rows(const u8 *in, Target to, Walk kept, Walk gone, Cut cut) {
    typedef typename Fold<C>::Total Total;
    const int V = 16 / sizeof(T), FLIGHT = V < 16 ? 16 / V : 1;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(cut.given[0]), C(cut.given[1])}};
    Turn turn(cut);
    u32 line = turn.part / cut.chunks;
    i64 begin = (turn.part - line * cut.chunks) * cut.chunk, count = cut.length - begin < cut.chunk ? cut.length - begin : cut.chunk;
    i32 places[2], skipped[1];
    kept.places(turn.result, places);
    gone.places(line, skipped);
    const T *at = (const T *)(in + places[0] + skipped[0]) + begin;
    begin += line * cut.length;
    Total total = fold.begin();
    if (turn.live) {
        i64 head = (V - (u64(at) / sizeof(T)) % V) % V;
        if (head > count) head = count;
        i64 packs = (count - head) / V;
#pragma unroll 1
        for (i64 i = turn.lane; i < head; i += cut.lanes) total = fold.add(total, as<C>(at[i]), begin + i);
        const Pack<T, V> *pack = (const Pack<T, V> *)(at + head);
#pragma unroll FLIGHT
        for (i64 i = turn.lane; i < packs; i += cut.lanes) {
            Pack<T, V> elements = pack[i];
#pragma unroll
            for (int v = 0; v < V; v++) total = fold.add(total, as<C>(elements.of[v]), begin + head + i * V + v);
        }
#pragma unroll 1
        for (i64 i = head + packs * V + turn.lane; i < count; i += cut.lanes) total = fold.add(total, as<C>(at[i]), begin + i);
    }
    total = joined_among(cut.lanes, total, joiner(fold), scratch);
    if (turn.live && turn.lane == 0) give(fold, total, cut.first + places[1], turn.part, to, cut);
}

// Visits every `apart`-th element. Loads several elements before the first is used.
template <class E, class Visit> __device__ __forceinline__ void each(const u8 *in, const Walk &gone, u32 at, u32 end, u32 apart, Visit visit) {
    const u32 FLIGHT = sizeof(E) < 16 ? 8 : 4;
#pragma unroll 1
    for (; u64(at) + (FLIGHT - 1) * apart < end; at += FLIGHT * apart) {
        u32 numbers[FLIGHT];
        i32 places[FLIGHT][1];
        E elements[FLIGHT];
#pragma unroll
        for (u32 i = 0; i < FLIGHT; i++) numbers[i] = at + i * apart;
        gone.places(numbers, places);
#pragma unroll
        for (u32 i = 0; i < FLIGHT; i++) elements[i] = *(const E *)(in + places[i][0]);
#pragma unroll
        for (u32 i = 0; i < FLIGHT; i++) visit(elements[i], at + i * apart);
    }
#pragma unroll 1
    for (; at < end; at += apart) {
        i32 place[1];
        gone.places(at, place);
        visit(*(const E *)(in + place[0]), at);
    }
}

// Reduces adjacent columns: a thread of a warp has four of them, and the warps of a block share the reduced elements.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) columns(const u8 *in, Target to, Walk kept, Walk gone, Cut cut) {
    typedef typename Fold<C>::Total Total;
    const u32 WARPS = THREADS / 32;
    __shared__ Total shared[WARPS][WIDTH][32];
    Fold<C> fold = {{C(cut.given[0]), C(cut.given[1])}};
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = (cut.results - 1) / 32 + 1, part = blockIdx.x / blocks;
    u32 column = (blockIdx.x - part * blocks) * 32 + lane;
    bool live = column < cut.results;
    u32 begin = u32(part * cut.chunk), end = u32(cut.length - begin < cut.chunk ? cut.length : begin + cut.chunk);
    i32 places[2];
    kept.places(live ? column : 0, places);
    Total totals[WIDTH];
#pragma unroll
    for (u32 v = 0; v < WIDTH; v++) totals[v] = fold.begin();
    if (live) {
        each<Pack<T, WIDTH>>(in + places[0], gone, begin + warp, end, WARPS, [&](const Pack<T, WIDTH> &elements, u32 j) {
#pragma unroll
            for (u32 v = 0; v < WIDTH; v++) totals[v] = fold.add(totals[v], as<C>(elements.of[v]), j);
        });
    }
#pragma unroll
    for (u32 v = 0; v < WIDTH; v++) shared[warp][v][lane] = totals[v];
    __syncthreads();
    if (warp < WIDTH && live) {
        Total total = shared[0][warp][lane];
        for (u32 i = 1; i < WARPS; i++) total = fold.join(total, shared[i][warp][lane]);
        give(fold, total, cut.first + places[1] + u64(warp) * cut.along, part, to, cut);
    }
}

// Reduces elements with any strides.
template <class C, class T>
__global__ void __launch_bounds__(THREADS) strided(const u8 *in, Target to, Walk kept, Walk gone, Cut cut) {
    typedef typename Fold<C>::Total Total;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(cut.given[0]), C(cut.given[1])}};
    Turn turn(cut);
    u32 begin = u32(turn.part * cut.chunk), end = u32(cut.length - begin < cut.chunk ? cut.length : begin + cut.chunk);
    i32 places[2];
    kept.places(turn.result, places);
    Total total = fold.begin();
    if (turn.live)
        each<T>(in + places[0], gone, begin + turn.lane, end, cut.lanes, [&](T element, u32 j) { total = fold.add(total, as<C>(element), j); });
    total = joined_among(cut.lanes, total, joiner(fold), scratch);
    if (turn.live && turn.lane == 0) give(fold, total, cut.first + places[1], turn.part, to, cut);
}

// Joins the partial totals, `length` of them for each result.
template <class C> __global__ void __launch_bounds__(THREADS) merged(const u8 *partials, Target to, Cut cut) {
    typedef typename Fold<C>::Total Total;
    __shared__ Total scratch[32];
    Fold<C> fold = {{C(cut.given[0]), C(cut.given[1])}};
    Turn turn(cut);
    Total total = fold.begin();
    const Total *parts = (const Total *)partials + u64(turn.result) * cut.length;
    if (turn.live)
        for (i64 i = turn.lane; i < cut.length; i += cut.lanes) total = fold.join(total, parts[i]);
    total = joined_among(cut.lanes, total, joiner(fold), scratch);
    if (turn.live && turn.lane == 0) give(fold, total, turn.result, 0, to, cut);
}
