//! Names for the contents of a cell that are more specific than the kind of its kernel.

use dispatch_runtime::keys::{Autograd, Meta};
use dispatch_runtime::{Operator, TableCell};

use crate::operator_info::derivative_of;
use crate::{Derivative, KernelKind};

/// The specific names beside those of [`KernelKind`], with their meanings.
pub(crate) const SPECIFIC_KERNEL_KINDS: [(&str, &str); 6] = [
    ("formula", "a derivative, of its own or of the operator that it is a form of"),
    ("none", "declared as not differentiable"),
    ("shape", "the operator's shape word"),
    ("plan", "the operator's plan"),
    ("form", "the operator that it is a form of, and a copy into the written tensor"),
    ("data", "refused, because the sizes of the result depend on elements"),
];

/// Returns the name for a cell: a specific one, or that of the kind of its kernel.
pub(crate) fn specific_kernel_kind(operator: &'static Operator, cell: &TableCell) -> &'static str {
    let served = KernelKind::from_table_cell(cell);
    let is = |name: &str| cell.kernels.iter().all(|kernel| kernel.starts_with(&format!("`{name}`")));
    match served {
        KernelKind::Any if is("form_kernel") => "form",
        KernelKind::Kernel if cell.registered_for == Some(Meta) && is("form_meta_kernel") => meta_kernel_kind(operator),
        KernelKind::Kernel if cell.registered_for == Some(Meta) && is("planned_meta_kernel") => {
            if operator.shape_word().is_some() { "shape" } else { "plan" }
        }
        KernelKind::Kernel | KernelKind::Fallback if Autograd.covers(cell.key) => match derivative_of(operator) {
            Derivative::Kernel(_) | Derivative::Rule(_) => "formula",
            Derivative::None => "none",
            Derivative::Composite | Derivative::Unknown => served.name(),
        },
        _ => served.name(),
    }
}

/// Returns the name for the Meta kernel that a definition generates.
fn meta_kernel_kind(operator: &'static Operator) -> &'static str {
    let functional = operator.functional().unwrap_or(operator);
    if functional.shape_word().is_some() {
        "shape"
    } else if functional.is_data_dependent() {
        "data"
    } else if operator.functional().is_some() {
        "form"
    } else {
        KernelKind::Kernel.name()
    }
}
