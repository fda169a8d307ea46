//! Access to an operator's typed function, for operators that are found by name.

use std::any::{TypeId, type_name};

use super::Operator;
use super::definition::TypedAdapters;
use crate::error::{Error, ErrorKind, Result};

impl Operator {
    /// Returns the operator's function, if it has the type `F`. This is for typed calls of an operator that is known only by name.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::FunctionTypeMismatch`] if the function has another type. Returns [`ErrorKind::NoTypedFunction`] if the operator
    /// has no function because it was defined at run time.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("repeat(Tensor self, int times) -> Tensor")]
    /// pub fn repeat(this: &Tensor, times: i64) -> Result<Tensor> {
    ///     Ok(Tensor::from(this.to_vec::<f32>()?.repeat(times as usize)))
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let name = repeat::operator().name().to_string();
    /// let repeat = Operator::find(&name)?.typed::<fn(&Tensor, i64) -> Result<Tensor>>()?;
    /// assert_eq!(repeat(&Tensor::from_slice(&[1.0_f32]), 3)?.sizes(), [3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed<F: Copy + 'static>(&self) -> Result<F> {
        self.check_adapter_type(TypeId::of::<F>(), |typed| typed.function_type, type_name::<F>)?;
        let function = self.definition.function.ok_or_else(|| self.no_typed_function_error())?;
        // SAFETY: `Operator::new` says that the function is of the type that `TypedAdapters` names.
        Ok(unsafe { function.to_fn() })
    }

    /// Returns the operator's adapters if the type that `select` reads from them is `requested`. `name` returns the name of the requested
    /// type, for the error.
    pub(crate) fn check_adapter_type(
        &self,
        requested: TypeId,
        select: impl FnOnce(&TypedAdapters) -> TypeId,
        name: impl FnOnce() -> &'static str,
    ) -> Result<&'static TypedAdapters> {
        let typed = self.typed_adapters().ok_or_else(|| self.no_typed_function_error())?;
        if select(typed) != requested {
            let (operator, expected) = (self.name(), dispatch_schema::rust_function_type(self.schema()));
            return Err(ErrorKind::FunctionTypeMismatch { operator, expected, found: name() }.into());
        }
        Ok(typed)
    }

    fn no_typed_function_error(&self) -> Error {
        ErrorKind::NoTypedFunction { operator: self.name(), location: self.location() }.into()
    }
}
