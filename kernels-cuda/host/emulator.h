// The emulator's shim: defines CUDA's extensions of C++ for the system's compiler.
//
// The threads of a block run one after the other, on separate stacks. A thread that reaches a barrier is suspended, and the next one runs.
// The threads of a warp run until all of them wait for the block. Blocks, and launches of one library, run one after the other, so
// `__shared__` is `static`.
//
// Errors that a device would not survive, or would silently ignore, end the program with a message: a barrier that some threads never
// reach, a misaligned access, an index outside of an array, and a shift by too many bits.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#define EMULATED 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
    unsigned x, y, z;
};
struct uint4 {
    unsigned x, y, z, w;
};

namespace emulator {

// The name of the instance that runs.
static const char *kernel;

// The argument that the compiler passes to UBSan's handlers about a failed check: the source location and the type of the operand.
struct UbsanCheck {
    const char *file;
    unsigned line, column;
    const struct {
        unsigned short kind, info;
        char name[1];
    } *type;
};

[[noreturn]] inline void abort_with_message(const UbsanCheck *check, const char *problem, size_t number) {
    const char *folder = strrchr(check->file, '/'), *file = folder ? folder + 1 : check->file;
    fprintf(stderr, "emulated kernel `%s`, %s:%u: %s %s (%zu)\n", kernel, file, check->line, problem, check->type->name, number);
    abort();
}

// The functions that the compiler's checks call.
#define UBSAN_HANDLER(name) extern "C" __attribute__((visibility("hidden"), noreturn, used)) void __ubsan_handle_##name##_abort
UBSAN_HANDLER(type_mismatch_v1)(void *check, void *pointer) { abort_with_message((const UbsanCheck *)check, "a misaligned address for", (size_t)pointer % 256); }
UBSAN_HANDLER(out_of_bounds)(void *check, void *index) { abort_with_message((const UbsanCheck *)check, "an index out of bounds of", (size_t)index); }
UBSAN_HANDLER(shift_out_of_bounds)(void *check, void *, void *by) { abort_with_message((const UbsanCheck *)check, "a shift by too many bits of", (size_t)by); }
#undef UBSAN_HANDLER

enum ThreadState { NEW, READY, AT_BLOCK, AT_WARP, DONE };

// A suspended execution: a stack pointer, or the state of a context.
#if defined(__x86_64__)
typedef void *Context;
extern "C" __attribute__((visibility("hidden"))) void emulator_switch(Context *from, Context to);
asm(".text\n"
    ".type emulator_switch, @function\n"
    "emulator_switch:\n"
    "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
    "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
    "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
    "ret\n");
inline void switch_to(Context &from, Context &to) { emulator_switch(&from, to); }
inline void init_context(Context &context, char *stack, size_t bytes, void (*run)()) {
    void **top = (void **)(stack + bytes) - 1;
    *top = nullptr;
    *--top = (void *)run;
    context = top - 6;
}
#else
typedef ucontext_t Context;
inline void switch_to(Context &from, Context &to) { swapcontext(&from, &to); }
inline void init_context(Context &context, char *stack, size_t bytes, void (*run)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = bytes;
    makecontext(&context, run, 0);
}
#endif

struct Fiber {
    Context context;
    char *stack;
};

constexpr unsigned MAX_THREADS = 1024;
constexpr size_t STACK = 256 << 10, SHARED = 163 << 10, GUARD_BYTES = 256;
constexpr unsigned char GUARD_PATTERN = 0xa5;

static ThreadState states[MAX_THREADS];
static unsigned fiber_of[MAX_THREADS];
static Fiber fibers[MAX_THREADS];
static Context scheduler;
static unsigned current, threads;
constexpr unsigned WARP = 32, MAX_WARPS = MAX_THREADS / WARP;

// Values that the threads of a warp write before a barrier, and read after it. Barriers alternate between two buffers: some threads still
// read one while others write the next. `barriers_passed` counts the barriers that each warp has passed.
static unsigned barriers_passed[MAX_WARPS];
alignas(16) static unsigned char exchange[2][MAX_THREADS][32];
static unsigned votes[2][MAX_WARPS];
alignas(256) static unsigned char shared[SHARED + GUARD_BYTES];

// A pending copy of sixteen bytes to shared memory.
struct PendingCopy {
    void *to;
    const void *from;
};
constexpr unsigned MAX_COPIES = 64;
static PendingCopy copies[MAX_THREADS][MAX_COPIES];
static unsigned pending_copies[MAX_THREADS];

} // namespace emulator

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace emulator {

// The function and the arguments of the running kernel.
static void (*body)(const void *const *);
static const void *const *arguments;

inline void set_current_thread(unsigned thread) {
    current = thread;
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

inline void wait_at_barrier(ThreadState where) {
    unsigned self = current;
    states[self] = where;
    switch_to(fibers[fiber_of[self]].context, scheduler);
}

// Runs threads on one stack until one of them waits. Then the next new thread begins on another stack.
static void fiber_main() {
    for (;;) {
        body(arguments);
        states[current] = DONE;
        switch_to(fibers[fiber_of[current]].context, scheduler);
    }
}

inline void create_fiber(unsigned at) {
    Fiber &fiber = fibers[at];
    if (!fiber.stack) {
        fiber.stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        init_context(fiber.context, fiber.stack, STACK, fiber_main);
    }
}

static unsigned idle[MAX_THREADS], idle_count, used;

inline void run_thread(unsigned thread) {
    if (states[thread] == NEW) {
        fiber_of[thread] = idle_count ? idle[--idle_count] : used++;
        create_fiber(fiber_of[thread]);
    }
    states[thread] = READY;
    set_current_thread(thread);
    switch_to(scheduler, fibers[fiber_of[thread]].context);
    if (states[thread] == DONE) idle[idle_count++] = fiber_of[thread];
}

inline unsigned count_threads_in_state(ThreadState which, unsigned first, unsigned end) {
    unsigned found = 0;
    for (unsigned i = first; i < end; i++) found += states[i] == which;
    return found;
}

// Releases the threads at a barrier if all unfinished threads wait at it. Returns whether it did.
inline bool release_barrier(ThreadState which, unsigned first, unsigned end) {
    unsigned waiting = count_threads_in_state(which, first, end);
    if (!waiting || waiting + count_threads_in_state(DONE, first, end) != end - first) return false;
    for (unsigned i = first; i < end; i++)
        if (states[i] == which) states[i] = READY;
    return true;
}

inline void run_warp(unsigned warp, bool reversed) {
    unsigned first = warp * WARP, end = first + WARP < threads ? first + WARP : threads;
    do {
        for (unsigned n = first; n < end; n++) {
            unsigned thread = reversed ? first + end - 1 - n : n;
            if (states[thread] == NEW || states[thread] == READY) run_thread(thread);
        }
        votes[++barriers_passed[warp] % 2][warp] = 0;
    } while (release_barrier(AT_WARP, first, end));
}

inline void run_thread_block(bool reversed) {
    memset(pending_copies, 0, sizeof(pending_copies));
    memset(votes, 0, sizeof(votes));
    used = idle_count = 0;
    for (unsigned i = 0; i < threads; i++) states[i] = NEW;
    unsigned warps = (threads + WARP - 1) / WARP;
    do {
        for (unsigned n = 0; n < warps; n++) run_warp(reversed ? warps - 1 - n : n, reversed);
    } while (release_barrier(AT_BLOCK, 0, threads));
    if (count_threads_in_state(DONE, 0, threads) != threads) {
        fprintf(stderr, "emulated kernel `%s`: not all threads of block %u,%u,%u reach a barrier\n", kernel, blockIdx.x, blockIdx.y, blockIdx.z);
        abort();
    }
}

// Calls a kernel with the addresses of its parameters, as the driver does.
template <class... A> struct KernelCall {
    template <int... I> struct IndexSequence {};
    template <int N, int... I> struct MakeIndexSequence : MakeIndexSequence<N - 1, N - 1, I...> {};
    template <int... I> struct MakeIndexSequence<0, I...> {
        using type = IndexSequence<I...>;
    };
    template <void (*kernel)(A...), int... I> static void call_with(const void *const *given, IndexSequence<I...>) { kernel(*(const A *)given[I]...); }
};

template <auto kernel> struct Entry;
template <class... A, void (*kernel)(A...)> struct Entry<kernel> {
    static const size_t COUNT = sizeof...(A);
    // The sizes of the parameters, followed by a zero.
    static constexpr size_t SIZES[COUNT + 1] = {sizeof(A)..., 0};
    static void run(const void *const *given) { KernelCall<A...>::template call_with<kernel>(given, typename KernelCall<A...>::template MakeIndexSequence<COUNT>::type{}); }
};

// The arguments of a launch. emulator/deferred_work.rs declares the same struct.
struct LaunchArguments {
    const unsigned *grid, *block;
    unsigned shared;
    bool reversed;
    const void *const *parameters;
};

// A mutex that is held while a kernel runs: one kernel of a library at a time, as all state above is static.
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;

inline void launch(void (*run)(const void *const *), const char *name, const LaunchArguments &launch_arguments) {
    pthread_mutex_lock(&running);
    kernel = name;
    const unsigned *grid = launch_arguments.grid, *block = launch_arguments.block;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    threads = blockDim.x * blockDim.y * blockDim.z;
    body = run;
    arguments = launch_arguments.parameters;
    unsigned long long blocks = 1ull * grid[0] * grid[1] * grid[2];
    for (unsigned long long n = 0; n < blocks; n++) {
        unsigned long long at = launch_arguments.reversed ? blocks - 1 - n : n;
        blockIdx = {unsigned(at % grid[0]), unsigned(at / grid[0] % grid[1]), unsigned(at / grid[0] / grid[1])};
        // Shared memory starts with a fixed pattern, so that reads of uninitialised memory do not see zeros.
        memset(shared, GUARD_PATTERN, launch_arguments.shared + GUARD_BYTES);
        run_thread_block(launch_arguments.reversed);
        for (size_t i = 0; i < GUARD_BYTES; i++)
            if (shared[launch_arguments.shared + i] != GUARD_PATTERN) {
                fprintf(stderr, "emulated kernel `%s` wrote past the end of the %u bytes of shared memory\n", kernel, launch_arguments.shared);
                abort();
            }
    }
    pthread_mutex_unlock(&running);
}

// Returns the index of the exchange buffer for the next barrier of the thread's warp.
inline unsigned exchange_buffer() { return barriers_passed[current / WARP] % 2; }

template <class T> T exchange_lanes(T value, unsigned from) {
    static_assert(sizeof(T) <= 16, "a warp exchanges values of at most 16 bytes");
    unsigned here = exchange_buffer();
    memcpy(exchange[here][current], &value, sizeof(T));
    wait_at_barrier(AT_WARP);
    T result = value;
    if (from < threads) memcpy(&result, exchange[here][from], sizeof(T));
    return result;
}

// Emulates a tensor-core product, with fragments as the PTX manual defines them ("Matrix Fragments for mma.m16n8k16 with floating point
// type").
template <class Value> void mma16816(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1, Value value) {
    unsigned here = exchange_buffer(), self = current, first = self & ~31u, group = self % 32 / 4, in_group = self % 4;
    memcpy(exchange[here][self], left, 16);
    memcpy(exchange[here][self] + 16, &right0, 4);
    memcpy(exchange[here][self] + 20, &right1, 4);
    wait_at_barrier(AT_WARP);
    auto element = [&](unsigned lane, unsigned i) {
        unsigned short bits;
        memcpy(&bits, exchange[here][first + lane] + 2 * i, 2);
        return value(bits);
    };
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = group + (i < 2 ? 0 : 8), column = in_group * 2 + i % 2;
        for (unsigned k = 0; k < 16; k++) {
            unsigned pair = k % 8 / 2, left_index = k % 2 + (row < 8 ? 0 : 2) + (k < 8 ? 0 : 4), right_index = k % 2 + (k < 8 ? 0 : 2);
            sums[i] += element(row % 8 * 4 + pair, left_index) * element(column * 4 + pair, 8 + right_index);
        }
    }
}

inline void check_16_byte_alignment(const void *at) {
    if (uintptr_t(at) % 16 == 0) return;
    fprintf(stderr, "emulated kernel: thread %u of block %u copies 16 bytes at %p, which is not a multiple of 16\n", current, blockIdx.x, at);
    abort();
}

inline void ldmatrix_x4(unsigned (&to)[4], const void *row, bool transposed) {
    check_16_byte_alignment(row);
    unsigned here = exchange_buffer(), self = current, first = self & ~31u, group = self % 32 / 4, in_group = self % 4;
    memcpy(exchange[here][self], &row, sizeof(row));
    wait_at_barrier(AT_WARP);
    for (unsigned matrix = 0; matrix < 4; matrix++) {
        to[matrix] = 0;
        for (unsigned half = 0; half < 2; half++) {
            unsigned down = transposed ? in_group * 2 + half : group, across = transposed ? group : in_group * 2 + half;
            const unsigned short *from;
            memcpy(&from, exchange[here][first + matrix * 8 + down], sizeof(from));
            to[matrix] |= unsigned(from[across]) << 16 * half;
        }
    }
}

// Begins an asynchronous copy of sixteen bytes, or as many zeros, to shared memory. Until `wait_for_copies`, its target holds neither the
// old nor the new bytes: half-precision values of all ones are NaN.
inline void copy_async_16(void *to, const void *from, bool zeros) {
    check_16_byte_alignment(to);
    check_16_byte_alignment(from);
    unsigned &begun = pending_copies[current];
    if (begun == MAX_COPIES) {
        fprintf(stderr, "emulated kernel: thread %u started %u copies without waiting for them\n", current, begun);
        abort();
    }
    copies[current][begun++] = {to, zeros ? nullptr : from};
    memset(to, 0xff, 16);
}
inline void wait_for_copies() {
    for (unsigned i = 0; i < pending_copies[current]; i++) {
        const PendingCopy &copy = copies[current][i];
        if (copy.from) memcpy(copy.to, copy.from, 16);
        else memset(copy.to, 0, 16);
    }
    pending_copies[current] = 0;
}

} // namespace emulator

