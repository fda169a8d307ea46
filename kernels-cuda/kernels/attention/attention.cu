#include "attention.cuh"

// Calls `call(T)`, where T is the element type of `dtype`, for a kernel that computes in `C`.
#define CALL_WITH_ELEMENT_TYPE(C, dtype, call)                                                                                                   \
    do {                                                                                                                        \
        if (sizeof(C) == 8) {                                                                                                   \
            call(double);                                                                                                       \
        } else if (dtype == F32) {                                                                                              \
            call(float);                                                                                                        \
        } else if (dtype == F16) {                                                                                              \
            call(f16);                                                                                                          \
        } else {                                                                                                                \
            call(bf16);                                                                                                         \
        }                                                                                                                       \
    } while (0)

// The dot products of TILE rows of one operand with TILE rows of another, of which each thread computes four times four. Rows have up to
// WIDTH columns.
template <class C, int TILE, int WIDTH> struct DotProductTile {
    static const int LANES = TILE / 4, THREADS = LANES * LANES, COLUMNS = WIDTH / LANES, V = 16 / sizeof(C), LINE = TILE + V;
    struct alignas(16) Vector {
        C elements[V];
    };
    struct DotProducts {
        C elements[4][4];
    };
    struct WeightedSums {
        C elements[4][COLUMNS];
    };

    u32 down, across, padded, pitch;
    __device__ __forceinline__ DotProductTile(u32 width) : down(threadIdx.x / LANES * 4), across(threadIdx.x % LANES) {
        padded = (width + LANES - 1) / LANES * LANES;
        pitch = padded + V;
    }

    template <class T> __device__ __forceinline__ void load_rows_as(C *to, const T *from, const StridedHeads &side, u32 count, u32 width) const {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < TILE * padded; i += THREADS) {
            u32 row = i / padded, column = i - row * padded;
            to[row * pitch + column] = row < count && column < width ? as<C>(from[i64(row) * side.strides[2] + i64(column) * side.strides[3]]) : C(0);
        }
    }
    // Loads TILE rows of an operand with `count` rows into shared memory. Rows behind the last one are zeros.
    __device__ __forceinline__ void load_rows(C *to, const AttentionTask &task, const StridedHeads &side, u32 item, u32 head, u32 first, u32 count) const {
#define LOAD_ROWS(T) load_rows_as(to, (const T *)side.address + side.row_offset(item, head, first), side, count - first, task.width)
        CALL_WITH_ELEMENT_TYPE(C, task.dtype, LOAD_ROWS);
#undef LOAD_ROWS
    }

    // Computes the dot product of each row of one tile with each row of another.
    __device__ __forceinline__ DotProducts compute_dot_products(const C *mine, const C *others) const {
        DotProducts products;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) products.elements[i][j] = C(0);
#pragma unroll 1
        for (u32 at = 0; at < padded; at += V) {
            Vector a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = *(const Vector *)(mine + (down + i) * pitch + at);
                b[i] = *(const Vector *)(others + (across + i * LANES) * pitch + at);
            }
#pragma unroll
            for (int k = 0; k < V; k++)
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++) products.elements[i][j] += a[i].elements[k] * b[j].elements[k];
        }
        return products;
    }

    __device__ __forceinline__ void store_products(C *weights, const DotProducts &products) const {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) weights[(down + i) * LINE + across + j * LANES] = products.elements[i][j];
    }

    // Adds a tile's rows, multiplied by the attention weights, to the totals.
    __device__ __forceinline__ void add_weighted_rows(WeightedSums &totals, const C *weights, const C *others) const {
#pragma unroll 1
        for (u32 at = 0; at < TILE; at += V) {
            Vector weight[4];
#pragma unroll
            for (int i = 0; i < 4; i++) weight[i] = *(const Vector *)(weights + (down + i) * LINE + at);
#pragma unroll
            for (int k = 0; k < V; k++) {
                const C *row = others + (at + k) * pitch + across;
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    if (j * LANES >= padded) break;
                    C x = row[j * LANES];
#pragma unroll
                    for (int i = 0; i < 4; i++) totals.elements[i][j] += weight[i].elements[k] * x;
                }
            }
        }
    }

    __device__ __forceinline__ void set_to_zero(WeightedSums &totals) const {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) totals.elements[i][j] = C(0);
    }

    template <class T> __device__ __forceinline__ void write_rows_as(const C *from, T *to, const StridedHeads &side, u32 count, u32 width) const {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < TILE * padded; i += THREADS) {
            u32 row = i / padded, column = i - row * padded;
            if (row < count && column < width) to[i64(row) * side.strides[2] + i64(column) * side.strides[3]] = as<T>(from[row * pitch + column]);
        }
    }
    // Writes a block's totals to rows of an operand, through shared memory, so that adjacent threads write adjacent elements.
    __device__ __forceinline__ void write_rows(C *shared, const WeightedSums &totals, const AttentionTask &task, const StridedHeads &side, u32 item, u32 head, u32 first, u32 count) const {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            if (j * LANES >= padded) break;
#pragma unroll
            for (int i = 0; i < 4; i++) shared[(down + i) * pitch + across + j * LANES] = totals.elements[i][j];
        }
        __syncthreads();
