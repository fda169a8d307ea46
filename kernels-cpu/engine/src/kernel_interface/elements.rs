//! The elements of a whole tensor as a slice.

use std::ops::Deref;

use dispatch_runtime::{Arithmetic, Result, Tensor};

use crate::contiguous::{ContiguousElements, contiguous_elements};

/// The elements of a tensor in the order of its dimensions, which [`elements`] returns. It is used as a slice.
///
/// ```
/// use dispatch_runtime::Tensor;
/// let tensor = Tensor::from([1.0_f32, 2.0]);
/// let elements = kernels_cpu::engine::elements::<f32>(&tensor).unwrap();
/// assert_eq!(elements.iter().sum::<f32>(), 3.0);
/// ```
pub struct ElementsInOrder<'a, T: Arithmetic>(ContiguousElements<'a, T>);

impl<T: Arithmetic> Deref for ElementsInOrder<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// Returns the elements of a tensor as `T`, in the order of its dimensions. They are borrowed if the tensor is contiguous and of this dtype,
/// and otherwise copied: use it for tensors that every row needs, such as weights.
///
/// ```
/// use dispatch_runtime::{Geometry, Tensor};
/// use kernels_cpu::engine::elements;
///
/// let columns = Tensor::from([1_i32, 2, 3, 4]).restride(Geometry::strided(&[2, 2], &[1, 2], 0).unwrap()).unwrap();
/// assert_eq!(*elements::<f32>(&columns).unwrap(), [1.0, 3.0, 2.0, 4.0]);
/// ```
///
/// # Errors
///
/// Returns an error if the tensor is not in memory of the CPU, or is borrowed for writing.
pub fn elements<T: Arithmetic>(tensor: &Tensor) -> Result<ElementsInOrder<'_, T>> {
    contiguous_elements(tensor).map(ElementsInOrder)
}
