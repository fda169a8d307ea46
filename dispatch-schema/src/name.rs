//! Operator names.

use std::fmt;

use crate::error::SyntaxErrors;
use crate::{parse, token};

/// The name of an operator: `namespace::base.overload`. Without a namespace, the registration decides it.
///
/// ```
/// use dispatch_schema::OperatorName;
///
/// let name = OperatorName::parse("aten::add.Tensor").unwrap();
/// assert_eq!(name.namespace.as_deref(), Some("aten"));
/// assert_eq!((name.base.as_str(), name.overload.as_str()), ("add", "Tensor"));
/// assert_eq!(name.to_string(), "aten::add.Tensor");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorName {
    /// The namespace: the text before `::`.
    pub namespace: Option<String>,
    /// The base name, without namespace and overload.
    pub base: String,
    /// The overload name: the text after `.`. Empty for the operator without an overload name.
    pub overload: String,
}

impl OperatorName {
    /// Parses a text that is an operator name and nothing else.
    ///
    /// ```
    /// use dispatch_schema::OperatorName;
    ///
    /// assert!(OperatorName::parse("aten::add").is_ok());
    /// assert!(OperatorName::parse("aten::add.default").is_err()); // no overload name is written by leaving it out
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxErrors> {
        parse::parse_text(text, parse::parse_whole_name)
    }

    /// Returns the name of the operator's Rust function: the base, and the overload in lower case.
    ///
    /// An overload such as `.Tensor` may be dropped, depending on the other overloads of the operator. This method does not drop it.
    ///
    /// ```
    /// use dispatch_schema::OperatorName;
    ///
    /// assert_eq!(OperatorName::parse("aten::sum.dim_IntList").unwrap().rust_name(), "sum_dim_intlist");
    /// assert_eq!(OperatorName::parse("aten::relu").unwrap().rust_name(), "relu");
    /// ```
    #[must_use]
    pub fn rust_name(&self) -> String {
        if self.overload.is_empty() {
            self.base.clone()
        } else {
            format!("{}_{}", self.base, self.overload.to_ascii_lowercase())
        }
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}::")?;
        }
        f.write_str(&self.base)?;
        if self.overload.is_empty() { Ok(()) } else { write!(f, ".{}", self.overload) }
    }
}

/// Whether `text` can be a name: ASCII letters, digits and `_`, not beginning with a digit, and not reserved.
///
/// ```
/// use dispatch_schema::is_identifier;
///
/// assert!(is_identifier("from"));
/// assert!(!is_identifier("while"));
/// assert!(!is_identifier("2d"));
/// ```
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    token::is_word(text) && !is_reserved(text)
}

/// Whether a word is reserved in PyTorch's script language: PyTorch cannot parse a schema that uses it as a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    const RESERVED_WORDS: [&str; 28] = [
        "def", "if", "else", "elif", "while", "return", "is", "not", "and", "or", "for", "in", "True", "False", "None",
        "NoneType", "pass", "break", "continue", "del", "class", "import", "with", "as", "global", "raise", "assert",
        "Ellipsis",
    ];
    RESERVED_WORDS.contains(&word)
}
