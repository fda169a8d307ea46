// Flash attention: half-precision attention on tensor cores. Scores stay in the registers of the warp that computes them: the sums of one
// product are the left side of the next.
#include "attention.cuh"
#include "tensor_cores.cuh"

static const int WARPS = 4, THREADS = WARPS * 32;

// The factor for `exp(x) = power_of_two(x * LOG2_E)`.
static const float LOG2_E = 1.4426950408889634f;

// Tiles of rows of up to WIDTH columns in shared memory. Each row is padded by eight elements, so that the rows of a matrix that a warp
// loads are in different banks.
template <class T, int WIDTH> struct Tiles {
    static const int PITCH = WIDTH + 8, PACKS = WIDTH / 8;
    typedef Pack<T, 8> Eight;

    // Whether rows consist of whole packs of eight elements, which are copied at once.
    static __device__ __forceinline__ bool moves_packs(const Side &side, u32 width) {
        return side.steps[3] == 1 && (u64(side.at) / sizeof(T) | side.steps[0] | side.steps[1] | side.steps[2] | width) % 8 == 0;
    }

    // Begins to load ROWS rows of a side, which has `count` rows in all. Rows behind the last one are zeros.
    template <int ROWS>
    static __device__ __forceinline__ void bring(T *to, const Task &task, const Side &side, u32 item, u32 head, u32 first, u32 count) {
        const T *from = (const T *)side.at + side.row(item, head, first);
        count -= first;
        if (moves_packs(side, task.width)) {
#pragma unroll 4
            for (u32 i = threadIdx.x; i < ROWS * PACKS; i += THREADS) {
                u32 row = i / PACKS, column = i % PACKS * 8;
                bool inside = row < count && column < task.width;
                copy_async_16(to + row * PITCH + column, inside ? from + i64(row) * side.steps[2] + column : from, !inside);
            }
        } else {
#pragma unroll 1
            for (u32 i = threadIdx.x; i < ROWS * WIDTH; i += THREADS) {
                u32 row = i / WIDTH, column = i % WIDTH;
                bool inside = row < count && column < task.width;
                to[row * PITCH + column] = inside ? from[i64(row) * side.steps[2] + i64(column) * side.steps[3]] : T(0);
            }
        }
    }

    // Computes `products += mine others^T`, for 16 M rows of the warp and 8 N others.
    template <int M, int N> static __device__ __forceinline__ void multiply(float (&products)[M][N][4], const T *mine, const T *others) {
        u32 lane = threadIdx.x % 32;
        mine += lane % 16 * PITCH + lane / 16 * 8;
        others += (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 8;
#pragma unroll
        for (int k = 0; k < WIDTH; k += 16) {
            u32 left[M][4];
#pragma unroll
            for (int m = 0; m < M; m++) ldmatrix_x4(left[m], mine + m * 16 * PITCH + k);
#pragma unroll
            for (int n = 0; n < N; n += 2) {
                u32 right[4];
                ldmatrix_x4(right, others + n * 8 * PITCH + k);
#pragma unroll
                for (int m = 0; m < M; m++) {
                    mma16816<T>(products[m][n], left[m], right[0], right[1]);
                    mma16816<T>(products[m][n + 1], left[m], right[2], right[3]);
                }
            }
        }
    }

    // Computes `totals += weights others`, for 16 M rows of the warp and 8 N others.
    template <int M, int N>
    static __device__ __forceinline__ void add(float (&totals)[M][PACKS][4], const float (&weights)[M][N][4], const T *others) {
        u32 lane = threadIdx.x % 32;
        others += lane % 16 * PITCH + lane / 16 * 8;
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            u32 left[M][4];
#pragma unroll
            for (int m = 0; m < M; m++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float *pair = weights[m][n + i / 2] + i % 2 * 2;
                    left[m][i] = rounded<T>(pair[0], pair[1]);
                }
#pragma unroll
            for (int column = 0; column < PACKS; column += 2) {
                u32 right[4];
                ldmatrix_x4_trans(right, others + n * 8 * PITCH + column * 8);
#pragma unroll
                for (int m = 0; m < M; m++) {
                    mma16816<T>(totals[m][column], left[m], right[0], right[1]);
                    mma16816<T>(totals[m][column + 1], left[m], right[2], right[3]);
                }
            }
        }
    }

    // Writes a warp's rows, each multiplied by its factor in `times`, through shared memory that only this warp uses.
    template <int M>
    static __device__ __forceinline__ void write(T *shared, const float (&totals)[M][PACKS][4], const float (&times)[M][2], const Task &task,
                                                 const Side &side, u32 item, u32 head, u32 first, u32 count) {
        u32 lane = threadIdx.x % 32;
        __syncwarp();
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < PACKS; n++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float low = totals[m][n][half * 2] * times[m][half], high = totals[m][n][half * 2 + 1] * times[m][half];
                    *(u32 *)(shared + (m * 16 + half * 8 + lane / 4) * PITCH + n * 8 + lane % 4 * 2) = rounded<T>(low, high);
                }
        __syncwarp();
        T *to = (T *)side.at + side.row(item, head, first);
        count = count > first ? count - first : 0;
        if (moves_packs(side, task.width)) {
#pragma unroll 4
            for (u32 i = lane; i < M * 16 * PACKS; i += 32) {
                u32 row = i / PACKS, column = i % PACKS * 8;
                if (row < count && column < task.width)
                    *(Eight *)(to + i64(row) * side.steps[2] + column) = *(const Eight *)(shared + row * PITCH + column);
            }
        } else {
#pragma unroll 1
            for (u32 i = lane; i < M * 16 * WIDTH; i += 32) {
                u32 row = i / WIDTH, column = i % WIDTH;
                if (row < count && column < task.width)
                    to[i64(row) * side.steps[2] + i64(column) * side.steps[3]] = shared[row * PITCH + column];
            }
        }
    }
};