#define WRITE_ROWS(T) write_rows_as(shared, (T *)side.address + side.row_offset(item, head, first), side, count - first, task.width)
        CALL_WITH_ELEMENT_TYPE(C, task.dtype, WRITE_ROWS);
#undef WRITE_ROWS
    }
};

// Returns a score: the scaled and masked product of a query and a key. It is minus infinity if the query does not attend to the key.
template <class C> __device__ __forceinline__ C masked_score(const AttentionTask &task, C product, u32 item, u32 head, u32 row, u32 key) {
    if (row >= task.rows || key >= task.keys || (task.is_causal && key > row)) return Limits<C>::min_value();
    product *= C(task.scale);
    if (task.mask.address) {
        i64 at = i64(item) * task.mask.strides[0] + i64(head) * task.mask.strides[1] + i64(row) * task.mask.strides[2] + i64(key) * task.mask.strides[3];
#define ADD_MASK(T) product += as<C>(((const T *)task.mask.address)[at])
        CALL_WITH_ELEMENT_TYPE(C, task.mask_dtype, ADD_MASK);
#undef ADD_MASK
    }
    return product;
}

// The forward pass of a block of queries, over one tile of keys after the other. The totals are rescaled when a larger score occurs.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void attention_forward(const AttentionTask &task) {
    typedef DotProductTile<C, TILE, WIDTH> B;
    DYNAMIC_SHARED_MEMORY(bytes);
    B block(task.width);
    C *queries = (C *)bytes, *others = queries + TILE * block.pitch, *weights = others + TILE * block.pitch;
    u32 tiles = (task.rows + TILE - 1) / TILE, tile = blockIdx.x % tiles, pair = blockIdx.x / tiles;
    // The last queries of a causal task have the most keys, so their blocks come first.
    u32 head = pair % task.heads, item = pair / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * TILE;
    block.load_rows(queries, task, task.query, item, head, first, task.rows);
    typename B::WeightedSums totals;
    block.set_to_zero(totals);
    C highest[4], sums[4];
#pragma unroll
    for (int i = 0; i < 4; i++) highest[i] = Limits<C>::min_value(), sums[i] = C(0);
    u32 reach = task.is_causal ? min_u32(task.keys, first + TILE) : task.keys;
#pragma unroll 1
    for (u32 start = 0; start < reach; start += TILE) {
        __syncthreads();
        block.load_rows(others, task, task.key, item, group, start, task.keys);
        __syncthreads();
        typename B::DotProducts products = block.compute_dot_products(queries, others);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            C most = highest[i], sum = C(0);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                C &product = products.elements[i][j];
                product = masked_score(task, product, item, head, first + block.down + i, start + block.across + j * B::LANES);
                most = product > most ? product : most;
            }
            most = reduce_lanes<B::LANES>(most, MaxOfTwo());
            C shift = score_offset(most), scale = exp(highest[i] - shift);
            highest[i] = most;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                products.elements[i][j] = exp(products.elements[i][j] - shift);
                sum += products.elements[i][j];
            }
            sums[i] = sums[i] * scale + reduce_lanes<B::LANES>(sum, Plus());
