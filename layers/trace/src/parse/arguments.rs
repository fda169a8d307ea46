//! Parser of the arguments of a call, guided by the operator's schema.

use dispatch_runtime::schema::{Type, TypeKind};
use dispatch_runtime::{Complex64, DType, Layout, MemoryFormat, Operator};

use super::lex::{Token, syntax_error};
use super::{ParseResult, Parser};
use crate::argument::{Argument, list_argument};
use crate::graph::NamedArgument;

impl Parser<'_> {
    pub(super) fn parse_arguments(&mut self, operator: &Operator) -> ParseResult<Vec<NamedArgument>> {
        let schema = operator.schema();
        self.expect_punctuation('(')?;
        let mut inputs: Vec<(usize, NamedArgument)> = Vec::new();
        self.parse_list(')', |parser| {
            let span = parser.current_span();
            let syntax_error = |problem| syntax_error(parser.text, &span, problem);
            let named = matches!(parser.tokens.get(parser.position + 1), Some((Token::Punctuation('='), _)));
            let at = if named {
                let name = parser.parse_name("an argument")?;
                parser.expect_punctuation('=')?;
                let found = schema.argument(&name).map(|(at, _)| at);
                found
                    .ok_or_else(|| syntax_error(format!("the operator has no argument `{name}`: it is `{schema:#}`")))?
            } else {
                inputs.len()
            };
            let Some(described) = schema.arguments.get(at).filter(|argument| named || !argument.keyword_only) else {
                return Err(syntax_error(format!(
                    "no positional argument is allowed here: the operator is `{schema:#}`"
                )));
            };
            let arg = parser.parse_argument(&described.ty, described.is_written())?;
            if inputs.iter().any(|(other, _)| *other == at) {
                return Err(syntax_error(format!("`{}` is given twice", described.name)));
            }
            if !Argument::schema_default(described).is_some_and(|default| default == arg) {
                inputs.push((at, NamedArgument { name: described.name.clone(), arg, keyword: described.keyword_only }));
            }
            Ok(())
        })?;
        inputs.sort_by_key(|(at, _)| *at);
        Ok(inputs.into_iter().map(|(_, input)| input).collect())
    }

    fn parse_argument(&mut self, ty: &Type, written: bool) -> ParseResult<Argument> {
        let ty = ty.without_optional();
        let span = self.current_span();
        let unfit = |text: &str| syntax_error(text, &span, format!("this is not a value of type `{ty}`"));
        let (token, _) = self.tokens[self.position].clone();
        self.position += 1;
        Ok(match token {
            Token::Int(value) => Argument::Int(value),
            Token::Float(value) => Argument::Float(value),
            Token::StringLiteral(value) => Argument::String(value),
            Token::Punctuation('&') => {
                if self.eat_word("mut") != written {
                    let what = if written {
                        "the operator writes this argument: use `&mut`"
                    } else {
                        "the operator does not write this argument: leave `mut` out"
                    };
                    return Err(syntax_error(self.text, &span, what));
                }
                self.parse_tensors(ty)?
            }
            Token::Punctuation('[') => {
                let TypeKind::List(element, _) = &ty.kind else { return Err(unfit(self.text)) };
                let items = self.parse_list(']', |parser| parser.parse_argument(element, false))?;
                list_argument(items, &element.kind).ok_or_else(|| unfit(self.text))?
            }
            Token::Word(word) => match (&word[..], word.split_once("::")) {
                ("None", _) => Argument::None,
                ("true", _) => Argument::Bool(true),
                ("false", _) => Argument::Bool(false),
                ("Complex", _) => {
                    self.expect_punctuation('(')?;
                    let re = self.parse_float()?;
                    self.expect_punctuation(',')?;
                    let im = self.parse_float()?;
                    self.expect_punctuation(')')?;
                    Argument::Complex(Complex64::new(re, im))
                }
                ("Device", _) => {
                    self.expect_punctuation('(')?;
                    let at = self.current_span();
                    let Token::StringLiteral(name) = self.peek().clone() else {
                        return Err(self.unexpected_token("a device's name"));
                    };
                    self.position += 1;
                    self.expect_punctuation(')')?;
                    Argument::Device(name.parse().map_err(|error| syntax_error(self.text, &at, format!("{error}")))?)
                }
                (_, Some(("DType", name))) => DType::ALL
                    .into_iter()
                    .find(|dtype| format!("{dtype:?}") == name)
                    .map(Argument::ScalarType)
                    .ok_or_else(|| unfit(self.text))?,
                (_, Some(("Layout", name))) => find_by_debug_name(name, Layout::from_number)
                    .map(Argument::Layout)
                    .ok_or_else(|| unfit(self.text))?,
                (_, Some(("MemoryFormat", name))) => find_by_debug_name(name, MemoryFormat::from_number)
                    .map(Argument::MemoryFormat)
                    .ok_or_else(|| unfit(self.text))?,
                _ => {
                    return Err(syntax_error(
                        self.text,
                        &span,
                        format!("`{word}` is not an argument; write a value as `&{word}`"),
                    ));
                }
            },
            _ => {
                self.position -= 1;
                return Err(self.unexpected_token("an argument"));
            }
        })
    }

    /// Parses the tensors after `&`: a value or a list of values.
    fn parse_tensors(&mut self, ty: &Type) -> ParseResult<Argument> {
        if !self.eat_punctuation('[') {
            return Ok(Argument::Tensor(self.parse_use()?));
        }
        let optional = matches!(&ty.kind, TypeKind::List(element, _) if element.accepts_none());
        if !optional {
            return self.parse_list(']', Self::parse_use).map(Argument::Tensors);
        }
        let ids = self.parse_list(']', |parser| {
            if parser.eat_word("None") {
                return Ok(None);
            }
            parser.expect_word("Some")?;
            parser.expect_punctuation('(')?;
            let id = parser.parse_use()?;
            parser.expect_punctuation(')')?;
            Ok(Some(id))
        })?;
        Ok(Argument::OptionalTensors(ids))
    }

    fn parse_float(&mut self) -> ParseResult<f64> {
        let Token::Float(value) = *self.peek() else { return Err(self.unexpected_token("a floating-point number")) };
        self.position += 1;
        Ok(value)
    }
}

fn find_by_debug_name<T: std::fmt::Debug>(name: &str, of: impl Fn(i64) -> Option<T>) -> Option<T> {
    (0..8).filter_map(of).find(|value| format!("{value:?}") == name)
}
