//! Normalisation of unions: unions with the same members are equal, in any order of the members.

use crate::ty::{Type, TypeKind};

/// Returns the normalised type of `Union(members)`, or `None` if it has fewer than two different members.
///
/// A union of a type and `NoneType` becomes an optional. `int`, `float` and `complex` together become `Scalar`.
pub(super) fn normalise_union(members: Vec<Type>) -> Option<TypeKind> {
    if members.len() < 2 {
        return None;
    }
    let mut distinct: Vec<Type> = Vec::new();
    for member in members.into_iter().flat_map(flatten_union_member) {
        if !distinct.contains(&member) {
            distinct.push(member);
        }
    }
    merge_number_types(&mut distinct);
    distinct.sort_by_cached_key(|ty| (union_member_order(&ty.kind), ty.to_string()));
    match distinct.as_slice() {
        [none, other] | [other, none] if none.kind == TypeKind::NoneType && other.kind != TypeKind::NoneType => {
            Some(TypeKind::Optional(Box::new(other.clone())))
        }
        [_] if distinct[0].kind == TypeKind::Scalar => Some(TypeKind::Scalar),
        [] | [_] => None,
        _ => Some(TypeKind::Union(distinct)),
    }
}

/// Expands a member: a nested union to its members, and an optional to its inner type and `NoneType`.
fn flatten_union_member(ty: Type) -> Vec<Type> {
    match ty.kind {
        TypeKind::Union(members) if ty.alias.is_none() => members,
        TypeKind::Optional(inner) => {
            let mut members = flatten_union_member(*inner);
            members.push(TypeKind::NoneType.into());
            members
        }
        kind => vec![Type { kind, alias: ty.alias }],
    }
}

fn merge_number_types(members: &mut Vec<Type>) {
    let holds = |kind: TypeKind| members.contains(&kind.into());
    let numbers = [TypeKind::Int, TypeKind::Float, TypeKind::Complex];
    let scalar = holds(TypeKind::Scalar);
    if scalar || numbers.iter().all(|number| holds(number.clone())) {
        members.retain(|member| member.alias.is_some() || !numbers.contains(&member.kind));
        if !scalar {
            members.push(TypeKind::Scalar.into());
        }
    }
}

/// Returns the position of a type in PyTorch's order of union members.
fn union_member_order(kind: &TypeKind) -> u8 {
    match kind {
        TypeKind::Any => 0,
        TypeKind::AnyEnum => 1,
        TypeKind::Tensor => 2,
        TypeKind::Storage => 3,
        TypeKind::Tuple(_) => 4,
        TypeKind::List(..) => 5,
        TypeKind::Dict(..) => 6,
        TypeKind::Scalar => 7,
        TypeKind::Float => 8,
        TypeKind::Complex => 9,
        TypeKind::Future(_) => 10,
        TypeKind::Await(_) => 11,
        TypeKind::RRef(_) => 12,
        TypeKind::Int | TypeKind::SymInt => 13,
        TypeKind::NoneType => 14,
        TypeKind::Str => 15,
        TypeKind::Generator => 16,
        TypeKind::Quantizer => 17,
        TypeKind::Bool | TypeKind::SymBool => 18,
        TypeKind::Optional(_) => 19,
        TypeKind::Variable(_) => 20,
        TypeKind::Device => 21,
        TypeKind::Stream => 22,
        TypeKind::Class(_) => 23,
        TypeKind::Capsule => 24,
        TypeKind::QScheme => 25,
        TypeKind::ScalarType => 26,
        TypeKind::Layout => 27,
        TypeKind::MemoryFormat => 28,
        TypeKind::AnyClass => 29,
        TypeKind::Union(_) => 30,
    }
}
