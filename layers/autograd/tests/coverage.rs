//! Tests that every operator declares a derivative, or that it has none.

use aten as _;
use dispatch_autograd::__private::Derivative;
use dispatch_runtime::{Operator, keys};

/// The operators without an implemented derivative, here and in PyTorch. A backward pass through them is an error.
const OPERATORS_WITHOUT_DERIVATIVE: [&str; 44] = [
    "aten::_add_relu.Tensor",
    "aten::_cholesky_solve_helper",
    "aten::_ctc_loss_backward",
    "aten::_cummax_helper",
    "aten::_cummin_helper",
    "aten::_dyn_quant_matmul_4bit",
    "aten::_embedding_bag_dense_backward",
    "aten::_embedding_bag_forward_only",
    "aten::_embedding_bag_per_sample_weights_backward",
    "aten::_resize_output",
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    "aten::_scaled_mm",
    "aten::_scaled_mm_v2",
    "aten::_segment_reduce_backward",
    "aten::_sobol_engine_initialize_state_",
    "aten::_unique2",
    "aten::_weight_int4pack_mm_for_cpu",
    "aten::_weight_int8pack_mm",
    "aten::batch_norm_update_stats",
    "aten::bincount",
    "aten::embedding_renorm",
    "aten::floor_divide",
    "aten::floor_divide_.Tensor",
    "aten::geqrf",
    "aten::glu_jvp",
    "aten::heaviside",
    "aten::linalg_ldl_factor_ex",
    "aten::linalg_ldl_solve",
    "aten::multi_margin_loss_backward",
    "aten::multilabel_margin_loss_backward",
    "aten::resize",
    "aten::resize_",
    "aten::resize_as",
    "aten::resize_as_",
    "aten::set",
    "aten::set.source_Storage",
    "aten::set.source_Storage_storage_offset",
    "aten::set.source_Tensor",
    "aten::set_",
    "aten::set_.source_Storage",
    "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor",
    "aten::unique_consecutive",
    "aten::unique_dim",
];

#[test]
fn every_operator_declares_a_derivative_or_that_it_has_none() {
    let undeclared: Vec<String> = Operator::all()
        .into_iter()
        .filter(|operator| {
            operator.name().namespace == "aten" && !is_composite(operator) && !declares_derivative(operator)
        })
        .map(|operator| operator.name().to_string())
        .filter(|name| !OPERATORS_WITHOUT_DERIVATIVE.contains(&&**name))
        .collect();
    assert!(undeclared.is_empty(), "{} operators declare nothing: {undeclared:#?}", undeclared.len());
}

#[test]
fn listed_operators_declare_no_derivative() {
    for name in OPERATORS_WITHOUT_DERIVATIVE {
        assert!(Operator::find(name).is_ok_and(|operator| !declares_derivative(operator)), "{name}");
    }
}

/// Whether an operator declares its derivative. An in-place operator counts by its functional form, and an `out=` variant always counts.
fn declares_derivative(operator: &'static Operator) -> bool {
    let has_rule = |operator: &'static Operator| operator.rule::<Derivative>().is_some();
    let functional = operator.functional();
    has_rule(operator)
        || has_own_kernel(operator)
        || functional.is_some_and(|functional| {
            has_rule(functional) || OPERATORS_WITHOUT_DERIVATIVE.contains(&&*functional.name().to_string())
        })
        || operator.schema().arguments.iter().any(dispatch_runtime::schema::Argument::is_out)
}

/// Whether the layer has a kernel that is no derivative, such as that of `detach_`.
fn has_own_kernel(operator: &'static Operator) -> bool {
    let table = operator.table();
    let cell = table.iter().find(|cell| cell.key == keys::AutogradCPU);
    cell.is_some_and(|cell| cell.registered_for == Some(keys::Autograd))
}

/// Whether autograd differentiates the operator through its decomposition.
fn is_composite(operator: &'static Operator) -> bool {
    let table = operator.table();
    let cell = table.iter().find(|cell| cell.key == keys::AutogradCPU);
    cell.is_some_and(|cell| cell.registered_for == Some(keys::CompositeImplicitAutograd))
}
