// Kernel of `tril_indices` and `triu_indices`.
#include "opdispatch.cuh"

// The entries of a triangle, row by row. Rows before `first` have none.
struct Triangle {
    i64 first, cols, offset;
    bool lower;
    // Returns the number of entries in the first `rows` rows.
    __device__ __forceinline__ i64 entries_in_first_rows(i64 rows) const {
        if (lower) {
            i64 least = first + offset + 1, width = least < cols ? least : cols, grows = cols - width;
            grows = rows < grows ? rows : grows;
            return grows * width + grows * (grows - 1) / 2 + (rows - grows) * cols;
        }
        i64 flat = offset < 0 ? -offset : 0;
        if (rows <= flat) return rows * cols;
        i64 rest = rows - flat;
        return flat * cols + rest * (cols - flat - offset) - rest * (rest - 1) / 2;
    }
};
template <class T> __global__ void __launch_bounds__(256) triangle_indices(i64 count, i64 rows, Triangle triangle, T *to) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i64 low = 0, left = rows;
    while (left > 0) {
        i64 half = left / 2;
        bool begun = triangle.entries_in_first_rows(low + half) <= at;
        low = begun ? low + half + 1 : low;
        left = begun ? left - half - 1 : half;
    }
    i64 row = triangle.first + low - 1, col = at - triangle.entries_in_first_rows(low - 1);
    if (!triangle.lower && row + triangle.offset > 0) col += row + triangle.offset;
    to[at] = as<T>(row);
    to[count + at] = as<T>(col);
}
