//! The choice of the elements to print, and their layout in lines and brackets.

use num_complex::Complex64;

use super::element_texts::{ElementTexts, ElementValues};
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key::{Device, KeySet};
use crate::memory::Storage;
use crate::scalar::{Bool, DType, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu};
use crate::tensor::math_bits::apply_math_bits;
use crate::tensor::{Tensor, access};

/// The maximum length of a printed line.
pub(super) const LINE_WIDTH: usize = 80;
/// The text with which every printed tensor begins.
pub(super) const TENSOR_PREFIX: &str = "tensor(";
/// The largest number of elements that are printed in full.
const MAX_ELEMENTS_PRINTED_IN_FULL: i64 = 1000;
/// The number of items at each end of a dimension that are printed if a tensor has more elements.
const EDGE_ITEMS: i64 = 3;
/// The limits of a text: a tensor that would print more elements, or has more dimensions, prints none of its elements.
const MAX_PRINTED_ELEMENTS: i64 = 1_000_000;
const MAX_PRINTED_DIMS: usize = 64;

/// The selection of the elements to print: all of them, or the first and last items of each long dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PrintedElements {
    sizes: Vec<i64>,
    is_summary: bool,
}

impl PrintedElements {
    /// Chooses the elements that are printed by default: if there are many, only the first and last ones of each dimension. Returns `None`
    /// if even these are too many.
    pub(crate) fn selected_by_default(tensor: &Tensor) -> Option<Self> {
        Self { sizes: tensor.sizes().to_vec(), is_summary: tensor.geometry().count() > MAX_ELEMENTS_PRINTED_IN_FULL }
            .if_within_limits()
    }

    /// Chooses all elements of a tensor for printing. Returns `None` if they are too many.
    pub(crate) fn all(tensor: &Tensor) -> Option<Self> {
        Self { sizes: tensor.sizes().to_vec(), is_summary: false }.if_within_limits()
    }

    fn if_within_limits(self) -> Option<Self> {
        let printed =
            (0..self.sizes.len()).fold(1, |count: i64, dim| count.saturating_mul(self.printed_item_count(dim)));
        (printed <= MAX_PRINTED_ELEMENTS && self.sizes.len() <= MAX_PRINTED_DIMS).then_some(self)
    }

    fn is_dim_abbreviated(&self, dim: usize) -> bool {
        self.is_summary && self.sizes[dim] > 2 * EDGE_ITEMS
    }

    /// Returns the number of items of a dimension that are printed.
    fn printed_item_count(&self, dim: usize) -> i64 {
        if self.is_dim_abbreviated(dim) { 2 * EDGE_ITEMS } else { self.sizes[dim] }
    }

    /// Reads the elements to print, or returns the reason why they cannot be read.
    pub(crate) fn read(&self, tensor: &Tensor) -> Result<ElementValues, String> {
        let host = tensor.device().backend_index() == Device::CPU.backend_index();
        let numbers = if host {
            self.read_on_host(tensor)
        } else {
            copy_to_cpu(tensor).and_then(|host| self.read_on_host(&host))
        };
        numbers.map_err(|error| error_summary(&error))
    }

    fn read_on_host(&self, tensor: &Tensor) -> Result<ElementValues> {
        Ok(match tensor.dtype() {
            DType::Bool => ElementValues::Bools(self.read_converted(tensor, |x: Bool| x.into())?),
            DType::U8 => ElementValues::Ints(self.read_converted::<u8, _>(tensor, Into::into)?),
            DType::I8 => ElementValues::Ints(self.read_converted::<i8, _>(tensor, Into::into)?),
            DType::I16 => ElementValues::Ints(self.read_converted::<i16, _>(tensor, Into::into)?),
            DType::I32 => ElementValues::Ints(self.read_converted::<i32, _>(tensor, Into::into)?),
            DType::I64 => ElementValues::Ints(self.read_converted::<i64, _>(tensor, Into::into)?),
            DType::F16 => ElementValues::Floats(self.read_converted::<half::f16, _>(tensor, Into::into)?),
            DType::BF16 => ElementValues::Floats(self.read_converted::<half::bf16, _>(tensor, Into::into)?),
            DType::F8E5M2 => ElementValues::Floats(self.read_converted::<Float8E5M2, _>(tensor, Into::into)?),
            DType::F8E4M3FN => ElementValues::Floats(self.read_converted::<Float8E4M3Fn, _>(tensor, Into::into)?),
            DType::F8E5M2FNUZ => ElementValues::Floats(self.read_converted::<Float8E5M2Fnuz, _>(tensor, Into::into)?),
            DType::F8E4M3FNUZ => ElementValues::Floats(self.read_converted::<Float8E4M3Fnuz, _>(tensor, Into::into)?),
            DType::F8E8M0FNU => ElementValues::Floats(self.read_converted::<Float8E8M0Fnu, _>(tensor, Into::into)?),
            DType::F32 => ElementValues::Floats(self.read_converted::<f32, _>(tensor, Into::into)?),
            DType::F64 => ElementValues::Floats(self.read_converted::<f64, _>(tensor, Into::into)?),
            DType::C64 => {
                let wide = |x: num_complex::Complex32| Complex64::new(x.re.into(), x.im.into());
                ElementValues::Complex(self.read_converted(tensor, wide)?)
            }
            DType::C128 => ElementValues::Complex(self.read_converted(tensor, |x: Complex64| x)?),
        })
    }

