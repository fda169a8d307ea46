// Flash attention: half-precision attention on tensor cores. Scores stay in the registers of the warp that computes them: the sums of one
// product are the left side of the next.
#include "attention.cuh"
#include "tensor_cores.cuh"

static const int WARPS = 4, THREADS = WARPS * 32;

// The factor for `exp(x) = exp2_approximate(x * LOG2_E)`.
static const float LOG2_E = 1.4426950408889634f;

// Tiles of rows of up to WIDTH columns in shared memory. Each row is padded by eight elements, so that the rows of a matrix that a warp
// loads are in different banks.
template <class T, int WIDTH> struct SharedTiles {
    static const int PITCH = WIDTH + 8, PACKS = WIDTH / 8;
    typedef Pack<T, 8> Pack8;

    // Whether an operand's rows consist of whole packs of eight elements, which are copied at once.
    static __device__ __forceinline__ bool has_packed_rows(const StridedHeads &side, u32 width) {
        return side.strides[3] == 1 && (u64(side.address) / sizeof(T) | side.strides[0] | side.strides[1] | side.strides[2] | width) % 8 == 0;
    }

    // Begins to load ROWS rows of an operand with `count` rows into shared memory. Rows behind the last one are zeros.
    template <int ROWS>
    static __device__ __forceinline__ void load_rows(T *to, const AttentionTask &task, const StridedHeads &side, u32 item, u32 head, u32 first, u32 count) {
        const T *from = (const T *)side.address + side.row_offset(item, head, first);
        count -= first;
        if (has_packed_rows(side, task.width)) {
#pragma unroll 4
            for (u32 i = threadIdx.x; i < ROWS * PACKS; i += THREADS) {
                u32 row = i / PACKS, column = i % PACKS * 8;
                bool inside = row < count && column < task.width;
                copy_async_16(to + row * PITCH + column, inside ? from + i64(row) * side.strides[2] + column : from, !inside);
            }
        } else {
#pragma unroll 1
            for (u32 i = threadIdx.x; i < ROWS * WIDTH; i += THREADS) {
                u32 row = i / WIDTH, column = i % WIDTH;
                bool inside = row < count && column < task.width;
                to[row * PITCH + column] = inside ? from[i64(row) * side.strides[2] + i64(column) * side.strides[3]] : T(0);
            }
        }
    }

    // Computes `products += mine others^T`, for 16 M rows of the warp and 8 N others.
    template <int M, int N> static __device__ __forceinline__ void add_dot_products(float (&products)[M][N][4], const T *mine, const T *others) {
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
    static __device__ __forceinline__ void add_weighted_rows(float (&totals)[M][PACKS][4], const float (&weights)[M][N][4], const T *others) {
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
                    left[m][i] = pack_halves<T>(pair[0], pair[1]);
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
    static __device__ __forceinline__ void write_rows(T *shared, const float (&totals)[M][PACKS][4], const float (&times)[M][2], const AttentionTask &task,
                                                 const StridedHeads &side, u32 item, u32 head, u32 first, u32 count) {
        u32 lane = threadIdx.x % 32;
        __syncwarp();
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < PACKS; n++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float low = totals[m][n][half * 2] * times[m][half], high = totals[m][n][half * 2 + 1] * times[m][half];
                    *(u32 *)(shared + (m * 16 + half * 8 + lane / 4) * PITCH + n * 8 + lane % 4 * 2) = pack_halves<T>(low, high);
                }
        __syncwarp();
        T *to = (T *)side.address + side.row_offset(item, head, first);
        count = count > first ? count - first : 0;
        if (has_packed_rows(side, task.width)) {
#pragma unroll 4
            for (u32 i = lane; i < M * 16 * PACKS; i += 32) {
                u32 row = i / PACKS, column = i % PACKS * 8;
                if (row < count && column < task.width)
                    *(Pack8 *)(to + i64(row) * side.strides[2] + column) = *(const Pack8 *)(shared + row * PITCH + column);
            }
        } else {
#pragma unroll 1
            for (u32 i = lane; i < M * 16 * WIDTH; i += 32) {
                u32 row = i / WIDTH, column = i % WIDTH;
                if (row < count && column < task.width)
                    to[i64(row) * side.strides[2] + i64(column) * side.strides[3]] = shared[row * PITCH + column];
            }
        }
    }
};

template <int M, int N> __device__ __forceinline__ void set_to_zero(float (&sums)[M][N][4]) {
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) sums[m][n][i] = 0;
}

// The scaling of scores: the product is multiplied by `factor`, and a mask is added. Without a mask, the multiplication is postponed and
// merged into a later one: scores are in units of `unit`.
struct ScoreScale {
    float factor, unit;
    bool is_applied_early;
    __device__ __forceinline__ ScoreScale(const AttentionTask &task) {
        factor = float(task.scale);
        is_applied_early = task.mask.address || !(factor > 0);
        unit = is_applied_early ? 1.0f : factor;
    }
};

