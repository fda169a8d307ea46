//! What an operator takes and gives.

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
/// The text is PyTorch's, and `{:#}` the same with the shortest spelling of floats:
///
/// ```
/// # use dispatch_schema::Schema;
/// let schema = Schema::parse("f(float eps=1e-6) -> ()").unwrap();
/// assert_eq!(format!("{schema} {schema:#}"), "f(float eps=9.9999999999999995e-07) -> () f(float eps=1e-6) -> ()");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    /// What the operator is called.
    pub name: OperatorName,
    /// The arguments, positional ones first.
    pub arguments: Vec<Argument>,
    /// The returns.
    pub returns: Vec<Return>,
    /// Whether any number of further arguments may follow (`...`).
    pub varargs: bool,
    /// Whether any number of further returns may follow (`...`).
    pub varreturns: bool,
}

/// One argument: `Scalar alpha=1`.
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
    /// What the argument is called. No two arguments of a schema have the same name.
    pub name: String,
    /// What it can be.
    pub ty: Type,
    /// What it is where the caller leaves it out. Always a value of `ty`.
    pub default: Option<DefaultValue>,
    /// Whether it stands after `*` and can only be given by name.
    pub keyword_only: bool,
}

/// One return: `Tensor values`.
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
    /// What the return is called, if anything.
    pub name: Option<String>,
    /// What it can be.
    pub ty: Type,
}

/// A whole schema, or only the name of an operator whose schema comes from elsewhere.
///
/// ```
/// use dispatch_schema::Declaration;
///
/// assert!(matches!(Declaration::parse("aten::relu").unwrap(), Declaration::Name(_)));
/// assert!(matches!(Declaration::parse("relu(Tensor self) -> Tensor").unwrap(), Declaration::Schema(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// `aten::add.Tensor`.
    Name(OperatorName),
    /// `aten::add.Tensor(Tensor self, ...) -> Tensor`.
    Schema(Schema),
}

impl Schema {
    /// Parses one declaration; the spans of errors are byte offsets into `text`.
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
        parse::from_text(text, parse::whole_schema)
    }

    /// Parses one declaration from tokens; the spans of errors are made of the spans of the tokens.
    ///
    /// ```
    /// use dispatch_schema::{Schema, lex};
    ///
    /// let text = "relu(Tensor self) -> Tensor";
    /// assert_eq!(Schema::parse_tokens(&lex(text).unwrap()), Schema::parse(text));
    /// ```
    pub fn parse_tokens(tokens: &[Token]) -> Result<Self, SyntaxErrors> {
        parse::from_tokens(tokens, parse::whole_schema)
    }

    /// The argument of that name and where it stands.
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
    /// Parses a schema, or a name with nothing after it.
    ///
    /// ```
    /// use dispatch_schema::Declaration;
    ///
    /// assert_eq!(Declaration::parse("aten::relu").unwrap().name().base, "relu");
    /// ```
    pub fn parse(text: &str) -> Result<Self, SyntaxErrors> {
        parse::from_text(text, parse::whole_declaration)
    }

    /// Parses a schema or a name from tokens.
    ///
    /// ```
    /// use dispatch_schema::{Declaration, lex};
    ///
    /// assert!(Declaration::parse_tokens(&lex("relu").unwrap()).is_ok());
    /// ```
    pub fn parse_tokens(tokens: &[Token]) -> Result<Self, SyntaxErrors> {
        parse::from_tokens(tokens, parse::whole_declaration)
    }

    /// The operator's name, which both forms have.
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
