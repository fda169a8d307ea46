//! An argument or a result of a call, on the host.

use dispatch_runtime::{DType, Device, Scalar, Tensor, Value};

use crate::array::Array;
use crate::compare::narrow_unit_roundoff;
use crate::error::{Error, Result};
use crate::gradients::pseudorandom_numbers;
use crate::tensors::{to_array, to_tensor};

/// A [`Value`] whose tensors are [`Array`]s on the host.
///
/// ```
/// use dispatch_checks::plumbing::Datum;
/// use dispatch_runtime::{Tensor, Value};
///
/// let datum = Datum::from_value(&Value::from(Tensor::from_slice(&[1_i64, 2])))?;
/// assert_eq!(datum.arrays()[0].sizes, [2]);
/// # Ok::<(), dispatch_checks::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Datum {
    /// A tensor.
    Array(Array),
    /// A list of tensors.
    Arrays(Vec<Array>),
    /// A list of optional tensors.
    OptionalArrays(Vec<Option<Array>>),
    /// A value without tensors.
    NonTensor(Value),
}

impl Datum {
    /// Copies a value's tensors to the host.
    ///
    /// # Errors
    ///
    /// Returns an error if elements cannot be read.
    pub fn from_value(value: &Value) -> Result<Self> {
        Ok(match value {
            Value::Tensor(tensor) => Self::Array(to_array(tensor)?),
            Value::Tensors(tensors) => Self::Arrays(tensors.iter().map(to_array).collect::<Result<_>>()?),
            Value::OptionalTensors(tensors) => {
                let read = |tensor: &Option<Tensor>| tensor.as_ref().map(to_array).transpose();
                Self::OptionalArrays(tensors.iter().map(read).collect::<Result<_>>()?)
            }
            other => Self::NonTensor(other.clone()),
        })
    }

    /// Creates the value with new tensors on `device`.
    ///
    /// # Errors
    ///
    /// Returns an error if a tensor cannot be created on `device`.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Datum;
    /// # use dispatch_runtime::{Device, Value};
    /// assert_eq!(Datum::NonTensor(Value::from(2_i64)).to_value(Device::CPU).unwrap().kind(), "int");
    /// ```
    pub fn to_value(&self, device: Device) -> Result<Value> {
        Ok(match self {
            Self::Array(array) => to_tensor(array, device)?.into(),
            Self::Arrays(arrays) => {
                arrays.iter().map(|array| to_tensor(array, device)).collect::<Result<Vec<_>>>()?.into()
            }
            Self::OptionalArrays(arrays) => {
                let make = |array: &Option<Array>| array.as_ref().map(|array| to_tensor(array, device)).transpose();
                arrays.iter().map(make).collect::<Result<Vec<_>>>()?.into()
            }
            Self::NonTensor(Value::Device(_)) => device.into(),
            Self::NonTensor(value) => value.clone(),
        })
    }

    /// Returns all arrays of the datum.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Datum;
    /// assert!(Datum::NonTensor(true.into()).arrays().is_empty());
    /// ```
    #[must_use]
    pub fn arrays(&self) -> Vec<&Array> {
        match self {
            Self::Array(array) => vec![array],
            Self::Arrays(arrays) => arrays.iter().collect(),
            Self::OptionalArrays(arrays) => arrays.iter().flatten().collect(),
            Self::NonTensor(_) => Vec::new(),
        }
    }

    /// Returns the array if the datum is one tensor.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Array> {
        if let Self::Array(array) = self { Some(array) } else { None }
    }

    /// Returns the datum with `change` applied to every array.
    #[must_use]
    pub fn map_arrays(&self, mut change: impl FnMut(&Array) -> Array) -> Self {
        match self {
            Self::Array(array) => Self::Array(change(array)),
            Self::Arrays(arrays) => Self::Arrays(arrays.iter().map(change).collect()),
            Self::OptionalArrays(arrays) => {
                Self::OptionalArrays(arrays.iter().map(|array| array.as_ref().map(&mut change)).collect())
            }
            Self::NonTensor(value) => Self::NonTensor(value.clone()),
        }
    }

    /// Returns the datum in double precision: floating-point and complex arrays, and dtypes that request such results.
    #[must_use]
    pub fn in_double_precision(&self) -> Self {
        self.map_dtypes(double_precision_dtype)
    }

    /// Returns the datum in double precision, with each element of a narrow dtype changed by that dtype's rounding error, up or down.
    pub(crate) fn with_rounding_errors(&self, seed: &mut u64) -> Self {
        if let Self::NonTensor(_) = self {
            return self.in_double_precision();
        }
        self.map_arrays(|array| {
            let mut wide = array.with_dtype(double_precision_dtype(array.dtype));
            let unit = narrow_unit_roundoff(array.dtype).unwrap_or(0.0);
            for (element, sign) in wide.elements.iter_mut().zip(pseudorandom_numbers(seed, &array.sizes, false)) {
                if let Scalar::Float(x) = element {
                    *x *= 1.0 + unit.copysign(sign);
                }
            }
            wide
        })
    }

    /// Returns the datum with `F32` replaced by `F64`, as gradients are computed. Other dtypes stay.
    #[must_use]
    pub fn with_f64_for_f32(&self) -> Self {
        self.map_dtypes(|dtype| if dtype == DType::F32 { DType::F64 } else { dtype })
    }

    fn map_dtypes(&self, change: impl Fn(DType) -> DType) -> Self {
        if let Self::NonTensor(Value::DType(dtype)) = self {
            return Self::NonTensor(change(*dtype).into());
        }
        self.map_arrays(|array| array.with_dtype(change(array.dtype)))
    }
}

fn double_precision_dtype(dtype: DType) -> DType {
    match dtype {
        _ if dtype.is_floating() => DType::F64,
        _ if dtype.is_complex() => DType::C128,
        _ => dtype,
    }
}

/// Creates the arguments of a call on `device`.
pub fn create_values(data: &[Datum], device: Device) -> Result<Vec<Value>, Error> {
    data.iter().map(|datum| datum.to_value(device)).collect()
}
