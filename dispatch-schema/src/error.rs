//! Syntax errors of schemas, and their messages.
//!
//! A parse reports every error, in the order of the text. Each error has a typed kind, a span, and a message that says what to write
//! instead.

mod describe;
mod expected_default;
mod render;

use std::fmt;
use std::ops::{Deref, Range};

use crate::ty::Type;

/// The syntax errors of a text: at least one, in the order of the text. Dereferences to a slice.
///
/// ```
/// use dispatch_schema::Schema;
///
/// let errors = Schema::parse("f(tensor a, int b=None, str c=1) -> ()").unwrap_err();
/// assert_eq!(errors.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxErrors(Vec<SyntaxError>);

/// A syntax error and its span.
///
/// ```
/// use dispatch_schema::{Schema, SyntaxErrorKind};
///
/// let errors = Schema::parse("f(Tensor a, Tensor a) -> ()").unwrap_err();
/// assert_eq!(errors[0].kind, SyntaxErrorKind::DuplicateArgument { name: "a".into() });
/// assert_eq!(errors[0].span, 19..20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxError {
    /// The kind of the error.
    pub kind: SyntaxErrorKind,
    /// The span of the error: a byte range of the text, or from the spans of the parsed tokens.
    pub span: Range<usize>,
}

/// The kind of a syntax error. `found: None` means that the text ends there.
///
/// ```
/// use dispatch_schema::{Schema, SyntaxErrorKind};
///
/// let errors = Schema::parse("f(Tensro a) -> ()").unwrap_err();
/// let SyntaxErrorKind::UnknownType { found, suggestion } = &errors[0].kind else { panic!() };
/// assert_eq!((found.as_str(), suggestion.as_deref()), ("Tensro", Some("Tensor")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Another token is required here.
    Expected {
        /// The required token or item.
        expected: &'static str,
        /// The token that was found.
        found: Option<String>,
    },
    /// A schema is required, but the text is only a name.
    NameOnly,
    /// A reserved word of PyTorch's script language is used as a name.
    ReservedWord {
        /// The reserved word.
        word: String,
    },
    /// The overload name is `default`, or begins with `__`. Both are reserved.
    BadOverload {
        /// The overload name.
        overload: String,
    },
    /// A type is required here.
    ExpectedType {
        /// The token that was found.
        found: Option<String>,
    },
    /// An unknown type name.
    UnknownType {
        /// The unknown name.
        found: String,
        /// The known type with the most similar name.
        suggestion: Option<String>,
    },
    /// A generic type as another language writes it.
    ForeignType {
        /// The name of the type.
        found: String,
        /// The text to write instead.
        instead: &'static str,
    },
    /// A type that breaks a rule.
    BadType {
        /// The broken rule.
        problem: TypeProblem,
    },
    /// An alias annotation that breaks a rule.
    BadAlias {
        /// The broken rule.
        problem: AliasProblem,
    },
    /// An argument without a name.
    MissingArgumentName {
        /// The token in place of the name.
        found: Option<String>,
    },
    /// A name before its type, as Rust and Python write it: `x: Tensor`.
    NameBeforeType {
        /// The name.
        name: String,
    },
    /// Two arguments with the same name.
    DuplicateArgument {
        /// The name.
        name: String,
    },
    /// A positional argument without a default after one with a default.
    PositionalAfterDefault {
        /// The argument's name.
        name: String,
    },
    /// Further items after `...`.
    VarargsNotLast,
    /// An argument with a default in a schema with `...`.
    DefaultWithVarargs {
        /// The argument's name.
        name: String,
    },
    /// A comma before the closing parenthesis.
    TrailingComma,
    /// Text after the end of the declaration.
    TrailingText {
        /// The first token of this text.
        found: String,
    },
    /// A default that is not a value of the argument's type.
    DefaultDoesNotFit {
        /// The argument's type.
        ty: Type,
        /// The text of the default.
        default: String,
    },
    /// A list default of the wrong length.
    BadDefaultLength {
        /// The argument's type.
        ty: Type,
        /// The number of elements of the default.
        found: usize,
    },
    /// An unknown word as a default.
    UnknownDefault {
        /// The unknown word.
        word: String,
        /// The known word with the most similar spelling.
        suggestion: Option<String>,
    },
    /// An invalid number.
    BadNumber {
        /// The text of the number.
        text: String,
        /// The reason.
        problem: NumberProblem,
    },
    /// An invalid string.
    BadString {
        /// The reason.
        problem: StringProblem,
    },
}

