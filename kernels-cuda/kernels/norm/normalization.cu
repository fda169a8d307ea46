// Kernels of normalisation of lines or channels, and of its gradients.
#include "folds.cuh"
#include "lines.cuh"

// A vector of any dtype, with a byte stride; or none.
struct Vector {
    u8 *at;
    i64 step;
    i32 dtype;
    template <class C> __device__ __forceinline__ C get(u64 i, C otherwise) const {
        return at ? ::load<C>(at + i64(i) * step, dtype) : otherwise;
    }
    template <class C> __device__ __forceinline__ void set(u64 i, C x) const {
        if (at) ::store(at + i64(i) * step, dtype, x);
    }
};

// The parameter of each element of a line: each `area` elements share one, and a line has `each` of them, selected by its group.
struct Slots {
    u32 groups, each;
    Divisor area;
    template <class C, class P>
    __device__ __forceinline__ void load(C (&x)[HELD], const P *in, const Share &share, u32 tile, C otherwise) const {
        const P *own = in + share.line % groups * each;
        if (in && area.by == 1) {
            share.load(x, own, tile, otherwise);
        } else {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) {
                u32 at = share.place(tile, i);
                x[i] = in && at < share.length ? as<C>(own[area.divide(at)]) : otherwise;
            }
        }
    }
};

// A pair of sums.
template <class C> struct Twice {
    C first, second;
};
struct Both {
    template <class C> __device__ __forceinline__ Twice<C> operator()(Twice<C> a, Twice<C> b) const { return {a.first + b.first, a.second + b.second}; }
};

// Normalises lines that fit into one tile. A block loops over lines: it loads parameters that all lines share once, and the next line while
// it computes one, unless a double-precision line fills the registers.
template <class T, class P>
__device__ __forceinline__ void held_lines(const T *in, T *out, const P *weight, const P *bias, Vector means, Vector rstds, double eps, Lines lines, Slots slots, compute_t<T> *scratch) {
    typedef compute_t<T> C;
    const bool AHEAD = sizeof(C) <= 4;
    Share share(lines);
    u32 of_block = blockDim.x / share.lanes, together = gridDim.x * of_block;
    C next[HELD], by[HELD], plus[HELD];
    if (AHEAD) share.load(next, in + share.start(), 0, C(0));
    for (u32 first = blockIdx.x * of_block; first < lines.count; first += together) {
        Share own = share;
        C x[HELD], sum = C(0), squares = C(0);
        if (AHEAD) {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) x[i] = next[i];
            share.go(together, lines);
            if (first + together < lines.count) share.load(next, in + share.start(), 0, C(0));
        } else {
            own.load(x, in + own.start(), 0, C(0));
            share.go(together, lines);
        }
        if (!AHEAD || slots.groups > 1 || first == blockIdx.x * of_block) {
            slots.load(by, weight, own, 0, C(1));
            slots.load(plus, bias, own, 0, C(0));
        }
#pragma unroll
        for (u32 i = 0; i < HELD; i++) sum += x[i];
        C mean = joined_among(own.lanes, sum, Plus(), scratch) / C(own.length);
        own.fill(x, 0, mean);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            x[i] -= mean;
            squares += x[i] * x[i];
        }
        C rstd = C(1) / sqrt(joined_among(own.lanes, squares, Plus(), scratch) / C(own.length) + C(eps));
        if (own.live && own.lane == 0) {
            means.set(own.line, mean);
            rstds.set(own.line, rstd);
        }
#pragma unroll
        for (u32 i = 0; i < HELD; i++) x[i] = x[i] * rstd * by[i] + plus[i];
        own.store(out + own.start(), x, 0);
    }
}

