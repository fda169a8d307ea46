//! The choice of the elements to print, and their layout in lines and brackets.

use num_complex::Complex64;

use super::columns::{Cells, Numbers};
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::scalar::{Bool, DType, Element};
use crate::tensor::{Tensor, access};

/// The maximum length of a line.
pub(super) const LINE: usize = 80;
/// The beginning of every tensor's text.
pub(super) const OPENING: &str = "tensor(";
/// The largest number of elements that are printed in full.
const WHOLE: i64 = 1000;
/// The number of items at each end of a dimension that are printed if a tensor has more elements.
const EDGE: i64 = 3;
/// The limits of a text: a tensor that would print more elements, or has more dimensions, prints none of its elements.
const TOO_MANY: i64 = 1_000_000;
const TOO_DEEP: usize = 64;

/// The sizes of a tensor, and whether long dimensions are cut to their first and last items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edges {
    sizes: Vec<i64>,
    cut: bool,
}

impl Edges {
    /// Chooses the elements that are printed by default. Returns `None` if even these are too many.
    pub(crate) fn of(tensor: &Tensor) -> Option<Self> {
        Self { sizes: tensor.sizes().to_vec(), cut: tensor.geometry().count() > WHOLE }.fits()
    }

    /// Chooses all elements. Returns `None` if they are too many.
    pub(crate) fn all(tensor: &Tensor) -> Option<Self> {
        Self { sizes: tensor.sizes().to_vec(), cut: false }.fits()
    }

    fn fits(self) -> Option<Self> {
        let shown = (0..self.sizes.len()).fold(1, |shown: i64, dim| shown.saturating_mul(self.shown(dim)));
        (shown <= TOO_MANY && self.sizes.len() <= TOO_DEEP).then_some(self)
    }

    fn is_cut(&self, dim: usize) -> bool {
        self.cut && self.sizes[dim] > 2 * EDGE
    }

    /// Returns the number of items of a dimension that are printed.
    fn shown(&self, dim: usize) -> i64 {
        if self.is_cut(dim) { 2 * EDGE } else { self.sizes[dim] }
    }

    /// Reads the elements to print, or returns the reason why they cannot be read.
    pub(crate) fn read(&self, tensor: &Tensor) -> Result<Numbers, String> {
        let host = tensor.device().backend() == Device::CPU.backend();
        let numbers =
            if host { self.read_host(tensor) } else { fetched(tensor).and_then(|host| self.read_host(&host)) };
        numbers.map_err(|error| reason(&error))
    }

    fn read_host(&self, tensor: &Tensor) -> Result<Numbers> {
        Ok(match tensor.dtype() {
            DType::Bool => Numbers::Bools(self.each(tensor, |x: Bool| x.into())?),
            DType::U8 => Numbers::Ints(self.each::<u8, _>(tensor, Into::into)?),
            DType::I8 => Numbers::Ints(self.each::<i8, _>(tensor, Into::into)?),
            DType::I16 => Numbers::Ints(self.each::<i16, _>(tensor, Into::into)?),
            DType::I32 => Numbers::Ints(self.each::<i32, _>(tensor, Into::into)?),
            DType::I64 => Numbers::Ints(self.each::<i64, _>(tensor, Into::into)?),
            DType::F16 => Numbers::Floats(self.each::<half::f16, _>(tensor, Into::into)?),
            DType::BF16 => Numbers::Floats(self.each::<half::bf16, _>(tensor, Into::into)?),
            DType::F32 => Numbers::Floats(self.each::<f32, _>(tensor, Into::into)?),
            DType::F64 => Numbers::Floats(self.each::<f64, _>(tensor, Into::into)?),
            DType::C64 => {
                let wide = |x: num_complex::Complex32| Complex64::new(x.re.into(), x.im.into());
                Numbers::Complex(self.each(tensor, wide)?)
            }
            DType::C128 => Numbers::Complex(self.each(tensor, |x: Complex64| x)?),
        })
    }

    /// Returns the elements to print in row-major order.
    fn each<T: Element, U>(&self, tensor: &Tensor, convert: impl Fn(T) -> U) -> Result<Vec<U>> {
        let elements = tensor.elements::<T>()?;
        let mut at = vec![0; self.sizes.len()];
        let mut shown = Vec::new();
        loop {
            shown.extend(elements.get(&at).map(&convert));
            let Some(dim) = (0..at.len()).rev().find(|&dim| at[dim] + 1 < self.sizes[dim]) else { return Ok(shown) };
            at[dim] += 1;
            if self.is_cut(dim) && at[dim] == EDGE {
                at[dim] = self.sizes[dim] - EDGE;
            }
            at[dim + 1..].fill(0);
        }
    }

    /// Writes the cells with brackets, commas and line breaks.
    pub(crate) fn lay_out(&self, cells: &mut Cells, text: &mut String) {
        self.dimension(0, cells, text);
    }

    fn dimension(&self, dim: usize, cells: &mut Cells, text: &mut String) {
        let inside = self.sizes.len() - dim;
        if inside == 0 {
            text.push_str(&cells.next());
            return;
        }
        text.push('[');
        let indent = OPENING.len() + dim;
        let in_line = if inside == 1 { (LINE.saturating_sub(indent) / (cells.width() + 2)).max(1) } else { 1 };
        for nth in 0..self.shown(dim) {
            let gap = self.is_cut(dim) && nth >= EDGE;
            if gap && nth == EDGE {
                let place = usize::try_from(nth).unwrap_or(0);
                separate(text, place, in_line, inside, indent);
                text.push_str(if inside == 1 { " ..." } else { "..." });
            }
            let place = usize::try_from(nth + i64::from(gap)).unwrap_or(0);
            separate(text, place, in_line, inside, indent);
            self.dimension(dim + 1, cells, text);
        }
        text.push(']');
    }
}

/// Writes the separator before an item: nothing for the first one, a space, or a line break and an empty line for each further dimension
/// inside.
fn separate(text: &mut String, place: usize, in_line: usize, inside: usize, indent: usize) {
    if place == 0 {
        return;
    }
    text.push(',');
    if place.is_multiple_of(in_line) {
        text.extend(std::iter::repeat_n('\n', (inside - 1).max(1)));
        text.extend(std::iter::repeat_n(' ', indent + 1));
    } else {
        text.push(' ');
    }
}

/// Returns a copy of a tensor on the CPU, which the device's backend makes.
fn fetched(tensor: &Tensor) -> Result<Tensor> {
    let from = tensor.storage();
    let memory = tensor.device().memory()?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(from.size()).map_err(Error::kernel)?;
    bytes.resize(from.size(), 0_u8);
    // A guard holds the storage, so that writers can use it again even if the backend panics.
    let held = from.hold_for_reading().map_err(|_| BadArgument::new("self", Problem::InUse))?;
    memory.copy_out(from, &mut bytes)?;
    drop(held);
    let storage = Storage::try_host(bytes.len())?;
    access::fill(&storage, &bytes);
    Ok(Tensor::new(storage, tensor.dtype(), tensor.geometry().clone())?)
}

/// Returns a short text for an error, on one line.
fn reason(error: &Error) -> String {
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
    format!("cannot be fetched: {}", message.lines().next().unwrap_or_default())
}
