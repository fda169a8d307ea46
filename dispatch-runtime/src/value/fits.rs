//! The check that a value has the type that a schema requires.

use dispatch_schema::{Type, TypeKind};

use super::Value;

impl Value {
    /// Whether the value has this schema type.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        match (kind_of(ty), self) {
            (None, _) => true,
            (_, Self::None) => ty.accepts_none(),
            (Some(SCALAR), _) => matches!(self, Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Complex(_)),
            (Some(kind), _) => self.kind() == kind,
        }
    }
}

const SCALAR: &str = "Scalar";

/// Returns the kind of the values of a type, for messages, or `None` if values of any kind are accepted.
pub(crate) fn kind_of(ty: &Type) -> Option<&'static str> {
    Some(match &ty.required().kind {
        TypeKind::Tensor => "Tensor",
        TypeKind::Scalar => SCALAR,
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
        TypeKind::List(element, _) => match (&element.required().kind, element.accepts_none()) {
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
    fn a_value_fits_its_own_type_and_no_other() {
        let fits = |value: Value, ty: &str| value.fits(&Type::parse(ty).unwrap());
        let x = || Tensor::from_slice(&[1.0_f32]);
        assert!(fits(x().into(), "Tensor") && fits(x().into(), "Tensor?") && fits(x().into(), "Any"));
        assert!(fits(Value::None, "Tensor?") && !fits(Value::None, "Tensor"));
        assert!(fits(vec![x()].into(), "Tensor[]") && !fits(vec![x()].into(), "Tensor"));
        assert!(fits(vec![Some(x())].into(), "Tensor?[]") && !fits(vec![Some(x())].into(), "Tensor[]"));
        assert!(fits(2_i64.into(), "Scalar") && fits(true.into(), "Scalar") && !fits("a".into(), "Scalar"));
        assert!(fits(2_i64.into(), "SymInt") && !fits(2.5.into(), "int") && !fits(2_i64.into(), "float"));
        assert!(!fits(Value::List(vec![x().into()].into()), "Tensor[]"));
    }
}
