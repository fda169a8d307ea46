//! Printing of tensors, in PyTorch's format.
//!
//! The printed elements are all read first and formatted afterwards, so no guard is held while the text is built. Printing never fails, and
//! never waits for a guard. If the elements cannot be read, because the memory is being written or cannot be copied to the CPU, the text
//! says so in their place.

mod edge_items;
mod element_texts;

use std::fmt::{self, Write};

use crate::key::Device;
use crate::scalar::DType;
use crate::tensor::Tensor;
use edge_items::{LINE_WIDTH, PrintedElements, TENSOR_PREFIX};
use element_texts::ElementTexts;

/// The default number of digits after the point.
const DEFAULT_DIGITS: usize = 4;

/// Prints the elements in aligned columns. A tensor of more than 1,000 elements prints only the first and last three items of each long
/// dimension. `{:#}` prints all elements, and `{:.2}` prints two digits instead of four. The device follows if it is not the CPU, the sizes
/// follow if the elements do not show them, and the dtype follows if the elements' form does not tell it.
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
        let elements = if f.alternate() { PrintedElements::all(self) } else { None };
        write_tensor(self, elements, false, f)
    }
}

/// Prints the text of [`Display`](#impl-Display-for-Tensor), and always the sizes.
///
/// ```
/// use dispatch_runtime::Tensor;
/// assert_eq!(format!("{:?}", Tensor::from([true, false])), "tensor([ true, false], size=[2])");
/// ```
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tensor(self, None, true, f)
    }
}

fn write_tensor(
    tensor: &Tensor,
    elements: Option<PrintedElements>,
    with_sizes: bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let digits = f.precision().unwrap_or(DEFAULT_DIGITS);
    let empty = tensor.geometry().count() == 0;
    let meta = tensor.device().backend_index() == Device::META.backend_index();
    let mut shown = !meta;
    let mut text = TENSOR_PREFIX.to_owned();
    match elements.or_else(|| PrintedElements::selected_by_default(tensor)) {
        _ if empty => text.push_str("[]"),
        Some(elements) if !meta => match elements.read(tensor) {
            Ok(numbers) => elements.write_elements(&mut ElementTexts::new(&numbers, digits), &mut text),
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
    if tensor.device().backend_index() != Device::CPU.backend_index() {
        suffixes.push(format!("device={}", tensor.device()));
    }
    if with_sizes || !shown || (empty && tensor.sizes().len() != 1) {
        suffixes.push(format!("size={:?}", tensor.sizes()));
    }
    // The form of printed elements tells the dtype, unless the dtype is an unusual one.
    let usual = [DType::F32, DType::I64, DType::Bool, DType::C64];
    if tensor.dtype() != DType::F32 && (empty || !shown || !usual.contains(&tensor.dtype())) {
        suffixes.push(format!("dtype={}", tensor.dtype()));
    }
    if tensor.requires_grad() {
        suffixes.push("requires_grad=true".to_owned());
    }
    let mut column = text.len() - text.rfind('\n').map_or(0, |at| at + 1) + 2;
    for suffix in suffixes {
        let fits = column + suffix.len() + 2 <= LINE_WIDTH;
        f.write_str(if fits { ", " } else { ",\n       " })?;
        f.write_str(&suffix)?;
        column = suffix.len() + if fits { column + 2 } else { TENSOR_PREFIX.len() };
    }
    f.write_char(')')
}

#[cfg(test)]
mod tests;
