//! Parser of the arguments of a call, guided by the operator's schema.

use dispatch_runtime::schema::{Type, TypeKind};
use dispatch_runtime::{Complex64, DType, Layout, MemoryFormat, Operator};

use super::lex::{Token, mistake};
use super::{Parsed, Parser};
use crate::argument::{Argument, gathered};
use crate::graph::Input;

impl Parser<'_> {
    pub(super) fn arguments(&mut self, operator: &Operator) -> Parsed<Vec<Input>> {
        let schema = operator.schema();
        self.sign('(')?;
        let mut inputs: Vec<(usize, Input)> = Vec::new();
        self.list(')', |parser| {
            let span = parser.span();
            let mistake = |problem| mistake(parser.text, &span, problem);
            let named = matches!(parser.tokens.get(parser.at + 1), Some((Token::Sign('='), _)));
            let at = if named {
                let name = parser.name("an argument")?;
                parser.sign('=')?;
                let found = schema.argument(&name).map(|(at, _)| at);
                found.ok_or_else(|| mistake(format!("it has no argument `{name}`: it is `{schema:#}`")))?
            } else {
                inputs.len()
            };
            let Some(described) = schema.arguments.get(at).filter(|argument| named || !argument.keyword_only) else {
                return Err(mistake(format!("no argument is given by place here: it is `{schema:#}`")));
            };
            let arg = parser.argument(&described.ty, described.is_written())?;
            if inputs.iter().any(|(other, _)| *other == at) {
                return Err(mistake(format!("`{}` is given twice", described.name)));
            }
            if !Argument::default_of(described).is_some_and(|default| default == arg) {
                inputs.push((at, Input { name: described.name.clone(), arg, keyword: described.keyword_only }));
            }
            Ok(())
        })?;
        inputs.sort_by_key(|(at, _)| *at);
        Ok(inputs.into_iter().map(|(_, input)| input).collect())
    }

    fn argument(&mut self, ty: &Type, written: bool) -> Parsed<Argument> {
        let ty = ty.required();
        let span = self.span();
        let unfit = |text: &str| mistake(text, &span, format!("this is no {ty}"));
        let (token, _) = self.tokens[self.at].clone();
        self.at += 1;
        Ok(match token {
            Token::Int(value) => Argument::Int(value),
            Token::Float(value) => Argument::Float(value),
            Token::Text(value) => Argument::String(value),
            Token::Sign('&') => {
                if self.eat_word("mut") != written {
                    let what = if written { "it is written: say `&mut`" } else { "it is not written: leave `mut` out" };
                    return Err(mistake(self.text, &span, what));
                }
                self.tensors(ty)?
            }
            Token::Sign('[') => {
                let TypeKind::List(element, _) = &ty.kind else { return Err(unfit(self.text)) };
                let items = self.list(']', |parser| parser.argument(element, false))?;
                gathered(items, &element.kind).ok_or_else(|| unfit(self.text))?
            }
            Token::Word(word) => match (&word[..], word.split_once("::")) {
                ("None", _) => Argument::None,
                ("true", _) => Argument::Bool(true),
                ("false", _) => Argument::Bool(false),
                ("Complex", _) => {
                    self.sign('(')?;
                    let re = self.float()?;
                    self.sign(',')?;
                    let im = self.float()?;
                    self.sign(')')?;
                    Argument::Complex(Complex64::new(re, im))
                }
                ("Device", _) => {
                    self.sign('(')?;
                    let at = self.span();
                    let Token::Text(name) = self.peek().clone() else { return Err(self.unexpected("a device's name")) };
                    self.at += 1;
                    self.sign(')')?;
                    Argument::Device(name.parse().map_err(|error| mistake(self.text, &at, format!("{error}")))?)
                }
                (_, Some(("DType", name))) => DType::ALL
                    .into_iter()
                    .find(|dtype| format!("{dtype:?}") == name)
                    .map(Argument::ScalarType)
                    .ok_or_else(|| unfit(self.text))?,
                (_, Some(("Layout", name))) => {
                    numbered(name, Layout::from_number).map(Argument::Layout).ok_or_else(|| unfit(self.text))?
                }
                (_, Some(("MemoryFormat", name))) => numbered(name, MemoryFormat::from_number)
                    .map(Argument::MemoryFormat)
                    .ok_or_else(|| unfit(self.text))?,
                _ => {
                    return Err(mistake(
                        self.text,
                        &span,
                        format!("`{word}` is no argument; values are given as `&{word}`"),
                    ));
                }
            },
            _ => {
                self.at -= 1;
                return Err(self.unexpected("an argument"));
            }
        })
    }

    /// Parses the tensors after `&`: a value or a list of values.
    fn tensors(&mut self, ty: &Type) -> Parsed<Argument> {
        if !self.eat('[') {
            return Ok(Argument::Tensor(self.used()?));
        }
        let optional = matches!(&ty.kind, TypeKind::List(element, _) if element.accepts_none());
        if !optional {
            return self.list(']', Self::used).map(Argument::Tensors);
        }
        let ids = self.list(']', |parser| {
            if parser.eat_word("None") {
                return Ok(None);
            }
            parser.word("Some")?;
            parser.sign('(')?;
            let id = parser.used()?;
            parser.sign(')')?;
            Ok(Some(id))
        })?;
        Ok(Argument::OptionalTensors(ids))
    }

    fn float(&mut self) -> Parsed<f64> {
        let Token::Float(value) = *self.peek() else { return Err(self.unexpected("a number with a point")) };
        self.at += 1;
        Ok(value)
    }
}

fn numbered<T: std::fmt::Debug>(name: &str, of: impl Fn(i64) -> Option<T>) -> Option<T> {
    (0..8).filter_map(of).find(|value| format!("{value:?}") == name)
}
