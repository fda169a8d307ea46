//! Conversion of tensors: to another dtype or device (`to`), and to a Rust number (`item`).

use dispatch_runtime::prelude::*;
use dispatch_runtime::{AccessError, BadArgument, Bool, Complex32, Complex64, Marks, bf16, f16, guard, keys};

use super::{IntoOptions, TensorOptions};

/// Conversions of a tensor: `to` for another dtype or device, `item` for a Rust number.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1, 2, 3]);
/// assert_eq!(x.to(DType::F64)?.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
/// assert_eq!(x.to((DType::F16, Device::META))?.sizes(), [3]);
/// assert_eq!(x.i(1)?.item::<f64>()?, 2.0);
/// assert!(x.item::<f64>().is_err());
/// assert!(Tensor::from(true).item::<bool>()?);
/// # Ok(())
/// # }
/// ```
pub trait Convert: Sized {
    /// Returns the tensor in this dtype and on this device: a clone of the handle if it has both already, or else a copy. A cast does not
    /// fail: an integer that the dtype cannot represent wraps, and a fraction is cut off. In contrast, a scalar argument of an operator is
    /// [checked](dispatch_runtime::Scalar::fits).
    fn to(&self, options: impl IntoOptions) -> Result<Self>;

    /// Reads the only element of a tensor on any device: `x.item::<f64>()`.
    ///
    /// Integers can be read as floats, but floats not as integers, and complex numbers not as real ones. A float is rounded to the type,
    /// and an integer is never changed: if the integer type cannot represent it, the error is
    /// [`AccessError::OutOfRange`](dispatch_runtime::AccessError::OutOfRange).
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::prelude::*, kernels_cpu as _};
    /// assert_eq!(Tensor::from(300_i64).item::<i32>()?, 300);
    /// assert!(Tensor::from(300_i64).item::<u8>().is_err());
    /// # Ok::<(), Error>(())
    /// ```
    fn item<N: ItemType>(&self) -> Result<N>;
}

/// A Rust type that [`Convert::item`] returns: a number, or `bool`.
#[diagnostic::on_unimplemented(
    message = "`item` cannot return `{Self}`",
    label = "write the type: `item::<f64>()`",
    note = "the types are `bool`, `u8`, `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`, `f64`, `Complex32` and `Complex64`"
)]
pub trait ItemType: Sized {
    /// The element type in a tensor.
    type Element: Element;

    /// Converts an element to this type.
    fn from_element(element: Self::Element) -> Self;
}

macro_rules! impl_item_type_for_elements {
    ($($ty:ty)*) => {$(
        impl ItemType for $ty {
            type Element = Self;

            fn from_element(element: Self) -> Self {
                element
            }
        }
    )*};
}

impl_item_type_for_elements! { u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex32 Complex64 }

impl ItemType for bool {
    type Element = Bool;

    fn from_element(element: Bool) -> Self {
        element.into()
    }
}

impl Convert for Tensor {
    fn to(&self, options: impl IntoOptions) -> Result<Self> {
        let TensorOptions { dtype, device } = options.into_options();
        crate::to_dtype_layout(self, dtype, None, device, None, false, false, None)
    }

    fn item<N: ItemType>(&self) -> Result<N> {
        let dtype = N::Element::DTYPE;
        if self.geometry().count() != 1 {
            return Err(BadArgument::element_count("self", self.sizes(), 1).into());
        }
        if !self.dtype().can_cast(dtype) {
            // Operators do not convert 8-bit floats implicitly, but each of them is a number of `f32`.
            let readable = if self.dtype().is_float8() { DType::F32 } else { self.dtype() }.type_name();
            let expected = format!(
                "a dtype whose numbers {dtype} can represent; read it as `{readable}`, or convert it with `.to(DType::{dtype:?})`"
            );
            return Err(BadArgument::dtype("self", self.dtype(), expected).into());
        }
        if self.device() == Device::META || guard::included().has(keys::Tracer) {
            // A meta tensor has no elements: the operator `item` returns the error. A tracer must see the read as a call of the operator
            // `item`.
            crate::item(self)?;
        }
        // An integer is converted after the check that the type can represent it.
        let mut fetched = if dtype.is_integral() { self.to(Device::CPU)? } else { self.to((dtype, Device::CPU))? };
        if fetched.has_any_mark(Marks::NOT_ON_HOST) {
            if !fetched.math_bits().is_empty() {
                return crate::clone(&fetched, None)?.item();
            }
            // Only a layer has the elements of this tensor. Its kernel of this operator returns an error with the reason.
            crate::_local_scalar_dense(&fetched)?;
        }
        check_range(&fetched, dtype)?;
        if fetched.dtype() != dtype {
            fetched = fetched.to(dtype)?;
        }
        let elements = fetched.elements::<N::Element>()?;
        let first = elements.iter().next();
        first.map(N::from_element).ok_or_else(|| BadArgument::element_count("self", self.sizes(), 1).into())
    }
}

/// Checks that an integer dtype can represent the only element of a tensor.
fn check_range(tensor: &Tensor, dtype: DType) -> Result<(), AccessError> {
    if let Some((least, most)) = dtype.integer_range()
        && let Scalar::Int(element) = tensor.to_scalar()?
        && !(least..=most).contains(&element)
    {
        return Err(AccessError::OutOfRange { element, requested: dtype });
    }
    Ok(())
}
