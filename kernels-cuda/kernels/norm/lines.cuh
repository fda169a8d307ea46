// Contiguous lines, each in the registers of the threads that share it, so that memory is read once. A line that is too long for the
// registers is processed in tiles, and read again.
#pragma once
#include "block.cuh"

struct Lines {
    u32 length, count, lanes, packed;
};

const u32 HELD = 16, PACK = 4;

// The line and the elements that a thread has.
struct Share {
    u64 line;
    u32 number, length, lanes, lane;
    bool packed, live;
    __device__ __forceinline__ Share(const Lines &lines) : number(0), length(lines.length), lanes(lines.lanes), packed(lines.packed) {
        lane = threadIdx.x & (lanes - 1);
        go(blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes, lines);
    }
    // Moves on by `further` lines.
    __device__ __forceinline__ void go(u32 further, const Lines &lines) {
        number += further;
        live = number < lines.count;
        line = live ? number : 0;
    }
    __device__ __forceinline__ u32 tiles() const { return length ? (length - 1) / (lanes * HELD) + 1 : 1; }
    __device__ __forceinline__ u32 place(u32 tile, u32 i) const {
        return tile * lanes * HELD + (packed ? (i / PACK * lanes + lane) * PACK + i % PACK : i * lanes + lane);
    }
    __device__ __forceinline__ u64 start() const { return line * length; }
    // Replaces elements behind the end of the line by `otherwise`.
    template <class C> __device__ __forceinline__ void fill(C (&x)[HELD], u32 tile, C otherwise) const {
        if ((tile + 1) * lanes * HELD <= length) return;
#pragma unroll
        for (u32 i = 0; i < HELD; i++) x[i] = place(tile, i) < length ? x[i] : otherwise;
    }
    // Loads the elements of a tile, and `otherwise` behind the end of the line.
    template <class C, class T> __device__ __forceinline__ void load(C (&x)[HELD], const T *in, u32 tile, C otherwise) const {
#pragma unroll
        for (u32 i = 0; i < HELD; i += PACK) {
            if (packed) {
                u32 at = place(tile, i);
                bool there = live && at < length;
                Pack<T, PACK> pack;
                if (there) pack = *(const Pack<T, PACK> *)(in + at);
#pragma unroll
                for (u32 v = 0; v < PACK; v++) x[i + v] = there ? as<C>(pack.of[v]) : otherwise;
            } else {
#pragma unroll
                for (u32 v = 0; v < PACK; v++) {
                    u32 at = place(tile, i + v);
                    x[i + v] = live && at < length ? as<C>(in[at]) : otherwise;
                }
            }
        }
    }
    template <class C, class T> __device__ __forceinline__ void store(T *out, const C (&x)[HELD], u32 tile) const {
        if (!live) return;
#pragma unroll
        for (u32 i = 0; i < HELD; i += PACK) {
            if (packed) {
                u32 at = place(tile, i);
                Pack<T, PACK> pack;
#pragma unroll
                for (u32 v = 0; v < PACK; v++) pack.of[v] = as<T>(x[i + v]);
                if (at < length) *(Pack<T, PACK> *)(out + at) = pack;
            } else {
#pragma unroll
                for (u32 v = 0; v < PACK; v++) {
                    u32 at = place(tile, i + v);
                    if (at < length) out[at] = as<T>(x[i + v]);
                }
            }
        }
    }
};
