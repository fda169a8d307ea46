//! Messages of syntax errors: the mistake, and what to write instead.

use std::fmt;

use super::expected_default::AllowedDefaults;
use super::{AliasProblem, NumberProblem, StringProblem, SyntaxErrorKind, TypeProblem};

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { expected, found } => {
                write!(f, "expected {expected}, found {}", QuotedOrEnd(found.as_deref()))
            }
            Self::NameOnly => f.write_str(
                "only a name is given; write the arguments and returns after \
                 it: `(Tensor self) -> Tensor`",
            ),
            Self::ReservedWord { word } => {
                write!(f, "`{word}` is a reserved word; write another, such as `{word}_`")
            }
            Self::BadOverload { overload } => describe_overload(overload, f),
            Self::ExpectedType { found } => {
                write!(f, "expected a type such as `Tensor` or `int[]`, found {}", QuotedOrEnd(found.as_deref()))
            }
            Self::UnknownType { found, suggestion } => {
                write!(f, "unknown type `{found}`; ")?;
                let class = format_args!("write a class by its full path, `__torch__.torch.classes.ns.{found}`");
                write_hint(suggestion.as_deref(), class, f)
            }
            Self::ForeignType { found, instead } => {
                write!(f, "unknown type `{found}`; write {instead}")
            }
            Self::BadType { problem } => problem.fmt(f),
            Self::BadAlias { problem } => problem.fmt(f),
            Self::MissingArgumentName { found } => {
                write!(
                    f,
                    "the argument has no name; write one after its type, before {}",
                    QuotedOrEnd(found.as_deref())
                )
            }
            Self::NameBeforeType { name } => {
                write!(f, "the type comes first, without `:`; write `Tensor {name}`")
            }
            Self::DuplicateArgument { name } => {
                write!(f, "there is already an argument `{name}`; rename this one")
            }
            Self::PositionalAfterDefault { name } => {
                write!(
                    f,
                    "`{name}` has no default but follows an argument with one; give \
                     it a default or write `*` before it"
                )
            }
            Self::VarargsNotLast => f.write_str("`...` must come last; move it to the end of the list"),
            Self::DefaultWithVarargs { name } => {
                write!(f, "`{name}` cannot have a default beside `...`; remove it")
            }
            Self::TrailingComma => f.write_str("nothing follows the comma; remove it"),
            Self::TrailingText { found } => {
                write!(f, "the declaration ends before `{found}`; remove the rest")
            }
            Self::DefaultDoesNotFit { ty, default } => {
                write!(f, "`{default}` is not a value of `{}`; write {}", ty.without_aliases(), AllowedDefaults(ty))
            }
            Self::BadDefaultLength { ty, found } => {
                write!(
                    f,
                    "the list has {found} elements, which does not fit `{ty}`; \
                     write as many elements as the type has, or one value for all"
                )
            }
            Self::UnknownDefault { word, suggestion } => {
                write!(f, "unknown default `{word}`; ")?;
                write_hint(suggestion.as_deref(), format_args!("write a literal, and quote a string: `\"{word}\"`"), f)
            }
            Self::BadNumber { text, problem } => describe_number(text, *problem, f),
            Self::BadString { problem } => problem.fmt(f),
        }
    }
}

fn write_hint(near: Option<&str>, otherwise: fmt::Arguments<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match near {
        Some(near) => write!(f, "did you mean `{near}`?"),
        None => f.write_fmt(otherwise),
    }
}

/// Displays a token in quotes, or `the end` if there is none.
struct QuotedOrEnd<'a>(Option<&'a str>);

impl fmt::Display for QuotedOrEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(found) => write!(f, "`{found}`"),
            None => f.write_str("the end"),
        }
    }
}

fn describe_overload(overload: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if overload == "default" {
        f.write_str("`default` means that there is no overload name; leave `.default` out")
    } else {
        write!(
            f,
            "the overload name `{overload}` begins with `__`, which is reserved \
                 for methods; write `{}`",
            overload.trim_start_matches('_')
        )
    }
}

fn describe_number(text: &str, problem: NumberProblem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match problem {
        NumberProblem::Malformed => write!(f, "`{text}` is not a number; write digits without separators or suffixes"),
        NumberProblem::IntegerOverflow => {
            write!(f, "`{text}` does not fit 64 bits; write a smaller number")
        }
        NumberProblem::FloatOverflow => {
            write!(f, "`{text}` is too large for a float; write a smaller number or `inf`")
        }
        NumberProblem::FloatUnderflow => write!(f, "`{text}` is too close to zero for a float; write `0.0`"),
    }
}

impl fmt::Display for TypeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SizedListInside => {
                "a list with a size cannot be inside another type; leave the \
                 size out: `[]`"
            }
            Self::BadListSize => {
                "the size of a list is a whole number up to 65536; write such a \
                 number or leave it out: `[]`"
            }
            Self::OptionalOfNone => "`None?` is the same as `None`; leave the `?` out",
            Self::BadDictKey => {
                "this type cannot be the key of a `Dict`; write `int`, `bool`, `float`, \
                 `complex`, `str`, `Device` or `Tensor`"
            }
            Self::TooFewUnionMembers => {
                "a union has at least two different types; write the one type \
                 without `Union`"
            }
            Self::TooDeep => "the type is nested too deeply; write a flatter one",
            Self::BadClassPath => {
                "a class is written by its full path: \
                 `__torch__.torch.classes.ns.Name`"
            }
        })
    }
}

impl fmt::Display for AliasProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => {
                "the annotation names no set; write one: `(a)`, or `(a!)` if the operator writes the argument"
            }
            Self::AfterOptional => "an annotation goes before `?`; write `Tensor(a)?`",
            Self::WriteAfterArrow => "`!` goes before `->`; write `(a! -> b)`",
            Self::EmptyAfterArrow => "`->` names no set; write one, or leave `->` out if the set stays the same",
            Self::Repeated => "the type already has an annotation; write one only",
        })
    }
}

impl fmt::Display for StringProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotClosed => "the string does not end; write the closing quote",
            Self::UnknownEscape => {
                "unknown escape; write one of `\\\\ \\' \\\" \\a \\b \\f \\n \
                     \\t \\v` or three octal digits up to `\\377`"
            }
            Self::NotUtf8 => {
                "the octal escapes are not valid UTF-8; write the characters \
                 themselves"
            }
        })
    }
}
