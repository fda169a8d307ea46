//! Access to the elements of tensors with any strides.
//!
//! [`Tensor::read`] lends a slice, so it needs contiguous elements. [`Tensor::elements`] visits the elements of any geometry in row-major
//! order: the last dimension fastest.

use std::fmt;
use std::marker::PhantomData;

use super::Tensor;
use super::access::AccessError;
use super::geometry::{Dims, Geometry};
use super::math_bits::apply_math_bits;
use super::operands::Operands;
use crate::error::Result;
use crate::key::KeySet;
use crate::scalar::{DType, Element};

/// A guard that lends a tensor's elements one by one for reading.
pub struct Elements<'a, T: Element> {
    operands: Operands<'a, 0, 1>,
    element: PhantomData<T>,
}

/// A guard that lends a tensor's elements one by one for writing.
pub struct ElementsMut<'a, T: Element> {
    operands: Operands<'a, 1, 0>,
    element: PhantomData<&'a mut T>,
}

impl Tensor {
    /// Borrows the elements for reading, with any strides.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, Tensor};
    /// let t = Tensor::from_slice(&[1_i32, 2, 3, 4]);
    /// let transposed = t.restride(Geometry::strided(&[2, 2], &[1, 2], 0).unwrap()).unwrap();
    /// assert_eq!(transposed.elements::<i32>().unwrap().iter().collect::<Vec<_>>(), [1, 3, 2, 4]);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the elements have another dtype, are being written, or cannot be addressed by the CPU.
    pub fn elements<T: Element>(&self) -> Result<Elements<'_, T>> {
        check_dtype::<T>(self.dtype())?;
        Ok(Elements { operands: Operands::borrow(&[], [], &["self"], [self])?, element: PhantomData })
    }

    /// Borrows the elements for writing, with any strides.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// let mut t = Tensor::from_slice(&[1_i32, 2, 3]);
    /// t.elements_mut::<i32>().unwrap().for_each(|x| *x *= 2);
    /// assert_eq!(t.to_vec::<i32>().unwrap(), [2, 4, 6]);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the elements have another dtype, are in use, share memory with each other, or cannot be addressed by the CPU.
    pub fn elements_mut<T: Element>(&mut self) -> Result<ElementsMut<'_, T>> {
        check_dtype::<T>(self.dtype())?;
        Ok(ElementsMut { operands: Operands::borrow(&["self"], [self], &[], [])?, element: PhantomData })
    }

    /// Copies all elements into a vector, in row-major order.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Tensor::from_slice(&[1.5_f64]).to_vec::<f64>().unwrap(), [1.5]);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if [`elements`](Self::elements) does.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if !self.math_bits().is_empty() {
            let mut elements = self.with_math_bits(KeySet::EMPTY).to_vec()?;
            apply_math_bits(self.math_bits(), &mut elements);
            return Ok(elements);
        }
        if self.geometry().is_contiguous() {
            return Ok(self.read::<T>()?.to_vec());
        }
        Ok(self.elements::<T>()?.iter().collect())
    }
}

fn check_dtype<T: Element>(tensor: DType) -> Result<(), AccessError> {
    if tensor == T::DTYPE { Ok(()) } else { Err(AccessError::WrongDType { tensor, requested: T::DTYPE }) }
}

impl<T: Element> Elements<'_, T> {
    /// Returns an iterator over all elements, in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        let [operand] = self.operands.read();
        let start = operand.start().cast::<T>();
        element_offsets(operand.geometry()).map(move |at| {
            // SAFETY: a tensor's geometry stays inside its storage, which nothing writes while the operand lives, and `self` keeps the
            // operand.
            unsafe { start.offset(at).read() }
        })
    }

    /// Returns the element at these indices, if there is one.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// let t = Tensor::from_slice(&[1_u8, 2]);
    /// let elements = t.elements::<u8>().unwrap();
    /// assert_eq!((elements.get(&[1]), elements.get(&[2])), (Some(2), None));
    /// ```
    #[must_use]
    pub fn get(&self, position: &[i64]) -> Option<T> {
        let [operand] = self.operands.read();
        let at = element_offset(operand.geometry(), position)?;
        // SAFETY: `element_offset` returns only offsets of the tensor's own elements.
        Some(unsafe { operand.start().cast::<T>().offset(at).read() })
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// Calls `visit` with every element, in row-major order.
    pub fn for_each(&mut self, mut visit: impl FnMut(&mut T)) {
        let [operand] = self.operands.written();
        let start = operand.start().cast::<T>();
        for at in element_offsets(operand.geometry()) {
            // SAFETY: a tensor's geometry stays inside its storage, which nothing else reads or writes while the operand lives, and one
            // element is lent at a time.
            visit(unsafe { &mut *start.offset(at) });
        }
    }

    /// Writes the element at these indices. Returns false if there is none.
    pub fn set(&mut self, position: &[i64], value: T) -> bool {
        let [operand] = self.operands.written();
        let Some(at) = element_offset(operand.geometry(), position) else { return false };
        // SAFETY: `element_offset` returns only offsets of the tensor's own elements.
        unsafe { operand.start().cast::<T>().offset(at).write(value) };
        true
    }
}