// Scales and masks scores, in units of `scale.unit`. They are minus infinity if a query does not attend to a key. The scores are those of a
// warp's rows from `down` on with others from `across` on. The rows are queries, or keys if TRANSPOSED.
template <class T, bool TRANSPOSED, int M, int N>
__device__ __forceinline__ void mask_scores(float (&products)[M][N][4], const AttentionTask &task, const ScoreScale &scale, u32 item, u32 head, u32 down, u32 across) {
    u32 lane = threadIdx.x % 32, last = TRANSPOSED ? down + M * 16 : across + N * 8;
    u32 row = down + lane / 4, column = across + lane % 4 * 2, query = TRANSPOSED ? column : row, key = TRANSPOSED ? row : column;
    if (scale.is_applied_early) {
        const StridedHeads &mask = task.mask;
        bool wide = task.mask_dtype == F32;
        i64 each = wide ? 4 : 2, first = mask.row_offset(item, head, query) + i64(key) * mask.strides[3];
        const u8 *from = mask.address + first * each;
        i64 to_row = mask.strides[TRANSPOSED ? 3 : 2] * each, to_column = mask.strides[TRANSPOSED ? 2 : 3] * each;
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
                    product *= scale.factor;
                    bool inside = query + (TRANSPOSED ? columns : rows) < task.rows && key + (TRANSPOSED ? rows : columns) < task.keys;
                    if (mask.address && inside) product += wide ? *(const float *)at : float(*(const T *)at);
                }
            }
    }
    if (last > task.keys || (task.is_causal && last > (TRANSPOSED ? across : down) + 1)) {
#pragma unroll
        for (u32 m = 0; m < M; m++)
#pragma unroll
            for (u32 n = 0; n < N; n++)
#pragma unroll
                for (u32 i = 0; i < 4; i++) {
                    u32 rows = m * 16 + i / 2 * 8, columns = n * 8 + i % 2;
                    u32 this_query = query + (TRANSPOSED ? columns : rows), this_key = key + (TRANSPOSED ? rows : columns);
                    if (this_key >= task.keys || (task.is_causal && this_key > this_query)) products[m][n][i] = Limits<float>::min_value();
                }
    }
}

// The forward pass of a block of queries, 16 M for each warp, over one tile of keys after the other. The values are loaded while scores are
// computed, and the next keys while values are added.
template <class T, int WIDTH, int M, int KEYS> __device__ __forceinline__ void attention_forward(const AttentionTask &task) {
    typedef SharedTiles<T, WIDTH> Rows;
    const int ROWS = WARPS * M * 16;
    DYNAMIC_SHARED_MEMORY(bytes);
    T *queries = (T *)bytes, *keys = queries + ROWS * Rows::PITCH, *values = keys + KEYS * Rows::PITCH;
    u32 tiles = (task.rows + ROWS - 1) / ROWS, tile = blockIdx.x % tiles, pair = blockIdx.x / tiles;
    // The last queries of a causal task have the most keys, so their blocks come first.
    u32 head = pair % task.heads, item = pair / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * ROWS;
    u32 lane = threadIdx.x % 32, own = threadIdx.x / 32 * M * 16, down = first + own;
    ScoreScale scale(task);
    float later = scale.unit * LOG2_E, totals[M][WIDTH / 8][4], highest[M][2], sums[M][2];
    set_to_zero(totals);
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) highest[m][half] = Limits<float>::min_value(), sums[m][half] = 0;
    u32 reach = task.is_causal ? min_u32(task.keys, first + ROWS) : task.keys;
    Rows::template load_rows<ROWS>(queries, task, task.query, item, head, first, task.rows);
    if (reach) Rows::template load_rows<KEYS>(keys, task, task.key, item, group, 0, task.keys);
