//! Math bits: the keys `Conjugate` and `Negative` of a tensor, whose elements are the conjugates or the negatives of those in memory.
//!
//! A tensor with a math bit is a view whose elements only operators can reach. The layer of the key computes the elements in new memory
//! before a kernel reads them.

use std::any::Any;

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::Tensor;
use crate::key::{CONJUGATE, KeySet, NEGATIVE, layer_bit};
use crate::scalar::Element;

const MATH_BITS: u64 = layer_bit(CONJUGATE) | layer_bit(NEGATIVE);

impl Tensor {
    /// Returns the math bits of the tensor: those of the keys `Conjugate` and `Negative` that it has.
    #[inline]
    #[must_use]
    pub fn math_bits(&self) -> KeySet {
        KeySet::from_bits(self.keys().bits() & MATH_BITS)
    }

    /// Creates a tensor over the same memory with these math bits in place of its own. Without a math bit, its elements are those in
    /// memory.
    ///
    /// ```
    /// use dispatch_runtime::{KeySet, Tensor, keys};
    /// let x = Tensor::from_slice(&[1.0_f32, 2.0]);
    /// let negative = x.with_math_bits(keys::Negative.into());
    /// assert_eq!(negative.to_vec::<f32>().unwrap(), [-1.0, -2.0]);
    /// assert!(negative.read::<f32>().is_err());
    /// assert_eq!(negative.with_math_bits(KeySet::EMPTY).to_vec::<f32>().unwrap(), [1.0, 2.0]);
    /// ```
    #[must_use]
    pub fn with_math_bits(&self, bits: KeySet) -> Self {
        let bits = bits.bits() & MATH_BITS;
        let keys = KeySet::from_bits(self.keys().bits() & !MATH_BITS | bits);
        if bits == 0 { self.readable_with_keys(keys) } else { self.opaque_with_keys(keys) }
    }
}

/// Applies math bits to elements: conjugates complex numbers, and negates all numbers. Integers wrap around.
#[expect(clippy::ptr_arg, reason = "a slice is no `Any`")]
pub(crate) fn apply_math_bits<T: Element>(bits: KeySet, elements: &mut Vec<T>) {
    let (conjugate, negate) = (bits.bits() & layer_bit(CONJUGATE) != 0, bits.bits() & layer_bit(NEGATIVE) != 0);
    let elements: &mut dyn Any = elements;
    macro_rules! apply {
        ($($element:ty: $conjugate:expr, $negate:expr;)*) => {$(
            if let Some(elements) = elements.downcast_mut::<Vec<$element>>() {
                let (to_conjugate, to_negative): (fn($element) -> $element, fn($element) -> $element) =
                    ($conjugate, $negate);
                for element in elements {
                    *element = if conjugate { to_conjugate(*element) } else { *element };
                    *element = if negate { to_negative(*element) } else { *element };
                }
                return;
            }
        )*};
    }
    apply! {
        u8: |x| x, u8::wrapping_neg;
        i8: |x| x, i8::wrapping_neg;
        i16: |x| x, i16::wrapping_neg;
        i32: |x| x, i32::wrapping_neg;
        i64: |x| x, i64::wrapping_neg;
        f16: |x| x, |x| -x;
        bf16: |x| x, |x| -x;
        f32: |x| x, |x| -x;
        f64: |x| x, |x| -x;
        Complex32: |x| x.conj(), |x| -x;
        Complex64: |x| x.conj(), |x| -x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::*;
    use crate::{AccessError, Geometry, Scalar};

    #[test]
    fn both_bits_conjugate_and_negate_and_views_keep_them() {
        let z = Tensor::from_slice(&[Complex32::new(1.0, 2.0), Complex32::new(3.0, -4.0)]);
        let both = z.with_math_bits(Conjugate | Negative);
        assert_eq!(both.to_vec::<Complex32>().unwrap(), [Complex32::new(-1.0, 2.0), Complex32::new(-3.0, -4.0)]);
        let last = both.restride(Geometry::contiguous(&[]).with_offset(1)).unwrap();
        assert_eq!(last.math_bits(), Conjugate | Negative);
        assert_eq!(last.to_scalar(), Ok(Scalar::Complex(Complex64::new(-3.0, -4.0))));
        assert!(both.with_math_bits(KeySet::EMPTY).read::<Complex32>().is_ok());
    }

    #[test]
    fn elements_of_a_lazy_view_are_not_lent() {
        let mut negative = Tensor::from_slice(&[1_u8]).with_math_bits(Negative.into());
        assert!(matches!(negative.write::<u8>(), Err(AccessError::NotOnHost { .. })));
        assert!(negative.elements::<u8>().is_err());
        assert_eq!(negative.to_vec::<u8>().unwrap(), [255]);
        assert_eq!(negative.to_string(), "tensor([255], dtype=uint8)");
    }
}
