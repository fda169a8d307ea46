//! PyTorch's operators for the gradients of operators that select elements. Autograd's formulas compute the same.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Problem};

use crate::prelude::*;

/// The gradient of [`gather`](crate::gather) for its input.
#[op_def("gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> Tensor")]
pub fn gather_backward(_: ...) -> Result<Tensor> {
    if sparse_grad {
        return Err(BadArgument::number("sparse_grad", true, false).because("there are no sparse tensors").into());
    }
    if this.device() != grad.device() {
        let problem = Problem::Device { found: this.device(), expected: grad.device() };
        return Err(BadArgument::new("self", problem).into());
    }
    let index = if index.dtype() == DType::I32 { index.to(DType::I64)? } else { index.clone() };
    Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, &index, grad)
}

/// The gradient of [`masked_scatter`](crate::masked_scatter) for its source, which has the sizes `sizes`.
#[op_def("masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor")]
pub fn masked_scatter_backward(_: ...) -> Result<Tensor> {
    let count = Geometry::contiguous(sizes).count();
    let tensors = crate::broadcast_tensors(&[grad_output.clone(), mask.clone()])?;
    let (grad, mask) = (tensors[0].reshape(-1)?, tensors[1].reshape(-1)?);
    // The number of a selected element, and one more than the last for the others.
    let number = (mask.cumsum(0)? - 1)?.clamp(..=count)?;
    let number = number.masked_fill(&mask.logical_not()?, count)?;
    let sums = Tensor::zeros(count.saturating_add(1), grad_output)?.scatter_add(0, &number, &grad)?;
    sums.narrow(0, 0, count)?.reshape(sizes)
}

/// The gradient of an operator that selects one element of each slice along `dim`, such as [`median_dim`](crate::median_dim). `indices`
/// are those of the selected elements, and `sizes` those of the operator's input.
#[op_def(
    "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) -> Tensor"
)]
pub fn value_selecting_reduction_backward(_: ...) -> Result<Tensor> {
    let zeros = Tensor::zeros(sizes, grad)?;
    if keepdim || sizes.is_empty() {
        return zeros.scatter(dim, indices, grad);
    }
    zeros.scatter(dim, &indices.unsqueeze(dim)?, &grad.unsqueeze(dim)?)
}

/// The gradient of [`cummax`](crate::cummax) and [`cummin`](crate::cummin).
#[op_def("cummaxmin_backward(Tensor grad, Tensor input, Tensor indices, int dim) -> Tensor")]
pub fn cummaxmin_backward(_: ...) -> Result<Tensor> {
    Tensor::zeros(input.sizes(), input)?.scatter_add(dim, indices, grad)
}

/// The gradient of [`trace`](crate::trace) for a matrix with the sizes `sizes`.
#[op_def("trace_backward(Tensor grad, SymInt[] sizes) -> Tensor")]
pub fn trace_backward(_: ...) -> Result<Tensor> {
    let &[rows, columns] = sizes else {
        return Err(BadArgument::length("sizes", sizes.len(), 2).because("the input is a matrix").into());
    };
    if !grad.sizes().is_empty() {
        return Err(BadArgument::rank("grad", grad.sizes().len(), 0)
            .because("the result of `trace` is one number")
            .into());
    }
    let diagonal = grad.expand(rows.min(columns))?;
    Tensor::zeros(sizes, grad)?.diagonal_scatter(&diagonal)
}
