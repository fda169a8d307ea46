//! An operator's typed function.

use std::any::{TypeId, type_name};

use super::Operator;
use super::definition::Typed;
use crate::error::{Error, ErrorKind, Result};

impl Operator {
    /// The operator's function, if it is of this type: for calls of an operator that is known by its name alone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OtherFunction`] if its function is of another type, and [`ErrorKind::NoFunction`] if it has none, as it was defined
    /// while the program runs.
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
        self.types_like(TypeId::of::<F>(), |typed| typed.function, type_name::<F>)?;
        let function = self.definition.function.ok_or_else(|| self.no_function())?;
        // SAFETY: `Operator::new` says that the function is of the type that `Typed` names.
        Ok(unsafe { function.to() })
    }

    /// The operator's types, if the one that `has` takes of them is `asked`, whose name is given.
    pub(crate) fn types_like(
        &self,
        asked: TypeId,
        has: impl FnOnce(&Typed) -> TypeId,
        name: impl FnOnce() -> &'static str,
    ) -> Result<&'static Typed> {
        let typed = self.adapters().ok_or_else(|| self.no_function())?;
        if has(typed) != asked {
            let (operator, expected) = (self.name(), dispatch_schema::rust_function(self.schema()));
            return Err(ErrorKind::OtherFunction { operator, expected, found: name() }.into());
        }
        Ok(typed)
    }

    fn no_function(&self) -> Error {
        ErrorKind::NoFunction { operator: self.name(), location: self.location() }.into()
    }
}
