//! Borders that continue what is inside.

use aten::{Border, Bordered};
use dispatch_runtime::prelude::*;

use crate::moves::{Axis, Step, along, copy};
use crate::scatter::{ready, summed};

/// The walk through a tensor with borders: each of its places, and the place inside that it shows.
fn walk(inside: &[i64], padding: &[i64], border: Border, outer: &[i64], inner: &[i64]) -> Vec<Axis> {
    let first = inside.len() - padding.len() / 2;
    let axis = |dim: usize| {
        let to = Step::Stride(outer[dim]);
        if dim < first {
            return Axis { size: inside[dim], to, from: Step::Stride(inner[dim]) };
        }
        let pair = 2 * (inside.len() - 1 - dim);
        let mut places = border.shown(inside[dim], padding[pair], padding[pair + 1]);
        places.iter_mut().for_each(|place| *place *= inner[dim]);
        Axis { size: i64::try_from(places.len()).unwrap_or(0), to, from: Step::Table(places) }
    };
    (0..inside.len()).map(axis).collect()
}

#[op_impl(aten::reflection_pad1d, CPU)]
#[op_impl(aten::reflection_pad2d, CPU)]
#[op_impl(aten::reflection_pad3d, CPU)]
#[op_impl(aten::replication_pad1d, CPU)]
#[op_impl(aten::replication_pad2d, CPU)]
#[op_impl(aten::replication_pad3d, CPU)]
fn padded(plan: &Bordered, out: &mut Tensor, this: &Tensor, padding: &[i64]) -> Result<()> {
    // A walk has a place for each position of a dimension, of which there may be any number.
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let axes = walk(this.sizes(), padding, plan.border, out.strides(), this.strides());
    along(out, this, &axes)
}

#[op_impl(aten::reflection_pad1d_backward, CPU)]
#[op_impl(aten::reflection_pad2d_backward, CPU)]
#[op_impl(aten::reflection_pad3d_backward, CPU)]
#[op_impl(aten::replication_pad1d_backward, CPU)]
#[op_impl(aten::replication_pad2d_backward, CPU)]
#[op_impl(aten::replication_pad3d_backward, CPU)]
fn backward(plan: &Bordered, out: &mut Tensor, grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<()> {
    let (grad, zero) = (ready(grad_output)?, Tensor::number(0.into()));
    if grad.geometry().count() == 0 {
        return copy(out, &zero);
    }
    let mut axes = walk(this.sizes(), padding, plan.border, grad.strides(), out.strides());
    axes.iter_mut().for_each(|axis| std::mem::swap(&mut axis.to, &mut axis.from));
    summed(out, &zero, &grad, &axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::BadArgument;

    fn row() -> Tensor {
        aten::view(&Tensor::from_slice(&[0.0_f32, 1.0, 2.0]), &[1, 1, 3]).unwrap()
    }

    fn padded(pad: &[i64], mode: &str) -> Vec<f32> {
        let result = aten::pad(&row(), pad, mode, None).unwrap();
        aten::alias_copy(&result).unwrap().to_vec::<f32>().unwrap()
    }

    fn argument(result: Result<Tensor>) -> String {
        let error = result.err().unwrap();
        std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap().argument.to_string()
    }

    #[test]
    fn every_mode_fills_as_pytorch_does() {
        assert_eq!(padded(&[1, 2], "constant"), [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
        assert_eq!(padded(&[2, 1], "reflect"), [2.0, 1.0, 0.0, 1.0, 2.0, 1.0]);
        assert_eq!(padded(&[2, 1], "replicate"), [0.0, 0.0, 0.0, 1.0, 2.0, 2.0]);
        assert_eq!(padded(&[3, 2], "circular"), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
    }

    #[test]
    fn negative_paddings_cut_off() {
        assert_eq!(padded(&[-2, 1], "constant"), [2.0, 0.0]);
        assert_eq!(padded(&[2, -4], "reflect"), [2.0]);
        assert_eq!(padded(&[-4, 6], "replicate"), [2.0; 5]);
        assert_eq!(padded(&[2, -1], "circular"), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(padded(&[-1, 2], "circular"), [1.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        assert_eq!(argument(aten::pad(&row(), &[1], "constant", None)), "pad");
        assert_eq!(argument(aten::pad(&row(), &[-2, -2], "constant", None)), "pad");
        assert_eq!(argument(aten::pad(&row(), &[i64::MAX, i64::MAX], "constant", None)), "pad");
        assert_eq!(argument(aten::pad(&row(), &[4, 0], "circular", None)), "pad");
        assert_eq!(argument(aten::pad(&row(), &[1, 1], "wrap", None)), "mode");
        assert_eq!(argument(aten::pad(&row(), &[1, 1], "reflect", Some(1.0))), "value");
        assert_eq!(argument(aten::reflection_pad1d(&row(), &[3, 0])), "padding");
        assert_eq!(argument(aten::replication_pad1d(&row(), &[-2, -1])), "padding");
        assert_eq!(argument(aten::replication_pad1d(&row(), &[i64::MIN, i64::MIN])), "padding");
        assert_eq!(argument(aten::replication_pad2d(&row(), &[1, 1])), "padding");
    }
}
