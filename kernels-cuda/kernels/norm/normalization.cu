// Kernels of normalisation of lines or channels, and of its gradients.
#include "folds.cuh"
#include "lines.cuh"

// A vector of any dtype with a byte stride, or an absent one if the address is null.
struct StridedVector {
    u8 *address;
    i64 stride;
    i32 dtype;
    template <class C> __device__ __forceinline__ C get(u64 i, C otherwise) const {
        return address ? ::load<C>(address + i64(i) * stride, dtype) : otherwise;
    }
    template <class C> __device__ __forceinline__ void set(u64 i, C x) const {
        if (address) ::store(address + i64(i) * stride, dtype, x);
    }
};

// The parameter of each element of a line: each `area` elements share one, and a line has `each` of them, selected by its group.
struct ParameterMap {
    u32 groups, each;
    Divisor area;
    template <class C, class P>
    __device__ __forceinline__ void load_parameters(C (&x)[ELEMENTS_PER_THREAD], const P *in, const ThreadLine &line, u32 tile, C otherwise) const {
        const P *own = in + line.index % groups * each;
        if (in && area.value == 1) {
            line.load_tile(x, own, tile, otherwise);
        } else {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
                u32 at = line.element_position(tile, i);
                x[i] = in && at < line.length ? as<C>(own[area.divide(at)]) : otherwise;
            }
        }
    }
};

// Two sums that are reduced together.
template <class C> struct SumPair {
    C first, second;
};
struct AddSumPairs {
    template <class C> __device__ __forceinline__ SumPair<C> operator()(SumPair<C> a, SumPair<C> b) const { return {a.first + b.first, a.second + b.second}; }
};

// Normalises lines that fit into one tile. A block loops over lines: it loads parameters that all lines share once, and the next line while
// it computes one, unless a double-precision line fills the registers.
template <class T, class P>
__device__ __forceinline__ void normalize_short_lines(const T *in, T *out, const P *weight, const P *bias, StridedVector means, StridedVector rstds, double eps, Lines lines, ParameterMap map, compute_t<T> *scratch) {
    typedef compute_t<T> C;
    const bool LOADS_AHEAD = sizeof(C) <= 4;
    ThreadLine line(lines);
    u32 of_block = blockDim.x / line.lanes, together = gridDim.x * of_block;
    C next[ELEMENTS_PER_THREAD], by[ELEMENTS_PER_THREAD], plus[ELEMENTS_PER_THREAD];
    if (LOADS_AHEAD) line.load_tile(next, in + line.start(), 0, C(0));
    for (u32 first = blockIdx.x * of_block; first < lines.count; first += together) {
        ThreadLine own = line;
        C x[ELEMENTS_PER_THREAD], sum = C(0), squares = C(0);
        if (LOADS_AHEAD) {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = next[i];
            line.move_to_line_after(together, lines);
            if (first + together < lines.count) line.load_tile(next, in + line.start(), 0, C(0));
        } else {
            own.load_tile(x, in + own.start(), 0, C(0));
            line.move_to_line_after(together, lines);
        }
        if (!LOADS_AHEAD || map.groups > 1 || first == blockIdx.x * of_block) {
            map.load_parameters(by, weight, own, 0, C(1));
            map.load_parameters(plus, bias, own, 0, C(0));
        }
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) sum += x[i];
        C mean = reduce_group(own.lanes, sum, Plus(), scratch) / C(own.length);
        own.fill_tail(x, 0, mean);
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
            x[i] -= mean;
            squares += x[i] * x[i];
        }
        C rstd = C(1) / sqrt(reduce_group(own.lanes, squares, Plus(), scratch) / C(own.length) + C(eps));
        if (own.is_active && own.lane == 0) {
            means.set(own.index, mean);
            rstds.set(own.index, rstd);
        }
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = x[i] * rstd * by[i] + plus[i];
        own.store_tile(out + own.start(), x, 0);
    }
}