#pragma unroll
            for (int j = 0; j < B::COLUMNS; j++) totals.elements[i][j] *= scale;
        }
        block.store_products(weights, products);
        __syncthreads();
        block.load_rows(others, task, task.value, item, group, start, task.keys);
        __syncthreads();
        block.add_weighted_rows(totals, weights, others);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        // If all scores are minus infinity, the sum is zero and so is the result.
        C all = sums[i] == C(0) ? C(1) : sums[i], scale = C(1) / all;
#pragma unroll
        for (int j = 0; j < B::COLUMNS; j++) totals.elements[i][j] *= scale;
        u32 row = first + block.down + i;
        if (block.across == 0 && row < task.rows) ((C *)task.logsumexps.address)[task.logsumexps.row_offset(item, head, row)] = score_offset(highest[i]) + log(all);
    }
    block.write_rows(others, totals, task, task.out, item, head, first, task.rows);
}

// Computes the dot product of each query's result and the result's gradient, with a warp for each query.
template <class C> __global__ void __launch_bounds__(256) output_dot_gradient(AttentionTask task) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= u64(task.items) * task.heads * task.rows) return;
    u32 row = u32(at % task.rows), head = u32(at / task.rows % task.heads), item = u32(at / task.rows / task.heads);
    i64 out = task.out.row_offset(item, head, row), grad = task.grad.row_offset(item, head, row);
    C sum = C(0);
    for (u32 column = threadIdx.x % 32; column < task.width; column += 32) {
#define ADD_OUTPUT_TIMES_GRADIENT(T) sum += as<C>(((const T *)task.out.address)[out + column * task.out.strides[3]]) * as<C>(((const T *)task.grad.address)[grad + column * task.grad.strides[3]])
        CALL_WITH_ELEMENT_TYPE(C, task.dtype, ADD_OUTPUT_TIMES_GRADIENT);
#undef ADD_OUTPUT_TIMES_GRADIENT
    }
    sum = reduce_warp(sum, Plus());
    if (threadIdx.x % 32 == 0) ((C *)task.output_dots.address)[task.output_dots.row_offset(item, head, row)] = sum;
}

// Recomputes the weight of a key for a query.
template <class C> __device__ __forceinline__ C attention_weight(const AttentionTask &task, C product, u32 item, u32 head, u32 row, u32 key) {
    product = masked_score(task, product, item, head, row, key);
    return row < task.rows ? exp(product - ((C *)task.logsumexps.address)[task.logsumexps.row_offset(item, head, row)]) : C(0);
}

template <class C> __device__ __forceinline__ C score_gradient(const AttentionTask &task, C weight, C grad, u32 item, u32 head, u32 row) {
    return row < task.rows ? weight * (grad - ((C *)task.output_dots.address)[task.output_dots.row_offset(item, head, row)]) * C(task.scale) : C(0);
}

// Computes the gradient of a block of queries, from all keys that they attend to.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void query_gradients(const AttentionTask &task) {
    typedef DotProductTile<C, TILE, WIDTH> B;
    DYNAMIC_SHARED_MEMORY(bytes);
    B block(task.width);
    C *queries = (C *)bytes, *grads = queries + TILE * block.pitch, *others = grads + TILE * block.pitch, *score_gradients = others + TILE * block.pitch;
    u32 tiles = (task.rows + TILE - 1) / TILE, tile = blockIdx.x % tiles, pair = blockIdx.x / tiles;
    u32 head = pair % task.heads, item = pair / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * TILE;
    block.load_rows(queries, task, task.query, item, head, first, task.rows);
    block.load_rows(grads, task, task.grad, item, head, first, task.rows);
    typename B::WeightedSums totals;
    block.set_to_zero(totals);
    u32 reach = task.is_causal ? min_u32(task.keys, first + TILE) : task.keys;
