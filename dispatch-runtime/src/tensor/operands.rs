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
use crate::name::argument_name_in_schema;
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
        $crate::__private::Operands::borrow(
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
    lock: OperandLock,
}

/// The lock that an operand has on its storage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandLock {
    /// The operand has no lock of its own: another operand has it, or nothing else reaches the storage.
    None,
    Read,
    Write,
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
enum OperandRejection {
    NotOnHost(Device),
    SelfOverlap,
    InUse,
    Overlap { with: usize },
}

impl OperandRejection {
    #[cold]
    fn into_error(self, operand: usize, names: &[&'static str], written: &[&'static str]) -> Error {
        let name =
            |names: &[&'static str], at: usize| argument_name_in_schema(names.get(at).copied().unwrap_or_default());
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
    pub fn borrow(
        written_names: &[&'static str; W],
        written: [&'a mut Tensor; W],
        read_names: &[&'static str],
        read: [&'a Tensor; R],
    ) -> Result<Self> {
        let mut unshared = [false; W];
        let mut flags = unshared.iter_mut();
        let written = written.map(|tensor| {
            if let Some(unshared) = flags.next() {
                *unshared = tensor.owns_elements_alone();
            }
            Operand::new_unlocked(tensor)
        });
        let mut operands = Self { written, read: read.map(Operand::new_unlocked) };
        operands.lock_all(&unshared, written_names, read_names)?;
        Ok(operands)
    }

    #[inline(always)]
    fn lock_all(&mut self, unshared: &[bool; W], written: &[&'static str; W], read: &[&'static str]) -> Result<()> {
        for (i, &unshared) in unshared.iter().enumerate() {
            self.lock_written(i, unshared).map_err(|rejection| rejection.into_error(i, written, written))?;
        }
        for i in 0..R {
            self.lock_read(i).map_err(|rejection| rejection.into_error(i, read, written))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn lock_written(&mut self, i: usize, unshared: bool) -> Result<(), OperandRejection> {
        let (before, [operand, ..]) = self.written.split_at_mut(i) else { return Ok(()) };
        operand.set_start()?;
        if !operand.geometry().is_contiguous() && overlaps_itself(operand.geometry()) {
            return Err(OperandRejection::SelfOverlap);
        }
        let storage = operand.tensor.storage();
        if unshared {
            storage.bump_version_unshared();
            return Ok(());
        }
        let mut is_locked = false;
        for (other, operand_before) in before.iter().enumerate() {
            if operand_before.tensor.storage().same(storage) {
                operand.check_disjoint(operand_before, other)?;
                is_locked = true;
            }
        }
        if is_locked {
            return Ok(());
        }
        if !storage.try_lock_write() {
            return Err(OperandRejection::InUse);
        }
        operand.lock = OperandLock::Write;
        Ok(())
    }

    #[inline(always)]
    fn lock_read(&mut self, i: usize) -> Result<(), OperandRejection> {
        let operand = &mut self.read[i];
        operand.set_start()?;
        let storage = operand.tensor.storage();
        let mut is_locked = false;
        for (other, written) in self.written.iter().enumerate() {
            if written.tensor.storage().same(storage) {
                is_locked = true;
                if !operand.is_same_elements_as(written) {
                    operand.check_disjoint(written, other)?;
                }
            }
        }
        if is_locked {
            return Ok(());
        }
        if !storage.try_lock_read() {
            return Err(OperandRejection::InUse);
        }
        operand.lock = OperandLock::Read;
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
            // SAFETY: the elements are inside the storage. Nothing writes them while this operand holds the storage: the written operands
            // share none of them.
            (!written.iter().any(|written| operand.is_same_elements_as(written)))
                .then(|| unsafe { std::slice::from_raw_parts(operand.start().cast::<T>(), operand.count()) })
        });
        let written = written.each_ref().map(|operand| {
            // SAFETY: the elements are inside a storage that only these operands write. No other operand has them, except those that became
            // `None` above. `self` is borrowed for as long as the slices are.
            unsafe { std::slice::from_raw_parts_mut(operand.start().cast::<T>(), operand.count()) }
        });
        Ok((written, read))
    }
}

impl<'a, const R: usize> Operands<'a, 1, R> {
    /// Borrows the operands of an in-place call. `read` returns the tensors to read, and the written tensor may be among them.
    ///
    /// ```
    /// use dispatch_runtime::{Operands, Tensor};
    /// let (mut a, b) = (Tensor::from_slice(&[1.0_f32]), Tensor::from_slice(&[2.0_f32]));
    /// let operands = Operands::borrow_in_place("a", &mut a, &["a", "b"], |a| [a, &b]).unwrap();
    /// let ([written], [first, _]) = (operands.written(), operands.read());
    /// assert!(first.is_same_elements_as(written));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`operands!`](crate::operands).
    #[inline(always)]
    pub fn borrow_in_place(
        name: &'static str,
        tensor: &'a mut Tensor,
        read_names: &[&'static str],
        read: impl FnOnce(&'a Tensor) -> [&'a Tensor; R],
    ) -> Result<Self> {
        // `read` may keep the reference and clone the handle, so the tensor may have other handles.
        let tensor: &'a Tensor = tensor;
        let read = read(tensor).map(Operand::new_unlocked);
        let mut operands = Self { written: [Operand::new_unlocked(tensor)], read };
        operands.lock_all(&[false], &[name], read_names)?;
        Ok(operands)
    }
}

impl<'a> Operand<'a> {
    #[inline]
    fn new_unlocked(tensor: &'a Tensor) -> Self {
        Self { tensor, start: NonNull::dangling(), lock: OperandLock::None }
    }

    /// Returns whether the storage is large enough for the elements from index `first` to index `last`, counted from its start.
    ///
    /// ```
    /// use dispatch_runtime::{Tensor, operands};
    /// let mut out = Tensor::from_slice(&[0_i16; 4]);
    /// let operands = operands!(write out).unwrap();
    /// let [operand] = operands.written();
    /// assert!(operand.is_range_in_storage(0, 3) && !operand.is_range_in_storage(0, 4) && !operand.is_range_in_storage(-1, 3));
    /// ```
    #[must_use]
    pub fn is_range_in_storage(&self, first: i64, last: i64) -> bool {
        let end = last.checked_add(1).and_then(|end| super::bounds::byte_count(end, self.dtype()));
        first >= 0 && end.is_some_and(|end| end <= self.tensor.storage().size())
    }

    /// Returns the geometry: the sizes, strides and offset. [`start`](Self::start) includes the offset already.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &'a Geometry {
        self.tensor.geometry()
    }

    /// Returns the dtype: the type of the elements.
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

    /// Returns whether two operands have exactly the same elements.
    #[inline]
    #[must_use]
    pub fn is_same_elements_as(&self, other: &Operand<'_>) -> bool {
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
    fn set_start(&mut self) -> Result<(), OperandRejection> {
        self.start = self.tensor.start_address().ok_or_else(|| OperandRejection::NotOnHost(self.tensor.device()))?;
        Ok(())
    }

    #[cold]
    fn check_disjoint(&self, other: &Operand<'_>, number: usize) -> Result<(), OperandRejection> {
        if are_disjoint(self.tensor, other.tensor) { Ok(()) } else { Err(OperandRejection::Overlap { with: number }) }
    }

    fn check_slice<T: Element>(&self) -> Result<(), AccessError> {
        if self.dtype() != T::DTYPE {
            return Err(AccessError::WrongDType { tensor: self.dtype(), requested: T::DTYPE });
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
        match self.lock {
            OperandLock::None => {}
            OperandLock::Read => self.tensor.storage().unlock_read(),
            OperandLock::Write => self.tensor.storage().unlock_write(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contiguous_range(tensor: &Tensor, start: i64, count: i64) -> Tensor {
        tensor.restride(Geometry::strided(&[count], &[1], start).unwrap()).unwrap()
    }

    fn argument_and_problem(result: Result<impl Sized>) -> (String, Problem) {
        let error = result.err().unwrap();
        let source = std::error::Error::source(&error).unwrap();
        let bad = source.downcast_ref::<BadArgument>().unwrap();
        (bad.argument.to_string(), (*bad.problem).clone())
    }

    #[test]
    fn the_written_tensor_may_be_read_but_no_tensor_that_overlaps_it_partly() {
        let base = Tensor::from_slice(&[1_i32, 2, 3, 4]);
        let (mut out, same, shifted, disjoint) = (
            contiguous_range(&base, 0, 2),
            contiguous_range(&base, 0, 2),
            contiguous_range(&base, 1, 2),
            contiguous_range(&base, 2, 2),
        );
        let mut operands = operands!(write out; read same, disjoint).unwrap();
        let ([out_slice], [same_slice, disjoint_slice]) = operands.slices::<i32>().unwrap();
        assert_eq!((out_slice.len(), same_slice, disjoint_slice), (2, None, Some(&[3, 4][..])));
        drop(operands);
        let expected = ("shifted".to_owned(), Problem::Overlap { with: "out".into() });
        assert_eq!(argument_and_problem(operands!(write out; read shifted)), expected);
        assert!(operands!(write out; read base).is_err());
    }

    #[test]
    fn an_error_unlocks_the_operands_before_it() {
        let (a, b) = (Tensor::from_slice(&[1_u8]), Tensor::from_slice(&[2_u8]));
        let (mut out, mut other) = (Tensor::from_slice(&[0_u8]), b.clone());
        let _other_handle = out.clone();
        let writing = other.write::<u8>().unwrap();
        assert_eq!(argument_and_problem(operands!(write out; read a, b)), ("b".to_owned(), Problem::InUse));
        drop(writing);
        assert!(out.write::<u8>().is_ok() && a.clone().write::<u8>().is_ok());
    }

    #[test]
    fn operands_exclude_guards_and_increment_the_version_once() {
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
    fn a_tensor_that_overlaps_itself_cannot_be_written() {
        let mut out = Tensor::from_slice(&[0_u8]).restride(Geometry::strided(&[3], &[0], 0).unwrap()).unwrap();
        assert_eq!(argument_and_problem(operands!(write out)), ("out".to_owned(), Problem::SelfOverlap));
        assert!(operands!(write out).is_err());
    }

    #[test]
    fn errors_name_the_first_argument_self() {
        let base = Tensor::from_slice(&[1_i32, 2, 3]);
        let (mut this, other) = (contiguous_range(&base, 0, 2), contiguous_range(&base, 1, 2));
        let overlap = |with: &'static str| Problem::Overlap { with: with.into() };
        assert_eq!(argument_and_problem(operands!(write this; read other)), ("other".to_owned(), overlap("self")));
        let (mut out, this) = (other, this);
        assert_eq!(argument_and_problem(operands!(write out; read this)), ("self".to_owned(), overlap("out")));
    }

    #[test]
    fn two_written_tensors_must_not_overlap() {
        let base = Tensor::from_slice(&[1_i32, 2, 3, 4]);
        let (mut low, mut middle, mut high) =
            (contiguous_range(&base, 0, 2), contiguous_range(&base, 1, 2), contiguous_range(&base, 2, 2));
        assert!(operands!(write low, high).is_ok());
        assert_eq!(argument_and_problem(operands!(write low, middle)).0, "middle");
        assert!(operands!(write low, high; read base).is_err());
    }

    #[test]
    fn each_written_tensor_is_compared_with_all_before_it() {
        let base = Tensor::from_slice(&[0_i32; 8]);
        let (mut first, mut second, mut third) =
            (contiguous_range(&base, 0, 2), contiguous_range(&base, 4, 2), contiguous_range(&base, 5, 2));
        let expected = ("third".to_owned(), Problem::Overlap { with: "second".into() });
        assert_eq!(argument_and_problem(operands!(write first, second, third)), expected);
        let mut apart = contiguous_range(&base, 6, 2);
        assert!(operands!(write first, second, apart).is_ok());
    }
}