template <int M, int N> __device__ __forceinline__ void clear(float (&sums)[M][N][4]) {
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) sums[m][n][i] = 0;
}

// The scaling of scores: the product is multiplied by `all`, and a mask is added. Without a mask, the multiplication is postponed and
// merged into a later one: scores are in units of `unit`.
struct Scale {
    float all, unit;
    bool early;
    __device__ __forceinline__ Scale(const Task &task) {
        all = float(task.scale);
        early = task.mask.at || !(all > 0);
        unit = early ? 1.0f : all;
    }
};

// Scales and masks scores, in units of `scale.unit`. They are minus infinity if a query does not attend to a key. The scores are those of a
// warp's rows from `down` on with others from `across` on. The rows are queries, or keys if TURNED.
template <class T, bool TURNED, int M, int N>
__device__ __forceinline__ void see(float (&products)[M][N][4], const Task &task, const Scale &scale, u32 item, u32 head, u32 down, u32 across) {
    u32 lane = threadIdx.x % 32, last = TURNED ? down + M * 16 : across + N * 8;
    u32 row = down + lane / 4, column = across + lane % 4 * 2, query = TURNED ? column : row, key = TURNED ? row : column;
    if (scale.early) {
        const Side &mask = task.mask;
        bool wide = task.mask_dtype == F32;
        i64 each = wide ? 4 : 2, first = mask.row(item, head, query) + i64(key) * mask.steps[3];
        const u8 *from = mask.at + first * each;
        i64 to_row = mask.steps[TURNED ? 3 : 2] * each, to_column = mask.steps[TURNED ? 2 : 3] * each;
#pragma unroll
        for (u32 m = 0; m < M; m++)
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                u32 rows = m * 16 + i / 2 * 8;
                const u8 *at = from + rows * to_row + i % 2 * to_column;
#pragma unroll
                for (u32 n = 0; n < N; n++, at += 8 * to_column) {
                    u32 columns = n * 8 + i % 2;
                    float &product = products[m][n][i];
                    product *= scale.all;
                    bool inside = query + (TURNED ? columns : rows) < task.rows && key + (TURNED ? rows : columns) < task.keys;
                    if (mask.at && inside) product += wide ? *(const float *)at : float(*(const T *)at);
                }
            }
    }
    if (last > task.keys || (task.is_causal && last > (TURNED ? across : down) + 1)) {
#pragma unroll
        for (u32 m = 0; m < M; m++)
#pragma unroll
            for (u32 n = 0; n < N; n++)
#pragma unroll
                for (u32 i = 0; i < 4; i++) {
                    u32 rows = m * 16 + i / 2 * 8, columns = n * 8 + i % 2;
                    u32 this_query = query + (TURNED ? columns : rows), this_key = key + (TURNED ? rows : columns);
                    if (this_key >= task.keys || (task.is_causal && this_key > this_query)) products[m][n][i] = Bounds<float>::least();
                }
    }
}