// Memory fences do nothing, as threads run one at a time.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __syncthreads() { emulator::wait_at_barrier(emulator::AT_BLOCK); }
inline void __syncwarp(unsigned = ~0u) { emulator::wait_at_barrier(emulator::AT_WARP); }
template <class T> T __shfl_xor_sync(unsigned, T value, int mask, int = 32) {
    return emulator::exchange_lanes(value, emulator::current ^ unsigned(mask));
}
template <class T> T __shfl_sync(unsigned, T value, int lane, int = 32) {
    return emulator::exchange_lanes(value, (emulator::current & ~31u) + (unsigned(lane) & 31));
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned by, int = 32) {
    unsigned lane = emulator::current & 31;
    return emulator::exchange_lanes(value, emulator::current + (lane + by < 32 ? by : 0));
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned by, int = 32) {
    unsigned lane = emulator::current & 31;
    return emulator::exchange_lanes(value, emulator::current - (lane >= by ? by : 0));
}
inline unsigned __ballot_sync(unsigned, bool value) {
    unsigned &all = emulator::votes[emulator::exchange_buffer()][emulator::current / emulator::WARP];
    all |= unsigned(value) << emulator::current % emulator::WARP;
    emulator::wait_at_barrier(emulator::AT_WARP);
    return all;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }

