//! The pieces of a step: equal ranges of a parameter, its state and its gradient.
//!
//! All pieces of all parameters are one region of the thread pool. A tensor that is not contiguous is copied before the step, and written
//! back after it.

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Element, MemoryFormat, ReadGuard, WriteGuard, bf16, f16};
use engine::compute::RealFloat;
use engine::thread_pool::parallel_each;

/// The number of elements of a piece: enough for a thread, and few enough for the cache.
const PIECE_LENGTH: usize = 8192;

/// The number of elements up to which a step is run by its caller alone.
const MIN_PARALLEL_ELEMENTS: usize = 1 << 15;

/// An element type of parameters.
pub(crate) trait StepElement: Element {
    /// The type in which the step computes.
    type Compute: RealFloat;

    fn load(self) -> Self::Compute;

    fn store(value: Self::Compute) -> Self;
}

macro_rules! impl_step_element {
    ($($ty:ty as $compute:ty: $load:expr, $store:expr;)*) => {$(
        impl StepElement for $ty {
            type Compute = $compute;

            #[inline(always)]
            fn load(self) -> $compute {
                $load(self)
            }

            #[inline(always)]
            fn store(value: $compute) -> Self {
                $store(value)
            }
        }
    )*};
}

impl_step_element! {
    f32 as f32: std::convert::identity, std::convert::identity;
    f64 as f64: std::convert::identity, std::convert::identity;
    f16 as f32: f16::to_f32, f16::from_f32;
    bf16 as f32: bf16::to_f32, bf16::from_f32;
}

/// Returns the gradient with the penalty on a large parameter. No penalty is not a penalty of zero, which would be NaN at infinity.
#[inline(always)]
pub(crate) fn penalized<C: RealFloat>(grad: C, param: C, penalty: C) -> C {
    if penalty == C::ZERO { grad } else { grad + param * penalty }
}

/// A step of an optimiser on pieces.
pub(crate) trait PieceStep: Sync {
    /// Updates a piece of the parameter at `index`. `written` has the parameter and its states, in the order of the operator's arguments.
    fn run<T: StepElement>(&self, index: usize, written: &mut [&mut [T]], grad: &[T]);
}

/// Makes a step. `written` has the list of parameters and the lists of their states. If there is a scale, each gradient is first divided by
/// it, in place.
pub(crate) fn run_step(
    step: &impl PieceStep,
    written: &mut [&mut [Tensor]],
    grads: &mut [Tensor],
    scale: Option<f64>,
) -> Result<()> {
    // Parameters that share memory are updated one after the other.
    let group_size = if shares_storage(written, grads) { 1 } else { grads.len().max(1) };
    for start in (0..grads.len()).step_by(group_size) {
        let group = start..start + group_size;
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            let indices: Vec<usize> = group.clone().filter(|&i| grads[i].dtype() == dtype).collect();
            match dtype {
                _ if indices.is_empty() => {}
                DType::F32 => run_group::<f32>(step, &indices, written, grads, scale)?,
                DType::F64 => run_group::<f64>(step, &indices, written, grads, scale)?,
                DType::F16 => run_group::<f16>(step, &indices, written, grads, scale)?,
                _ => run_group::<bf16>(step, &indices, written, grads, scale)?,
            }
        }
    }
    Ok(())
}

fn shares_storage(written: &[&mut [Tensor]], grads: &[Tensor]) -> bool {
    let tensors = written.iter().flat_map(|list| list.iter()).chain(grads);
    let mut storages: Vec<usize> = tensors.map(|tensor| tensor.storage().identity()).collect();
    let count = storages.len();
    storages.sort_unstable();
    storages.dedup();
    storages.len() < count
}

/// A tensor whose elements a step uses, or the contiguous copy that it uses instead.
struct StepTensor {
    elements: Tensor,
    is_copy: bool,
}

impl StepTensor {
    /// Prepares a tensor. `others` are the tensors before it at the same index: if it shares memory with one, it is copied, too.
    fn new(tensor: &Tensor, others: &[Self]) -> Result<Self> {
        let is_shared = others.iter().any(|other| other.elements.storage().same(tensor.storage()));
        let is_copy = is_shared || !tensor.geometry().is_contiguous();
        let elements = if is_copy { aten::clone(tensor, Some(MemoryFormat::Contiguous))? } else { tensor.clone() };
        Ok(Self { elements, is_copy })
    }