// Normalises lines. A longer line is summed relative to the mean of its first tile: these sums stay small, and can be joined without a
// division.
template <class T, class P>
__global__ void __launch_bounds__(512) normalize_lines(const T *in, T *out, const P *weight, const P *bias, StridedVector means, StridedVector rstds, double eps, Lines lines, ParameterMap map) {
    typedef compute_t<T> C;
    __shared__ SumPair<C> scratch[32];
    ThreadLine line(lines);
    u32 tiles = line.tiles();
    if (tiles == 1) return normalize_short_lines(in, out, weight, bias, means, rstds, eps, lines, map, (C *)scratch);
    in += line.start();
    out += line.start();
    C x[ELEMENTS_PER_THREAD], origin = C(0), mean, rstd;
    SumPair<C> all = {C(0), C(0)};
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) {
            all = reduce_group(line.lanes, all, AddSumPairs(), scratch);
            C distance = all.first / C(line.length), variance = all.second / C(line.length) - distance * distance;
            mean = origin + distance, rstd = C(1) / sqrt((variance < C(0) ? C(0) : variance) + C(eps));
            if (line.is_active && line.lane == 0) {
                means.set(line.index, mean);
                rstds.set(line.index, rstd);
            }
        }
        line.load_tile(x, in, tile, origin);
        if (step < tiles) {
            if (step == 0) {
                C sum = C(0);
#pragma unroll
                for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) sum += x[i];
                origin = reduce_group(line.lanes, sum, Plus(), (C *)scratch) / C(line.lanes * ELEMENTS_PER_THREAD);
            }
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
                C distance = x[i] - origin;
                all = AddSumPairs()(all, SumPair<C>{distance, distance * distance});
            }
        } else {
            C by[ELEMENTS_PER_THREAD];
            map.load_parameters(by, weight, line, tile, C(1));
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = (x[i] - mean) * rstd * by[i];
            map.load_parameters(by, bias, line, tile, C(0));
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] += by[i];
            line.store_tile(out, x, tile);
        }
    }
}

// Sums of gradients times normalised inputs, and of gradients.
template <class C> struct PartialGradientSums {
    C input_product, sum;
    __device__ __forceinline__ PartialGradientSums merge(const PartialGradientSums &other) const { return {input_product + other.input_product, sum + other.sum}; }
};

template <class C> struct AddGradientSums {
    __device__ __forceinline__ PartialGradientSums<C> operator()(PartialGradientSums<C> a, PartialGradientSums<C> b) const { return a.merge(b); }
};

template <class T, class P>
__global__ void __launch_bounds__(512) normalize_lines_backward(const T *grad, const T *in, T *out, const P *weight, StridedVector means, StridedVector rstds, Lines lines, ParameterMap map) {
    typedef compute_t<T> C;
    __shared__ PartialGradientSums<C> scratch[32];
    ThreadLine line(lines);
    grad += line.start();
    in += line.start();
    out += line.start();
    C mean = means.get(line.index, C(0)), rstd = rstds.get(line.index, C(1)), g[ELEMENTS_PER_THREAD], x[ELEMENTS_PER_THREAD], by[ELEMENTS_PER_THREAD];
    PartialGradientSums<C> all = {C(0), C(0)};
    u32 tiles = line.tiles();
#pragma unroll 1
    for (u32 step = 0; step < 2 * tiles; step++) {
        u32 tile = step < tiles ? step : step - tiles;
        if (step == tiles) {
            all = reduce_group(line.lanes, all, AddGradientSums<C>(), scratch);
            all = {all.input_product / C(line.length), all.sum / C(line.length)};
        }
        if (step == 0 || tiles > 1) {
            line.load_tile(g, grad, tile, C(0));
            line.load_tile(x, in, tile, mean);
            map.load_parameters(by, weight, line, tile, C(1));
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
                g[i] *= by[i];
                x[i] = (x[i] - mean) * rstd;
            }
        }
        if (step < tiles) {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) all = all.merge({g[i] * x[i], g[i]});
        } else {
#pragma unroll
            for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) x[i] = (g[i] - all.sum - x[i] * all.input_product) * rstd;
            line.store_tile(out, x, tile);
        }
    }
}

