//! Generators of random schemas and random texts.

use dispatch_schema::{Alias, Argument, DefaultValue, OperatorName, Return, Schema, Type, TypeKind};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Generates schemas in the form that the parser returns.
pub(crate) fn any_schema() -> impl Strategy<Value = Schema> {
    (any_name(), vec(any_argument(), 0..6), vec(any_return(), 0..4), any::<(bool, bool)>()).prop_map(
        |(name, arguments, returns, (varargs, varreturns))| Schema {
            name,
            arguments: valid_arguments(arguments, varargs),
            returns,
            varargs,
            varreturns,
        },
    )
}

/// Generates texts from pieces of the language, mostly invalid.
pub(crate) fn random_text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "f",
        "ns::",
        ".out",
        "(",
        ")",
        "[",
        "]",
        "[2]",
        "?",
        "!",
        "*",
        "...",
        "->",
        ",",
        "=",
        " ",
        "\n",
        "#",
        "Tensor",
        "int",
        "t",
        "float",
        "str",
        "Dict(",
        "Union(",
        "(a)",
        "(a!)",
        "(a -> *)",
        "|",
        "None",
        "True",
        "Mean",
        "1",
        "-",
        "1.5e3",
        "0x1p3",
        "0x2F",
        "-0X",
        ".5",
        "inf",
        "2j",
        "+",
        "'a'",
        "\"",
        "'''",
        "\\",
        "é",
        "__torch__.torch.classes.a.B",
        "while",
        "x",
    ];
    vec(select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

/// Sorts and renames arguments so that they follow the rules of names, defaults and `*`.
fn valid_arguments(mut arguments: Vec<Argument>, varargs: bool) -> Vec<Argument> {
    arguments.sort_by_key(|argument| (argument.keyword_only, argument.default.is_some()));
    for (i, argument) in arguments.iter_mut().enumerate() {
        argument.name = format!("{}{i}", argument.name);
        if varargs {
            argument.default = None;
        }
    }
    // A trailing `*` that no argument follows is not printed, and none is generated.
    arguments
}

fn any_name() -> impl Strategy<Value = OperatorName> {
    (option::of("[a-z]{4,6}x"), "_?[a-z]{3}x_?", option::of("[A-Z][a-z]{2}[0-9]")).prop_map(
        |(namespace, base, overload)| OperatorName { namespace, base, overload: overload.unwrap_or_default() },
    )
}

fn any_argument() -> impl Strategy<Value = Argument> {
    let with_default = prop_oneof![
        1 => any_type().prop_map(|ty| (ty, None)),
        2 => any_type_with_default().prop_map(|(ty, default)| (ty, Some(default))),
    ];
    ("[a-z]{2}x", with_default, any::<bool>()).prop_map(|(name, (ty, default), keyword_only)| Argument {
        name,
        ty,
        default,
        keyword_only,
    })
}

fn any_return() -> impl Strategy<Value = Return> {
    (option::of("[a-z]{2}x"), any_type()).prop_map(|(name, ty)| Return { name, ty })
}

fn any_atomic_type() -> impl Strategy<Value = TypeKind> {
    use TypeKind::*;
    prop_oneof![
        select(vec![
            Tensor,
            Scalar,
            Int,
            SymInt,
            Float,
            Bool,
            SymBool,
            Complex,
            Str,
            Device,
            ScalarType,
            Layout,
            MemoryFormat,
            Generator,
            Storage,
            Stream,
            QScheme,
            Quantizer,
            NoneType,
            Any,
            AnyClass,
            AnyEnum,
            Capsule,
        ]),
        "t[0-9]".prop_map(Variable),
        "[A-Z][a-z]x".prop_map(|name| Class(format!("__torch__.torch.classes.ns.{name}"))),
    ]
}

fn any_optional_alias() -> impl Strategy<Value = Option<Alias>> {
    let sets = || {
        vec(select(vec!["a", "b", "c9", "*"]), 1..3).prop_map(|sets| {
            let mut sets: Vec<_> = sets.into_iter().map(str::to_owned).collect();
            sets.sort();
            sets.dedup();
            sets
        })
    };
    option::weighted(
        0.3,
        (sets(), any::<bool>(), sets()).prop_map(|(before, write, after)| Alias { before, write, after }),
    )
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = (any_atomic_type(), any_optional_alias()).prop_map(|(kind, alias)| Type { kind, alias });
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let kind = prop_oneof![
            boxed.clone().prop_map(|element| TypeKind::List(element, None)),
            boxed.clone().prop_map(TypeKind::Future),
            boxed.clone().prop_map(TypeKind::Await),
            boxed.clone().prop_map(TypeKind::RRef),
            vec(inner.clone(), 0..3).prop_map(TypeKind::Tuple),
            (select(vec!["str", "int", "Tensor"]), boxed.clone())
                .prop_map(|(key, value)| { TypeKind::Dict(Box::new(Type::parse(key).unwrap()), value) }),
        ];
        prop_oneof![
            3 => (kind, any_optional_alias()).prop_map(|(kind, alias)| Type { kind, alias }),
            1 => inner.prop_map(make_optional),
        ]
    });
    (nested, option::weighted(0.2, 0..9_u32), any::<bool>()).prop_map(|(ty, size, some)| match size {
        Some(size) => {
            let list = TypeKind::List(Box::new(ty), Some(size)).into();
            if some { make_optional(list) } else { list }
        }
        None => ty,
    })
}

