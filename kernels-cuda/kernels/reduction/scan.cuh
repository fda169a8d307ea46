// The loops of scans. The includer defines `template <class C> struct Scan`: the type of the state, the initial state, the state of one
// element, the join of two consecutive states, and the one or two results of a state.
#pragma once
#include "block.cuh"

struct Course {
    i64 length, inner;
    // The number of lines, the number of elements of a chunk, which one block scans, and the number of chunks of a line.
    i64 lines, chunk;
    u32 chunks, lanes;
};

const u32 THREADS = 256, EACH = 4;

template <class T> __device__ __forceinline__ T from_before(T value, u32 distance) {
    return exchanged(value, [=](u32 word) { return __shfl_up_sync(~0u, word, distance); });
}
template <class T> __device__ __forceinline__ T from_last(T value) {
    return exchanged(value, [=](u32 word) { return __shfl_sync(~0u, word, 31); });
}

// The results of `ranked` for a thread: the join of the states before its own, and that of all states of its group, a warp or the block.
template <class State> struct Ranked {
    State before, all;
};
template <class S> __device__ __forceinline__ Ranked<typename S::State> ranked(const S &scan, u32 lanes, typename S::State value, typename S::State *scratch) {
    typedef typename S::State State;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        State other = from_before(value, distance);
        if (lane >= distance) value = scan.join(other, value);
    }
    State before = from_before(value, 1);
    bool first = lane == 0;
    if (lanes == 32) return {first ? scan.begin() : before, from_last(value)};
    __syncthreads();
    if (lane == 31) scratch[warp] = value;
    __syncthreads();
    State earlier = scratch[0], all = scratch[0];
    for (u32 i = 1; i < THREADS / 32; i++) {
        if (i < warp) earlier = scan.join(earlier, scratch[i]);
        all = scan.join(all, scratch[i]);
    }
    if (warp == 0) return {first ? scan.begin() : before, all};
    return {first ? earlier : scan.join(earlier, before), all};
}

// The line and the elements that a group of threads scans.
struct Run {
    i64 line, begin, end;
    u32 chunk, lane;
    __device__ __forceinline__ Run(const Course &course) {
        u64 number = u64(blockIdx.x) * (THREADS / course.lanes) + threadIdx.x / course.lanes;
        line = i64(number / course.chunks);
        chunk = u32(number % course.chunks);
        lane = threadIdx.x & (course.lanes - 1);
        begin = chunk * course.chunk;
        end = line >= course.lines ? begin : begin + course.chunk < course.length ? begin + course.chunk : course.length;
    }
};

// Scans lines of adjacent elements. `partials` are the totals of the chunks: written if `out` is null, and read otherwise.
template <class T>
__global__ void __launch_bounds__(THREADS) lines(const T *in, T *out, i64 *second, u8 *partials, Course course) {
    typedef compute_t<T> C;
    typedef typename Scan<C>::State State;
    __shared__ State scratch[32];
    Scan<C> scan;
    Run run(course);
    State carried = scan.begin();
    if (out && course.chunks > 1) {
        // Joins the totals of the chunks before this one. There are at most as many chunks as threads.
        State own = threadIdx.x < run.chunk ? ((const State *)partials)[run.line * course.chunks + threadIdx.x] : scan.begin();
        carried = ranked(scan, course.lanes, own, scratch).before;
        __shared__ State kept;
        __syncthreads();
        if (threadIdx.x == run.chunk) kept = carried;
        __syncthreads();
        carried = kept;
    }
    const T *line = in + run.line * course.length;
    for (i64 tile = run.begin; tile < run.begin + course.chunk; tile += course.lanes * EACH) {
        State states[EACH], sum = scan.begin();
        i64 at = tile + run.lane * EACH;
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            if (at + i < run.end) sum = i ? scan.join(sum, scan.of(as<C>(line[at + i]), at + i)) : scan.of(as<C>(line[at]), at);
            states[i] = sum;
        }
        Ranked<State> ranks = ranked(scan, course.lanes, sum, scratch);
        State before = scan.join(carried, ranks.before);
        if (out) {
#pragma unroll
            for (u32 i = 0; i < EACH; i++)
                if (at + i < run.end) {
                    State state = scan.join(before, states[i]);
                    out[run.line * course.length + at + i] = as<T>(scan.first(state));
                    if (second) second[run.line * course.length + at + i] = scan.second(state);
                }
        }
        carried = scan.join(carried, ranks.all);
    }
    if (!out && threadIdx.x == 0) ((State *)partials)[run.line * course.chunks + run.chunk] = carried;
}

// Scans lines whose elements are not adjacent, with a thread for each. Adjacent lines are in adjacent threads.
template <class T> __global__ void __launch_bounds__(THREADS) columns(const T *in, T *out, i64 *second, Course course) {
    typedef compute_t<T> C;
    Scan<C> scan;
    i64 number = i64(blockIdx.x) * THREADS + threadIdx.x;
    if (number >= course.lines) return;
    i64 at = number / course.inner * course.inner * course.length + number % course.inner;
    typename Scan<C>::State state = scan.begin();
#pragma unroll 4
    for (i64 j = 0; j < course.length; j++, at += course.inner) {
        state = scan.join(state, scan.of(as<C>(in[at]), j));
        out[at] = as<T>(scan.first(state));
        if (second) second[at] = scan.second(state);
    }
}
