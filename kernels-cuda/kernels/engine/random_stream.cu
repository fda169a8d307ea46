// The origin in the random stream that recorded launches add their block numbers to.
#include "opdispatch.cuh"

// Writes the origin of the next replay: the seed and the first block.
template <class T> __global__ void __launch_bounds__(1) write_origin(T *origin, u64 seed, u64 first) {
    origin[0] = T(seed);
    origin[1] = T(first);
}