// Normalises lines. A longer line is summed relative to the mean of its first tile: these sums stay small, and can be joined without a
// division.
template <class T, class P>
__global__ void __launch_bounds__(512) lines(const T *in, T *out, const P *weight, const P *bias, Vector means, Vector rstds, double eps, Lines lines, Slots slots) {
    typedef compute_t<T> C;
    __shared__ Twice<C> scratch[32];
    Share share(lines);
    u32 tiles = share.tiles();
    if (tiles == 1) return held_lines(in, out, weight, bias, means, rstds, eps, lines, slots, (C *)scratch);
    in += share.start();
    out += share.start();
    C x[HELD], origin = C(0), mean, rstd;
    Twice<C> all = {C(0), C(0)};
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) {
            all = joined_among(share.lanes, all, Both(), scratch);
            C apart = all.first / C(share.length), variance = all.second / C(share.length) - apart * apart;
            mean = origin + apart, rstd = C(1) / sqrt((variance < C(0) ? C(0) : variance) + C(eps));
            if (share.live && share.lane == 0) {
                means.set(share.line, mean);
                rstds.set(share.line, rstd);
            }
        }
        share.load(x, in, tile, origin);
        if (step < tiles) {
            if (step == 0) {
                C sum = C(0);
#pragma unroll
                for (u32 i = 0; i < HELD; i++) sum += x[i];
                origin = joined_among(share.lanes, sum, Plus(), (C *)scratch) / C(share.lanes * HELD);
            }
#pragma unroll
            for (u32 i = 0; i < HELD; i++) {
                C apart = x[i] - origin;
                all = Both()(all, Twice<C>{apart, apart * apart});
            }
        } else {
            C by[HELD];
            slots.load(by, weight, share, tile, C(1));
#pragma unroll
            for (u32 i = 0; i < HELD; i++) x[i] = (x[i] - mean) * rstd * by[i];
            slots.load(by, bias, share, tile, C(0));
#pragma unroll
            for (u32 i = 0; i < HELD; i++) x[i] += by[i];
            share.store(out, x, tile);
        }
    }
}

// Sums of gradients times normalised inputs, and of gradients.
template <class C> struct Slope {
    C slope, sum;
    __device__ __forceinline__ Slope and_of(const Slope &other) const { return {slope + other.slope, sum + other.sum}; }
};

template <class C> struct Steeper {
    __device__ __forceinline__ Slope<C> operator()(Slope<C> a, Slope<C> b) const { return a.and_of(b); }
};

template <class T, class P>
__global__ void __launch_bounds__(512) lines_backward(const T *grad, const T *in, T *out, const P *weight, Vector means, Vector rstds, Lines lines, Slots slots) {
    typedef compute_t<T> C;
    __shared__ Slope<C> scratch[32];
    Share share(lines);
    grad += share.start();
    in += share.start();
    out += share.start();
    C mean = means.get(share.line, C(0)), rstd = rstds.get(share.line, C(1)), g[HELD], x[HELD], by[HELD];
    Slope<C> all = {C(0), C(0)};
    u32 tiles = share.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) {
            all = joined_among(share.lanes, all, Steeper<C>(), scratch);
            all = {all.slope / C(share.length), all.sum / C(share.length)};
        }
        if (step == 0 || tiles > 1) {
            share.load(g, grad, tile, C(0));
            share.load(x, in, tile, mean);
            slots.load(by, weight, share, tile, C(1));
#pragma unroll
            for (u32 i = 0; i < HELD; i++) {
                g[i] *= by[i];
                x[i] = (x[i] - mean) * rstd;
            }
        }
        if (step < tiles) {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) all = all.and_of({g[i] * x[i], g[i]});
        } else {
#pragma unroll
            for (u32 i = 0; i < HELD; i++) x[i] = (g[i] - all.sum - x[i] * all.slope) * rstd;
            share.store(out, x, tile);
        }
    }
}

// Sums the gradients over planes. `together` planes share one of `statistics` statistics.
template <class T>
__global__ void __launch_bounds__(512) planes(const T *grad, const T *in, compute_t<T> *slopes, Vector means, Vector rstds, Lines lines, u32 together, u32 statistics) {
    typedef compute_t<T> C;
    __shared__ Slope<C> scratch[32];
    Share share(lines);
    grad += share.start();
    in += share.start();
    u64 of = share.line / together % statistics;
    C mean = means.get(of, C(0)), rstd = rstds.get(of, C(1)), g[HELD], x[HELD];
    Slope<C> all = {C(0), C(0)};
    for (u32 tile = 0; tile < share.tiles(); tile++) {
        share.load(g, grad, tile, C(0));
        share.load(x, in, tile, mean);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) all = all.and_of({g[i] * ((x[i] - mean) * rstd), g[i]});
    }
    all = joined_among(share.lanes, all, Steeper<C>(), scratch);
    if (share.live && share.lane == 0) ((Slope<C> *)slopes)[share.line] = all;
}

