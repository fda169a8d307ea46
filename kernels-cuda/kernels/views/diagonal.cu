// Kernel of `tril` and `triu`, the lower and upper triangles of matrices.
#include "opdispatch.cuh"

// Copies the elements on one side of a diagonal and writes zeros on the other. A lower triangle has the elements whose column is at most
// `diagonal` further than their row, and an upper triangle those whose column is at least `diagonal` further. Operands 2
// and 3 of the walk are the row and the column.
template <class W>
__global__ void __launch_bounds__(256)
    copy_triangle(u32 count, u8 *to, const u8 *from, Walk walk, i64 row, i64 col, i64 diagonal, bool lower) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    i32 offsets[4];
    walk.offsets(at, offsets);
    i64 further = col + offsets[3] - (row + offsets[2]);
    W word{};
    if (lower ? further <= diagonal : further >= diagonal) word = *(const W *)(from + offsets[1]);
    *(W *)(to + offsets[0]) = word;
}
