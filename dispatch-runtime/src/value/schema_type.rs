//! The check that a value has the type that a schema requires.

use dispatch_schema::{Type, TypeKind};

use super::Value;

impl Value {
    /// Returns whether the value has this schema type.
    pub(crate) fn has_schema_type(&self, ty: &Type) -> bool {
        match (kind_of_type(ty), self) {
            (None, _) => true,
            (_, Self::None) => ty.accepts_none(),
            (Some(SCALAR_KIND), _) => matches!(self, Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Complex(_)),
            (Some(kind), _) => self.kind() == kind,
        }
    }
}

const SCALAR_KIND: &str = "Scalar";

/// Returns the kind of the values of a type, for messages, or `None` if values of any kind are accepted.
pub(crate) fn kind_of_type(ty: &Type) -> Option<&'static str> {
    Some(match &ty.without_optional().kind {
        TypeKind::Tensor => "Tensor",
        TypeKind::Scalar => SCALAR_KIND,
        TypeKind::Int | TypeKind::SymInt => "int",
        TypeKind::Float => "float",
        TypeKind::Bool | TypeKind::SymBool => "bool",
        TypeKind::Complex => "complex",
        TypeKind::Str => "str",
        TypeKind::Device => "Device",
        TypeKind::ScalarType => "ScalarType",
        TypeKind::Layout => "Layout",
        TypeKind::MemoryFormat => "MemoryFormat",
        TypeKind::Generator => "Generator",
        TypeKind::Storage => "Storage",
        TypeKind::List(element, _) => match (&element.without_optional().kind, element.accepts_none()) {
            (TypeKind::Tensor, false) => "Tensor[]",
            (TypeKind::Tensor, true) => "Tensor?[]",
            (TypeKind::Int | TypeKind::SymInt, false) => "int[]",
            (TypeKind::Float, false) => "float[]",
            (TypeKind::Bool | TypeKind::SymBool, false) => "bool[]",
            (TypeKind::Scalar, false) => "Scalar[]",
            (TypeKind::Str, false) => "str[]",
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn a_value_has_only_its_own_schema_type() {
        let has_type = |value: Value, ty: &str| value.has_schema_type(&Type::parse(ty).unwrap());
        let x = || Tensor::from_slice(&[1.0_f32]);
        assert!(has_type(x().into(), "Tensor") && has_type(x().into(), "Tensor?") && has_type(x().into(), "Any"));
        assert!(has_type(Value::None, "Tensor?") && !has_type(Value::None, "Tensor"));
        assert!(has_type(vec![x()].into(), "Tensor[]") && !has_type(vec![x()].into(), "Tensor"));
        assert!(has_type(vec![Some(x())].into(), "Tensor?[]") && !has_type(vec![Some(x())].into(), "Tensor[]"));
        assert!(has_type(2_i64.into(), "Scalar") && has_type(true.into(), "Scalar") && !has_type("a".into(), "Scalar"));
        assert!(has_type(2_i64.into(), "SymInt") && !has_type(2.5.into(), "int") && !has_type(2_i64.into(), "float"));
        assert!(!has_type(Value::List(vec![x().into()].into()), "Tensor[]"));
    }
}