// The forward pass of a block of queries, 16 M for each warp, over one tile of keys after the other. The values are loaded while scores are
// computed, and the next keys while values are added.
template <class T, int WIDTH, int M, int KEYS> __device__ __forceinline__ void attended(const Task &task) {
    typedef Tiles<T, WIDTH> Rows;
    const int ROWS = WARPS * M * 16;
    SHARED_BYTES(bytes);
    T *queries = (T *)bytes, *keys = queries + ROWS * Rows::PITCH, *values = keys + KEYS * Rows::PITCH;
    u32 tiles = (task.rows + ROWS - 1) / ROWS, tile = blockIdx.x % tiles, place = blockIdx.x / tiles;
    // The last queries of a causal task have the most keys, so their blocks come first.
    u32 head = place % task.heads, item = place / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * ROWS;
    u32 lane = threadIdx.x % 32, own = threadIdx.x / 32 * M * 16, down = first + own;
    Scale scale(task);
    float later = scale.unit * LOG2_E, totals[M][WIDTH / 8][4], highest[M][2], sums[M][2];
    clear(totals);
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) highest[m][half] = Bounds<float>::least(), sums[m][half] = 0;
    u32 reach = task.is_causal ? least_of(task.keys, first + ROWS) : task.keys;
    Rows::template bring<ROWS>(queries, task, task.query, item, head, first, task.rows);
    if (reach) Rows::template bring<KEYS>(keys, task, task.key, item, group, 0, task.keys);
#pragma unroll 1
    for (u32 start = 0; start < reach; start += KEYS) {
        copies_arrive();
        __syncthreads();
        Rows::template bring<KEYS>(values, task, task.value, item, group, start, task.keys);
        // A warp skips a tile if all its rows are behind the last query, or attend to none of these keys.
        bool works = down < task.rows && !(task.is_causal && start >= down + M * 16);
        float products[M][KEYS / 8][4];
        if (works) {
            clear(products);
            Rows::multiply(products, queries + own * Rows::PITCH, keys);
            see<T, false>(products, task, scale, item, head, down, start);
#pragma unroll
            for (int m = 0; m < M; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float most = highest[m][half], sum = 0;
#pragma unroll
                    for (int n = 0; n < KEYS / 8; n++) most = fmaxf(most, fmaxf(products[m][n][half * 2], products[m][n][half * 2 + 1]));
                    most = joined_in_lanes<4>(most, Most());
                    float from = counted_from(most), fewer = power_of_two((highest[m][half] - from) * later);
                    highest[m][half] = most;
#pragma unroll
                    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                        for (int i = half * 2; i < half * 2 + 2; i++) {
                            products[m][n][i] = power_of_two((products[m][n][i] - from) * later);
                            sum += products[m][n][i];
                        }
                    sums[m][half] = sums[m][half] * fewer + sum;
#pragma unroll
                    for (int n = 0; n < WIDTH / 8; n++) totals[m][n][half * 2] *= fewer, totals[m][n][half * 2 + 1] *= fewer;
                }
        }
        copies_arrive();
        __syncthreads();
        if (start + KEYS < reach) Rows::template bring<KEYS>(keys, task, task.key, item, group, start + KEYS, task.keys);
        if (works) Rows::add(totals, products, values);
    }
    // If there are no keys, the loads of the queries were not waited for, and results are written to the same memory.
    copies_arrive();
    __syncthreads();
    float times[M][2];
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            // If all scores are minus infinity, the sum is zero and so is the result.
            float all = joined_in_lanes<4>(sums[m][half], Plus());
            all = all == 0 ? 1.0f : all;
            times[m][half] = 1 / all;
            u32 row = down + m * 16 + half * 8 + lane / 4;
            if (lane % 4 == 0 && row < task.rows)
                ((float *)task.logs.at)[task.logs.row(item, head, row)] = counted_from(highest[m][half]) * scale.unit + log(all);
        }
    Rows::write(queries + own * Rows::PITCH, totals, times, task, task.out, item, head, down, task.rows);
}

