#include "attention.cuh"

// Calls `call(T)`, where T is the element type of `dtype`, for a kernel that computes in `C`.
#define TYPED(C, dtype, call)                                                                                                   \
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

// A block of products of TILE rows of one side with TILE rows of the other, four times four in each thread. Rows have up to WIDTH columns.
template <class C, int TILE, int WIDTH> struct Block {
    static const int LANES = TILE / 4, THREADS = LANES * LANES, COLUMNS = WIDTH / LANES, V = 16 / sizeof(C), LINE = TILE + V;
    struct alignas(16) Vector {
        C of[V];
    };
    struct Products {
        C of[4][4];
    };
    struct Totals {
        C of[4][COLUMNS];
    };

    u32 down, across, padded, pitch;
    __device__ __forceinline__ Block(u32 width) : down(threadIdx.x / LANES * 4), across(threadIdx.x % LANES) {
        padded = (width + LANES - 1) / LANES * LANES;
        pitch = padded + V;
    }

    template <class T> __device__ __forceinline__ void read_as(C *to, const T *from, const Side &side, u32 count, u32 width) const {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < TILE * padded; i += THREADS) {
            u32 row = i / padded, column = i - row * padded;
            to[row * pitch + column] = row < count && column < width ? as<C>(from[i64(row) * side.steps[2] + i64(column) * side.steps[3]]) : C(0);
        }
    }
    // Reads TILE rows of a side, which has `count` rows in all. Rows behind the last one are zeros.
    __device__ __forceinline__ void read(C *to, const Task &task, const Side &side, u32 item, u32 head, u32 first, u32 count) const {
#define READ(T) read_as(to, (const T *)side.at + side.row(item, head, first), side, count - first, task.width)
        TYPED(C, task.dtype, READ);
#undef READ
    }

    // Multiplies each row of one side with each row of the other.
    __device__ __forceinline__ Products multiply(const C *mine, const C *others) const {
        Products products;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) products.of[i][j] = C(0);
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
                    for (int j = 0; j < 4; j++) products.of[i][j] += a[i].of[k] * b[j].of[k];
        }
        return products;
    }

    __device__ __forceinline__ void put(C *weights, const Products &products) const {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) weights[(down + i) * LINE + across + j * LANES] = products.of[i][j];
    }

    // Adds the weighted rows of the other side to the totals.
    __device__ __forceinline__ void add(Totals &totals, const C *weights, const C *others) const {
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
                    for (int i = 0; i < 4; i++) totals.of[i][j] += weight[i].of[k] * x;
                }
            }
        }
    }

    __device__ __forceinline__ void clear(Totals &totals) const {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) totals.of[i][j] = C(0);
    }

    template <class T> __device__ __forceinline__ void write_as(const C *from, T *to, const Side &side, u32 count, u32 width) const {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < TILE * padded; i += THREADS) {
            u32 row = i / padded, column = i - row * padded;
            if (row < count && column < width) to[i64(row) * side.steps[2] + i64(column) * side.steps[3]] = as<T>(from[row * pitch + column]);
        }
    }
    // Writes rows of a side through shared memory, so that adjacent threads write adjacent elements.
    __device__ __forceinline__ void write(C *shared, const Totals &totals, const Task &task, const Side &side, u32 item, u32 head, u32 first, u32 count) const {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            if (j * LANES >= padded) break;
#pragma unroll
            for (int i = 0; i < 4; i++) shared[(down + i) * pitch + across + j * LANES] = totals.of[i][j];
        }
        __syncthreads();
#define WRITE(T) write_as(shared, (T *)side.at + side.row(item, head, first), side, count - first, task.width)
        TYPED(C, task.dtype, WRITE);
#undef WRITE
    }
};

// Returns a score: the scaled and masked product of a query and a key. It is minus infinity if the query does not attend to the key.
template <class C> __device__ __forceinline__ C seen(const Task &task, C product, u32 item, u32 head, u32 row, u32 key) {
    if (row >= task.rows || key >= task.keys || (task.is_causal && key > row)) return Bounds<C>::least();
    product *= C(task.scale);
    if (task.mask.at) {
        i64 at = i64(item) * task.mask.steps[0] + i64(head) * task.mask.steps[1] + i64(row) * task.mask.steps[2] + i64(key) * task.mask.steps[3];
#define ADD(T) product += as<C>(((const T *)task.mask.at)[at])
        TYPED(C, task.mask_dtype, ADD);
#undef ADD
    }
    return product;
}

