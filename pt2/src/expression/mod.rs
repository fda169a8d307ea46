//! Expressions of symbols: sizes that depend on sizes of the inputs, or on elements.
//!
//! A program has them as text, in two notations. Sizes are in the notation of sympy's `srepr`, such as
//! `Add(Symbol('s0', integer=True), Integer(1))`. Ranges and guards are in Python's notation, such as `s0 + 1` and
//! `L['x'].size()[0] >= 2`. PyTorch evaluates such a text as code of Python. Here it is parsed by one small grammar, and a text outside of it
//! is an unknown expression, which has no value.

mod evaluate;
mod function;
mod parse;
mod quantity;
mod render;

use dispatch_runtime::Scalar;

use function::Function;
pub(crate) use quantity::Quantity;

/// A number, or an expression of symbols.
///
/// ```
/// use dispatch_pt2::Expression;
/// use dispatch_runtime::Scalar;
///
/// let size = Expression::parse("Mul(Integer(4), Symbol('s0', positive=True, integer=True))");
/// assert_eq!(size.to_string(), "4*s0");
/// assert_eq!(size.evaluate(|_symbol| Some(Scalar::Int(3))), Some(Scalar::Int(12)));
///
/// let code = Expression::parse("__import__('os').system('true')");
/// assert!(code.is_unknown());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Term);

/// A node of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    Number(Quantity),
    Symbol(String),
    Apply(Function, Vec<Self>),
    Unknown,
}

impl Expression {
    /// Parses an expression of sympy's `srepr` or of Python. A text that is none is an unknown expression.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self(parse::parse(text).unwrap_or(Term::Unknown))
    }

    /// Makes an expression without symbols.
    #[must_use]
    pub(crate) const fn number(number: Quantity) -> Self {
        Self(Term::Number(number))
    }

    /// Returns whether the text was no expression.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        matches!(self.0, Term::Unknown)
    }

    /// Returns the integer, if the expression is one.
    ///
    /// ```
    /// use dispatch_pt2::Expression;
    /// assert_eq!(Expression::parse("Integer(7)").as_int(), Some(7));
    /// assert_eq!(Expression::parse("s0").as_int(), None);
    /// ```
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Term::Number(number) = &self.0 { number.as_int() } else { None }
    }

    /// Returns the name of the symbol, if the expression is one.
    #[must_use]
    pub fn as_symbol(&self) -> Option<&str> {
        if let Term::Symbol(name) = &self.0 { Some(name) } else { None }
    }

    /// Returns the sides of an equation.
    pub(crate) fn sides(&self) -> Option<(Self, Self)> {
        match &self.0 {
            Term::Apply(Function::Equal, sides) => match sides.as_slice() {
                [left, right] => Some((Self(left.clone()), Self(right.clone()))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value for these values of the symbols. An expression has none if it is unknown, if a symbol has none, if it divides by zero,
    /// or if a number has too many bits.
    ///
    /// ```
    /// use dispatch_pt2::Expression;
    /// use dispatch_runtime::Scalar;
    ///
    /// let guard = Expression::parse("Eq(Mod(s0, 4), 0)");
    /// assert_eq!(guard.evaluate(|_symbol| Some(Scalar::Int(6))), Some(Scalar::Bool(false)));
    /// ```
    pub fn evaluate(&self, symbols: impl Fn(&str) -> Option<Scalar>) -> Option<Scalar> {
        self.quantity(&|name| Quantity::from_scalar(symbols(name)?))?.into_scalar()
    }

    pub(crate) fn quantity(&self, symbols: &dyn Fn(&str) -> Option<Quantity>) -> Option<Quantity> {
        self.0.evaluate(symbols)
    }

    /// Returns the names of the symbols, each once, in the order of their first uses.
    ///
    /// ```
    /// use dispatch_pt2::Expression;
    /// assert_eq!(Expression::parse("s1 + s0*s1").symbols(), ["s1", "s0"]);
    /// ```
    #[must_use]
    pub fn symbols(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.0.collect_symbols(&mut names);
        names
    }
}

impl Term {
    fn collect_symbols<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Symbol(name) if !names.contains(&name.as_str()) => names.push(name),
            Self::Apply(_, arguments) => arguments.iter().for_each(|argument| argument.collect_symbols(names)),
            _ => {}
        }
    }
}
