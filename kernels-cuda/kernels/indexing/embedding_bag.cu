// Kernels of `embedding_bag`: sums, means and maxima of bags of rows.
#include "opdispatch.cuh"

// A vector of indices of 32 or 64 bits.
struct IndexVector {
    const u8 *indices;
    i64 count;
    bool is_32_bit;
    __device__ __forceinline__ i64 operator[](i64 i) const {
        return is_32_bit ? i64(((const i32 *)indices)[i]) : ((const i64 *)indices)[i];
    }
};
__device__ __forceinline__ void write_index(u8 *to, i64 i, i64 x, bool is_32_bit) {
    if (is_32_bit) {
        ((i32 *)to)[i] = i32(x);
    } else {
        ((i64 *)to)[i] = x;
    }
}

// The bags of a call: their indices, the offset of each bag, the number of bags and of rows of the weight, and the index to skip.
struct Bags {
    IndexVector indices, offsets;
    i64 count, rows, padding;
    u32 site_of_indices, site_of_offsets;
    Fault *fault;
    __device__ __forceinline__ i64 bag_start(i64 bag) const {
        i64 at = bag < offsets.count ? offsets[bag] : indices.count;
        return at < 0 ? 0 : at > indices.count ? indices.count : at;
    }
    // Reports an offset that is less than the one before, or greater than the number of indices.
    __device__ __forceinline__ void check_offset_of_bag(i64 bag) const {
        i64 at = offsets[bag], least = bag > 0 ? offsets[bag - 1] : 0, most = bag > 0 ? indices.count : 0;
        if (at < least || at > most) report_fault(fault, site_of_offsets, INVALID_INTEGER, at, most);
    }
};

enum { SUM, MEAN, MAX };

// Reduces bags, with a thread for each bag and column. `is_32_bit` is set if `counts` and `max_rows` have 32-bit integers.
template <class C>
__global__ void __launch_bounds__(256)
    reduce_bags(Bags bags, i64 width, const u8 *weight, i32 dtype, const u8 *weights, i32 mode, u8 *to, u8 *counts, u8 *max_rows, bool is_32_bit) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x, columns = width ? width : 1;
    i64 bag = at / columns, col = at - bag * columns, size = dtype_size(dtype);
    if (bag >= bags.count) return;
    if (col == 0) {
        bags.check_offset_of_bag(bag);
        if (bag + 1 < bags.offsets.count) bags.check_offset_of_bag(bag + 1);
    }
    i64 end = bags.bag_start(bag + 1), counted = 0, winner = 0;
    C sum = 0;
    for (i64 place = bags.bag_start(bag); place < end; place++) {
        i64 row = bags.indices[place];
        if (u64(row) >= u64(bags.rows)) {
            report_fault(bags.fault, bags.site_of_indices, INDEX_OUT_OF_RANGE, row, bags.rows);
            continue;
        }
        if (row == bags.padding) continue;
        counted++;
        if (!width) continue;
        C x = load<C>(weight + (row * width + col) * size, dtype);
        if (mode == MAX) {
            if (counted == 1 || x > sum) sum = x, winner = row;
        } else {
            sum += weights ? load<C>(weights + place * size, dtype) * x : x;
        }
    }
    if (width) {
        store(to + (bag * width + col) * size, dtype, C(mode == MEAN && counted ? sum / C(counted) : sum));
        if (mode == MAX) write_index(max_rows, bag * width + col, winner, is_32_bit);
    }
    if (col == 0 && mode != SUM) {
        write_index(counts, bag, counted, is_32_bit);
        if (mode == MEAN) write_index(max_rows, bag, counted, is_32_bit);
    }
}

// Writes the bag of each index. Indices behind the last offset get the number of that offset.
__global__ void __launch_bounds__(256) bag_indices(Bags bags, u8 *to, bool is_32_bit) {
    i64 place = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= bags.indices.count) return;
    i64 low = 0, left = bags.offsets.count;
    while (left > 0) {
        i64 half = left / 2;
        bool begun = bags.offsets[low + half] <= place;
        low = begun ? low + half + 1 : low;
        left = begun ? left - half - 1 : half;
    }
    write_index(to, place, low - 1, is_32_bit);
}

// Computes the weight of each index in its bag.
template <class C>
__global__ void __launch_bounds__(256)
    index_weights(i64 count, C *to, const u8 *weights, i32 dtype, const i64 *bags, const i64 *counts, i64 most) {
    i64 place = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= count) return;
    C weight_of_index = 1;
    if (weights) weight_of_index = load<C>(weights + place * dtype_size(dtype), dtype);
    i64 bag = bags[place];
    if (counts) weight_of_index /= u64(bag) < u64(most) && counts[bag] > 0 ? C(counts[bag]) : C(1);
    to[place] = weight_of_index;
}

// Writes the element of the weight that each maximum came from, or `rows * width` (none) if its bag is empty.
__global__ void __launch_bounds__(256)
    max_positions(i64 count, i64 width, i64 *to, IndexVector rows_of, const i64 *counts, i64 rows, u32 site, Fault *fault) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 bag = at / width, row = rows_of[at];
    bool inside = u64(row) < u64(rows);
    if (!inside) report_fault(fault, site, INDEX_OUT_OF_RANGE, row, rows);
    to[at] = inside && counts[bag] > 0 ? row * width + (at - bag * width) : rows * width;
}
