//! Schemas: declarations of operators.

use crate::default::DefaultValue;
use crate::error::SyntaxErrors;
use crate::name::OperatorName;
use crate::parse;
use crate::token::Token;
use crate::ty::Type;

/// The declaration of one operator: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
///
/// ```
/// use dispatch_schema::Schema;
///
/// let schema = Schema::parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha = 1) -> Tensor").unwrap();
/// assert_eq!(schema.name.base, "add");
/// assert!(schema.arguments[2].keyword_only);
/// assert_eq!(schema.to_string(), "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
/// ```
///
/// A schema prints as PyTorch's text. `{:#}` prints the same text with the shortest form of floats:
///
/// ```
/// # use dispatch_schema::Schema;
/// let schema = Schema::parse("f(float eps=1e-6) -> ()").unwrap();
/// assert_eq!(format!("{schema} {schema:#}"), "f(float eps=9.9999999999999995e-07) -> () f(float eps=1e-6) -> ()");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The name of the operator.
    pub name: OperatorName,
    /// The arguments. Positional arguments come first.
    pub arguments: Vec<Argument>,
    /// The returns.
    pub returns: Vec<Return>,
    /// Whether any number of further arguments may follow (`...`).
    pub varargs: bool,
    /// Whether any number of further returns may follow (`...`).
    pub varreturns: bool,
}

/// An argument of an operator: `Scalar alpha=1`.
///
/// ```
/// use dispatch_schema::{DefaultValue, Schema, TypeKind};
///
/// let schema = Schema::parse("f(*, Scalar alpha=1) -> ()").unwrap();
/// let alpha = &schema.arguments[0];
/// assert_eq!((alpha.name.as_str(), &alpha.ty.kind), ("alpha", &TypeKind::Scalar));
/// assert_eq!(alpha.default, Some(DefaultValue::Int(1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The name of the argument. Names are unique within a schema.
    pub name: String,
    /// The type of the argument.
    pub ty: Type,
    /// The value if the caller omits the argument. It is always a value of `ty`.
    pub default: Option<DefaultValue>,
    /// Whether the argument follows `*`, so that it can only be passed by name.
    pub keyword_only: bool,
}

/// A return of an operator: `Tensor values`.
///
/// ```
/// use dispatch_schema::Schema;
///
/// let schema = Schema::parse("max.dim(Tensor self, int dim) -> (Tensor values, Tensor)").unwrap();
/// assert_eq!(schema.returns[0].name.as_deref(), Some("values"));
/// assert_eq!(schema.returns[1].name, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Return {
    /// The name of the return, if it has one.
    pub name: Option<String>,
    /// The type of the return.
    pub ty: Type,
}

/// A schema, or only the name of an operator whose schema is defined elsewhere.
///
/// ```
/// use dispatch_schema::Declaration;
///
/// assert!(matches!(Declaration::parse("aten::relu").unwrap(), Declaration::Name(_)));
/// assert!(matches!(Declaration::parse("relu(Tensor self) -> Tensor").unwrap(), Declaration::Schema(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// A name: `aten::add.Tensor`.
    Name(OperatorName),
    /// A schema: `aten::add.Tensor(Tensor self, ...) -> Tensor`.
    Schema(Schema),
}

impl Schema {
    /// Parses a schema. The spans of errors are byte ranges of `text`.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let source = "relu(Tensro self) -> Tensor";
    /// let errors = Schema::parse(source).unwrap_err();
    /// assert_eq!(errors[0].span, 5..11);
    /// assert_eq!(
    ///     errors.render(source).lines().collect::<Vec<_>>(),
    ///     [
    ///         "unknown type `Tensro`; did you mean `Tensor`?",
    ///         "  relu(Tensro self) -> Tensor",
    ///         "       ^^^^^^",
    ///     ],
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxErrors> {
        parse::parse_text(text, parse::parse_whole_schema)
    }

    /// Parses a schema from tokens. The spans of errors are built from the spans of the tokens.
    ///
    /// ```
    /// use dispatch_schema::{Schema, lex};
    ///
    /// let text = "relu(Tensor self) -> Tensor";
    /// assert_eq!(Schema::parse_tokens(&lex(text).unwrap()), Schema::parse(text));
    /// ```
    pub fn parse_tokens(tokens: &[Token]) -> Result<Self, SyntaxErrors> {
        parse::parse_tokens(tokens, parse::parse_whole_schema)
    }

    /// Returns the argument with this name, and its index.
    ///
    /// ```
    /// use dispatch_schema::Schema;
    ///
    /// let schema = Schema::parse("sub(Tensor self, Tensor other) -> Tensor").unwrap();
    /// assert_eq!(schema.argument("other").unwrap().0, 1);
    /// assert!(schema.argument("out").is_none());
    /// ```
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<(usize, &Argument)> {
        self.arguments.iter().enumerate().find(|(_, argument)| argument.name == name)
    }
}

impl Declaration {
    /// Parses a schema, or a text that is only a name.
    ///
    /// ```
    /// use dispatch_schema::Declaration;
    ///
    /// assert_eq!(Declaration::parse("aten::relu").unwrap().name().base, "relu");
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxErrors> {
        parse::parse_text(text, parse::parse_whole_declaration)
    }

    /// Parses a schema or a name from tokens.
    ///
    /// ```
    /// use dispatch_schema::{Declaration, lex};
    ///
    /// assert!(Declaration::parse_tokens(&lex("relu").unwrap()).is_ok());
    /// ```
    pub fn parse_tokens(tokens: &[Token]) -> Result<Self, SyntaxErrors> {
        parse::parse_tokens(tokens, parse::parse_whole_declaration)
    }

    /// Returns the operator's name.
    ///
    /// ```
    /// use dispatch_schema::Declaration;
    ///
    /// assert_eq!(Declaration::parse("aten::relu(Tensor self) -> Tensor").unwrap().name().to_string(), "aten::relu");
    /// ```
    #[must_use]
    pub fn name(&self) -> &OperatorName {
        match self {
            Self::Name(name) => name,
            Self::Schema(schema) => &schema.name,
        }
    }
}
