// Kernels of the CTC loss, in logarithms: a block for each sequence, whose threads have its states. A state is a label, or a blank before,
// between or after labels. A transition keeps the state, moves to the next one, or moves from one label to a different one without the
// blank between them.
#include "functions.cuh"

// The sizes of a CTC loss, and the class that is the blank.
struct CtcShape {
    i64 steps, batch, classes, width, blank;
    u32 site;
    Fault *fault;
};

template <class C> __device__ __forceinline__ C log_zero() { return Limits<C>::min_value(); }

template <class C> __device__ __forceinline__ C log_sum_exp(C a, C b, C c = log_zero<C>()) {
    C most = max_ignoring_nan(max_ignoring_nan(a, b), c);
    return most == log_zero<C>() ? most : most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

// The states of the sequence that a block computes: its labels, with blanks between them. `lengths` has three integers for it: its steps,
// its first label, and its number of labels.
struct SequenceStates {
    const i64 *labels;
    i64 steps, count;
    const CtcShape &all;
    __device__ __forceinline__ SequenceStates(const i64 *targets, const i64 *lengths, const CtcShape &all)
        : labels(targets + lengths[3 * blockIdx.x + 1]), steps(lengths[3 * blockIdx.x]), count(2 * lengths[3 * blockIdx.x + 2] + 1), all(all) {}
    __device__ __forceinline__ i64 operator[](i64 state) const {
        if (state % 2 == 0) return all.blank;
        i64 label = labels[state / 2];
        if (label >= 0 && label < all.classes) return label;
        report_fault(all.fault, all.site, INDEX_OUT_OF_RANGE, label, all.classes);
        return all.blank;
    }
    template <class C> __device__ __forceinline__ const C *probs(const C *probs, i64 step) const {
        return probs + (step * all.batch + blockIdx.x) * all.classes;
    }
};

// Computes the forward variables: the log-probability of each state after each step; and the loss.
template <class C>
__global__ void __launch_bounds__(256) ctc_forward(const C *probs, const i64 *targets, const i64 *lengths, C *alphas, C *losses, CtcShape all) {
    SequenceStates states(targets, lengths, all);
    alphas += blockIdx.x * all.steps * all.width;
    for (i64 step = 0; step < all.steps; step++) {
        const C *here = states.probs(probs, step), *before = alphas + (step - 1) * all.width;
        for (i64 state = threadIdx.x; state < all.width; state += 256) {
            C likely = log_zero<C>();
            if (step < states.steps && state < states.count) {
                i64 of = states[state];
                bool skips = state >= 2 && states[state - 2] != of;
                if (step) likely = log_sum_exp(before[state], state >= 1 ? before[state - 1] : likely, skips ? before[state - 2] : likely) + here[of];
                else if (state < 2) likely = here[of];
            }
            alphas[step * all.width + state] = likely;
        }
        __syncthreads();
    }
    if (threadIdx.x) return;
    i64 last = states.count - 1;
    const C *end = alphas + (states.steps - 1) * all.width;
    losses[blockIdx.x] = states.steps ? -log_sum_exp(end[last], last ? end[last - 1] : log_zero<C>()) : last ? Limits<C>::max_value() : C(0);
}

// Computes the backward variables, of which two steps are kept, and the gradient of each class.
template <class C>
__global__ void __launch_bounds__(256) ctc_backward(const C *probs, const i64 *targets, const i64 *lengths, const C *alphas, const C *losses, const C *grads, C *betas, C *out, CtcShape all, i32 zero_infinity) {
    SequenceStates states(targets, lengths, all);
    alphas += blockIdx.x * all.steps * all.width;
    betas += blockIdx.x * 2 * all.width;
    C loss = losses[blockIdx.x], grad = grads[blockIdx.x];
    bool nothing = zero_infinity && loss == Limits<C>::max_value();
    for (i64 step = all.steps - 1; step >= 0; step--) {
        const C *here = states.probs(probs, step);
        C *to = out + (here - probs);
        C *own = betas + step % 2 * all.width, *after = betas + (step + 1) % 2 * all.width;
        bool counts = step < states.steps && !nothing;
        for (i64 at = threadIdx.x; at < all.classes; at += 256)
            to[at] = counts ? (exp(here[at]) - exp(log_zero<C>() + loss - here[at])) * grad : C(0);
        if (counts)
            for (i64 state = threadIdx.x; state < states.count; state += 256) {
                i64 of = states[state];
                bool last = step + 1 == states.steps, skips = state + 2 < states.count && states[state + 2] != of;
                C rest = last ? (state + 2 >= states.count ? C(0) : log_zero<C>())
                              : log_sum_exp(after[state], state + 1 < states.count ? after[state + 1] : log_zero<C>(), skips ? after[state + 2] : log_zero<C>());
                own[state] = rest + here[of];
            }
        __syncthreads();
        if (counts)
            for (i64 state = threadIdx.x; state < states.count; state += 256) {
                // The first state of a class sums over all states of that class.
                i64 of = states[state], other = 0;
                while (other < state && states[other] != of) other++;
                if (other < state) continue;
                C likely = log_zero<C>();
                for (; other < states.count; other++)
                    if (states[other] == of) likely = log_sum_exp(likely, alphas[step * all.width + other] + own[other]);
                to[of] = (exp(here[of]) - exp(likely + loss - here[of])) * grad;
            }
        __syncthreads();
    }
}
