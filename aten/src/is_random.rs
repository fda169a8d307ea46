//! Detection of operators that draw random numbers.

use dispatch_runtime::Operator;
use dispatch_runtime::schema::TypeKind;

/// Whether an operator draws random numbers: it takes a generator, its name begins with `rand`, or it is `native_dropout`.
///
/// ```
/// assert!(aten::is_random(aten::bernoulli::operator()) && aten::is_random(aten::rand_like::operator()));
/// assert!(!aten::is_random(aten::neg::operator()));
/// ```
#[must_use]
pub fn is_random(operator: &Operator) -> bool {
    let takes_generator =
        operator.schema().arguments.iter().any(|argument| argument.ty.without_optional().kind == TypeKind::Generator);
    let name = operator.name();
    takes_generator || (name.namespace == "aten" && (name.base.starts_with("rand") || name.base == "native_dropout"))
}