#pragma unroll 1
    for (u32 start = 0; start < reach; start += KEYS) {
        wait_for_copies();
        __syncthreads();
        Rows::template load_rows<KEYS>(values, task, task.value, item, group, start, task.keys);
        // A warp skips a tile if all its rows are behind the last query, or attend to none of these keys.
        bool works = down < task.rows && !(task.is_causal && start >= down + M * 16);
        float products[M][KEYS / 8][4];
        if (works) {
            set_to_zero(products);
            Rows::add_dot_products(products, queries + own * Rows::PITCH, keys);
            mask_scores<T, false>(products, task, scale, item, head, down, start);
#pragma unroll
            for (int m = 0; m < M; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float most = highest[m][half], sum = 0;
#pragma unroll
                    for (int n = 0; n < KEYS / 8; n++) most = fmaxf(most, fmaxf(products[m][n][half * 2], products[m][n][half * 2 + 1]));
                    most = reduce_lanes<4>(most, MaxOfTwo());
                    float from = score_offset(most), fewer = exp2_approximate((highest[m][half] - from) * later);
                    highest[m][half] = most;
#pragma unroll
                    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                        for (int i = half * 2; i < half * 2 + 2; i++) {
                            products[m][n][i] = exp2_approximate((products[m][n][i] - from) * later);
                            sum += products[m][n][i];
                        }
                    sums[m][half] = sums[m][half] * fewer + sum;
#pragma unroll
                    for (int n = 0; n < WIDTH / 8; n++) totals[m][n][half * 2] *= fewer, totals[m][n][half * 2 + 1] *= fewer;
                }
        }
        wait_for_copies();
        __syncthreads();
        if (start + KEYS < reach) Rows::template load_rows<KEYS>(keys, task, task.key, item, group, start + KEYS, task.keys);
        if (works) Rows::add_weighted_rows(totals, products, values);
    }
    // If there are no keys, the loads of the queries were not waited for, and results are written to the same memory.
    wait_for_copies();
    __syncthreads();
    float times[M][2];
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            // If all scores are minus infinity, the sum is zero and so is the result.
            float all = reduce_lanes<4>(sums[m][half], Plus());
            all = all == 0 ? 1.0f : all;
            times[m][half] = 1 / all;
            u32 row = down + m * 16 + half * 8 + lane / 4;
            if (lane % 4 == 0 && row < task.rows)
                ((float *)task.logsumexps.address)[task.logsumexps.row_offset(item, head, row)] = score_offset(highest[m][half]) * scale.unit + log(all);
        }
    Rows::write_rows(queries + own * Rows::PITCH, totals, times, task, task.out, item, head, down, task.rows);
}

// Computes the gradient of a block of queries, from all keys that they attend to. If TRANSPOSED, computes the gradients of a block of keys
// and values, from all queries that attend to them. Weights are recomputed. The next tile of the other side is loaded while one is
// processed.
template <class T, int WIDTH, bool TRANSPOSED> __device__ __forceinline__ void attention_gradients(const AttentionTask &task) {
    typedef SharedTiles<T, WIDTH> Rows;
    // Sixteen rows for each warp: with more there are too few registers.
    const int M = 1, ROWS = WARPS * M * 16, OTHER_ROWS = 32, N = OTHER_ROWS / 8, TILE = OTHER_ROWS * Rows::PITCH;
    DYNAMIC_SHARED_MEMORY(bytes);
    // The operands are queries and the gradients of their results on one side, and keys and values on the other.
    T *mine = (T *)bytes, *also_mine = mine + ROWS * Rows::PITCH, *others = also_mine + ROWS * Rows::PITCH;
    const StridedHeads &of_mine = TRANSPOSED ? task.key : task.query, &of_also_mine = TRANSPOSED ? task.value : task.grad;
    const StridedHeads &of_others = TRANSPOSED ? task.query : task.key, &of_also_others = TRANSPOSED ? task.grad : task.value;
    u32 count = TRANSPOSED ? task.keys : task.rows, others_count = TRANSPOSED ? task.rows : task.keys;
    u32 heads = TRANSPOSED ? task.groups : task.heads, of_group = task.heads / task.groups;
    u32 tiles = (count + ROWS - 1) / ROWS, tile = blockIdx.x % tiles, pair = blockIdx.x / tiles;
    u32 item = pair / heads, own_head = pair % heads;
    // The last queries of a causal task have the most keys, and the first keys have the most queries, so their blocks come first.
    u32 first = (TRANSPOSED ? tile : tiles - 1 - tile) * ROWS;
    u32 own = threadIdx.x / 32 * M * 16, down = first + own, lane = threadIdx.x % 32;
    u32 begin = TRANSPOSED && task.is_causal ? min_u32(first, task.rows) : 0;
    u32 end = TRANSPOSED ? task.rows : task.is_causal ? min_u32(task.keys, first + ROWS) : task.keys;
    // The number of tiles of each head, and of all heads that share the keys.
    u32 each = (end - begin + OTHER_ROWS - 1) / OTHER_ROWS, all = each * (TRANSPOSED ? of_group : 1);
    auto load_others = [&](u32 at) {
        u32 head = TRANSPOSED ? own_head * of_group + at / each : own_head / of_group, start = begin + at % each * OTHER_ROWS;
        T *to = others + at % 2 * 2 * TILE;
        Rows::template load_rows<OTHER_ROWS>(to, task, of_others, item, head, start, others_count);
        Rows::template load_rows<OTHER_ROWS>(to + TILE, task, of_also_others, item, head, start, others_count);
    };
    // For a query behind the last one, an infinite logsumexp makes the weights zero.
    auto of_query = [&](const StridedHeads &side, u32 head, u32 query, float behind) {
        return query < task.rows ? ((const float *)side.address)[side.row_offset(item, head, query)] : behind;
    };
    auto logsumexp_of = [&](u32 head, u32 query) { return of_query(task.logsumexps, head, query, Limits<float>::max_value()); };
    auto output_dot_of = [&](u32 head, u32 query) { return of_query(task.output_dots, head, query, 0.0f); };
    ScoreScale scale(task);
    float totals[M][WIDTH / 8][4], of_values[M][WIDTH / 8][4];
    float logsumexps[TRANSPOSED ? N : M][2], output_dots[TRANSPOSED ? N : M][2];
    set_to_zero(totals);
    if (TRANSPOSED) set_to_zero(of_values);
    if (!TRANSPOSED)
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                u32 query = down + m * 16 + half * 8 + lane / 4;
                logsumexps[m][half] = logsumexp_of(own_head, query), output_dots[m][half] = output_dot_of(own_head, query);
            }
    Rows::template load_rows<ROWS>(mine, task, of_mine, item, own_head, first, count);
    Rows::template load_rows<ROWS>(also_mine, task, of_also_mine, item, own_head, first, count);
    mine += own * Rows::PITCH, also_mine += own * Rows::PITCH;
    if (all) load_others(0);