/// A rule that a type breaks.
///
/// ```
/// use dispatch_schema::{SyntaxErrorKind, Type, TypeProblem};
///
/// let errors = Type::parse("None?").unwrap_err();
/// assert_eq!(errors[0].kind, SyntaxErrorKind::BadType { problem: TypeProblem::OptionalOfNone });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeProblem {
    /// A sized list inside another type.
    SizedListInside,
    /// A list size that is not an integer up to 65536.
    BadListSize,
    /// The type `None?`, which is no different from `None`.
    OptionalOfNone,
    /// A type that cannot be a dictionary key.
    BadDictKey,
    /// A union of fewer than two different types.
    TooFewUnionMembers,
    /// A type nested more deeply than the parser supports.
    TooDeep,
    /// A class without its full path.
    BadClassPath,
}

/// A rule that an alias annotation breaks.
///
/// ```
/// use dispatch_schema::{AliasProblem, SyntaxErrorKind, Type};
///
/// let errors = Type::parse("Tensor?(a!)").unwrap_err();
/// assert_eq!(errors[0].kind, SyntaxErrorKind::BadAlias { problem: AliasProblem::AfterOptional });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AliasProblem {
    /// An annotation without a set: `()` or `(!)`.
    Empty,
    /// An annotation after `?`.
    AfterOptional,
    /// A `!` after `->`.
    WriteAfterArrow,
    /// No set after `->`: `(a -> )`.
    EmptyAfterArrow,
    /// A second annotation on the same type.
    Repeated,
}

/// The reason why a number is invalid.
///
/// ```
/// use dispatch_schema::{NumberProblem, Schema, SyntaxErrorKind};
///
/// let errors = Schema::parse("f(int x=1_000) -> ()").unwrap_err();
/// let SyntaxErrorKind::BadNumber { problem, .. } = &errors[0].kind else { panic!() };
/// assert_eq!(*problem, NumberProblem::Malformed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumberProblem {
    /// The number has separators, suffixes or other invalid characters.
    Malformed,
    /// The integer needs more than 64 bits.
    IntegerOverflow,
    /// The number is larger than every finite float.
    FloatOverflow,
    /// The number is not zero, but nearer to zero than every nonzero float.
    FloatUnderflow,
}

/// The reason why a string is invalid.
///
/// ```
/// use dispatch_schema::{StringProblem, SyntaxErrorKind, lex};
///
/// let errors = lex(r"'\q'").unwrap_err();
/// assert_eq!(errors[0].kind, SyntaxErrorKind::BadString { problem: StringProblem::UnknownEscape });
/// assert_eq!(errors[0].span, 1..3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringProblem {
    /// The closing quote is missing.
    NotClosed,
    /// A backslash before an unknown escape.
    UnknownEscape,
    /// The octal escapes are not valid UTF-8.
    NotUtf8,
}

impl SyntaxError {
    /// Returns the end of a string without a closing quote. Errors inside it are ignored: the string may have consumed other text.
    pub(crate) fn unclosed_string_end(&self) -> Option<usize> {
        let open = SyntaxErrorKind::BadString { problem: StringProblem::NotClosed };
        (self.kind == open).then_some(self.span.end)
    }
}

impl SyntaxErrors {
    /// Sorts errors by their position in the text. Returns `None` if there are none.
    pub(crate) fn new(mut errors: Vec<SyntaxError>) -> Option<Self> {
        errors.sort_by_key(|error| error.span.start);
        (!errors.is_empty()).then_some(Self(errors))
    }

    /// Formats every message with its source line and carets under the exact columns.
    ///
    /// `source` is the parsed text. A column is one character, also if the screen shows it wider.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let source = "mul(Tensor self,\n    tensor other) -> Tensor";
    /// let errors = Schema::parse(source).unwrap_err();
    /// assert_eq!(
    ///     errors.render(source),
    ///     "unknown type `tensor`; did you mean `Tensor`?\n      tensor other) -> Tensor\n      ^^^^^^\n",
    /// );
    /// ```
    #[must_use]
    pub fn render(&self, source: &str) -> String {
        render::render(self, source)
    }
}

impl Deref for SyntaxErrors {
    type Target = [SyntaxError];

    fn deref(&self) -> &[SyntaxError] {
        &self.0
    }
}

impl IntoIterator for SyntaxErrors {
    type Item = SyntaxError;
    type IntoIter = std::vec::IntoIter<SyntaxError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'e> IntoIterator for &'e SyntaxErrors {
    type Item = &'e SyntaxError;
    type IntoIter = std::slice::Iter<'e, SyntaxError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for SyntaxErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            error.kind.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for SyntaxErrors {}
impl std::error::Error for SyntaxError {}