#pragma unroll 1
    for (u32 start = 0; start < reach; start += TILE) {
        __syncthreads();
        block.load_rows(others, task, task.value, item, group, start, task.keys);
        __syncthreads();
        typename B::DotProducts of_weights = block.compute_dot_products(grads, others);
        __syncthreads();
        block.load_rows(others, task, task.key, item, group, start, task.keys);
        __syncthreads();
        typename B::DotProducts products = block.compute_dot_products(queries, others);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 row = first + block.down + i, key = start + block.across + j * B::LANES;
                products.elements[i][j] = score_gradient(task, attention_weight(task, products.elements[i][j], item, head, row, key), of_weights.elements[i][j], item, head, row);
            }
        block.store_products(score_gradients, products);
        __syncthreads();
        block.add_weighted_rows(totals, score_gradients, others);
    }
    block.write_rows(others, totals, task, task.grad_query, item, head, first, task.rows);
}

// Computes the gradients of a block of keys and values, from all queries that attend to them.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void key_value_gradients(const AttentionTask &task) {
    typedef DotProductTile<C, TILE, WIDTH> B;
    DYNAMIC_SHARED_MEMORY(bytes);
    B block(task.width);
    C *keys = (C *)bytes, *values = keys + TILE * block.pitch, *others = values + TILE * block.pitch, *weights = others + TILE * block.pitch;
    C *score_gradients = weights + TILE * B::LINE;
    u32 tiles = (task.keys + TILE - 1) / TILE, first = blockIdx.x % tiles * TILE, pair = blockIdx.x / tiles;
    u32 group = pair % task.groups, item = pair / task.groups, heads = task.heads / task.groups;
    block.load_rows(keys, task, task.key, item, group, first, task.keys);
    block.load_rows(values, task, task.value, item, group, first, task.keys);
    typename B::WeightedSums of_keys, of_values;
    block.set_to_zero(of_keys);
    block.set_to_zero(of_values);
    for (u32 head = group * heads; head < (group + 1) * heads; head++)
#pragma unroll 1
        for (u32 start = task.is_causal ? first : 0; start < task.rows; start += TILE) {
            __syncthreads();
            block.load_rows(others, task, task.query, item, head, start, task.rows);
            __syncthreads();
            typename B::DotProducts products = block.compute_dot_products(keys, others);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    products.elements[i][j] = attention_weight(task, products.elements[i][j], item, head, start + block.across + j * B::LANES, first + block.down + i);
            block.store_products(weights, products);
            __syncthreads();
            block.load_rows(others, task, task.grad, item, head, start, task.rows);
            __syncthreads();
            typename B::DotProducts of_weights = block.compute_dot_products(values, others);
            block.add_weighted_rows(of_values, weights, others);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    products.elements[i][j] = score_gradient(task, products.elements[i][j], of_weights.elements[i][j], item, head, start + block.across + j * B::LANES);
            block.store_products(score_gradients, products);
            __syncthreads();
            block.load_rows(others, task, task.query, item, head, start, task.rows);
            __syncthreads();
            block.add_weighted_rows(of_keys, score_gradients, others);
        }
    block.write_rows(others, of_keys, task, task.grad_key, item, group, first, task.keys);
    block.write_rows(others, of_values, task, task.grad_value, item, group, first, task.keys);
}

// Double precision, and gradients of wide rows, have smaller tiles, as shared memory is limited.
template <class C> __device__ constexpr int tile_rows(bool small) { return small || sizeof(C) == 8 ? 32 : 64; }

#define DEFINE_ATTENTION_KERNELS(WIDTH, SMALL)                                                                                                                     \
    template <class C> __global__ void __launch_bounds__(256) attention_##WIDTH(AttentionTask task) { attention_forward<C, tile_rows<C>(false), WIDTH>(task); }         \
    template <class C> __global__ void __launch_bounds__(256) query_gradients_##WIDTH(AttentionTask task) { query_gradients<C, tile_rows<C>(SMALL), WIDTH>(task); }   \
    template <class C> __global__ void __launch_bounds__(256) key_value_gradients_##WIDTH(AttentionTask task) { key_value_gradients<C, tile_rows<C>(SMALL), WIDTH>(task); }
DEFINE_ATTENTION_KERNELS(64, false) DEFINE_ATTENTION_KERNELS(128, false) DEFINE_ATTENTION_KERNELS(256, true)