// Sums the gradients over planes. `together` planes share one of `statistics` statistics.
template <class T>
__global__ void __launch_bounds__(512) sum_gradients_by_plane(const T *grad, const T *in, compute_t<T> *partial_sums, StridedVector means, StridedVector rstds, Lines lines, u32 together, u32 statistics) {
    typedef compute_t<T> C;
    __shared__ PartialGradientSums<C> scratch[32];
    ThreadLine line(lines);
    grad += line.start();
    in += line.start();
    u64 of = line.index / together % statistics;
    C mean = means.get(of, C(0)), rstd = rstds.get(of, C(1)), g[ELEMENTS_PER_THREAD], x[ELEMENTS_PER_THREAD];
    PartialGradientSums<C> all = {C(0), C(0)};
    for (u32 tile = 0; tile < line.tiles(); tile++) {
        line.load_tile(g, grad, tile, C(0));
        line.load_tile(x, in, tile, mean);
#pragma unroll
        for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) all = all.merge({g[i] * ((x[i] - mean) * rstd), g[i]});
    }
    all = reduce_group(line.lanes, all, AddGradientSums<C>(), scratch);
    if (line.is_active && line.lane == 0) ((PartialGradientSums<C> *)partial_sums)[line.index] = all;
}

// The rows and columns whose gradients are summed.
struct ColumnSumShape {
    i64 count, chunk;
    u32 columns, packed;
    // Whether there are statistics for each column, rather than for each row.
    u32 by_column;
};

// For each column, sums the gradients of a part of the rows. A thread has four adjacent columns, and the warps of a block share the rows.
template <class T>
__global__ void __launch_bounds__(256) sum_gradients_by_column(const T *grad, const T *in, compute_t<T> *partial_sums, StridedVector means, StridedVector rstds, ColumnSumShape rows) {
    typedef compute_t<T> C;
    const u32 WARPS = 8;
    __shared__ PartialGradientSums<C> shared[WARPS][PACK][32];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = (rows.columns - 1) / (32 * PACK) + 1, part = blockIdx.x / blocks;
    u32 column = ((blockIdx.x - part * blocks) * 32 + lane) * PACK;
    i64 begin = part * rows.chunk, end = begin + rows.chunk < rows.count ? begin + rows.chunk : rows.count;
    PartialGradientSums<C> all[PACK];
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
            for (u32 v = 0; v < PACK; v++) g[v] = as<C>(first.elements[v]), x[v] = as<C>(second.elements[v]);
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
        for (u32 v = 0; v < PACK; v++) all[v] = all[v].merge({g[v] * ((x[v] - mean[v]) * rstd[v]), g[v]});
    }
#pragma unroll
    for (u32 v = 0; v < PACK; v++) shared[warp][v][lane] = all[v];
    __syncthreads();
    if (warp < PACK && column + warp < rows.columns) {
        PartialGradientSums<C> total = shared[0][warp][lane];
        for (u32 i = 1; i < WARPS; i++) total = total.merge(shared[i][warp][lane]);
        ((PartialGradientSums<C> *)partial_sums)[u64(part) * rows.columns + column + warp] = total;
    }
}

// The coefficients that transform the elements of a channel. An input becomes `(x - mean) * scale + bias`, and a gradient `(grad - sum - (x
// - mean) * product) * scale`.
template <class C> struct ChannelCoefficients {
    C mean, scale, bias, product;
};

// Adds up the partial sums, `pieces` of each part, to the gradients of the parameters. Also computes the channels' coefficients for the
// input's gradient if `coefficients` is not null.
template <class C>
__global__ void __launch_bounds__(256) parameter_gradients(const C *partial_sums, StridedVector of_weight, StridedVector of_bias, C *coefficients, StridedVector means, StridedVector rstds, StridedVector weight, u32 channels, u32 parts, u32 pieces, double count) {
    __shared__ PartialGradientSums<C> shared[256];
    u32 way = threadIdx.x / 32, channel = blockIdx.x * 32 + threadIdx.x % 32;
    PartialGradientSums<C> all = {C(0), C(0)};
    if (channel < channels)
        for (u32 part = way; part < parts; part += 8)
            for (u32 piece = 0; piece < pieces; piece++)
                all = all.merge(((const PartialGradientSums<C> *)partial_sums)[(u64(part) * channels + channel) * pieces + piece]);
    shared[threadIdx.x] = all;
    __syncthreads();
    if (way || channel >= channels) return;
    for (u32 i = threadIdx.x + 32; i < 256; i += 32) all = all.merge(shared[i]);
    of_weight.set(channel, all.input_product);
    of_bias.set(channel, all.sum);
    if (!coefficients) return;
    C rstd = rstds.get(channel, C(1)), by = C(1) / C(count);
    ((ChannelCoefficients<C> *)coefficients)[channel] = {means.get(channel, C(0)), rstd * weight.get(channel, C(1)), all.sum * by, all.input_product * rstd * by};
}