template <class T> T atomicAdd(T *at, T value) {
    T old = *at;
    *at = old + value;
    return old;
}
template <class T> T atomicMax(T *at, T value) {
    T old = *at;
    if (value > old) *at = value;
    return old;
}
template <class T> T atomicMin(T *at, T value) {
    T old = *at;
    if (value < old) *at = value;
    return old;
}
template <class T> T atomicExch(T *at, T value) {
    T old = *at;
    *at = value;
    return old;
}
template <class T> T atomicCAS(T *at, T expected, T value) {
    T old = *at;
    if (old == expected) *at = value;
    return old;
}
inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
inline int __float_as_int(float x) { return int(__float_as_uint(x)); }
inline float __int_as_float(int bits) { return __uint_as_float(unsigned(bits)); }
inline long long __double_as_longlong(double x) {
    long long bits;
    memcpy(&bits, &x, 8);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline double normcdfinv(double p) {
    if (!(p > 0 && p < 1)) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : NAN;
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double x = 0.5 * (low + high);
        (0.5 * std::erfc(-x * M_SQRT1_2) < p ? low : high) = x;
    }
    return 0.5 * (low + high);
}
template <class T> T erfcx(T x) {
    // For large arguments the product would overflow, so a continued fraction is used.
    if (x < 25) return T(std::exp(double(x) * double(x)) * std::erfc(double(x)));
    double y = double(x), tail = y;
    for (int k = 20; k > 0; k--) tail = y + 0.5 * k / tail;
    return T(0.5641895835477563 / tail);
}
template <class T> T erfinv(T y) {
    if (!(y > -1 && y < 1)) return y == 1 ? T(HUGE_VAL) : y == -1 ? T(-HUGE_VAL) : T(NAN);
    double low = -7, high = 7;
    for (int i = 0; i < 100; i++) {
        double x = 0.5 * (low + high);
        (std::erf(x) < y ? low : high) = x;
    }
    // Bisection stops at the precision of erf; one step of Newton's method goes beyond it.
    double x = 0.5 * (low + high);
    x -= (std::erf(x) - double(y)) * 0.886226925452758 * std::exp(x * x);
    return T(x);
}
