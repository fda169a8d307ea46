//! Checks of aliasing: results share memory with arguments, and calls write arguments, only as the schema says.

use dispatch_runtime::{Operator, Tensor, Value};

use crate::known_operators::known_base;
use crate::verdict::Failure;

/// Operators whose `Tensor(a)` result may be a copy if no view has the requested shape or dtype.
const MAY_RETURN_A_COPY: [&str; 15] = [
    "reshape",
    "reshape_as",
    "contiguous",
    "to",
    "flatten",
    "ravel",
    "cpu",
    "cuda",
    "resolve_conj",
    "resolve_neg",
    "unflatten",
    "_autocast_to_full_precision",
    "_autocast_to_reduced_precision",
    "view_as_complex",
    "_grad_sum_to_size",
];

/// Operators that bind the written argument to a tensor with other memory.
const REBINDING_OPERATORS: [&str; 4] = ["resize_", "resize_as_", "set_", "shallow_copy_data_"];

/// Arguments that the operator writes although its schema does not say so. PyTorch does the same.
const UNDECLARED_WRITES: [(&str, &str); 6] = [
    ("_batch_norm_impl_index", "running_mean"),
    ("_batch_norm_impl_index", "running_var"),
    ("native_batch_norm", "running_mean"),
    ("native_batch_norm", "running_var"),
    ("batch_norm_update_stats", "running_mean"),
    ("batch_norm_update_stats", "running_var"),
];

/// Operators whose results may be views of arguments although their schemas do not say so. Callers must rely neither on a view nor on a
/// copy.
const UNDECLARED_VIEWS: [&str; 33] = [
    "_cast_Byte",
    "_cast_Char",
    "_cast_Double",
    "_cast_Float",
    "_cast_Half",
    "_cast_Int",
    "_cast_Long",
    "_cast_Short",
    "_convolution_double_backward",
    "_reshape_from_tensor",
    "data",
    "_to_cpu",
    "_unsafe_view",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsafe_chunk",
    "broadcast_tensors",
    "meshgrid",
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "type_as",
    "to_dense",
    "lift",
    "einsum",
    "chain_matmul",
    "cartesian_prod",
    "sum_to_size",
    "unflatten_dense_tensors",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
];

/// Whether an operator writes an argument that its schema declares as only read.
pub(crate) fn has_undeclared_write(operator: &Operator, argument: usize) -> bool {
    UNDECLARED_WRITES.contains(&(known_base(operator.name()), &*operator.schema().arguments[argument].name))
}

/// Checks that results share exactly the memory that the schema says, and that arguments that are only read were not written.
pub(crate) fn check(
    operator: &Operator,
    given: &[Value],
    versions: &[Vec<u64>],
    results: &[Value],
) -> Result<(), Failure> {
    let schema = operator.schema();
    let base = known_base(operator.name());
    let written: Vec<usize> = (0..given.len()).filter(|&i| schema.arguments[i].is_written()).collect();
    for (i, value) in given.iter().enumerate() {
        // Another argument that is written may have the same memory.
        let is_written = written.contains(&i)
            || has_undeclared_write(operator, i)
            || argument_shares_with_any(given, i, &written, None);
        if !is_written && versions[i] != version_counters(value) {
            return Err(Failure::UnexpectedWrite { argument: schema.arguments[i].name.clone() });
        }
    }
    for (index, result) in results.iter().enumerate() {
        let views: Vec<usize> =
            schema.views().iter().filter(|view| view.ret == index).map(|view| view.argument).collect();
        let written = schema.written_argument_of_return(index);
        for (i, value) in given.iter().enumerate() {
            let argument = || schema.arguments[i].name.clone();
            let shared = result.tensors().any(|result| shares_memory(result, value));
            let may_share = views.contains(&i)
                || written == Some(i)
                || UNDECLARED_VIEWS.contains(&base)
                || REBINDING_OPERATORS.contains(&base);
            if shared && !may_share && !argument_shares_with_any(given, i, &views, written) {
                return Err(Failure::UnexpectedSharing { index, argument: argument() });
            }
            let must_share = views.contains(&i) && !MAY_RETURN_A_COPY.contains(&base)
                || written == Some(i)
                    && !REBINDING_OPERATORS.contains(&base)
                    && !value.tensors().any(|tensor| tensor.geometry().count() == 0);
            let every = result.tensors().all(|result| shares_memory(result, value));
            if must_share && !every && !matches!(value, Value::None) {
                return Err(Failure::MissingSharing { index, argument: argument() });
            }
        }
    }
    Ok(())
}

/// Whether argument `i` shares memory with an argument that the result may share.
fn argument_shares_with_any(given: &[Value], i: usize, views: &[usize], written: Option<usize>) -> bool {
    let mut others = views.iter().copied().chain(written);
    others.any(|other| given[i].tensors().any(|tensor| shares_memory(tensor, &given[other])))
}

fn shares_memory(tensor: &Tensor, value: &Value) -> bool {
    value.tensors().any(|other| other.storage().same(tensor.storage()))
}

/// Returns the version counter of each tensor of a value: it grows with every write.
pub(crate) fn version_counters(value: &Value) -> Vec<u64> {
    value.tensors().map(|tensor| tensor.storage().version()).collect()
}