fn make_optional(ty: Type) -> Type {
    match ty.kind {
        TypeKind::Optional(_) | TypeKind::NoneType => ty,
        _ => TypeKind::Optional(Box::new(ty)).into(),
    }
}

/// Generates a type and a default of it.
fn any_type_with_default() -> impl Strategy<Value = (Type, DefaultValue)> {
    let listed =
        (list_element_with_value(), 0..4_u32, option::of(Just(()))).prop_flat_map(|((ty, value), size, sized)| {
            let size = sized.map(|()| size);
            let lengths = match size {
                Some(n) if n != 1 => prop_oneof![Just(0), Just(n as usize)].boxed(),
                _ => (0..4_usize).boxed(),
            };
            let list: Type = TypeKind::List(Box::new(ty), size).into();
            lengths.prop_map(move |length| (list.clone(), DefaultValue::List(vec![value.clone(); length])))
        });
    let required = prop_oneof![constant_type_with_value(), listed];
    prop_oneof![
        3 => required.clone(),
        2 => required.prop_map(|(ty, value)| (make_optional(ty), value)),
        1 => optional_type_with_number(),
        1 => any_type().prop_map(|ty| (make_optional(ty), DefaultValue::None)).prop_filter("optional", |(ty, _)| {
            matches!(ty.kind, TypeKind::Optional(_))
        }),
    ]
}

/// Generates optional types with a number as default: they keep its form, integer or float.
fn optional_type_with_number() -> impl Strategy<Value = (Type, DefaultValue)> {
    use TypeKind::*;
    let number = prop_oneof![any::<i64>().prop_map(DefaultValue::Int), any_float().prop_map(DefaultValue::Float)];
    (select(vec![Float, Complex, Scalar]), number, option::of(0..4_u32)).prop_map(|(kind, value, size)| match size {
        Some(size) if kind != Scalar => {
            let list = List(Box::new(kind.into()), Some(size)).into();
            (make_optional(list), DefaultValue::List(vec![value; size as usize]))
        }
        _ => (make_optional(kind.into()), value),
    })
}

fn list_element_with_value() -> impl Strategy<Value = (Type, DefaultValue)> {
    use TypeKind::*;
    prop_oneof![
        (select(vec![Int, SymInt, ScalarType]), any::<i64>())
            .prop_map(|(kind, value)| (kind.into(), DefaultValue::Int(value))),
        any_float().prop_map(|value| (Float.into(), DefaultValue::Float(value))),
        any::<bool>().prop_map(|value| (Bool.into(), DefaultValue::Bool(value))),
        (any_float(), any_float()).prop_map(|(re, im)| (Complex.into(), DefaultValue::Complex(re, im))),
    ]
}

fn constant_type_with_value() -> impl Strategy<Value = (Type, DefaultValue)> {
    use TypeKind::*;
    prop_oneof![
        list_element_with_value(),
        any::<String>().prop_map(|text| (Str.into(), DefaultValue::Str(text))),
        "[a-z]{3}(:[0-9])?".prop_map(|text| (Device.into(), DefaultValue::Device(text))),
        any_float().prop_map(|value| (Scalar.into(), DefaultValue::Float(value))),
        any::<i64>().prop_map(|value| (Scalar.into(), DefaultValue::Int(value))),
        (select(vec![Layout, MemoryFormat]), 0..9_i64)
            .prop_map(|(kind, value)| (kind.into(), DefaultValue::Int(value))),
    ]
}

/// Generates every float, with a single NaN, as in text.
fn any_float() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(|bits| {
        let value = f64::from_bits(bits);
        if value.is_nan() { f64::NAN } else { value }
    })
}
