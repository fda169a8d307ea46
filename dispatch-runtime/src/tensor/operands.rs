//! Operands: the tensors that a kernel writes and reads, borrowed all at once.
//!
//! A kernel that writes one tensor and reads others needs all of them at once. [`operands!`](crate::operands) locks each storage once,
//! recognises a read tensor that is exactly the written one, and rejects any other overlap. It never waits for another guard.

use std::ptr::NonNull;

use super::Tensor;
use super::access::AccessError;
use super::geometry::Geometry;
use super::overlap::{are_disjoint, overlaps_itself};
use crate::error::{BadArgument, Error, Problem, Result};
use crate::key::Device;
use crate::name::name_in_schema;
use crate::scalar::{DType, Element};

/// Borrows tensors for writing and reading: `operands!(write out; read a, b)?`. A written tensor that has no other handle and shares no
/// storage needs no lock, and so no atomic operation.
///
/// ```
/// use dispatch_runtime::{Tensor, operands};
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (a, mut out) = (Tensor::from_slice(&[1.0_f32, 2.0]), Tensor::from_slice(&[0.0_f32; 2]));
/// let mut operands = operands!(write out; read a)?;
/// let ([to], [from]) = operands.slices::<f32>()?;
/// match from {
///     Some(from) => to.iter_mut().zip(from).for_each(|(to, from)| *to = 2.0 * from),
///     None => to.iter_mut().for_each(|to| *to *= 2.0),       // `a` is `out`
/// }
/// drop(operands);
/// assert_eq!(&*out.read::<f32>()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`](crate::BadArgument) if another guard uses a tensor, if a written tensor shares memory with itself or with
/// another written one, if a read tensor overlaps a written one without being the same elements, or if the CPU cannot address one.
#[macro_export]
macro_rules! operands {
    (write $($written:ident),+ $(; read $($read:ident),*)? $(;)?) => {
        $crate::Operands::take(
            &[$(::core::stringify!($written)),+],
            [$($written.as_written()),+],
            &[$($(::core::stringify!($read)),*)?],
            [$($($read.as_read()),*)?],
        )
    };
}

/// The tensors that [`operands!`](crate::operands) borrowed, until this is dropped.
pub struct Operands<'a, const W: usize, const R: usize> {
    written: [Operand<'a>; W],
    read: [Operand<'a>; R],
}

/// One tensor that [`operands!`](crate::operands) borrowed, for engines that compute addresses themselves. It does not lend the tensor's
/// handle: if the storage needed no lock, a clone of that handle could reach the memory too.
pub struct Operand<'a> {
    tensor: &'a Tensor,
    start: NonNull<u8>,
    hold: Hold,
}

/// The lock that an operand has on its storage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// No lock of its own: another operand has it, or nothing else reaches the storage.
    Nothing,
    Reading,
    Writing,
}

impl Tensor {
    /// Returns a mutable reference to the tensor, for [`operands!`](crate::operands), which accepts tensors and references alike.
    #[doc(hidden)]
    #[inline]
    pub fn as_written(&mut self) -> &mut Self {
        self
    }

    /// Returns a reference to the tensor, for [`operands!`](crate::operands), which accepts tensors and references alike.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn as_read(&self) -> &Self {
        self
    }
}

/// The reason why an operand was rejected. Names are added when it becomes an error.
enum Refused {
    NotOnHost(Device),
    SelfOverlap,
    InUse,
    Overlap { with: usize },
}

