//! Tensors as text, in the form that PyTorch prints.
//!
//! What is shown is read first, in one go, and laid out afterwards, so no guard is held while a text is made. Printing never fails and
//! never waits: memory that is being written, or that nobody can fetch, is said to be so where the elements would stand.

mod columns;
mod edge_items;

use std::fmt::{self, Write};

use crate::key::Device;
use crate::scalar::DType;
use crate::tensor::Tensor;
use columns::Cells;
use edge_items::{Edges, LINE, OPENING};

/// How many digits follow the point.
const DIGITS: usize = 4;

/// The elements in aligned columns, the outermost three on each side where there are more than 1,000. `{:#}` shows all of them, and
/// `{:.2}` two digits instead of four. A dtype that literals do not have, a device other than the CPU, and sizes that cannot be seen
/// follow.
///
/// ```
/// use dispatch_runtime::Tensor;
/// let t = Tensor::from([[1.0_f32, 2.5], [-3.0, 100.0]]);
/// assert_eq!(t.to_string(), "\
/// tensor([[  1.0000,   2.5000],
///         [ -3.0000, 100.0000]])");
/// assert_eq!(Tensor::from([1_u8, 2]).to_string(), "tensor([1, 2], dtype=uint8)");
/// ```
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edges = if f.alternate() { Edges::all(self) } else { None };
        show(self, edges, false, f)
    }
}

/// As [`Display`](#impl-Display-for-Tensor), and always with the sizes.
///
/// ```
/// use dispatch_runtime::Tensor;
/// assert_eq!(format!("{:?}", Tensor::from([true, false])), "tensor([ true, false], size=[2])");
/// ```
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, None, true, f)
    }
}

fn show(tensor: &Tensor, edges: Option<Edges>, sized: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits = f.precision().unwrap_or(DIGITS);
    let empty = tensor.geometry().count() == 0;
    let meta = tensor.device().backend() == Device::META.backend();
    let mut shown = !meta;
    let mut text = OPENING.to_owned();
    match edges.or_else(|| Edges::of(tensor)) {
        _ if empty => text.push_str("[]"),
        Some(edges) if !meta => match edges.read(tensor) {
            Ok(numbers) => edges.lay_out(&mut Cells::new(&numbers, digits), &mut text),
            Err(reason) => {
                shown = false;
                write!(text, "<{reason}>")?;
            }
        },
        _ => {
            shown = false;
            text.push_str("...");
        }
    }
    f.write_str(&text)?;

    let mut suffixes = Vec::new();
    if tensor.device().backend() != Device::CPU.backend() {
        suffixes.push(format!("device={}", tensor.device()));
    }
    if sized || !shown || (empty && tensor.sizes().len() != 1) {
        suffixes.push(format!("size={:?}", tensor.sizes()));
    }
    // Elements that are written out say what they are, unless it is unusual.
    let usual = [DType::F32, DType::I64, DType::Bool, DType::C64];
    if tensor.dtype() != DType::F32 && (empty || !shown || !usual.contains(&tensor.dtype())) {
        suffixes.push(format!("dtype={}", tensor.dtype()));
    }
    if tensor.requires_grad() {
        suffixes.push("requires_grad=true".to_owned());
    }
    let mut column = text.len() - text.rfind('\n').map_or(0, |at| at + 1) + 2;
    for suffix in suffixes {
        let fits = column + suffix.len() + 2 <= LINE;
        f.write_str(if fits { ", " } else { ",\n       " })?;
        f.write_str(&suffix)?;
        column = suffix.len() + if fits { column + 2 } else { OPENING.len() };
    }
    f.write_char(')')
}

#[cfg(test)]
mod tests;