// The rows and columns whose gradients are summed.
struct Rows {
    i64 count, chunk;
    u32 columns, packed;
    // Whether there are statistics for each column, rather than for each row.
    u32 by_column;
};

// Sums the gradients over columns, for a part of the rows. A thread has four adjacent columns, and the warps of a block share the rows.
template <class T>
__global__ void __launch_bounds__(256) columns(const T *grad, const T *in, compute_t<T> *slopes, Vector means, Vector rstds, Rows rows) {
    typedef compute_t<T> C;
    const u32 WARPS = 8;
    __shared__ Slope<C> shared[WARPS][PACK][32];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = (rows.columns - 1) / (32 * PACK) + 1, part = blockIdx.x / blocks;
    u32 column = ((blockIdx.x - part * blocks) * 32 + lane) * PACK;
    i64 begin = part * rows.chunk, end = begin + rows.chunk < rows.count ? begin + rows.chunk : rows.count;
    Slope<C> all[PACK];
    C mean[PACK], rstd[PACK];
#pragma unroll
    for (u32 v = 0; v < PACK; v++) {
        bool own = rows.by_column && column + v < rows.columns;
        all[v] = {C(0), C(0)};
        mean[v] = own ? means.get(column + v, C(0)) : C(0);
        rstd[v] = own ? rstds.get(column + v, C(1)) : C(1);
    }
#pragma unroll 2
    for (i64 row = begin + warp; row < end; row += WARPS) {
        C g[PACK], x[PACK];
        u64 at = u64(row) * rows.columns + column;
        if (rows.packed) {
            if (column >= rows.columns) break;
            Pack<T, PACK> first = *(const Pack<T, PACK> *)(grad + at), second = *(const Pack<T, PACK> *)(in + at);
#pragma unroll
            for (u32 v = 0; v < PACK; v++) g[v] = as<C>(first.of[v]), x[v] = as<C>(second.of[v]);
        } else {
#pragma unroll
            for (u32 v = 0; v < PACK; v++) {
                bool there = column + v < rows.columns;
                g[v] = there ? as<C>(grad[at + v]) : C(0);
                x[v] = there ? as<C>(in[at + v]) : C(0);
            }
        }
        if (!rows.by_column) {
            C row_mean = means.get(row, C(0)), row_rstd = rstds.get(row, C(1));
#pragma unroll
            for (u32 v = 0; v < PACK; v++) mean[v] = row_mean, rstd[v] = row_rstd;
        }
#pragma unroll
        for (u32 v = 0; v < PACK; v++) all[v] = all[v].and_of({g[v] * ((x[v] - mean[v]) * rstd[v]), g[v]});
    }
#pragma unroll
    for (u32 v = 0; v < PACK; v++) shared[warp][v][lane] = all[v];
    __syncthreads();
    if (warp < PACK && column + warp < rows.columns) {
        Slope<C> total = shared[0][warp][lane];
        for (u32 i = 1; i < WARPS; i++) total = total.and_of(shared[i][warp][lane]);
        ((Slope<C> *)slopes)[u64(part) * rows.columns + column + warp] = total;
    }
}

// The coefficients of a channel. An input becomes `(x - mean) * scale + bias`, and a gradient `(grad - sum - (x - mean) * slope) * scale`.
template <class C> struct Channel {
    C mean, scale, bias, slope;
};