#pragma unroll 1
    for (u32 at = 0; at < all; at++) {
        wait_for_copies();
        __syncthreads();
        if (at + 1 < all) load_others(at + 1);
        u32 head = TRANSPOSED ? own_head * of_group + at / each : own_head, start = begin + at % each * OTHER_ROWS;
        const T *now = others + at % 2 * 2 * TILE, *also_now = now + TILE;
        if (down >= count || (task.is_causal && (TRANSPOSED ? start + OTHER_ROWS <= down : start >= down + M * 16))) continue;
        if (TRANSPOSED)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 2; i++) logsumexps[n][i] = logsumexp_of(head, start + n * 8 + lane % 4 * 2 + i);
        float weights[M][N][4], score_gradients[M][N][4];
        set_to_zero(weights);
        Rows::add_dot_products(weights, mine, now);
        mask_scores<T, TRANSPOSED>(weights, task, scale, item, head, down, start);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float log = TRANSPOSED ? logsumexps[n][i % 2] : logsumexps[m][i / 2];
                    weights[m][n][i] = exp2_approximate((weights[m][n][i] * scale.unit - log) * LOG2_E);
                }
        if (TRANSPOSED) {
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 2; i++) output_dots[n][i] = output_dot_of(head, start + n * 8 + lane % 4 * 2 + i);
            Rows::add_weighted_rows(of_values, weights, also_now);
        }
        set_to_zero(score_gradients);
        Rows::add_dot_products(score_gradients, also_mine, also_now);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float output_dot = TRANSPOSED ? output_dots[n][i % 2] : output_dots[m][i / 2];
                    score_gradients[m][n][i] = weights[m][n][i] * (score_gradients[m][n][i] - output_dot);
                }
        Rows::add_weighted_rows(totals, score_gradients, now);
    }
    // If there are no tiles of other rows, the loads of these rows were not waited for, and results are written to the same memory.
    wait_for_copies();
    __syncthreads();
    float times[M][2], once[M][2];
#pragma unroll
    for (int m = 0; m < M; m++) times[m][0] = times[m][1] = scale.factor, once[m][0] = once[m][1] = 1;
    Rows::write_rows(mine, totals, times, task, TRANSPOSED ? task.grad_key : task.grad_query, item, own_head, down, count);
    if (TRANSPOSED) Rows::write_rows(also_mine, of_values, once, task, task.grad_value, item, own_head, down, count);
}

// For wide rows, tiles have fewer keys, so that there are enough registers.
#define DEFINE_ATTENTION_KERNELS(WIDTH, KEYS)                                                                                                          \
    template <class T> __global__ void __launch_bounds__(THREADS) attention_##WIDTH(AttentionTask task) { attention_forward<T, WIDTH, 2, KEYS>(task); }   \
    template <class T> __global__ void __launch_bounds__(THREADS) query_gradients_##WIDTH(AttentionTask task) { attention_gradients<T, WIDTH, false>(task); } \
    template <class T> __global__ void __launch_bounds__(THREADS) key_value_gradients_##WIDTH(AttentionTask task) { attention_gradients<T, WIDTH, true>(task); }
DEFINE_ATTENTION_KERNELS(64, 64) DEFINE_ATTENTION_KERNELS(96, 64) DEFINE_ATTENTION_KERNELS(128, 32)
