//! Canonical text of schemas: one text per schema, which parses back to the same schema.
//!
//! `{:#}` prints the same text with the shortest form of floats, for people: `1e-6`, not `9.9999999999999995e-07`.

mod float;

use std::fmt::{self, Display, Formatter, Write};

use crate::default::DefaultValue;
use crate::schema::{Argument, Declaration, Return, Schema};
use crate::ty::{ATOMIC_TYPES, Type, TypeKind};

impl Display for Schema {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        let mut comma = CommaList::default();
        let mut keyword_only = false;
        for argument in &self.arguments {
            if argument.keyword_only && !keyword_only {
                comma.write_item(f, &'*')?;
                keyword_only = true;
            }
            comma.write_item(f, argument)?;
        }
        if self.varargs {
            comma.write_item(f, &"...")?;
        }
        f.write_str(") -> ")?;
        self.fmt_returns(f)
    }
}

impl Schema {
    fn fmt_returns(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.returns.as_slice(), self.varreturns) {
            ([], true) => return f.write_str("..."),
            // A return that begins with `(` would be parsed as a list of returns.
            ([only], false) if !begins_with_tuple(&only.ty) => return only.fmt(f),
            _ => {}
        }
        f.write_char('(')?;
        let mut comma = CommaList::default();
        comma.write_items(f, &self.returns)?;
        if self.varreturns {
            comma.write_item(f, &"...")?;
        }
        f.write_char(')')
    }
}

fn begins_with_tuple(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Tuple(_) => true,
        TypeKind::Optional(inner) | TypeKind::List(inner, _) => begins_with_tuple(inner),
        _ => false,
    }
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Schema(schema) => schema.fmt(f),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)?;
        let Some(default) = &self.default else { return Ok(()) };
        f.write_char('=')?;
        match default {
            DefaultValue::List(values) => ListDefault { ty: &self.ty, values }.fmt(f),
            default => default.fmt(f),
        }
    }
}

impl Display for Return {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.ty.fmt(f)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        self.alias.as_ref().map_or(Ok(()), |alias| alias.fmt(f))
    }
}

impl Display for TypeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) | Self::Variable(name) => f.write_str(name),
            Self::Optional(inner) => write!(f, "{inner}?"),
            Self::List(element, None) => write!(f, "{element}[]"),
            Self::List(element, Some(size)) => write!(f, "{element}[{size}]"),
            Self::Tuple(types) => write_types_in_parentheses(f, types),
            Self::Dict(key, value) => write!(f, "Dict({key}, {value})"),
            Self::Future(inner) => write!(f, "Future({inner})"),
            Self::Await(inner) => write!(f, "Await({inner})"),
            Self::RRef(inner) => write!(f, "RRef({inner})"),
            Self::Union(types) => {
                f.write_str("Union")?;
                write_types_in_parentheses(f, types)
            }
            _ => {
                let (word, _) =
                    ATOMIC_TYPES.iter().find(|(_, kind)| kind == self).expect("every other kind is one word");
                f.write_str(word)
            }
        }
    }
}

fn write_types_in_parentheses(f: &mut Formatter<'_>, types: &[Type]) -> fmt::Result {
    f.write_char('(')?;
    CommaList::default().write_items(f, types)?;
    f.write_char(')')
}

impl Display for DefaultValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let float = if f.alternate() { float::shortest_text } else { float::canonical_text };
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => f.write_str(&float(*value)),
            Self::Complex(re, im) => {
                let sign = if im.is_sign_negative() && !im.is_nan() { '-' } else { '+' };
                write!(f, "{}{sign}{}j", float(*re), float(im.abs()))
            }
            // PyTorch omits the quotes of a device, and cannot parse that text.
            Self::Str(text) | Self::Device(text) => Quoted(text).fmt(f),
            Self::List(values) => write_list_default(f, values),
        }
    }
}

fn write_list_default(f: &mut Formatter<'_>, values: &[DefaultValue]) -> fmt::Result {
    f.write_char('[')?;
    CommaList::default().write_items(f, values)?;
    f.write_char(']')
}

/// Displays a list default. It is a single value if PyTorch prints one and it parses back as the same list: for `int[N]` with at least two
/// elements, and for `T[N]?` always.
struct ListDefault<'a> {
    ty: &'a Type,
    values: &'a [DefaultValue],
}

impl Display for ListDefault<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.values {
            [first, rest @ ..] if self.prints_as_single_value() && rest.iter().all(|value| value == first) => {
                first.fmt(f)
            }
            values => write_list_default(f, values),
        }
    }
}

impl ListDefault<'_> {
    fn prints_as_single_value(&self) -> bool {
        let TypeKind::List(element, Some(size)) = &self.ty.without_optional().kind else {
            return false;
        };
        let optional = matches!(self.ty.kind, TypeKind::Optional(_));
        self.values.len() == *size as usize && (optional || *size > 1 && element.kind == TypeKind::Int)
    }
}

/// Displays a string in double quotes with PyTorch's escapes. Characters outside of ASCII are not escaped.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '\\' | '"' | '\'' => write!(f, "\\{c}")?,
                '\x07' => f.write_str("\\a")?,
                '\x08' => f.write_str("\\b")?,
                '\x0c' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\x0b' => f.write_str("\\v")?,
                c if c.is_ascii_control() => write!(f, "\\{:03o}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Writes items with `, ` between them.
#[derive(Default)]
struct CommaList {
    begun: bool,
}

impl CommaList {
    fn write_item(&mut self, f: &mut Formatter<'_>, item: &dyn Display) -> fmt::Result {
        if std::mem::replace(&mut self.begun, true) {
            f.write_str(", ")?;
        }
        item.fmt(f)
    }

    fn write_items(&mut self, f: &mut Formatter<'_>, items: &[impl Display]) -> fmt::Result {
        items.iter().try_for_each(|item| self.write_item(f, item))
    }
}
