//! The tensors of a module, and the switch between training and evaluation.

use std::borrow::Borrow;
use std::ops::{Add, Deref, Div, Mul, Sub};

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_runtime::__private::BorrowedOperand;
use dispatch_runtime::{ArithmeticOperand, Result, Tensor};

/// A parameter: a tensor that is trained. It is a leaf that requires gradients, and can be used as the tensor.
///
/// A clone is another handle of the same parameter.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::Param;
/// use dispatch_runtime::Tensor;
///
/// let scale = Param::new(Tensor::from([2.0, 3.0]))?;
/// assert!(scale.requires_grad());
/// assert_eq!((&Tensor::from([1.0, 2.0]) * &scale)?.to_vec::<f64>()?, [2.0, 6.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Param(Tensor);

impl Param {
    /// Makes a tensor a parameter. The parameter shares the elements of the tensor, and has no history.
    ///
    /// # Errors
    ///
    /// Returns an error if the dtype has no gradients: only floating-point and complex dtypes have.
    #[expect(clippy::needless_pass_by_value, reason = "the parameter takes the place of the tensor")]
    pub fn new(tensor: Tensor) -> Result<Self> {
        Ok(Self(tensor.detach()?.requires_grad_(true)?))
    }

    /// Sets whether the parameter is trained, for all its handles.
    ///
    /// # Errors
    ///
    /// Returns an error inside of a function transform.
    pub fn requires_grad_(&self, requires_grad: bool) -> Result<()> {
        self.0.clone().requires_grad_(requires_grad).map(drop)
    }

    /// Returns a handle of the tensor.
    #[must_use]
    pub fn tensor(&self) -> Tensor {
        self.0.clone()
    }
}

/// A buffer: a tensor that belongs to the state of a module, and is not trained, such as the running mean of a batch normalisation.
///
/// ```
/// use dispatch_nn::Buffer;
/// use dispatch_runtime::Tensor;
///
/// let mask = Buffer::not_persistent(Tensor::from([true, false]));
/// assert!(!mask.is_persistent());
/// assert_eq!(mask.sizes(), [2]);
/// ```
#[derive(Clone, Debug)]
pub struct Buffer {
    tensor: Tensor,
    is_persistent: bool,
}

impl Buffer {
    /// Makes a tensor a buffer that is part of the state dict.
    #[must_use]
    pub const fn new(tensor: Tensor) -> Self {
        Self { tensor, is_persistent: true }
    }

    /// Makes a tensor a buffer that is not part of the state dict. It moves with the module to another device.
    #[must_use]
    pub const fn not_persistent(tensor: Tensor) -> Self {
        Self { tensor, is_persistent: false }
    }

    /// Returns whether the buffer is part of the state dict.
    #[must_use]
    pub const fn is_persistent(&self) -> bool {
        self.is_persistent
    }

    /// Returns the same kind of buffer with another tensor.
    pub(crate) const fn with_tensor(&self, tensor: Tensor) -> Self {
        Self { tensor, is_persistent: self.is_persistent }
    }
}

/// The switch of a module between training and evaluation. [`Module::train`](crate::Module::train) and
/// [`Module::eval`](crate::Module::eval) set it in all parts of a module.
///
/// ```
/// use dispatch_nn::Training;
/// assert!(Training::default().is_on());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Training(bool);

impl Training {
    /// Training, the state of a new module.
    pub const ON: Self = Self(true);
    /// Evaluation.
    pub const OFF: Self = Self(false);

    /// Returns whether the module is trained.
    #[must_use]
    pub const fn is_on(self) -> bool {
        self.0
    }
}

impl Default for Training {
    fn default() -> Self {
        Self::ON
    }
}

/// A parameter with its name in the module.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// let parameters = Linear::new(2, 3)?.parameters();
/// // The matrices of the module, but not its vectors.
/// let matrices: Vec<_> = parameters.into_iter().filter(|parameter| parameter.sizes().len() == 2).collect();
/// assert_eq!(matrices[0].name, "weight");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamedParam {
    /// The name in the module, such as `layers.0.weight`.
    pub name: String,
    /// The parameter.
    pub param: Param,
}

macro_rules! impl_deref {
    ($($name:ident $target:ty, $field:tt;)*) => {$(
        impl Deref for $name {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.$field
            }
        }

        impl Borrow<Tensor> for $name {
            fn borrow(&self) -> &Tensor {
                self
            }
        }
    )*};
}

impl_deref! {
    Param Tensor, 0;
    Buffer Tensor, tensor;
    NamedParam Param, param;
}

macro_rules! impl_operands {
    ($($name:ident)*) => {$(
        impl ArithmeticOperand for &$name {
            fn call_with_tensor<R>(self, compute: impl FnOnce(&Tensor) -> R) -> R {
                compute(self)
            }
        }

        impl<'a> BorrowedOperand<'a, &'a Tensor> for $name {
            fn borrow_operand(&'a self) -> &'a Tensor {
                self
            }
        }

        impl_operators! { $name: Add add, Sub sub, Mul mul, Div div }
    )*};
}

macro_rules! impl_operators {
    ($name:ident: $($operator:ident $method:ident),*) => {$(
        impl<T: ArithmeticOperand> $operator<T> for &$name {
            type Output = Result<Tensor>;

            fn $method(self, other: T) -> Result<Tensor> {
                let tensor: &Tensor = self;
                $operator::$method(tensor, other)
            }
        }
    )*};
}

impl_operands! { Param Buffer }
