#include "block.cuh"
#include "tiles.cuh"

// A batch of matrices: the strides of items, rows and columns, in elements.
struct MatrixBatch {
    u8 *address;
    i64 item_stride, row_stride, column_stride;
    template <class T> __device__ __forceinline__ T *matrix(u64 batch) const { return (T *)address + i64(batch) * item_stride; }
};

// The product `out = alpha left right + beta added`. If several blocks share the steps (the inner dimension), each writes its sums to
// `parts`.
struct ProductTask {
    u64 items, rows, columns, steps;
    MatrixBatch left, right, added, out;
    u64 alpha, beta;
    u8 *parts;
    u32 portions;
};

template <class T> __device__ __forceinline__ void write_result(const ProductTask &p, u64 item, u64 row, u64 column, product_sum_t<T> sum) {
    typedef product_sum_t<T> S;
    S result = scalar_from_bits<S>(p.alpha) * sum;
    if (p.added.address) {
        S before = as<S>(p.added.matrix<T>(item)[i64(row) * p.added.row_stride + i64(column) * p.added.column_stride]);
        result += scalar_from_bits<S>(p.beta) * before;
    }
    p.out.matrix<T>(item)[i64(row) * p.out.row_stride + i64(column) * p.out.column_stride] = as<T>(result);
}

template <class T> __device__ __forceinline__ void write_partial_sum_or_result(const ProductTask &p, u64 item, u64 row, u64 column, u32 portion, product_sum_t<T> sum) {
    if (p.parts) {
        ((product_sum_t<T> *)p.parts)[((portion * p.items + item) * p.rows + row) * p.columns + column] = sum;
    } else {
        write_result<T>(p, item, row, column, sum);
    }
}

// Loads one operand's elements of a tile, by the strides of the operand's lines and steps.
template <class T, int EDGE> struct TileLoader {
    ThreadElements share;
    const T *first;
    i64 line, step;
    u64 left, steps;
    __device__ __forceinline__ TileLoader(const T *matrix, u64 start, u64 lines, u64 steps, i64 line, i64 step)
        : share(ThreadElements::for_tile<EDGE>(line == 1)), line(line), step(step), steps(steps) {
        left = lines - start;
        first = matrix + i64(start + share.line) * line + i64(share.step) * step;
    }
    template <class S, int N> __device__ __forceinline__ void load_tile(S (&elements)[N], u64 at) {
        const T *here = first + i64(at) * step;
        i64 next = share.lines * line + share.steps * step;
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            bool inside = share.line + i * share.lines < left && at + share.step + i * share.steps < steps;
            elements[i] = inside ? as<S>(here[i * next]) : S(0);
        }
    }
};

template <class T> struct ResultWriter {
    const ProductTask &p;
    u64 item, first_row, first_column;
    __device__ __forceinline__ u64 column(u32 at) const { return first_column + at; }
    __device__ __forceinline__ void write_element_of_column(u64 column, u32 at, product_sum_t<T> sum) const {
        if (first_row + at < p.rows && column < p.columns) write_partial_sum_or_result<T>(p, item, first_row + at, column, blockIdx.y, sum);
    }
};

template <class T, int EDGE> __device__ __forceinline__ void compute_result_tile(const ProductTask &p) {
    u64 across = (p.columns + EDGE - 1) / EDGE;
    u64 row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    InnerDimRange portion(p.steps, blockIdx.y, p.portions);
    for (u64 item = blockIdx.z; item < p.items; item += gridDim.z) {
        TileLoader<T, EDGE> left(p.left.matrix<T>(item), row, p.rows, portion.to, p.left.row_stride, p.left.column_stride);
        TileLoader<T, EDGE> right(p.right.matrix<T>(item), column, p.columns, portion.to, p.right.column_stride, p.right.row_stride);
        multiply_tiles<product_sum_t<T>, EDGE>(left, right, portion.from, portion.to, ResultWriter<T>{p, item, row, column});
    }
}