// The scalars of a batch normalisation.
struct BatchNormScalars {
    double eps, momentum, correction;
    u32 channels, is_training;
};

// Computes the channels' coefficients from means and variances, saves the statistics, and updates the running ones if there are any.
template <class C>
__global__ void __launch_bounds__(256) batch_statistics(StridedVector means, StridedVector vars, StridedVector weight, StridedVector bias, StridedVector saved_mean, StridedVector saved_rstd, StridedVector running_mean, StridedVector running_var, C *coefficients, BatchNormScalars batch) {
    u32 channel = blockIdx.x * 256 + threadIdx.x;
    if (channel >= batch.channels) return;
    C mean = means.get(channel, C(0)), var = vars.get(channel, C(1)), shifted = var + C(batch.eps);
    // A batch of equal elements that nothing is added to becomes zero.
    C rstd = batch.is_training && shifted == C(0) ? C(0) : C(1) / sqrt(shifted);
    ((ChannelCoefficients<C> *)coefficients)[channel] = {mean, rstd * weight.get(channel, C(1)), bias.get(channel, C(0)), C(0)};
    saved_mean.set(channel, mean);
    saved_rstd.set(channel, rstd);
    C momentum = C(batch.momentum);
    running_mean.set(channel, momentum * mean + (C(1) - momentum) * running_mean.get(channel, C(0)));
    running_var.set(channel, momentum * C(batch.correction) * var + (C(1) - momentum) * running_var.get(channel, C(0)));
}

// The map from an element to its channel: `area` adjacent elements share one.
struct ChannelMap {
    i64 count;
    Divisor area, channels;
    u32 packed;
    __device__ __forceinline__ u32 channel_of_element(i64 at) const {
        u32 plane = count >> 31 ? u32(at / area.value % channels.value) : area.divide(u32(at));
        return plane - channels.divide(plane) * channels.value;
    }
};

template <class T, int V> __device__ __forceinline__ void transform_pack_of_channel(const T *in, const T *grad, T *out, const ChannelCoefficients<compute_t<T>> *channels, i64 at, const ChannelMap &planes) {
    typedef compute_t<T> C;
    Pack<T, V> x, g, y;
    if (in) x = *(const Pack<T, V> *)(in + at);
    if (grad) g = *(const Pack<T, V> *)(grad + at);
    bool same = planes.area.value % V == 0;
    ChannelCoefficients<C> channel = channels[planes.channel_of_element(at)];
#pragma unroll
    for (u32 v = 0; v < V; v++) {
        if (v && !same) channel = channels[planes.channel_of_element(at + v)];
        C distance = in ? as<C>(x.elements[v]) - channel.mean : C(0);
        y.elements[v] = as<T>(grad ? (as<C>(g.elements[v]) - channel.bias - distance * channel.product) * channel.scale : distance * channel.scale + channel.bias);
    }
    *(Pack<T, V> *)(out + at) = y;
}

template <class T>
__global__ void __launch_bounds__(256) apply_channels(const T *in, const T *grad, T *out, const compute_t<T> *coefficients, ChannelMap planes) {
    const ChannelCoefficients<compute_t<T>> *of = (const ChannelCoefficients<compute_t<T>> *)coefficients;
    i64 at = i64(blockIdx.x) * 256 + threadIdx.x;
    if (planes.packed) {
        at *= PACK;
        if (at < planes.count) transform_pack_of_channel<T, PACK>(in, grad, out, of, at, planes);
    } else if (at < planes.count) {
        transform_pack_of_channel<T, 1>(in, grad, out, of, at, planes);
    }
}
