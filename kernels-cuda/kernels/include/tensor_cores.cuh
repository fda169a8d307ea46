// Tensor cores, and the loads and stores of their operands. All lanes of a warp execute each instruction.
//
// A product has 16 rows, 8 columns and 16 steps (the inner dimension). Lane `l` has the sums of rows `l / 4` and `l / 4 + 8`, in columns `l
// % 4 * 2` and the next. Of the left side it has words of two adjacent steps, for both rows, at steps `l % 4 * 2` and 8 further. Of the
// right side it has the same steps for column `l / 4`. So the rounded sums of two adjacent products are a left side of sixteen steps.
#pragma once
#include "opdispatch.cuh"

template <class T> constexpr bool IS_F16 = false;
template <> constexpr bool IS_F16<f16> = true;

#ifndef EMULATED
__device__ __forceinline__ u32 shared_address(const void *at) { return u32(__cvta_generic_to_shared(at)); }
#endif

// Adds a product of 16 rows, 8 columns and 16 steps to `sums`.
template <class T> __device__ __forceinline__ void mma16816(float (&sums)[4], const u32 (&left)[4], u32 right0, u32 right1) {
#ifdef EMULATED
    emulator::mma16816(sums, left, right0, right1, [](unsigned short bits) { return float(bit_cast<T>(bits)); });
#else
#define MMA(TYPE)                                                                                                               \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                                                  \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1))
    if constexpr (IS_F16<T>) {
        MMA("f16");
    } else {
        MMA("bf16");
    }
#undef MMA
#endif
}

// Loads four matrices of 8 x 8 half-precision elements from shared memory. Lane `l` passes the address of row `l % 8` of matrix `l / 8`, a
// multiple of 16 bytes. It gets the two adjacent elements from `l % 4 * 2` of row `l / 4` of each matrix.
__device__ __forceinline__ void ldmatrix_x4(u32 (&to)[4], const void *row) {
#ifdef EMULATED
    emulator::ldmatrix_x4(to, row, false);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
#endif
}

// Loads four matrices of 8 x 8 half-precision elements from shared memory, as `ldmatrix_x4` does, and transposes them.
__device__ __forceinline__ void ldmatrix_x4_trans(u32 (&to)[4], const void *row) {
#ifdef EMULATED
    emulator::ldmatrix_x4(to, row, true);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
#endif
}

// Begins to copy sixteen bytes, or as many zeros, to shared memory. They are there after `wait_for_copies`. Both addresses are multiples of
// 16.
__device__ __forceinline__ void copy_async_16(void *to, const void *from, bool zeros) {
#ifdef EMULATED
    emulator::copy_async_16(to, from, zeros);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(shared_address(to)), "l"(from), "r"(zeros ? 0 : 16) : "memory");
#endif
}

// Waits for all copies that this thread began.
__device__ __forceinline__ void wait_for_copies() {
#ifdef EMULATED
    emulator::wait_for_copies();
#else
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

// Rounds two numbers to half precision and packs them into a word, the first one into its lower half.
template <class T> __device__ __forceinline__ u32 pack_halves(float low, float high) {
#ifdef EMULATED
    return u32(T(low).bits) | u32(T(high).bits) << 16;
#else
    u32 word;
    if constexpr (IS_F16<T>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    }
    return word;
#endif
}

__device__ __forceinline__ float exp2_approximate(float x) {
#ifdef EMULATED
    return exp2f(x);
#else
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#endif
}