    /// Returns the elements to print in row-major order.
    fn read_converted<T: Element, U>(&self, tensor: &Tensor, convert: impl Fn(T) -> U) -> Result<Vec<U>> {
        let in_memory = tensor.with_math_bits(KeySet::EMPTY);
        let elements = in_memory.elements::<T>()?;
        let mut position = vec![0; self.sizes.len()];
        let mut printed = Vec::new();
        loop {
            printed.extend(elements.get(&position));
            let Some(dim) = (0..position.len()).rev().find(|&dim| position[dim] + 1 < self.sizes[dim]) else {
                apply_math_bits(tensor.math_bits(), &mut printed);
                return Ok(printed.into_iter().map(convert).collect());
            };
            position[dim] += 1;
            if self.is_dim_abbreviated(dim) && position[dim] == EDGE_ITEMS {
                position[dim] = self.sizes[dim] - EDGE_ITEMS;
            }
            position[dim + 1..].fill(0);
        }
    }

    /// Writes the text of a tensor: the cells with brackets, commas and line breaks.
    pub(crate) fn write_elements(&self, cells: &mut ElementTexts, text: &mut String) {
        self.write_dimension(0, cells, text);
    }

    fn write_dimension(&self, dim: usize, cells: &mut ElementTexts, text: &mut String) {
        let inside = self.sizes.len() - dim;
        if inside == 0 {
            text.push_str(&cells.next_padded());
            return;
        }
        text.push('[');
        let indent = TENSOR_PREFIX.len() + dim;
        let in_line = if inside == 1 { (LINE_WIDTH.saturating_sub(indent) / (cells.width() + 2)).max(1) } else { 1 };
        for nth in 0..self.printed_item_count(dim) {
            let gap = self.is_dim_abbreviated(dim) && nth >= EDGE_ITEMS;
            if gap && nth == EDGE_ITEMS {
                let index = usize::try_from(nth).unwrap_or(0);
                write_separator(text, index, in_line, inside, indent);
                text.push_str(if inside == 1 { " ..." } else { "..." });
            }
            let index = usize::try_from(nth + i64::from(gap)).unwrap_or(0);
            write_separator(text, index, in_line, inside, indent);
            self.write_dimension(dim + 1, cells, text);
        }
        text.push(']');
    }
}

/// Writes the separator before the item at `index`: nothing for the first one, a space, or a line break and an empty line for each further
/// dimension inside.
fn write_separator(text: &mut String, index: usize, in_line: usize, inside: usize, indent: usize) {
    if index == 0 {
        return;
    }
    text.push(',');
    if index.is_multiple_of(in_line) {
        text.extend(std::iter::repeat_n('\n', (inside - 1).max(1)));
        text.extend(std::iter::repeat_n(' ', indent + 1));
    } else {
        text.push(' ');
    }
}

/// Returns a copy of a tensor on the CPU, which the device's backend makes.
fn copy_to_cpu(tensor: &Tensor) -> Result<Tensor> {
    let from = tensor.storage();
    let memory = tensor.device().memory_backend()?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(from.size()).map_err(Error::kernel)?;
    bytes.resize(from.size(), 0_u8);
    // A guard holds the storage, so that writers can use it again even if the backend panics.
    let hold = from.hold_for_reading().map_err(|_| BadArgument::new("self", Problem::InUse))?;
    memory.copy_out(from, &mut bytes)?;
    drop(hold);
    let storage = Storage::try_new_host(bytes.len())?;
    access::copy_into_storage(&storage, &bytes);
    Ok(Tensor::new(storage, tensor.dtype(), tensor.geometry().clone())?.with_math_bits(tensor.math_bits()))
}

/// Returns a short text for an error, on one line.
fn error_summary(error: &Error) -> String {
    let in_use = match error.kind() {
        ErrorKind::Kernel { source, .. } => {
            source.downcast_ref().is_some_and(|bad: &BadArgument| *bad.problem == Problem::InUse)
        }
        _ => false,
    };
    if in_use {
        return "being written".to_owned();
    }
    let message = error.to_string();
    format!("cannot be copied: {}", message.lines().next().unwrap_or_default())
}