// Computes the gradient of a block of queries, from all keys that they attend to. If TURNED, computes the gradients of a block of keys and
// values, from all queries that attend to them. Weights are recomputed. The next tile of the other side is loaded while one is processed.
template <class T, int WIDTH, bool TURNED> __device__ __forceinline__ void gradients(const Task &task) {
    typedef Tiles<T, WIDTH> Rows;
    // Sixteen rows for each warp: with more there are too few registers.
    const int M = 1, ROWS = WARPS * M * 16, OTHERS = 32, N = OTHERS / 8, TILE = OTHERS * Rows::PITCH;
    SHARED_BYTES(bytes);
    // The operands are queries and the gradients of their results on one side, and keys and values on the other.
    T *mine = (T *)bytes, *also_mine = mine + ROWS * Rows::PITCH, *others = also_mine + ROWS * Rows::PITCH;
    const Side &of_mine = TURNED ? task.key : task.query, &of_also_mine = TURNED ? task.value : task.grad;
    const Side &of_others = TURNED ? task.query : task.key, &of_also_others = TURNED ? task.grad : task.value;
    u32 count = TURNED ? task.keys : task.rows, others_count = TURNED ? task.rows : task.keys;
    u32 heads = TURNED ? task.groups : task.heads, of_group = task.heads / task.groups;
    u32 tiles = (count + ROWS - 1) / ROWS, tile = blockIdx.x % tiles, place = blockIdx.x / tiles;
    u32 item = place / heads, own_head = place % heads;
    // The last queries of a causal task have the most keys, and the first keys have the most queries, so their blocks come first.
    u32 first = (TURNED ? tile : tiles - 1 - tile) * ROWS;
    u32 own = threadIdx.x / 32 * M * 16, down = first + own, lane = threadIdx.x % 32;
    u32 begin = TURNED && task.is_causal ? least_of(first, task.rows) : 0;
    u32 end = TURNED ? task.rows : task.is_causal ? least_of(task.keys, first + ROWS) : task.keys;
    // The number of tiles of each head, and of all heads that share the keys.
    u32 each = (end - begin + OTHERS - 1) / OTHERS, all = each * (TURNED ? of_group : 1);
    auto bring = [&](u32 at) {
        u32 head = TURNED ? own_head * of_group + at / each : own_head / of_group, start = begin + at % each * OTHERS;
        T *to = others + at % 2 * 2 * TILE;
        Rows::template bring<OTHERS>(to, task, of_others, item, head, start, others_count);
        Rows::template bring<OTHERS>(to + TILE, task, of_also_others, item, head, start, others_count);
    };
    // For a query behind the last one, an infinite logsumexp makes the weights zero.
    auto of_query = [&](const Side &side, u32 head, u32 query, float behind) {
        return query < task.rows ? ((const float *)side.at)[side.row(item, head, query)] : behind;
    };
    auto log_of = [&](u32 head, u32 query) { return of_query(task.logs, head, query, Bounds<float>::most()); };
    auto meet_of = [&](u32 head, u32 query) { return of_query(task.meets, head, query, 0.0f); };
    Scale scale(task);
    float totals[M][WIDTH / 8][4], of_values[M][WIDTH / 8][4];
    float logs[TURNED ? N : M][2], meets[TURNED ? N : M][2];
    clear(totals);
    if (TURNED) clear(of_values);
    if (!TURNED)
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                u32 query = down + m * 16 + half * 8 + lane / 4;
                logs[m][half] = log_of(own_head, query), meets[m][half] = meet_of(own_head, query);
            }
    Rows::template bring<ROWS>(mine, task, of_mine, item, own_head, first, count);
    Rows::template bring<ROWS>(also_mine, task, of_also_mine, item, own_head, first, count);
    mine += own * Rows::PITCH, also_mine += own * Rows::PITCH;
    if (all) bring(0);