// The forward pass of a block of queries, over one tile of keys after the other. The totals are rescaled when a larger score occurs.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void attended(const Task &task) {
    typedef Block<C, TILE, WIDTH> B;
    SHARED_BYTES(bytes);
    B block(task.width);
    C *queries = (C *)bytes, *others = queries + TILE * block.pitch, *weights = others + TILE * block.pitch;
    u32 tiles = (task.rows + TILE - 1) / TILE, tile = blockIdx.x % tiles, place = blockIdx.x / tiles;
    // The last queries of a causal task have the most keys, so their blocks come first.
    u32 head = place % task.heads, item = place / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * TILE;
    block.read(queries, task, task.query, item, head, first, task.rows);
    typename B::Totals totals;
    block.clear(totals);
    C highest[4], sums[4];
#pragma unroll
    for (int i = 0; i < 4; i++) highest[i] = Bounds<C>::least(), sums[i] = C(0);
    u32 reach = task.is_causal ? least_of(task.keys, first + TILE) : task.keys;
#pragma unroll 1
    for (u32 start = 0; start < reach; start += TILE) {
        __syncthreads();
        block.read(others, task, task.key, item, group, start, task.keys);
        __syncthreads();
        typename B::Products products = block.multiply(queries, others);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            C most = highest[i], sum = C(0);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                C &product = products.of[i][j];
                product = seen(task, product, item, head, first + block.down + i, start + block.across + j * B::LANES);
                most = product > most ? product : most;
            }
            most = joined_in_lanes<B::LANES>(most, Most());
            C shift = counted_from(most), scale = exp(highest[i] - shift);
            highest[i] = most;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                products.of[i][j] = exp(products.of[i][j] - shift);
                sum += products.of[i][j];
            }
            sums[i] = sums[i] * scale + joined_in_lanes<B::LANES>(sum, Plus());
#pragma unroll
            for (int j = 0; j < B::COLUMNS; j++) totals.of[i][j] *= scale;
        }
        block.put(weights, products);
        __syncthreads();
        block.read(others, task, task.value, item, group, start, task.keys);
        __syncthreads();
        block.add(totals, weights, others);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        // If all scores are minus infinity, the sum is zero and so is the result.
        C all = sums[i] == C(0) ? C(1) : sums[i], scale = C(1) / all;
#pragma unroll
        for (int j = 0; j < B::COLUMNS; j++) totals.of[i][j] *= scale;
        u32 row = first + block.down + i;
        if (block.across == 0 && row < task.rows) ((C *)task.logs.at)[task.logs.row(item, head, row)] = counted_from(highest[i]) + log(all);
    }
    block.write(others, totals, task, task.out, item, head, first, task.rows);
}

// Computes the dot product of each query's result and the result's gradient, with a warp for each query.
template <class C> __global__ void __launch_bounds__(256) met(Task task) {
    u64 at = u64(blockIdx.x) * 8 + threadIdx.x / 32;
    if (at >= u64(task.items) * task.heads * task.rows) return;
    u32 row = u32(at % task.rows), head = u32(at / task.rows % task.heads), item = u32(at / task.rows / task.heads);
    i64 out = task.out.row(item, head, row), grad = task.grad.row(item, head, row);
    C sum = C(0);
    for (u32 column = threadIdx.x % 32; column < task.width; column += 32) {
#define MEET(T) sum += as<C>(((const T *)task.out.at)[out + column * task.out.steps[3]]) * as<C>(((const T *)task.grad.at)[grad + column * task.grad.steps[3]])
        TYPED(C, task.dtype, MEET);
#undef MEET
    }
    sum = joined_in_warp(sum, Plus());
    if (threadIdx.x % 32 == 0) ((C *)task.meets.at)[task.meets.row(item, head, row)] = sum;
}

// Recomputes the weight of a key for a query.
template <class C> __device__ __forceinline__ C weight(const Task &task, C product, u32 item, u32 head, u32 row, u32 key) {
    product = seen(task, product, item, head, row, key);
    return row < task.rows ? exp(product - ((C *)task.logs.at)[task.logs.row(item, head, row)]) : C(0);
}

template <class C> __device__ __forceinline__ C slope(const Task &task, C weight, C grad, u32 item, u32 head, u32 row) {
    return row < task.rows ? weight * (grad - ((C *)task.meets.at)[task.meets.row(item, head, row)]) * C(task.scale) : C(0);
}

