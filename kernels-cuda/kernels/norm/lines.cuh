// Contiguous lines, each in the registers of the threads that share it, so that memory is read once. A line that is too long for the
// registers is processed in tiles, and read again.
#pragma once
#include "block.cuh"

// The lines of a launch: their length and count, the threads of each, and whether these load packs.
struct Lines {
    u32 length, count, lanes, packed;
};

const u32 ELEMENTS_PER_THREAD = 16, PACK = 4;

// A thread's share of a line: the line, and the positions of the elements that the thread holds.
struct ThreadLine {
    u64 index;
    u32 number, length, lanes, lane;
    bool packed, is_active;
    __device__ __forceinline__ ThreadLine(const Lines &lines) : number(0), length(lines.length), lanes(lines.lanes), packed(lines.packed) {
        lane = threadIdx.x & (lanes - 1);
        move_to_line_after(blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes, lines);
    }
    // Moves the thread to the line `further` lines later.
    __device__ __forceinline__ void move_to_line_after(u32 further, const Lines &lines) {
        number += further;
        is_active = number < lines.count;
        index = is_active ? number : 0;
    }
    __device__ __forceinline__ u32 tiles() const { return length ? (length - 1) / (lanes * ELEMENTS_PER_THREAD) + 1 : 1; }
    __device__ __forceinline__ u32 element_position(u32 tile, u32 i) const {
        return tile * lanes * ELEMENTS_PER_THREAD + (packed ? (i / PACK * lanes + lane) * PACK + i % PACK : i * lanes + lane);
    }
    __device__ __forceinline__ u64 start() const { return index * length; }
    // Replaces a tile's elements behind the end of the line by `otherwise`.
    template <class C> __device__ __forceinline__ void fill_tail(C (&x)[ELEMENTS_PER_THREAD], u32 tile, C otherwise) const {
        if ((tile + 1) * lanes * ELEMENTS_PER_THREAD <= length) return;
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = element_position(tile, i) < length ? x[i] : otherwise;
    }
    // Loads the elements of a tile, and `otherwise` behind the end of the line.
    template <class C, class T> __device__ __forceinline__ void load_tile(C (&x)[ELEMENTS_PER_THREAD], const T *in, u32 tile, C otherwise) const {
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i += PACK) {
            if (packed) {
                u32 at = element_position(tile, i);
                bool there = is_active && at < length;
                Pack<T, PACK> pack;
                if (there) pack = *(const Pack<T, PACK> *)(in + at);
#pragma unroll
                for (u32 v = 0; v < PACK; v++) x[i + v] = there ? as<C>(pack.elements[v]) : otherwise;
            } else {
#pragma unroll
                for (u32 v = 0; v < PACK; v++) {
                    u32 at = element_position(tile, i + v);
                    x[i + v] = is_active && at < length ? as<C>(in[at]) : otherwise;
                }
            }
        }
    }
    template <class C, class T> __device__ __forceinline__ void store_tile(T *out, const C (&x)[ELEMENTS_PER_THREAD], u32 tile) const {
        if (!is_active) return;
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i += PACK) {
            if (packed) {
                u32 at = element_position(tile, i);
                Pack<T, PACK> pack;
#pragma unroll
                for (u32 v = 0; v < PACK; v++) pack.elements[v] = as<T>(x[i + v]);
                if (at < length) *(Pack<T, PACK> *)(out + at) = pack;
            } else {
#pragma unroll
                for (u32 v = 0; v < PACK; v++) {
                    u32 at = element_position(tile, i + v);
                    if (at < length) out[at] = as<T>(x[i + v]);
                }
            }
        }
    }
};
