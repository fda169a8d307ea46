//! Kernels of CTC loss: the forward-backward algorithm on logarithms, in double precision, for each sequence separately.
//!
//! A sequence has states: its labels, and a blank before, between and after them. A step leads from a state to itself, to the next state,
//! or over a blank to the next label if that is a different one.

use aten::CtcLossPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Problem};

use engine::allocation::to_usize;
use engine::contiguous::{ContiguousElements, contiguous_elements, write_contiguous};
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::thread_pool::DisjointLines;

/// The logarithm of the probability zero.
const LOG_ZERO: f64 = f64::NEG_INFINITY;

/// Returns the logarithm of the sum of the exponentials of three numbers.
fn log_add_exp(logs: [f64; 3]) -> f64 {
    let most = logs.into_iter().fold(LOG_ZERO, f64::max);
    if most == LOG_ZERO { LOG_ZERO } else { most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln() }
}

/// The label sequences and log-probabilities of a batch.
struct CtcBatch<'a> {
    log_probs: ContiguousElements<'a, f64>,
    /// The class of each state of each sequence.
    states: Vec<Vec<usize>>,
    steps: Vec<usize>,
    batch: usize,
    classes: usize,
}

impl<'a> CtcBatch<'a> {
    fn new(log_probs: &'a Tensor, targets: &Tensor, blank: i64, labelling: &CtcLossPlan) -> Result<Self> {
        let classes = log_probs.sizes()[2];
        let targets = convert_to_vec::<i64>(targets)?;
        let states = labelling.labels.iter().map(|&(first, count)| {
            let mut states = vec![to_usize(blank)];
            for &label in &targets[first..first + count] {
                if !(0..classes).contains(&label) {
                    return Err(
                        BadArgument::new("targets", Problem::Index { index: label, size: classes, dim: None }).into()
                    );
                }
                states.extend([to_usize(label), to_usize(blank)]);
            }
            Ok(states)
        });
        Ok(Self {
            states: states.collect::<Result<_>>()?,
            log_probs: contiguous_elements::<f64>(log_probs)?,
            steps: labelling.steps.clone(),
            batch: to_usize(log_probs.sizes()[1]),
            classes: to_usize(classes),
        })
    }

    /// Returns the log-probabilities of all classes at a step of a sequence.
    fn log_probs_at(&self, sequence: usize, step: usize) -> &[f64] {
        &self.log_probs[(step * self.batch + sequence) * self.classes..][..self.classes]
    }

    /// Computes the forward variables: the log-likelihood of each state after each step, with `width` numbers for a step.
    fn forward_variables(&self, sequence: usize, width: usize, alphas: &mut [f64]) {
        alphas.fill(LOG_ZERO);
        let states = &self.states[sequence];
        for step in 0..self.steps[sequence] {
            let probs = self.log_probs_at(sequence, step);
            let (before, here) = alphas.split_at_mut(step * width);
            let Some(before) = before.rchunks_exact(width).next() else {
                states.iter().zip(here).take(2).for_each(|(&class, to)| *to = probs[class]);
                continue;
            };
            for (state, &class) in states.iter().enumerate() {
                let back = |by: usize| state.checked_sub(by).map_or(LOG_ZERO, |from| before[from]);
                let skips = state >= 2 && states[state - 2] != class;
                here[state] =
                    log_add_exp([before[state], back(1), if skips { back(2) } else { LOG_ZERO }]) + probs[class];
            }
        }
    }

