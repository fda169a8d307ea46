//! Subtypes: whether every value of one type is a value of another.

use crate::ty::{Type, TypeKind};

/// Whether a value of type `a` is accepted as type `b`. Alias annotations are ignored.
pub(super) fn is_subtype(a: &Type, b: &Type) -> bool {
    use TypeKind::{
        Any, AnyClass, Await, Class, Complex, Dict, Float, Future, Int, List, NoneType, Optional, RRef, Scalar, SymInt,
        Tuple, Union,
    };
    match (&a.kind, &b.kind) {
        (_, Any) | (Int | Float | Complex, Scalar) | (Int, SymInt) | (Class(_), AnyClass) | (NoneType, Optional(_)) => {
            true
        }
        (Union(members), _) => members.iter().all(|member| is_subtype(member, b)),
        (Optional(inner), Union(members)) => {
            members.iter().any(|member| member.kind == NoneType) && is_subtype(inner, b)
        }
        (_, Union(members)) => members.iter().any(|member| is_subtype(a, member)),
        (Optional(inner), Optional(wanted)) => is_subtype(inner, wanted),
        (_, Optional(wanted)) => is_subtype(a, wanted),
        // Lists can be written by their receiver, so their element types must be equal. `int[]` as `SymInt[]` is an exception.
        (List(a, n), List(b, m)) => {
            n == m && (are_equal_without_aliases(a, b) || (&a.kind, &b.kind) == (&Int, &SymInt))
        }
        (Tuple(a), Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_subtype(a, b)),
        (Future(a), Future(b)) | (Await(a), Await(b)) | (RRef(a), RRef(b)) => is_subtype(a, b),
        (Dict(key, value), Dict(other_key, other_value)) => {
            are_equal_without_aliases(key, other_key) && are_equal_without_aliases(value, other_value)
        }
        _ => a.kind == b.kind,
    }
}

fn are_equal_without_aliases(a: &Type, b: &Type) -> bool {
    a.without_aliases() == b.without_aliases()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_type_is_a_subtype_and_not_the_reverse() {
        for (narrow, wide) in [
            ("Tensor", "Tensor?"),
            ("int", "Scalar"),
            ("int", "SymInt"),
            ("int[]", "SymInt[]"),
            ("Tensor", "Any"),
            ("NoneType", "int?"),
            ("int", "Union(int, str)"),
            ("Union(int, str)", "Union(int, str, Tensor)"),
            ("int?", "Union(int, str, NoneType)"),
            ("(int, Tensor)", "(Scalar, Tensor?)"),
            ("Future(int)", "Future(int?)"),
            ("__torch__.torch.classes.a.B", "AnyClassType"),
        ] {
            let (narrow, wide) = (Type::parse(narrow).unwrap(), Type::parse(wide).unwrap());
            assert!(is_subtype(&narrow, &wide), "{narrow} {wide}");
            assert!(!is_subtype(&wide, &narrow), "{wide} {narrow}");
        }
    }

    #[test]
    fn lists_and_dictionaries_need_equal_element_types() {
        for (a, b) in [("Tensor[]", "Tensor?[]"), ("int[2]", "int[]"), ("Dict(str, int)", "Dict(str, int?)")] {
            assert!(!is_subtype(&Type::parse(a).unwrap(), &Type::parse(b).unwrap()), "{a} {b}");
        }
    }
}