impl<T: Element> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Element> fmt::Debug for ElementsMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ElementsMut({:?})", self.operands.written()[0].geometry().sizes())
    }
}

/// Returns the offset of each element from the first one, in row-major order.
fn element_offsets(geometry: &Geometry) -> impl Iterator<Item = isize> {
    // Offsets inside a block of memory fit in an `isize`.
    let offsets = element_indices(geometry.sizes().into(), geometry.strides().into(), 0);
    offsets.map(|at| isize::try_from(at).unwrap_or(isize::MAX))
}

fn element_offset(geometry: &Geometry, position: &[i64]) -> Option<isize> {
    let inside = position.len() == geometry.rank()
        && position.iter().zip(geometry.sizes()).all(|(at, size)| (0..*size).contains(at));
    // The offset of an element fits. For indices outside of the sizes it might overflow.
    let at = || position.iter().zip(geometry.strides()).map(|(at, stride)| at * stride).sum::<i64>();
    isize::try_from(inside.then(at)?).ok()
}

/// Returns the index of each element, counted from `start` by the strides, in row-major order.
pub(super) fn element_indices(sizes: Dims, strides: Dims, start: i64) -> impl Iterator<Item = i64> {
    let empty = sizes.iter().any(|&size| size <= 0);
    let mut at = Dims::from_elem(0, sizes.len());
    let mut next = (!empty).then_some(start);
    std::iter::from_fn(move || {
        let current = next?;
        let mut following = current;
        next = None;
        for dim in (0..sizes.len()).rev() {
            at[dim] += 1;
            following += strides[dim];
            if at[dim] < sizes[dim] {
                next = Some(following);
                break;
            }
            following -= strides[dim] * sizes[dim];
            at[dim] = 0;
        }
        Some(current)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_indices_are_in_row_major_order() {
        let all = |sizes: &[i64], strides: &[i64]| element_indices(sizes.into(), strides.into(), 5).collect::<Vec<_>>();
        assert_eq!(all(&[2, 3], &[10, 1]), [5, 6, 7, 15, 16, 17]);
        assert_eq!(all(&[3, 1, 2], &[1, 7, 0]), [5, 5, 6, 6, 7, 7]);
        assert_eq!(all(&[], &[]), [5]);
        assert_eq!(all(&[2, 0], &[1, 1]), []);
    }

    #[test]
    fn elements_are_written_through_a_view() {
        let base = Tensor::from_slice(&[0_i64; 6]);
        let mut odd = base.restride(Geometry::strided(&[3], &[2], 1).unwrap()).unwrap();
        let mut next = 0;
        odd.elements_mut::<i64>().unwrap().for_each(|x| {
            next += 1;
            *x = next;
        });
        assert!(odd.elements_mut::<i64>().unwrap().set(&[0], 9));
        assert!(!odd.elements_mut::<i64>().unwrap().set(&[3], 9));
        assert_eq!(base.to_vec::<i64>().unwrap(), [0, 9, 0, 2, 0, 3]);
    }

    #[test]
    fn positions_outside_the_sizes_have_no_element() {
        let base = Tensor::from_slice(&[1_u8, 2, 3, 4]);
        let mut every_other = base.restride(Geometry::strided(&[2], &[2], 0).unwrap()).unwrap();
        for at in [2, -1, i64::MIN, i64::MAX] {
            assert_eq!(every_other.elements::<u8>().unwrap().get(&[at]), None);
            assert!(!every_other.elements_mut::<u8>().unwrap().set(&[at], 9));
        }
        assert_eq!(every_other.elements::<u8>().unwrap().get(&[1, i64::MAX]), None);
        assert_eq!(base.to_vec::<u8>().unwrap(), [1, 2, 3, 4]);
    }

    #[test]
    fn elements_exclude_writers_of_other_views() {
        let base = Tensor::from_slice(&[0_u8; 4]);
        let mut view = base.clone();
        let reading = base.elements::<u8>().unwrap();
        assert!(view.elements_mut::<u8>().is_err());
        drop(reading);
        assert!(view.elements_mut::<u8>().is_ok());
        assert!(base.elements::<f32>().is_err());
    }
}