template <class T> __global__ void __launch_bounds__(256, 2) tiled_product_64(ProductTask p) { compute_result_tile<T, 64>(p); }
template <class T> __global__ void __launch_bounds__(256, 2) tiled_product_128(ProductTask p) { compute_result_tile<T, 128>(p); }

// Adds up the partial sums of the portions, and writes the result.
template <class T> __global__ void __launch_bounds__(256) sum_portions(ProductTask p) {
    u64 count = p.items * p.rows * p.columns, at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    product_sum_t<T> sum = 0;
    for (u32 portion = 0; portion < p.portions; portion++) sum += ((const product_sum_t<T> *)p.parts)[portion * count + at];
    u64 line = at / p.columns;
    write_result<T>(p, line / p.rows, line % p.rows, at % p.columns, sum);
}

// Multiplies rows by a vector, if the elements of a row are adjacent: a warp for each row.
template <class T> __global__ void __launch_bounds__(256) matrix_vector_by_rows(ProductTask p) {
    typedef product_sum_t<T> S;
    const int V = 16 / sizeof(T);
    u64 line = u64(blockIdx.x) * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    u64 item = line / p.rows, row = line % p.rows;
    if (item >= p.items) return;
    InnerDimRange portion(p.steps, blockIdx.y, p.portions);
    const T *left = p.left.matrix<T>(item) + i64(row) * p.left.row_stride, *right = p.right.matrix<T>(item);
    S sum = 0;
    u64 at = portion.from + lane;
    if (p.left.column_stride == 1 && p.right.row_stride == 1 && (u64(left) | u64(right)) % 16 == 0) {
        S sums[V];
#pragma unroll
        for (int i = 0; i < V; i++) sums[i] = 0;
        u64 whole = portion.from + (portion.to - portion.from) / V * V;
#pragma unroll 4
        for (u64 k = portion.from + lane * V; k < whole; k += 32 * V) {
            Pack<T, V> a = *(const Pack<T, V> *)(left + k), b = *(const Pack<T, V> *)(right + k);
#pragma unroll
            for (int i = 0; i < V; i++) sums[i] += as<S>(a.elements[i]) * as<S>(b.elements[i]);
        }
#pragma unroll
        for (int i = 0; i < V; i++) sum += sums[i];
        at = whole + lane;
    }
#pragma unroll 4
    for (; at < portion.to; at += 32) sum += as<S>(left[i64(at) * p.left.column_stride]) * as<S>(right[i64(at) * p.right.row_stride]);
    sum = reduce_warp(sum, Plus());
    if (lane == 0) write_partial_sum_or_result<T>(p, item, row, 0, blockIdx.y, sum);
}

// Multiplies rows by a vector, if the elements of a column are adjacent: 32 rows for each block, whose warps share the steps.
template <class T> __global__ void __launch_bounds__(256) matrix_vector_by_columns(ProductTask p) {
    typedef product_sum_t<T> S;
    __shared__ S sums[8][32];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 blocks = (p.rows + 31) / 32, item = blockIdx.x / blocks, row = blockIdx.x % blocks * 32 + lane;
    InnerDimRange portion(p.steps, blockIdx.y, p.portions);
    const T *left = p.left.matrix<T>(item) + i64(row) * p.left.row_stride, *right = p.right.matrix<T>(item);
    S sum = 0;
    if (row < p.rows) {
#pragma unroll 8
        for (u64 at = portion.from + warp; at < portion.to; at += 8)
            sum += as<S>(left[i64(at) * p.left.column_stride]) * as<S>(right[i64(at) * p.right.row_stride]);
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && row < p.rows) {
#pragma unroll
        for (int i = 1; i < 8; i++) sum += sums[i][lane];
        write_partial_sum_or_result<T>(p, item, row, 0, blockIdx.y, sum);
    }
}
