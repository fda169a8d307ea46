//! What can be wrong with a schema, and how it is told.
//!
//! A parse reports every mistake, in the order of the text. Each is typed, knows its place, and says what to write
//! instead.

mod describe;
mod expected_default;
mod render;

use std::fmt;
use std::ops::{Deref, Range};

use crate::ty::Type;

/// Everything that is wrong with a text: at least one error, in the order of the text. Reads as a slice.
///
/// ```
/// use dispatch_schema::Schema;
///
/// let errors = Schema::parse("f(tensor a, int b=None, str c=1) -> ()").unwrap_err();
/// assert_eq!(errors.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxErrors(Vec<SyntaxError>);

/// One mistake and its place.
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
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where: bytes of the text, or the spans of the tokens that were given.
    pub span: Range<usize>,
}

/// What is wrong. `found: None` means that the text ends there.
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
    /// Something else should stand here.
    Expected {
        /// What should stand here.
        what: &'static str,
        /// What does.
        found: Option<String>,
    },
    /// A whole schema is wanted and there is only a name.
    NameOnly,
    /// A word of the script language is used as a name.
    ReservedWord {
        /// The word.
        word: String,
    },
    /// An overload name that is taken.
    BadOverload {
        /// The overload name.
        overload: String,
    },
    /// Something that is not a type where a type should stand.
    ExpectedType {
        /// What stands there.
        found: Option<String>,
    },
    /// A word that names no type.
    UnknownType {
        /// The word.
        found: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// A generic type in the spelling of another language.
    ForeignType {
        /// The word.
        found: String,
        /// How to write it here.
        instead: &'static str,
    },
    /// A type that breaks a rule of its own.
    BadType {
        /// Which rule.
        problem: TypeProblem,
    },
    /// An alias annotation that breaks a rule.
    BadAlias {
        /// Which rule.
        problem: AliasProblem,
    },
    /// An argument without a name.
    MissingArgumentName {
        /// What stands in place of the name.
        found: Option<String>,
    },
    /// A name before its type, as Rust and Python write it: `x: Tensor`.
    NameBeforeType {
        /// The name.
        name: String,
    },
    /// Two arguments of the same name.
    DuplicateArgument {
        /// The name.
        name: String,
    },
    /// A positional argument without a default after one with a default.
    PositionalAfterDefault {
        /// The argument's name.
        name: String,
    },
    /// Something after `...`.
    VarargsNotLast,
    /// A default in a schema with `...`.
    DefaultWithVarargs {
        /// The argument's name.
        name: String,
    },
    /// A comma with nothing after it.
    TrailingComma,
    /// Something after the end of the declaration.
    TrailingText {
        /// What stands there.
        found: String,
    },
    /// A default that its argument cannot have.
    DefaultDoesNotFit {
        /// The argument's type.
        ty: Type,
        /// The default as it is written.
        default: String,
    },
    /// A list default of the wrong length.
    DefaultLength {
        /// The argument's type.
        ty: Type,
        /// How many elements the default has.
        found: usize,
    },
    /// A word that is no default.
    UnknownDefault {
        /// The word.
        word: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// A number that cannot be read.
    BadNumber {
        /// The number as it is written.
        text: String,
        /// Why it cannot be read.
        problem: NumberProblem,
    },
    /// A string that cannot be read.
    BadString {
        /// Why it cannot be read.
        problem: StringProblem,
    },
}

/// Which rule a type breaks.
///
/// ```
/// use dispatch_schema::{SyntaxErrorKind, Type, TypeProblem};
///
/// let errors = Type::parse("None?").unwrap_err();
/// assert_eq!(errors[0].kind, SyntaxErrorKind::BadType { problem: TypeProblem::OptionalNone });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeProblem {
    /// A sized list inside another type.
    SizedInside,
    /// A size that is not a whole number within bounds.
    Size,
    /// `None?`.
    OptionalNone,
    /// A dictionary key that cannot be one.
    DictKey,
    /// A union of fewer than two different types.
    SmallUnion,
    /// A type nested deeper than the parser goes.
    TooDeep,
    /// A class that is not written by its full path.
    ClassPath,
}

/// Which rule an alias annotation breaks.
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
    /// `()` or `(!)`.
    Empty,
    /// An annotation after `?`.
    AfterOptional,
    /// `!` after `->`.
    WriteAfterArrow,
    /// `(a -> )`.
    EmptyAfterArrow,
    /// A second annotation on the same type.
    Repeated,
}

/// Why a number cannot be read.
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
    /// It has separators, suffixes or other characters that do not belong.
    Malformed,
    /// It needs more than 64 bits.
    IntegerOverflow,
    /// It is larger than every float.
    FloatOverflow,
    /// It is not zero, and nearer to zero than every float.
    FloatUnderflow,
}

/// Why a string cannot be read.
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
    /// A backslash before something that it does not go with.
    UnknownEscape,
    /// The octal escapes do not spell UTF-8.
    NotUtf8,
}

impl SyntaxError {
    /// Where the text goes on after a string that took what was not meant for it: errors from there on are no news.
    pub(crate) fn swallows_to(&self) -> Option<usize> {
        let open = SyntaxErrorKind::BadString { problem: StringProblem::NotClosed };
        (self.kind == open).then_some(self.span.end)
    }
}

impl SyntaxErrors {
    /// The errors in the order of the text, or none if there are none.
    pub(crate) fn new(mut errors: Vec<SyntaxError>) -> Option<Self> {
        errors.sort_by_key(|error| error.span.start);
        (!errors.is_empty()).then_some(Self(errors))
    }

    /// Every message with the line it speaks of and a caret under the exact columns.
    ///
    /// `source` is the text that was parsed. A column is a character, whatever its width on screen.
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
