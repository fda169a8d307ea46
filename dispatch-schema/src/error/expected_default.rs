//! Descriptions of the defaults that a type can have, for error messages.

use std::fmt;

use crate::default::allows_defaults;
use crate::ty::{Type, TypeKind};

/// Displays the defaults that a type can have.
pub(super) struct AllowedDefaults<'a>(pub(super) &'a Type);

impl fmt::Display for AllowedDefaults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            TypeKind::Optional(inner) if allows_defaults(&inner.kind) => {
                write!(f, "`None` or {}", Self(inner))
            }
            TypeKind::Optional(_) => f.write_str("`None`"),
            TypeKind::List(element, size) if allows_defaults(&self.0.kind) => {
                write!(f, "a list `[..]` in which each element is {}", Self(element))?;
                size.map_or(Ok(()), |_| f.write_str(", or one for all"))
            }
            kind => match allowed_constant_text(kind) {
                Some(allowed_constant_text) => f.write_str(allowed_constant_text),
                None => write!(f, "no default, or make the type `{}?` and write `None`", self.0.without_aliases()),
            },
        }
    }
}

fn allowed_constant_text(kind: &TypeKind) -> Option<&'static str> {
    Some(match kind {
        TypeKind::Int | TypeKind::SymInt => "a whole number such as `1`",
        TypeKind::Float => "a number such as `1.0`",
        TypeKind::Scalar => "a number such as `1` or `1.0`, or `True` or `False`",
        TypeKind::Bool => "`True` or `False`",
        TypeKind::Complex => "a complex number such as `1j`",
        TypeKind::Str => "a string such as `\"mean\"`",
        TypeKind::Device => "a device such as `\"cpu\"` or `\"cuda:0\"`",
        TypeKind::ScalarType => "`float`, `double`, `long`, `complex` or the number of an element type",
        TypeKind::Layout => "`strided` or the number of a layout",
        TypeKind::MemoryFormat => "`contiguous_format` or the number of a memory format",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_lists_its_allowed_defaults() {
        for (ty, wanted) in [
            ("int", "a whole number such as `1`"),
            ("Tensor?", "`None`"),
            ("bool?", "`None` or `True` or `False`"),
            ("bool[2]", "a list `[..]` in which each element is `True` or `False`, or one for all"),
            ("Tensor", "no default, or make the type `Tensor?` and write `None`"),
            ("str[]", "no default, or make the type `str[]?` and write `None`"),
            ("str[]?", "`None`"),
        ] {
            assert_eq!(AllowedDefaults(&Type::parse(ty).unwrap()).to_string(), wanted);
        }
    }
}
