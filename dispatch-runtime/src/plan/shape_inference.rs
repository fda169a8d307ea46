//! Shape inference: the results of a call, without running it.

use crate::error::Result;
use crate::guard;
use crate::key::{Device, KeySet, keys};
use crate::operator::{Operator, too_few_arguments_error};
use crate::spec::Spec;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

impl Operator {
    /// Returns the results of a boxed call with the arguments on the stack, without memory and without a backend. Tensors among them are on
    /// Meta.
    ///
    /// The operator's plan determines the results. A composite runs on Meta, with the plans of the operators that it calls.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_runtime::Stack;
    ///
    /// #[op_def("smaller(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool)]
    /// fn smaller(this: &Tensor, other: &Tensor) -> Result<Tensor>;
    ///
    /// #[op_def("below_itself(Tensor self) -> Tensor")]
    /// fn below_itself(this: &Tensor) -> Result<Tensor> {
    ///     smaller(this, this)
    /// }
    ///
    /// let arguments: Stack = [Value::from(Tensor::from_slice(&[1.0_f32; 3]))].into_iter().collect();
    /// let results = below_itself::operator().infer_results(&arguments).unwrap();
    /// let [Value::Tensor(result)] = results.values() else { panic!("one tensor") };
    /// assert_eq!((result.device(), result.sizes(), result.dtype()), (Device::META, &[3_i64][..], DType::Bool));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the call's error if its arguments are invalid, and [`ErrorKind::DataDependent`](crate::ErrorKind::DataDependent) if the
    /// sizes depend on elements. Returns the errors of Meta if a called operator has neither a plan nor a Meta kernel.
    pub fn infer_results(&self, arguments: &Stack) -> Result<Stack> {
        let count = self.argument_count();
        let given = arguments.top(count).ok_or_else(|| too_few_arguments_error(self, arguments.len()))?;
        let mut stack = given.iter().map(value_on_meta).collect::<Result<Stack>>()?;
        let backend = KeySet::layers_of(keys::Meta);
        let _alone =
            guard::force_key_sets(KeySet::EMPTY, KeySet::from_bits(KeySet::FULL.layers().bits() & !backend.bits()));
        self.redispatch_boxed(KeySet::from(keys::Meta), &mut stack)?;
        Ok(stack)
    }
}

fn value_on_meta(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Tensor(tensor) => tensor_on_meta(tensor)?.into(),
        Value::Tensors(tensors) => tensors.iter().map(tensor_on_meta).collect::<Result<Vec<_>>>()?.into(),
        Value::OptionalTensors(tensors) => tensors
            .iter()
            .map(|tensor| tensor.as_ref().map(tensor_on_meta).transpose())
            .collect::<Result<Vec<_>>>()?
            .into(),
        Value::Device(_) => Device::META.into(),
        other => other.clone(),
    })
}

fn tensor_on_meta(tensor: &Tensor) -> Result<Tensor> {
    // A tensor that stands for a number is kept, because it counts less in dtype promotion.
    if tensor.is_number() {
        return Ok(tensor.clone());
    }
    Spec { dtype: tensor.dtype(), geometry: tensor.geometry().clone().with_offset(0) }.on(Device::META)
}
