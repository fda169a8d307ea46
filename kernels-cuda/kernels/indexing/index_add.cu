// Rows with the same target are added in their order. They are sorted by target: one thread for each column adds a tile of TILE rows, and
// sums that continue over tiles are joined afterwards.
#include "block.cuh"

static const u32 TILE = 32;

// The source rows, their targets and their scales.
struct SortedRows {
    // The number of rows, and their width.
    i64 count;
    u32 width;
    // The sorted keys: the target rows. A row is skipped if its key is `limit` or more, or `skipped`.
    const i64 *keys;
    i64 limit, skipped;
    // The position of each sorted key before sorting.
    const i64 *positions;
    // If not null, the index into `source` for each position. `source` has `rows` rows; any other index means zeros.
    const i64 *source_rows;
    i64 rows;
    const u8 *source;
    i64 source_stride;
    i32 dtype;
    u8 *target;
    i64 target_stride;
    // If not null, the factor of each row.
    const u8 *scales;
};

template <class C> __device__ __forceinline__ C load_scaled_element(const SortedRows &m, i64 at, i32 offset) {
    i64 position = m.positions[at], row = m.source_rows ? m.source_rows[position] : position;
    if (m.source_rows && u64(row) >= u64(m.rows)) return C(0);
    C x = load<C>(m.source + row * m.source_stride + offset, m.dtype);
    return m.scales ? x * ((const C *)m.scales)[position] : x;
}

// Adds a sum to an element of the target, unless its key is skipped.
template <class C> __device__ __forceinline__ void add_to_target(const SortedRows &m, i64 key, i32 offset, C sum) {
    if (u64(key) >= u64(m.limit) || key == m.skipped) return;
    u8 *to = m.target + key * m.target_stride + offset;
    store(to, m.dtype, C(load<C>(to, m.dtype) + sum));
}

// Adds the rows of each tile. `partial` has two sums for each tile and column: of the key that began before the tile, and of the key that
// continues after it.
template <class C> __global__ void __launch_bounds__(256) add_tiles(SortedRows m, Walk walk, C *partial) {
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    i64 tile = i64(at / m.width), first = tile * TILE;
    u32 col = u32(at - u64(tile) * m.width);
    if (first >= m.count) return;
    i64 end = first + TILE < m.count ? first + TILE : m.count;
    i32 offsets[2];
    walk.offsets(col, offsets);
    bool began_before = first > 0 && m.keys[first - 1] == m.keys[first];
    C *own = partial + tile * 2 * m.width + col, sum = 0;
    i64 key = m.keys[first];
    for (i64 base = first; base < end; base += 4) {
        C values[4];
#pragma unroll
        for (u32 i = 0; i < 4; i++) values[i] = base + i < end ? load_scaled_element<C>(m, base + i, offsets[1]) : C(0);
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            if (base + i >= end) break;
            i64 next = m.keys[base + i];
            if (next != key) {
                if (began_before) {
                    own[0] = sum;
                } else {
                    add_to_target(m, key, offsets[0], sum);
                }
                began_before = false, sum = 0, key = next;
            }
            sum += values[i];
        }
    }
    bool goes_on = end < m.count && m.keys[end] == key;
    if (began_before) {
        own[0] = sum;
    } else if (goes_on) {
        own[m.width] = sum;
    } else {
        add_to_target(m, key, offsets[0], sum);
    }
}

// Joins the sums of keys that begin in a tile and continue after it.
template <class C> __global__ void __launch_bounds__(256) join_tiles(SortedRows m, Walk walk, const C *partial) {
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    i64 tile = i64(at / m.width), first = tile * TILE, end = first + TILE;
    if (end >= m.count) return;
    i64 key = m.keys[end - 1];
    bool whole = m.keys[first] == key;
    if (m.keys[end] != key || (whole && first > 0 && m.keys[first - 1] == key)) return;
    u32 col = u32(at - u64(tile) * m.width);
    i32 offsets[2];
    walk.offsets(col, offsets);
    C sum = partial[(tile * 2 + 1) * m.width + col];
    for (i64 next = tile + 1; next * TILE < m.count && m.keys[next * TILE] == key; next++) sum += partial[next * 2 * m.width + col];
    add_to_target(m, key, offsets[0], sum);
}

// Divides the scale of each row by the number of rows with its key.
template <class C> __global__ void __launch_bounds__(256) inverse_counts(i64 count, const i64 *keys, const i64 *positions, C *scales, bool has_scales) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 key = keys[at], bounds[2];
    for (i64 which = 0; which < 2; which++) {
        i64 low = 0, left = count;
        while (left > 0) {
            i64 half = left / 2;
            bool before = keys[low + half] < key + which;
            low = before ? low + half + 1 : low;
            left = before ? left - half - 1 : half;
        }
        bounds[which] = low;
    }
    C *scale = scales + positions[at];
    *scale = (has_scales ? *scale : C(1)) / C(bounds[1] - bounds[0]);
}
