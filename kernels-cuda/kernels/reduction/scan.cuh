// The loops of scans. The includer defines `template <class C> struct Scan`: the type of the state, the initial state, the state of one
// element, the join of two consecutive states, and the one or two results of a state.
#pragma once
#include "block.cuh"

struct ScanShape {
    i64 length, inner;
    // The number of lines, the number of elements of a chunk, which one block scans, and the number of chunks of a line.
    i64 lines, chunk;
    u32 chunks, lanes;
};

const u32 THREADS = 256, ELEMENTS_PER_THREAD = 4;

template <class T> __device__ __forceinline__ T shuffle_up(T value, u32 distance) {
    return exchange_words(value, [=](u32 word) { return __shfl_up_sync(~0u, word, distance); });
}
template <class T> __device__ __forceinline__ T broadcast_last_lane(T value) {
    return exchange_words(value, [=](u32 word) { return __shfl_sync(~0u, word, 31); });
}

// The results of `exclusive_scan` for a thread: the join of the states before its own, and that of all states of its group, a warp or the
// block.
template <class State> struct ExclusiveScan {
    State before, all;
};
template <class S> __device__ __forceinline__ ExclusiveScan<typename S::State> exclusive_scan(const S &scan, u32 lanes, typename S::State value, typename S::State *scratch) {
    typedef typename S::State State;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        State other = shuffle_up(value, distance);
        if (lane >= distance) value = scan.join(other, value);
    }
    State before = shuffle_up(value, 1);
    bool first = lane == 0;
    if (lanes == 32) return {first ? scan.initial() : before, broadcast_last_lane(value)};
    __syncthreads();
    if (lane == 31) scratch[warp] = value;
    __syncthreads();
    State earlier = scratch[0], all = scratch[0];
    for (u32 i = 1; i < THREADS / 32; i++) {
        if (i < warp) earlier = scan.join(earlier, scratch[i]);
        all = scan.join(all, scratch[i]);
    }
    if (warp == 0) return {first ? scan.initial() : before, all};
    return {first ? earlier : scan.join(earlier, before), all};
}

// The line and the elements that a group of threads scans.
struct ScanRange {
    i64 line, begin, end;
    u32 chunk, lane;
    __device__ __forceinline__ ScanRange(const ScanShape &shape) {
        u64 number = u64(blockIdx.x) * (THREADS / shape.lanes) + threadIdx.x / shape.lanes;
        line = i64(number / shape.chunks);
        chunk = u32(number % shape.chunks);
        lane = threadIdx.x & (shape.lanes - 1);
        begin = chunk * shape.chunk;
        end = line >= shape.lines ? begin : begin + shape.chunk < shape.length ? begin + shape.chunk : shape.length;
    }
};

// Scans lines of adjacent elements. `partials` are the totals of the chunks: written if `out` is null, and read otherwise.
template <class T>
__global__ void __launch_bounds__(THREADS) scan_lines(const T *in, T *out, i64 *second, u8 *partials, ScanShape shape) {
    typedef compute_t<T> C;
    typedef typename Scan<C>::State State;
    __shared__ State scratch[32];
    Scan<C> scan;
    ScanRange range(shape);
    State carried = scan.initial();
    if (out && shape.chunks > 1) {
        // Joins the totals of the chunks before this one. There are at most as many chunks as threads.
        State own = threadIdx.x < range.chunk ? ((const State *)partials)[range.line * shape.chunks + threadIdx.x] : scan.initial();
        carried = exclusive_scan(scan, shape.lanes, own, scratch).before;
        __shared__ State kept;
        __syncthreads();
        if (threadIdx.x == range.chunk) kept = carried;
        __syncthreads();
        carried = kept;
    }
    const T *line = in + range.line * shape.length;
    for (i64 tile = range.begin; tile < range.begin + shape.chunk; tile += shape.lanes * ELEMENTS_PER_THREAD) {
        State states[ELEMENTS_PER_THREAD], sum = scan.initial();
        i64 at = tile + range.lane * ELEMENTS_PER_THREAD;
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
            if (at + i < range.end) sum = i ? scan.join(sum, scan.from_element(as<C>(line[at + i]), at + i)) : scan.from_element(as<C>(line[at]), at);
            states[i] = sum;
        }
        ExclusiveScan<State> ranks = exclusive_scan(scan, shape.lanes, sum, scratch);
        State before = scan.join(carried, ranks.before);
        if (out) {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++)
                if (at + i < range.end) {
                    State state = scan.join(before, states[i]);
                    out[range.line * shape.length + at + i] = as<T>(scan.first(state));
                    if (second) second[range.line * shape.length + at + i] = scan.second(state);
                }
        }
        carried = scan.join(carried, ranks.all);
    }
    if (!out && threadIdx.x == 0) ((State *)partials)[range.line * shape.chunks + range.chunk] = carried;
}

// Scans lines whose elements are not adjacent, with a thread for each. Adjacent lines are in adjacent threads.
template <class T> __global__ void __launch_bounds__(THREADS) scan_columns(const T *in, T *out, i64 *second, ScanShape shape) {
    typedef compute_t<T> C;
    Scan<C> scan;
    i64 number = i64(blockIdx.x) * THREADS + threadIdx.x;
    if (number >= shape.lines) return;
    i64 at = number / shape.inner * shape.inner * shape.length + number % shape.inner;
    typename Scan<C>::State state = scan.initial();
#pragma unroll 4
    for (i64 j = 0; j < shape.length; j++, at += shape.inner) {
        state = scan.join(state, scan.from_element(as<C>(in[at]), j));
        out[at] = as<T>(scan.first(state));
        if (second) second[at] = scan.second(state);
    }
}