    fn write_back(&self, tensor: &mut Tensor) -> Result<()> {
        if self.is_copy { aten::copy_(tensor, &self.elements, false) } else { Ok(()) }
    }
}

/// The elements of a gradient.
enum GradientElements<'a, T: Element> {
    Read(ReadGuard<'a, T>),
    Scaled(WriteGuard<'a, T>),
}

/// A range of a parameter's elements and of all that belongs to it.
struct Piece<'a, T> {
    index: usize,
    written: Vec<&'a mut [T]>,
    grad: GradientPiece<'a, T>,
}

enum GradientPiece<'a, T> {
    Read(&'a [T]),
    Scaled(&'a mut [T], f64),
}

fn run_group<T: StepElement>(
    step: &impl PieceStep,
    indices: &[usize],
    written: &mut [&mut [Tensor]],
    grads: &mut [Tensor],
    scale: Option<f64>,
) -> Result<()> {
    let mut prepared = Vec::with_capacity(indices.len());
    for &i in indices {
        let mut tensors: Vec<StepTensor> = Vec::with_capacity(written.len() + 1);
        for tensor in written.iter().map(|list| &list[i]).chain([&grads[i]]) {
            tensors.push(StepTensor::new(tensor, &tensors)?);
        }
        prepared.push(tensors);
    }
    update_elements::<T>(step, indices, &mut prepared, scale)?;
    for (&i, tensors) in indices.iter().zip(&prepared) {
        let (grad, states) = tensors.split_last().ok_or("a step has a gradient")?;
        if scale.is_some() {
            grad.write_back(&mut grads[i])?;
        }
        for (state, list) in states.iter().zip(written.iter_mut()) {
            state.write_back(&mut list[i])?;
        }
    }
    Ok(())
}

fn update_elements<T: StepElement>(
    step: &impl PieceStep,
    indices: &[usize],
    prepared: &mut [Vec<StepTensor>],
    scale: Option<f64>,
) -> Result<()> {
    let mut guards = Vec::with_capacity(prepared.len());
    for tensors in prepared {
        let (grad, states) = tensors.split_last_mut().ok_or("a step has a gradient")?;
        let states: Vec<WriteGuard<'_, T>> =
            states.iter_mut().map(|state| state.elements.write()).collect::<Result<_, _>>()?;
        let grad = match scale {
            Some(_) => GradientElements::Scaled(grad.elements.write::<T>()?),
            None => GradientElements::Read(grad.elements.read::<T>()?),
        };
        guards.push((states, grad));
    }
    let mut pieces = Vec::new();
    let mut element_count = 0_usize;
    for (&index, (states, grad)) in indices.iter().zip(&mut guards) {
        let count = states.first().map_or(0, |state| state.len());
        element_count = element_count.saturating_add(count);
        let mut states: Vec<_> = states.iter_mut().map(|state| state.chunks_mut(PIECE_LENGTH)).collect();
        let mut next_states = || states.iter_mut().filter_map(Iterator::next).collect();
        match grad {
            GradientElements::Read(grad) => pieces.extend(
                grad.chunks(PIECE_LENGTH)
                    .map(|grad| Mutex::new(Piece { index, written: next_states(), grad: GradientPiece::Read(grad) })),
            ),
            GradientElements::Scaled(grad) => pieces.extend(grad.chunks_mut(PIECE_LENGTH).map(|grad| {
                let grad = GradientPiece::Scaled(grad, scale.unwrap_or(1.0));
                Mutex::new(Piece { index, written: next_states(), grad })
            })),
        }
    }
    let run_piece = |piece: usize| {
        let mut piece = pieces[piece].lock().unwrap_or_else(PoisonError::into_inner);
        piece.update(step);
    };
    if element_count < MIN_PARALLEL_ELEMENTS {
        (0..pieces.len()).for_each(run_piece);
    } else {
        parallel_each(pieces.len(), run_piece);
    }
    Ok(())
}

impl<T: StepElement> Piece<'_, T> {
    fn update(&mut self, step: &impl PieceStep) {
        let grad = match &mut self.grad {
            GradientPiece::Read(grad) => grad,
            GradientPiece::Scaled(grad, scale) => {
                let scale = T::Compute::from_f64(*scale);
                grad.iter_mut().for_each(|grad| *grad = T::store(grad.load() / scale));
                &**grad
            }
        };
        step.run(self.index, &mut self.written, grad);
    }
}
