//! The grammar: Python's operators, calls of known functions, and sources of guards such as `L['x'].size()[0]`.

use super::Term;
use super::function::Function;
use super::quantity::{Fraction, Quantity};

/// The longest text of an expression, in bytes.
const MAX_LENGTH: usize = 1 << 14;

/// The deepest nesting of an expression. Parsing, evaluation and drop recurse this deep.
const MAX_DEPTH: usize = 96;

/// Parses a text. Returns `None` if it is no expression, or is too long or too deep.
pub(super) fn parse(text: &str) -> Option<Term> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut parser = Parser { tokens: tokens(text)?, position: 0, depth: 0 };
    let term = parser.binary(0)?;
    (parser.position == parser.tokens.len()).then_some(term)
}

#[derive(Debug, Clone, PartialEq)]
enum Token<'a> {
    Number(Quantity),
    Text(&'a str),
    Name(&'a str),
    Symbol(&'static str),
}

/// The operators and brackets. The first match is used, so `**` comes before `*`.
const SYMBOLS: [&str; 25] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "^", "(", ")",
    "[", "]", ",", ".",
];

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let size = if first.is_ascii_digit() {
            let size = number_length(rest);
            tokens.push(Token::Number(number(rest.get(..size)?)?));
            size
        } else if first.is_ascii_alphabetic() || first == '_' {
            let size = length(|c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token::Name(rest.get(..size)?));
            size
        } else if first == '\'' || first == '"' {
            let content = rest.get(1..)?;
            let end = content.find(first)?;
            let content = content.get(..end).filter(|content| !content.contains('\\'))?;
            tokens.push(Token::Text(content));
            end + 2
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
            tokens.push(Token::Symbol(symbol));
            symbol.len()
        };
        rest = rest.get(size..)?.trim_start();
    }
    Some(tokens)
}

/// Returns the length of a number such as `12`, `0.5` or `1e-3`.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(0);
    if text.get(end..).is_some_and(|rest| rest.starts_with('.')) {
        end = digits(end + 1);
    }
    if let Some(exponent) = text.get(end..).filter(|rest| rest.starts_with(['e', 'E'])) {
        let sign = usize::from(exponent.get(1..).is_some_and(|rest| rest.starts_with(['+', '-'])));
        let exponent_end = digits(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    end
}

fn number(text: &str) -> Option<Quantity> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Quantity::Exact(Fraction::integer(text.parse().ok()?)));
    }
    text.parse().ok().map(Quantity::Float)
}

/// An operator between two operands, with its precedence in Python. A higher one binds more tightly.
fn binary_operator(token: &Token<'_>) -> Option<(u8, Function)> {
    Some(match token {
        Token::Name("or") => (1, Function::Or),
        Token::Name("and") => (2, Function::And),
        Token::Symbol(symbol) => match *symbol {
            "==" => (4, Function::Equal),
            "!=" => (4, Function::NotEqual),
            "<" => (4, Function::Less),
            "<=" => (4, Function::LessEqual),
            ">" => (4, Function::Greater),
            ">=" => (4, Function::GreaterEqual),
            "|" => (5, Function::BitwiseOr),
            "^" => (6, Function::BitwiseXor),
            "&" => (7, Function::BitwiseAnd),
            "<<" => (8, Function::LeftShift),
            ">>" => (8, Function::RightShift),
            "+" | "-" => (9, Function::Add),
            "*" => (10, Function::Mul),
            "/" => (10, Function::Divide),
            "//" => (10, Function::FloorDivide),
            "%" => (10, Function::Modulo),
            "**" => (POWER, Function::Power),
            _ => return None,
        },
        _ => return None,
    })
}

