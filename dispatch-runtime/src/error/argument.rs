//! The error for an argument that an operator rejects, with the reason.

use std::borrow::Cow;
use std::fmt;

use super::expected::{DTypes, Expected, Sizes};
use super::problem::Problem;
use crate::scalar::{DType, Scalar};

/// The error for an argument that an operator rejects: the argument's name, and the mistake.
///
/// The [`Error`](crate::Error) that carries this one adds the operator's name. Programs read the fields; the message is for people.
///
/// ```
/// use dispatch_runtime::{BadArgument, DType, DTypes, Problem, Reason};
/// let error = BadArgument::new("dim", Problem::Dim { dim: 5, rank: 2 });
/// assert_eq!(error.to_string(), "argument `dim` is 5, but there are 2 dimensions; write -2 to 1");
///
/// let error = BadArgument::dtype("weight", DType::F64, DType::F32).like("input");
/// assert_eq!(error.to_string(), "argument `weight` is of float64, but must be float32, as `input` is");
/// assert_eq!(*error.problem, Problem::DType { found: DType::F64, expected: DTypes::Is(DType::F32) });
/// assert_eq!(error.reason.as_deref(), Some(&Reason::SameAsArgument("input".into())));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct BadArgument {
    /// The argument's name in the schema.
    pub argument: Cow<'static, str>,
    /// The mistake in the argument's value. A box keeps results with this error small.
    pub problem: Box<Problem>,
    /// The reason for the expectation, if the problem alone does not explain it.
    pub reason: Option<Box<Reason>>,
}

