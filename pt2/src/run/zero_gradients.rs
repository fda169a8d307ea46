//! Gradients of the operands of a `cond` that its chosen graph does not use: zeros, as in PyTorch.
//!
//! The other graph uses them. A parameter without a gradient would be left out by an optimiser, which then applies no weight decay and no
//! momentum to it.

use dispatch_autograd::{Backward, BackwardContext, TensorOutline, call_custom_function};
use dispatch_runtime::{Result, Tensor, Value, guard};

/// Passes the gradient of its first input on, and gives the others gradients of zeros.
struct ZeroGradients {
    operands: Vec<TensorOutline>,
}

impl Backward for ZeroGradients {
    fn name(&self) -> String {
        "cond".to_owned()
    }

    fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let zeros = self.operands.iter().map(|operand| Ok(Some(operand.zeros()?)));
        gradients.iter().cloned().map(Ok).chain(zeros).collect()
    }
}

/// Adds gradients of zeros for all operands to the history of the first result that has one.
pub(super) fn add_zero_gradients(mut results: Vec<Value>, operands: &[Value]) -> Result<Vec<Value>> {
    let requires_grad = |value: &&Tensor| value.requires_grad();
    let operands: Vec<&Tensor> = operands.iter().filter_map(Value::as_tensor).filter(requires_grad).collect();
    if operands.is_empty() || !guard::is_grad_enabled() {
        return Ok(results);
    }
    for value in &mut results {
        if let Value::Tensor(result) = value
            && result.requires_grad()
        {
            let outlines = operands.iter().map(|operand| TensorOutline::from_tensor(operand)).collect();
            let inputs: Vec<&Tensor> = std::iter::once(&*result).chain(operands).collect();
            let linked =
                call_custom_function(&inputs, ZeroGradients { operands: outlines }, |_| Ok(vec![result.clone()]))?;
            *value = linked.into_iter().next().map_or(Value::None, Value::from);
            break;
        }
    }
    Ok(results)
}