// Adds up the partial sums, `pieces` of each part, to the gradients of the parameters. Also computes the channels' coefficients for the
// input's gradient if `become` is not null.
template <class C>
__global__ void __launch_bounds__(256) parameters(const C *slopes, Vector of_weight, Vector of_bias, C *become, Vector means, Vector rstds, Vector weight, u32 channels, u32 parts, u32 pieces, double count) {
    __shared__ Slope<C> shared[256];
    u32 way = threadIdx.x / 32, channel = blockIdx.x * 32 + threadIdx.x % 32;
    Slope<C> all = {C(0), C(0)};
    if (channel < channels)
        for (u32 part = way; part < parts; part += 8)
            for (u32 piece = 0; piece < pieces; piece++)
                all = all.and_of(((const Slope<C> *)slopes)[(u64(part) * channels + channel) * pieces + piece]);
    shared[threadIdx.x] = all;
    __syncthreads();
    if (way || channel >= channels) return;
    for (u32 i = threadIdx.x + 32; i < 256; i += 32) all = all.and_of(shared[i]);
    of_weight.set(channel, all.slope);
    of_bias.set(channel, all.sum);
    if (!become) return;
    C rstd = rstds.get(channel, C(1)), by = C(1) / C(count);
    ((Channel<C> *)become)[channel] = {means.get(channel, C(0)), rstd * weight.get(channel, C(1)), all.sum * by, all.slope * rstd * by};
}

// The scalars of a batch normalisation.
struct Batch {
    double eps, momentum, correction;
    u32 channels;
};

// Computes the channels' coefficients from means and variances, saves the statistics, and updates the running ones if there are any.
template <class C>
__global__ void __launch_bounds__(256) statistics(Vector means, Vector vars, Vector weight, Vector bias, Vector saved_mean, Vector saved_rstd, Vector running_mean, Vector running_var, C *become, Batch batch) {
    u32 channel = blockIdx.x * 256 + threadIdx.x;
    if (channel >= batch.channels) return;
    C mean = means.get(channel, C(0)), var = vars.get(channel, C(1)), rstd = C(1) / sqrt(var + C(batch.eps));
    ((Channel<C> *)become)[channel] = {mean, rstd * weight.get(channel, C(1)), bias.get(channel, C(0)), C(0)};
    saved_mean.set(channel, mean);
    saved_rstd.set(channel, rstd);
    C momentum = C(batch.momentum);
    running_mean.set(channel, momentum * mean + (C(1) - momentum) * running_mean.get(channel, C(0)));
    running_var.set(channel, momentum * C(batch.correction) * var + (C(1) - momentum) * running_var.get(channel, C(0)));
}

// The map from an element to its channel: `area` adjacent elements share one.
struct Planes {
    i64 count;
    Divisor area, channels;
    u32 packed;
    __device__ __forceinline__ u32 channel(i64 at) const {
        u32 plane = count >> 31 ? u32(at / area.by % channels.by) : area.divide(u32(at));
        return plane - channels.divide(plane) * channels.by;
    }
};

template <class T, int V> __device__ __forceinline__ void become(const T *in, const T *grad, T *out, const Channel<compute_t<T>> *channels, i64 at, const Planes &planes) {
    typedef compute_t<T> C;
    Pack<T, V> x, g, y;
    if (in) x = *(const Pack<T, V> *)(in + at);
    if (grad) g = *(const Pack<T, V> *)(grad + at);
    bool same = planes.area.by % V == 0;
    Channel<C> channel = channels[planes.channel(at)];
#pragma unroll
    for (u32 v = 0; v < V; v++) {
        if (v && !same) channel = channels[planes.channel(at + v)];
        C apart = in ? as<C>(x.of[v]) - channel.mean : C(0);
        y.of[v] = as<T>(grad ? (as<C>(g.of[v]) - channel.bias - apart * channel.slope) * channel.scale : apart * channel.scale + channel.bias);
    }
    *(Pack<T, V> *)(out + at) = y;
}

template <class T>
__global__ void __launch_bounds__(256) channels(const T *in, const T *grad, T *out, const compute_t<T> *given, Planes planes) {
    const Channel<compute_t<T>> *of = (const Channel<compute_t<T>> *)given;
    i64 at = i64(blockIdx.x) * 256 + threadIdx.x;
    if (planes.packed) {
        at *= PACK;
        if (at < planes.count) become<T, PACK>(in, grad, out, of, at, planes);
    } else if (at < planes.count) {
        become<T, 1>(in, grad, out, of, at, planes);
    }
}
