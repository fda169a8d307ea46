//! The operators for which the checks have exceptions: PyTorch's and torchvision's.

use dispatch_runtime::Name;

/// The namespaces of operators in the lists of exceptions.
const KNOWN_NAMESPACES: [&str; 3] = ["aten", "quantized_decomposed", "torchvision"];

/// Returns the base name of an operator, to look up in a list of exceptions. It is empty for other namespaces: an operator that only has the
/// same base name has no exceptions.
pub(crate) fn known_base(name: Name<'_>) -> &str {
    if KNOWN_NAMESPACES.contains(&name.namespace) { name.base } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_of_another_namespace_has_no_exceptions() {
        assert_eq!(known_base(Name::parse("aten::view").unwrap()), "view");
        assert_eq!(known_base(Name::parse("mine::view").unwrap()), "");
    }
}