/// The reason why an argument must be as a [`Problem`] states.
///
/// ```
/// use dispatch_runtime::{BadArgument, Reason};
/// let error = BadArgument::size("other", &[2, 4], 0, 3).like_dim("self", 1);
/// assert_eq!(error.reason.as_deref(), Some(&Reason::SameAsDimension { argument: "self".into(), dim: 1 }));
/// assert!(error.to_string().ends_with("but must have 3 in dimension 0, as `self` has in dimension 1"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The reason that another argument already has the expected value.
    SameAsArgument(Cow<'static, str>),
    /// The reason that another argument already has the expected size in one of its dimensions.
    SameAsDimension {
        /// The name of the other argument.
        argument: Cow<'static, str>,
        /// The dimension of the other argument.
        dim: usize,
    },
    /// A reason as a text, which ends the message, after the word "as".
    Text(Cow<'static, str>),
}

impl BadArgument {
    /// Creates the error for the mistake `problem` in the named argument.
    #[cold]
    #[must_use]
    pub fn new(argument: impl Into<Cow<'static, str>>, problem: impl Into<Box<Problem>>) -> Self {
        Self { argument: argument.into(), problem: problem.into(), reason: None }
    }

    /// Creates the error for a value that breaks a rule that only a sentence can state.
    #[cold]
    #[must_use]
    pub fn value(
        argument: impl Into<Cow<'static, str>>,
        found: impl fmt::Display,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(argument, Problem::Value { found: found.to_string(), expected: expected.into() })
    }

    /// Creates the error for a number outside of its bounds.
    ///
    /// ```
    /// use dispatch_runtime::BadArgument;
    /// let error = BadArgument::number("p", 1.5, 0.0..=1.0);
    /// assert_eq!(error.to_string(), "argument `p` is 1.5, but must be from 0.0 to 1.0");
    /// ```
    #[cold]
    #[must_use]
    pub fn number(
        argument: impl Into<Cow<'static, str>>,
        found: impl Into<Scalar>,
        expected: impl Into<Expected<Scalar>>,
    ) -> Self {
        Self::new(argument, Problem::Number { found: found.into(), expected: expected.into() })
    }

    /// Creates the error for a list whose length the operator does not allow.
    #[cold]
    #[must_use]
    pub fn length(argument: impl Into<Cow<'static, str>>, found: usize, expected: impl Into<Expected<usize>>) -> Self {
        Self::new(argument, Problem::Length { found, expected: expected.into() })
    }

    /// Creates the error for a text that is not one of the operator's keywords.
    ///
    /// ```
    /// use dispatch_runtime::BadArgument;
    /// let error = BadArgument::keyword("side", "up", &["left", "right"]);
    /// assert_eq!(error.to_string(), "argument `side` is `up`, but must be `left` or `right`");
    /// ```
    #[cold]
    #[must_use]
    pub fn keyword(argument: impl Into<Cow<'static, str>>, found: &str, expected: &'static [&'static str]) -> Self {
        Self::new(argument, Problem::Keyword { found: found.to_owned(), expected })
    }

    /// Creates the error for sizes that the operator does not allow.
    #[cold]
    #[must_use]
    pub fn sizes(argument: impl Into<Cow<'static, str>>, found: &[i64], expected: impl Into<Sizes>) -> Self {
        Self::new(argument, Problem::Sizes { found: found.to_vec(), expected: expected.into() })
    }

    /// Creates the error for sizes whose entry for dimension `dim` the operator does not allow.
    #[cold]
    #[must_use]
    pub fn size(
        argument: impl Into<Cow<'static, str>>,
        found: &[i64],
        dim: usize,
        expected: impl Into<Expected<i64>>,
    ) -> Self {
        Self::sizes(argument, found, Sizes::Dim { dim, size: expected.into() })
    }

    /// Creates the error for sizes whose number of elements the operator does not allow.
    #[cold]
    #[must_use]
    pub fn element_count(
        argument: impl Into<Cow<'static, str>>,
        found: &[i64],
        expected: impl Into<Expected<i64>>,
    ) -> Self {
        Self::sizes(argument, found, Sizes::ElementCount(expected.into()))
    }

    /// Creates the error for a number that a dtype cannot represent.
    #[cold]
    #[must_use]
    pub fn overflow(argument: impl Into<Cow<'static, str>>, number: Scalar, dtype: DType) -> Self {
        Self::new(argument, Problem::Overflow { number, dtype })
    }

    /// Creates the error for a number of dimensions that the operator does not allow.
    #[cold]
    #[must_use]
    pub fn rank(argument: impl Into<Cow<'static, str>>, found: usize, expected: impl Into<Expected<usize>>) -> Self {
        Self::new(argument, Problem::Rank { found, expected: expected.into() })
    }

    /// Creates the error for a dtype that the operator does not allow.
    #[cold]
    #[must_use]
    pub fn dtype(argument: impl Into<Cow<'static, str>>, found: DType, expected: impl Into<DTypes>) -> Self {
        Self::new(argument, Problem::DType { found, expected: expected.into() })
    }

    /// Adds a reason: the named argument already has the expected value.
    #[cold]
    #[must_use]
    pub fn like(self, argument: impl Into<Cow<'static, str>>) -> Self {
        self.with_reason(Reason::SameAsArgument(argument.into()))
    }

    /// Adds a reason: dimension `dim` of the named argument already has the expected size.
    #[cold]
    #[must_use]
    pub fn like_dim(self, argument: impl Into<Cow<'static, str>>, dim: usize) -> Self {
        self.with_reason(Reason::SameAsDimension { argument: argument.into(), dim })
    }

    /// Adds a reason as a text, which ends the message after the word "as".
    ///
    /// ```
    /// use dispatch_runtime::{BadArgument, DType, DTypes};
    /// let error = BadArgument::dtype("self", DType::I64, DTypes::Floating).because("a mean has a fraction");
    /// assert!(error.to_string().ends_with("must be floating, as a mean has a fraction"));
    /// ```
    #[cold]
    #[must_use]
    pub fn because(self, reason: impl Into<Cow<'static, str>>) -> Self {
        self.with_reason(Reason::Text(reason.into()))
    }

    #[cold]
    fn with_reason(self, reason: Reason) -> Self {
        Self { reason: Some(Box::new(reason)), ..self }
    }
}

impl fmt::Display for BadArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument `{}` {}", self.argument, self.problem)?;
        let verb = match *self.problem {
            Problem::Rank { .. } | Problem::Sizes { .. } | Problem::Length { .. } => "has",
            _ => "is",
        };
        match self.reason.as_deref() {
            None => Ok(()),
            Some(Reason::SameAsArgument(argument)) => write!(f, ", as `{argument}` {verb}"),
            Some(Reason::SameAsDimension { argument, dim }) => write!(f, ", as `{argument}` has in dimension {dim}"),
            Some(Reason::Text(text)) => write!(f, ", as {text}"),
        }
    }
}

impl std::error::Error for BadArgument {}

impl Scalar {
    /// Checks that the number [fits](Self::fits) the dtype.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Scalar};
    /// let error = Scalar::from(300).check_fits("value", DType::U8).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "argument `value` is 300, which uint8 cannot hold; use a number from 0 to 255, or a wider dtype"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`Problem::Overflow`](crate::Problem::Overflow) for `argument` if the number does not fit.
    #[inline]
    pub fn check_fits(self, argument: &'static str, dtype: DType) -> Result<(), BadArgument> {
        if self.fits(dtype) { Ok(()) } else { Err(BadArgument::overflow(argument, self, dtype)) }
    }
}