// Computes the gradient of a block of queries, from all keys that they attend to.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void to_queries(const Task &task) {
    typedef Block<C, TILE, WIDTH> B;
    SHARED_BYTES(bytes);
    B block(task.width);
    C *queries = (C *)bytes, *grads = queries + TILE * block.pitch, *others = grads + TILE * block.pitch, *slopes = others + TILE * block.pitch;
    u32 tiles = (task.rows + TILE - 1) / TILE, tile = blockIdx.x % tiles, place = blockIdx.x / tiles;
    u32 head = place % task.heads, item = place / task.heads, group = head / (task.heads / task.groups), first = (tiles - 1 - tile) * TILE;
    block.read(queries, task, task.query, item, head, first, task.rows);
    block.read(grads, task, task.grad, item, head, first, task.rows);
    typename B::Totals totals;
    block.clear(totals);
    u32 reach = task.is_causal ? least_of(task.keys, first + TILE) : task.keys;
#pragma unroll 1
    for (u32 start = 0; start < reach; start += TILE) {
        __syncthreads();
        block.read(others, task, task.value, item, group, start, task.keys);
        __syncthreads();
        typename B::Products of_weights = block.multiply(grads, others);
        __syncthreads();
        block.read(others, task, task.key, item, group, start, task.keys);
        __syncthreads();
        typename B::Products products = block.multiply(queries, others);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 row = first + block.down + i, key = start + block.across + j * B::LANES;
                products.of[i][j] = slope(task, weight(task, products.of[i][j], item, head, row, key), of_weights.of[i][j], item, head, row);
            }
        block.put(slopes, products);
        __syncthreads();
        block.add(totals, slopes, others);
    }
    block.write(others, totals, task, task.grad_query, item, head, first, task.rows);
}

// Computes the gradients of a block of keys and values, from all queries that attend to them.
template <class C, int TILE, int WIDTH> __device__ __forceinline__ void to_keys(const Task &task) {
    typedef Block<C, TILE, WIDTH> B;
    SHARED_BYTES(bytes);
    B block(task.width);
    C *keys = (C *)bytes, *values = keys + TILE * block.pitch, *others = values + TILE * block.pitch, *weights = others + TILE * block.pitch;
    C *slopes = weights + TILE * B::LINE;
    u32 tiles = (task.keys + TILE - 1) / TILE, first = blockIdx.x % tiles * TILE, place = blockIdx.x / tiles;
    u32 group = place % task.groups, item = place / task.groups, heads = task.heads / task.groups;
    block.read(keys, task, task.key, item, group, first, task.keys);
    block.read(values, task, task.value, item, group, first, task.keys);
    typename B::Totals of_keys, of_values;
    block.clear(of_keys);
    block.clear(of_values);
    for (u32 head = group * heads; head < (group + 1) * heads; head++)
#pragma unroll 1
        for (u32 start = task.is_causal ? first : 0; start < task.rows; start += TILE) {
            __syncthreads();
            block.read(others, task, task.query, item, head, start, task.rows);
            __syncthreads();
            typename B::Products products = block.multiply(keys, others);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    products.of[i][j] = weight(task, products.of[i][j], item, head, start + block.across + j * B::LANES, first + block.down + i);
            block.put(weights, products);
            __syncthreads();
            block.read(others, task, task.grad, item, head, start, task.rows);
            __syncthreads();
            typename B::Products of_weights = block.multiply(values, others);
            block.add(of_values, weights, others);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    products.of[i][j] = slope(task, products.of[i][j], of_weights.of[i][j], item, head, start + block.across + j * B::LANES);
            block.put(slopes, products);
            __syncthreads();
            block.read(others, task, task.query, item, head, start, task.rows);
            __syncthreads();
            block.add(of_keys, slopes, others);
        }
    block.write(others, of_keys, task, task.grad_key, item, group, first, task.keys);
    block.write(others, of_values, task, task.grad_value, item, group, first, task.keys);
}

// Double precision, and gradients of wide rows, have smaller tiles, as shared memory is limited.
template <class C> __device__ constexpr int tile_of(bool small) { return small || sizeof(C) == 8 ? 32 : 64; }

#define WIDTHS(WIDTH, SMALL)                                                                                                                     \
    template <class C> __global__ void __launch_bounds__(256) attend_##WIDTH(Task task) { attended<C, tile_of<C>(false), WIDTH>(task); }         \
    template <class C> __global__ void __launch_bounds__(256) to_queries_##WIDTH(Task task) { to_queries<C, tile_of<C>(SMALL), WIDTH>(task); }   \
    template <class C> __global__ void __launch_bounds__(256) to_keys_##WIDTH(Task task) { to_keys<C, tile_of<C>(SMALL), WIDTH>(task); }
WIDTHS(64, false) WIDTHS(128, false) WIDTHS(256, true)