    /// Computes the backward variables: the log-likelihood of the rest of the sequence from each state at each step. Calls `each` with
    /// those of a step, the last step first.
    fn backward_variables(&self, sequence: usize, mut each: impl FnMut(usize, &[f64])) {
        let states = &self.states[sequence];
        let (mut after, mut here) = (vec![LOG_ZERO; states.len()], vec![LOG_ZERO; states.len()]);
        for step in (0..self.steps[sequence]).rev() {
            let (probs, last) = (self.log_probs_at(sequence, step), step + 1 == self.steps[sequence]);
            for (state, &class) in states.iter().enumerate() {
                let on = |by: usize| after.get(state + by).copied().unwrap_or(LOG_ZERO);
                let skips = states.get(state + 2).is_some_and(|&other| other != class);
                let rest = if last && state + 2 >= states.len() {
                    0.0
                } else {
                    log_add_exp([after[state], on(1), if skips { on(2) } else { LOG_ZERO }])
                };
                here[state] = rest + probs[class];
            }
            each(step, &here);
            std::mem::swap(&mut after, &mut here);
        }
    }

    /// Returns the negative log-likelihood of the sequence, which may end in its last label or in the blank after that.
    fn sequence_loss(&self, sequence: usize, width: usize, alphas: &[f64]) -> f64 {
        let last = self.states[sequence].len() - 1;
        match self.steps[sequence].checked_sub(1) {
            None if last == 0 => 0.0,
            None => f64::INFINITY,
            Some(step) => {
                let end = &alphas[step * width..][..width];
                -log_add_exp([end[last], last.checked_sub(1).map_or(LOG_ZERO, |before| end[before]), LOG_ZERO])
            }
        }
    }
}

#[op_impl(aten::_ctc_loss, CPU)]
fn _ctc_loss(plan: &CtcLossPlan, [losses, alphas]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let (sequences, width) = (CtcBatch::new(log_probs, targets, blank, plan)?, 2 * plan.longest + 1);
    let length = to_usize(log_probs.sizes()[0]) * width;
    let mut ends = vec![0.0; sequences.batch];
    write_contiguous(alphas, |alphas: &mut [f64]| {
        DisjointLines::new(alphas, length)
            .for_each(1, |sequence, alphas| sequences.forward_variables(sequence, width, alphas));
        let ends = ends.iter_mut().enumerate();
        ends.for_each(|(at, loss)| *loss = sequences.sequence_loss(at, width, &alphas[at * length..][..length]));
        Ok(())
    })?;
    write_f64_values(losses, &ends)
}

#[op_impl(aten::_ctc_loss_backward, CPU)]
fn _ctc_loss_backward(plan: &CtcLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let sequences = CtcBatch::new(log_probs, targets, blank, plan)?;
    let (grads, losses, alphas) = (
        convert_to_vec::<f64>(grad)?,
        convert_to_vec::<f64>(neg_log_likelihood)?,
        contiguous_elements::<f64>(log_alpha)?,
    );
    let (steps, classes, width) = (to_usize(log_probs.sizes()[0]), sequences.classes, 2 * plan.longest + 1);
    let mut gradients = vec![0.0; sequences.log_probs.len()];
    // These gradients are ordered by sequence. In the result they are ordered by step.
    DisjointLines::new(&mut gradients, steps * classes).for_each(1, |sequence, gradient| {
        if zero_infinity && losses[sequence] == f64::INFINITY {
            return;
        }
        let alphas = &alphas[sequence * steps * width..][..steps * width];
        let mut likely = vec![LOG_ZERO; classes];
        sequences.backward_variables(sequence, |step, betas| {
            likely.fill(LOG_ZERO);
            for ((&class, &beta), &alpha) in sequences.states[sequence].iter().zip(betas).zip(&alphas[step * width..]) {
                likely[class] = log_add_exp([likely[class], alpha + beta, LOG_ZERO]);
            }
            let probs = sequences.log_probs_at(sequence, step);
            for ((to, &likely), &log) in gradient[step * classes..].iter_mut().zip(&likely).zip(probs) {
                *to = (log.exp() - (likely + losses[sequence] - log).exp()) * grads[sequence];
            }
        });
    });
    write_contiguous(out, |out: &mut [f64]| {
        for (row, out) in out.chunks_exact_mut(classes).enumerate() {
            let (step, sequence) = (row / sequences.batch, row % sequences.batch);
            out.copy_from_slice(&gradients[(sequence * steps + step) * classes..][..classes]);
        }
        Ok(())
    })
}