impl Refused {
    #[cold]
    fn of(self, operand: usize, names: &[&'static str], written: &[&'static str]) -> Error {
        let name = |names: &[&'static str], at: usize| name_in_schema(names.get(at).copied().unwrap_or_default());
        let problem = match self {
            Self::NotOnHost(device) => Problem::NotOnHost { device },
            Self::SelfOverlap => Problem::SelfOverlap,
            Self::InUse => Problem::InUse,
            Self::Overlap { with } => Problem::Overlap { with: name(written, with).into() },
        };
        BadArgument::new(name(names, operand), problem).into()
    }
}

impl<'a, const W: usize, const R: usize> Operands<'a, W, R> {
    /// Borrows tensors, with the names that errors use; [`operands!`](crate::operands) expands to it.
    #[inline(always)]
    pub fn take(
        written_names: &[&'static str; W],
        written: [&'a mut Tensor; W],
        read_names: &[&'static str],
        read: [&'a Tensor; R],
    ) -> Result<Self> {
        let mut alone = [false; W];
        let mut which = alone.iter_mut();
        let written = written.map(|tensor| {
            if let Some(alone) = which.next() {
                *alone = tensor.is_unique();
            }
            Operand::outside(tensor)
        });
        let mut operands = Self { written, read: read.map(Operand::outside) };
        operands.enter(&alone, written_names, read_names)?;
        Ok(operands)
    }

    #[inline(always)]
    fn enter(&mut self, alone: &[bool; W], written: &[&'static str; W], read: &[&'static str]) -> Result<()> {
        for (i, &alone) in alone.iter().enumerate() {
            self.enter_written(i, alone).map_err(|problem| problem.of(i, written, written))?;
        }
        for i in 0..R {
            self.enter_read(i).map_err(|problem| problem.of(i, read, written))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn enter_written(&mut self, i: usize, alone: bool) -> Result<(), Refused> {
        let (before, [operand, ..]) = self.written.split_at_mut(i) else { return Ok(()) };
        operand.find()?;
        if !operand.geometry().is_contiguous() && overlaps_itself(operand.geometry()) {
            return Err(Refused::SelfOverlap);
        }
        let storage = operand.tensor.storage();
        if alone {
            storage.write_alone();
            return Ok(());
        }
        let mut inside = false;
        for (other, operand_before) in before.iter().enumerate() {
            if operand_before.tensor.storage().same(storage) {
                operand.check_beside(operand_before, other)?;
                inside = true;
            }
        }
        if inside {
            return Ok(());
        }
        if !storage.enter_write() {
            return Err(Refused::InUse);
        }
        operand.hold = Hold::Writing;
        Ok(())
    }

    #[inline(always)]
    fn enter_read(&mut self, i: usize) -> Result<(), Refused> {
        let operand = &mut self.read[i];
        operand.find()?;
        let storage = operand.tensor.storage();
        let mut inside = false;
        for (other, written) in self.written.iter().enumerate() {
            if written.tensor.storage().same(storage) {
                inside = true;
                if !operand.is(written) {
                    operand.check_beside(written, other)?;
                }
            }
        }
        if inside {
            return Ok(());
        }
        if !storage.enter_read() {
            return Err(Refused::InUse);
        }
        operand.hold = Hold::Reading;
        Ok(())
    }

    /// Returns the written operands, in the order given.
    #[inline]
    #[must_use]
    pub fn written(&self) -> &[Operand<'a>; W] {
        &self.written
    }

    /// Returns the read operands, in the order given.
    #[inline]
    #[must_use]
    pub fn read(&self) -> &[Operand<'a>; R] {
        &self.read
    }

    /// Returns all elements as slices. A read tensor that is exactly a written one is `None`: its elements are in the written slice.
    ///
    /// # Errors
    ///
    /// Returns [`AccessError`] if a tensor has another dtype or is not contiguous.
    #[expect(clippy::type_complexity, reason = "one array of slices for each side")]
    pub fn slices<T: Element>(&mut self) -> Result<([&mut [T]; W], [Option<&[T]>; R]), AccessError> {
        for operand in self.written.iter().chain(&self.read) {
            operand.check_slice::<T>()?;
        }
        let written = &self.written;
        let read = self.read.each_ref().map(|operand| {
            // SAFETY: the elements are inside a storage that nothing writes while this operand holds it, or apart from the elements of it
            // that are written.
            (!written.iter().any(|written| operand.is(written)))
                .then(|| unsafe { std::slice::from_raw_parts(operand.start().cast::<T>(), operand.count()) })
        });
        let written = written.each_ref().map(|operand| {
            // SAFETY: the elements are inside a storage that only these operands write; no other operand has them, except those that became
            // `None` above; `self` is borrowed for as long as the slices are.
            unsafe { std::slice::from_raw_parts_mut(operand.start().cast::<T>(), operand.count()) }
        });
        Ok((written, read))
    }
}

impl<'a, const R: usize> Operands<'a, 1, R> {
    /// Borrows a tensor for writing, and once more among the tensors for reading: `read` takes the written tensor and returns those to
    /// read.
    ///
    /// ```
    /// use dispatch_runtime::{Operands, Tensor};
    /// let (mut a, b) = (Tensor::from_slice(&[1.0_f32]), Tensor::from_slice(&[2.0_f32]));
    /// let operands = Operands::in_place("a", &mut a, &["a", "b"], |a| [a, &b]).unwrap();
    /// let ([written], [first, _]) = (operands.written(), operands.read());
    /// assert!(first.is(written));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`operands!`](crate::operands).
    #[inline(always)]
    pub fn in_place(
        name: &'static str,
        tensor: &'a mut Tensor,
        read_names: &[&'static str],
        read: impl FnOnce(&'a Tensor) -> [&'a Tensor; R],
    ) -> Result<Self> {
        // `read` may keep the reference and clone the handle, so the tensor may have other handles.
        let tensor: &'a Tensor = tensor;
        let read = read(tensor).map(Operand::outside);
        let mut operands = Self { written: [Operand::outside(tensor)], read };
        operands.enter(&[false], &[name], read_names)?;
        Ok(operands)
    }
}

impl<'a> Operand<'a> {
    #[inline]
    fn outside(tensor: &'a Tensor) -> Self {
        Self { tensor, start: NonNull::dangling(), hold: Hold::Nothing }
    }

    /// Returns whether the storage has the elements from index `first` to index `last`, counted from its start.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, operands};
    /// let mut out = Tensor::from_slice(&[0_i16; 4]);
    /// let operands = operands!(write out).unwrap();
    /// let [operand] = operands.written();
    /// assert!(operand.has_places(0, 3) && !operand.has_places(0, 4) && !operand.has_places(-1, 3));
    /// ```
    #[must_use]
    pub fn has_places(&self, first: i64, last: i64) -> bool {
        let end = last.checked_add(1).and_then(|end| super::bounds::bytes(end, self.dtype()));
        first >= 0 && end.is_some_and(|end| end <= self.tensor.storage().size())
    }

    /// Returns the sizes, strides and offset. [`start`](Self::start) includes the offset already.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &'a Geometry {
        self.tensor.geometry()
    }

    /// Returns the type of the elements.
    #[inline]
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.tensor.dtype()
    }

    /// Returns the address of the first element. Until the operand is dropped, the elements can be read, and written if it was borrowed for
    /// writing.
    #[inline]
    #[must_use]
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns whether both have exactly the same elements.
    #[inline]
    #[must_use]
    pub fn is(&self, other: &Operand<'_>) -> bool {
        self.start == other.start
            && self.dtype() == other.dtype()
            && {
                let (own, others) = (self.geometry(), other.geometry());
                own.same_sizes(others) && own.strides() == others.strides()
            }
            && self.tensor.storage().same(other.tensor.storage())
    }

    fn count(&self) -> usize {
        usize::try_from(self.geometry().count()).unwrap_or(0)
    }

    #[inline]
    fn find(&mut self) -> Result<(), Refused> {
        self.start = self.tensor.start().ok_or_else(|| Refused::NotOnHost(self.tensor.device()))?;
        Ok(())
    }

    #[cold]
    fn check_beside(&self, other: &Operand<'_>, number: usize) -> Result<(), Refused> {
        if are_disjoint(self.tensor, other.tensor) { Ok(()) } else { Err(Refused::Overlap { with: number }) }
    }

    fn check_slice<T: Element>(&self) -> Result<(), AccessError> {
        if self.dtype() != T::DTYPE {
            return Err(AccessError::WrongDType { tensor: self.dtype(), asked: T::DTYPE });
        }
        if !self.geometry().is_contiguous() {
            let (sizes, strides) = (self.geometry().sizes().to_vec(), self.geometry().strides().to_vec());
            return Err(AccessError::NotContiguous { sizes, strides });
        }
        Ok(())
    }
}

impl Drop for Operand<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.hold {
            Hold::Nothing => {}
            Hold::Reading => self.tensor.storage().leave_read(),
            Hold::Writing => self.tensor.storage().leave_write(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tensor: &Tensor, start: i64, count: i64) -> Tensor {
        tensor.restride(Geometry::strided(&[count], &[1], start).unwrap()).unwrap()
    }

    fn problem(result: Result<impl Sized>) -> (String, Problem) {
        let error = result.err().unwrap();
        let source = std::error::Error::source(&error).unwrap();
        let bad = source.downcast_ref::<BadArgument>().unwrap();
        (bad.argument.to_string(), (*bad.problem).clone())
    }

    #[test]
    fn the_written_tensor_may_be_read_but_not_a_shifted_one() {
        let base = Tensor::from_slice(&[1_i32, 2, 3, 4]);
        let (mut out, same, shifted, beside) = (row(&base, 0, 2), row(&base, 0, 2), row(&base, 1, 2), row(&base, 2, 2));
        let mut operands = operands!(write out; read same, beside).unwrap();
        let ([out_slice], [same_slice, beside_slice]) = operands.slices::<i32>().unwrap();
        assert_eq!((out_slice.len(), same_slice, beside_slice), (2, None, Some(&[3, 4][..])));
        drop(operands);
        let expected = ("shifted".to_owned(), Problem::Overlap { with: "out".into() });
        assert_eq!(problem(operands!(write out; read shifted)), expected);
        assert!(operands!(write out; read base).is_err());
    }

    #[test]
    fn what_was_entered_before_an_error_is_left_again() {
        let (a, b) = (Tensor::from_slice(&[1_u8]), Tensor::from_slice(&[2_u8]));
        let (mut out, mut other) = (Tensor::from_slice(&[0_u8]), b.clone());
        let _kept = out.clone();
        let writing = other.write::<u8>().unwrap();
        assert_eq!(problem(operands!(write out; read a, b)), ("b".to_owned(), Problem::InUse));
        drop(writing);
        assert!(out.write::<u8>().is_ok() && a.clone().write::<u8>().is_ok());
    }

    #[test]
    fn taking_excludes_guards_and_counts_one_version() {
        let mut out = Tensor::from_slice(&[0_u8; 2]);
        let other = out.clone();
        let before = other.storage().version();
        let operands = operands!(write out).unwrap();
        assert!(other.read::<u8>().is_err());
        drop(operands);
        assert!(other.read::<u8>().is_ok() && other.storage().version() == before + 1);
        drop(other);
        drop(operands!(write out));
        assert_eq!(out.storage().version(), before + 2);
    }

    #[test]
    fn a_tensor_that_shares_memory_with_itself_is_not_written() {
        let mut out = Tensor::from_slice(&[0_u8]).restride(Geometry::strided(&[3], &[0], 0).unwrap()).unwrap();
        assert_eq!(problem(operands!(write out)), ("out".to_owned(), Problem::SelfOverlap));
        assert!(operands!(write out).is_err());
    }

    #[test]
    fn errors_call_the_first_argument_as_schemas_do() {
        let base = Tensor::from_slice(&[1_i32, 2, 3]);
        let (mut this, other) = (row(&base, 0, 2), row(&base, 1, 2));
        let overlap = |with: &'static str| Problem::Overlap { with: with.into() };
        assert_eq!(problem(operands!(write this; read other)), ("other".to_owned(), overlap("self")));
        let (mut out, this) = (other, this);
        assert_eq!(problem(operands!(write out; read this)), ("self".to_owned(), overlap("out")));
    }

    #[test]
    fn two_written_tensors_must_lie_apart() {
        let base = Tensor::from_slice(&[1_i32, 2, 3, 4]);
        let (mut low, mut middle, mut high) = (row(&base, 0, 2), row(&base, 1, 2), row(&base, 2, 2));
        assert!(operands!(write low, high).is_ok());
        assert_eq!(problem(operands!(write low, middle)).0, "middle");
        assert!(operands!(write low, high; read base).is_err());
    }

    #[test]
    fn each_written_tensor_must_lie_apart_from_all_before_it() {
        let base = Tensor::from_slice(&[0_i32; 8]);
        let (mut first, mut second, mut third) = (row(&base, 0, 2), row(&base, 4, 2), row(&base, 5, 2));
        let expected = ("third".to_owned(), Problem::Overlap { with: "second".into() });
        assert_eq!(problem(operands!(write first, second, third)), expected);
        let mut apart = row(&base, 6, 2);
        assert!(operands!(write first, second, apart).is_ok());
    }
}