const NOT: u8 = 3;
const RELATION: u8 = 4;
const SIGN: u8 = 11;
const POWER: u8 = 12;

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.position)
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?.clone();
        self.position += 1;
        Some(token)
    }

    /// Skips a token if it is next.
    fn skip(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(next)) if *next == symbol);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Option<()> {
        self.skip(symbol).then_some(())
    }

    /// Parses operands with operators of at least this precedence between them.
    fn binary(&mut self, lowest: u8) -> Option<Term> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let mut left = self.unary()?;
        let (mut chain, mut relations) = (0, 0);
        while let Some((precedence, function)) = self.peek().and_then(binary_operator)
            && precedence >= lowest
        {
            let subtract = self.next()? == Token::Symbol("-");
            // Only `**` groups from the right.
            let right = self.binary(if precedence == POWER { SIGN } else { precedence + 1 })?;
            let right = if subtract { Term::Apply(Function::Neg, vec![right]) } else { right };
            left = match left {
                // Long sums and products do not become deep.
                Term::Apply(known, mut operands) if known == function && is_associative(function) => {
                    operands.push(right);
                    Term::Apply(function, operands)
                }
                left => {
                    chain += 1;
                    relations += u8::from(precedence == RELATION);
                    // `a < b < c` compares twice in Python. PyTorch does not write it.
                    if chain > MAX_DEPTH || relations > 1 {
                        return None;
                    }
                    Term::Apply(function, vec![left, right])
                }
            };
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<Term> {
        if self.skip("-") {
            let operand = self.binary(SIGN)?;
            return Some(match operand {
                Term::Number(Quantity::Exact(number)) => Term::Number(Quantity::Exact(number.negate()?)),
                Term::Number(Quantity::Float(number)) => Term::Number(Quantity::Float(-number)),
                operand => Term::Apply(Function::Neg, vec![operand]),
            });
        }
        if self.skip("+") {
            return self.binary(SIGN);
        }
        if self.peek() == Some(&Token::Name("not")) {
            self.position += 1;
            return Some(Term::Apply(Function::Not, vec![self.binary(NOT)?]));
        }
        match self.next()? {
            Token::Number(number) => Some(Term::Number(number)),
            Token::Symbol("(") => {
                let inner = self.binary(0)?;
                self.expect(")")?;
                Some(inner)
            }
            Token::Name("L") if self.peek() == Some(&Token::Symbol("[")) => self.source(),
            Token::Name(name) => self.name(name),
            _ => None,
        }
    }

    /// Parses a symbol, a constant or a call.
    fn name(&mut self, first: &'a str) -> Option<Term> {
        let mut name = first;
        while matches!(name, "math" | "torch") && self.skip(".") {
            let Token::Name(member) = self.next()? else { return None };
            name = member;
        }
        if self.skip("(") {
            return self.call(name);
        }
        Some(match name {
            "True" | "true" => Term::Number(Quantity::Bool(true)),
            "False" | "false" => Term::Number(Quantity::Bool(false)),
            "oo" | "int_oo" | "inf" => Term::Number(Quantity::Float(f64::INFINITY)),
            "nan" => Term::Number(Quantity::Float(f64::NAN)),
            "and" | "or" | "if" | "else" | "in" | "is" | "lambda" | "for" => return None,
            name => Term::Symbol(name.to_owned()),
        })
    }

    fn call(&mut self, name: &str) -> Option<Term> {
        match name {
            "Symbol" | "Dummy" => {
                let Token::Text(symbol) = self.next()? else { return None };
                self.end_of_call()?;
                return Some(Term::Symbol(symbol.to_owned()));
            }
            "Float" => {
                let value = match self.next()? {
                    Token::Text(text) => text.parse().ok()?,
                    Token::Number(number) => number.as_float(),
                    _ => return None,
                };
                self.end_of_call()?;
                return Some(Term::Number(Quantity::Float(value)));
            }
            _ => {}
        }
        let mut arguments = Vec::new();
        while !self.skip(")") {
            arguments.push(self.binary(0)?);
            if !self.skip(",") {
                self.expect(")")?;
                break;
            }
        }
        match (name, arguments.as_slice()) {
            ("Integer", [Term::Number(number @ Quantity::Exact(_))]) => Some(Term::Number(*number)),
            ("Rational", [Term::Number(numerator), Term::Number(denominator)]) => {
                let (numerator, denominator) = (numerator.as_fraction()?, denominator.as_fraction()?);
                Some(Term::Number(Quantity::Exact(numerator.divide(denominator)?)))
            }
            ("Identity", [_]) => arguments.pop(),
            // The second argument of `int` and `round` and their like may be absent.
            ("round", [_]) => Some(Term::Apply(Function::Round, arguments)),
            _ => {
                let function = Function::from_name(name)?;
                function.arity().contains(&arguments.len()).then_some(Term::Apply(function, arguments))
            }
        }
    }

    /// Skips the assumptions of a symbol, such as `, positive=True)`.
    fn end_of_call(&mut self) -> Option<()> {
        while self.skip(",") {
            let Token::Name(_) = self.next()? else { return None };
            self.expect("=")?;
            let (Token::Name(_) | Token::Number(_)) = self.next()? else { return None };
        }
        self.expect(")")
    }

    /// Parses the rest of a source after `L`. It becomes a symbol with a canonical name, in which `.field` is `['field']`.
    fn source(&mut self) -> Option<Term> {
        let mut parts = vec!["L".to_owned()];
        loop {
            if self.skip("[") {
                match self.next()? {
                    Token::Text(key) => parts.push(format!("['{key}']")),
                    Token::Number(index) => parts.push(format!("[{}]", index.as_int()?)),
                    _ => return None,
                }
                self.expect("]")?;
            } else if self.skip(".") {
                let Token::Name(member) = self.next()? else { return None };
                if self.skip("(") {
                    self.expect(")")?;
                    parts.push(format!(".{member}()"));
                } else {
                    parts.push(format!("['{member}']"));
                }
            } else {
                return Some(Term::Symbol(parts.concat()));
            }
        }
    }
}

const fn is_associative(function: Function) -> bool {
    matches!(function, Function::Add | Function::Mul | Function::And | Function::Or)
}
