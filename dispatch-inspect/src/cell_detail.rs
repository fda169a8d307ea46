//! What serves a cell, in finer words than the kind of its kernel.

use dispatch_runtime::keys::{Autograd, Meta};
use dispatch_runtime::{Operator, TableCell};

use crate::operator_info::derivative;
use crate::{Derivative, KernelKind};

/// The words that there are beside those of [`KernelKind`], and what they mean.
pub(crate) const FINER: [(&str, &str); 6] = [
    ("formula", "a derivative, of its own or of the operator that it is a form of"),
    ("none", "no gradients, and somebody said so"),
    ("shape", "the operator's shape word"),
    ("plan", "the operator's plan"),
    ("form", "the operator that it is a form of, and a copy into the written tensor"),
    ("data", "refused, as the sizes are in the elements"),
];

/// The word for a cell: a finer one where more is known than what kind of kernel is there.
pub(crate) fn word(operator: &'static Operator, cell: &TableCell) -> &'static str {
    let served = KernelKind::of(cell);
    let is = |name: &str| cell.kernels.iter().all(|kernel| kernel.starts_with(&format!("`{name}`")));
    match served {
        KernelKind::Any if is("form") => "form",
        KernelKind::Kernel if cell.registered_for == Some(Meta) && is("meta") => meta(operator),
        KernelKind::Kernel if cell.registered_for == Some(Meta) && is("meta_planned") => {
            if operator.shape().is_some() {
                "shape"
            } else {
                "plan"
            }
        }
        KernelKind::Kernel | KernelKind::Fallback if Autograd.covers(cell.key) => match derivative(operator) {
            Derivative::Kernel(_) | Derivative::Rule(_) => "formula",
            Derivative::None => "none",
            Derivative::Composite | Derivative::Unknown => served.name(),
        },
        _ => served.name(),
    }
}

/// What the kernel does that comes with a definition.
fn meta(operator: &'static Operator) -> &'static str {
    let functional = operator.functional().unwrap_or(operator);
    if functional.shape().is_some() {
        "shape"
    } else if functional.is_data_dependent() {
        "data"
    } else if operator.functional().is_some() {
        "form"
    } else {
        KernelKind::Kernel.name()
    }
}