#pragma unroll 1
    for (u32 at = 0; at < all; at++) {
        copies_arrive();
        __syncthreads();
        if (at + 1 < all) bring(at + 1);
        u32 head = TURNED ? own_head * of_group + at / each : own_head, start = begin + at % each * OTHERS;
        const T *now = others + at % 2 * 2 * TILE, *also_now = now + TILE;
        if (down >= count || (task.is_causal && (TURNED ? start + OTHERS <= down : start >= down + M * 16))) continue;
        if (TURNED)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 2; i++) logs[n][i] = log_of(head, start + n * 8 + lane % 4 * 2 + i);
        float weights[M][N][4], slopes[M][N][4];
        clear(weights);
        Rows::multiply(weights, mine, now);
        see<T, TURNED>(weights, task, scale, item, head, down, start);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float log = TURNED ? logs[n][i % 2] : logs[m][i / 2];
                    weights[m][n][i] = power_of_two((weights[m][n][i] * scale.unit - log) * LOG2_E);
                }
        if (TURNED) {
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 2; i++) meets[n][i] = meet_of(head, start + n * 8 + lane % 4 * 2 + i);
            Rows::add(of_values, weights, also_now);
        }
        clear(slopes);
        Rows::multiply(slopes, also_mine, also_now);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float meet = TURNED ? meets[n][i % 2] : meets[m][i / 2];
                    slopes[m][n][i] = weights[m][n][i] * (slopes[m][n][i] - meet);
                }
        Rows::add(totals, slopes, now);
    }
    // If the other side is empty, the loads of these rows were not waited for, and results are written to the same memory.
    copies_arrive();
    __syncthreads();
    float times[M][2], once[M][2];
#pragma unroll
    for (int m = 0; m < M; m++) times[m][0] = times[m][1] = scale.all, once[m][0] = once[m][1] = 1;
    Rows::write(mine, totals, times, task, TURNED ? task.grad_key : task.grad_query, item, own_head, down, count);
    if (TURNED) Rows::write(also_mine, of_values, once, task, task.grad_value, item, own_head, down, count);
}

// For wide rows, tiles have fewer keys, so that there are enough registers.
#define WIDTHS(WIDTH, KEYS)                                                                                                          \
    template <class T> __global__ void __launch_bounds__(THREADS) attend_##WIDTH(Task task) { attended<T, WIDTH, 2, KEYS>(task); }   \
    template <class T> __global__ void __launch_bounds__(THREADS) to_queries_##WIDTH(Task task) { gradients<T, WIDTH, false>(task); } \
    template <class T> __global__ void __launch_bounds__(THREADS) to_keys_##WIDTH(Task task) { gradients<T, WIDTH, true>(task); }
WIDTHS(64, 64) WIDTHS(96, 64) WIDTHS(128, 32)
