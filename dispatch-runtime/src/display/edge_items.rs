//! Which elements are shown, and where they stand on the page.

use num_complex::Complex64;

use super::columns::{Cells, Numbers};
use crate::error::{BadArgument, Error, ErrorKind, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::scalar::{Bool, DType, Element};
use crate::tensor::{Tensor, access};

/// Where a line ends.
pub(super) const LINE: usize = 80;
/// What every tensor begins with.
pub(super) const OPENING: &str = "tensor(";
/// Tensors with more elements are shown in part.
const WHOLE: i64 = 1000;
/// How much of each side is shown then.
const EDGE: i64 = 3;
/// What nobody reads: texts of more elements, and more brackets.
const TOO_MANY: i64 = 1_000_000;
const TOO_DEEP: usize = 64;

/// For each dimension its size, and how much of each side is shown where that is not all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edges {
    sizes: Vec<i64>,
    cut: bool,
}

impl Edges {
    /// What is usually shown; none where that would still be too much for a text.
    pub(crate) fn of(tensor: &Tensor) -> Option<Self> {
        Self { sizes: tensor.sizes().to_vec(), cut: tensor.geometry().count() > WHOLE }.fits()
    }

    /// Everything.
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

    /// How many positions of a dimension are shown.
    fn shown(&self, dim: usize) -> i64 {
        if self.is_cut(dim) { 2 * EDGE } else { self.sizes[dim] }
    }

    /// The numbers to show, or why there are none.
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

    /// The shown elements, the last dimension fastest.
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

    /// Brackets, commas and line ends around the cells.
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

/// What stands before the item at this place: nothing, a space, or a new line and for each further dimension an empty one.
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

/// A copy on the CPU, made by the device's backend.
fn fetched(tensor: &Tensor) -> Result<Tensor> {
    let from = tensor.storage();
    let memory = tensor.device().memory()?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(from.size()).map_err(Error::kernel)?;
    bytes.resize(from.size(), 0_u8);
    // A backend may panic; writers are let in again then, too.
    let held = from.hold_for_reading().map_err(|_| BadArgument::new("self", Problem::InUse))?;
    memory.copy_out(from, &mut bytes)?;
    drop(held);
    let storage = Storage::try_host(bytes.len())?;
    access::fill(&storage, &bytes);
    Ok(Tensor::new(storage, tensor.dtype(), tensor.geometry().clone())?)
}

/// In a few words, on one line.
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
