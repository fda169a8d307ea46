//! Text back into a graph.

use std::collections::HashMap;
use std::ops::Range;

use dispatch_runtime::schema::{Schema, Type, TypeKind, suggest};
use dispatch_runtime::{Complex64, DType, Geometry, Layout, MemoryFormat, Operator, Result, Tensor};

use crate::argument::{Argument, Id, gathered};
use crate::error::TraceError;
use crate::graph::{Draft, Effects, Graph, Input, Node, Shown};
use crate::print::Names;

impl Graph {
    /// Reads what a graph prints, given its constants, and [verifies](Self::verify) it. Values may have any names.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_trace::Graph;
    ///
    /// # fn main() -> Result<()> {
    /// let graph = Graph::parse("fn graph(x: f32[2]) { let y: f32[2] = aten::mul(&x, 2.0); [y] }", &[])?;
    /// assert_eq!(&*graph.run(&[Tensor::from([1.0_f32, 2.0])])?[0].read::<f32>()?, [2.0, 4.0]);
    ///
    /// let error = Graph::parse("fn graph(x: f32[2]) {\n    let y: f32[2] = aten::sigmid(&x);\n    [y]\n}", &[]).unwrap_err();
    /// let shown = "\
    /// no operator is called `aten::sigmid`; did you mean `aten::sigmoid`?
    ///   |
    /// 2 |     let y: f32[2] = aten::sigmid(&x);
    ///   |                     ^^^^^^^^^^^^";
    /// assert_eq!(std::error::Error::source(&error).unwrap().to_string(), shown);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Where the text is no graph, with the place; where there are more or fewer constants than in the text; and those of
    /// [`verify`](Self::verify).
    pub fn parse(text: &str, constants: &[Tensor]) -> Result<Self> {
        let mut parser = Parser {
            text,
            tokens: lex(text)?,
            at: 0,
            draft: Draft::default(),
            names: HashMap::new(),
            operators: Names::new(),
        };
        let found = parser.graph()?;
        if found.len() != constants.len() {
            return Err(TraceError::ConstantCount { expected: found.len(), found: constants.len() }.into());
        }
        let mut draft = parser.draft;
        draft.constants = found.into_iter().zip(constants.iter().cloned()).collect();
        let graph = draft.finish();
        graph.verify()?;
        Ok(graph)
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    /// A name, or a path of names.
    Word(String),
    Int(i64),
    Float(f64),
    Text(String),
    Sign(char),
    End,
}

type Spanned = (Token, Range<usize>);

/// A mistake at a place of a text.
fn mistake(text: &str, span: &Range<usize>, problem: impl Into<String>) -> TraceError {
    let start = span.start.min(text.len());
    let before = &text[..start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let source = text[line_start..].lines().next().unwrap_or_default().to_owned();
    let column = text[line_start..start].chars().count() + 1;
    let length = text.get(start..span.end).map_or(1, |part| part.lines().next().unwrap_or_default().chars().count());
    TraceError::Text { line: before.matches('\n').count() + 1, column, source, length, problem: problem.into() }
}

fn lex(text: &str) -> Result<Vec<Spanned>, TraceError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_while = |holds: &dyn Fn(char) -> bool| rest.find(|c| !holds(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_while(&|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.'));
            // A single colon is between a value and its kind.
            let word = rest[..length].find(':').filter(|&colon| !rest[colon..].starts_with("::")).unwrap_or(length);
            let word = &rest[..word];
            (as_float(word).map_or_else(|| Token::Word(word.to_owned()), Token::Float), word.len())
        } else if first.is_ascii_digit() || (first == '-' && !rest[1..].starts_with(char::is_whitespace)) {
            let mut previous = ' ';
            let mut length = 0;
            for c in rest.chars() {
                let in_exponent = matches!(c, '+' | '-') && (length == 0 || matches!(previous, 'e' | 'E'));
                if !(c.is_ascii_alphanumeric() || c == '.' || in_exponent) {
                    break;
                }
                previous = c;
                length += c.len_utf8();
            }
            let number = &rest[..length];
            let token = number.parse().map(Token::Int).or_else(|_| number.parse().map(Token::Float));
            (token.map_err(|_| mistake(text, &(at..at + length), format!("`{number}` is no number")))?, length)
        } else if first == '"' {
            let (value, length) = quoted(text, at)?;
            (Token::Text(value), length)
        } else if "(){}[]<>,;:=&'#".contains(first) {
            (Token::Sign(first), 1)
        } else {
            return Err(mistake(text, &(at..at + first.len_utf8()), format!("`{first}` has no meaning here")));
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.trim_end().len()..text.trim_end().len()));
    Ok(tokens)
}

fn as_float(word: &str) -> Option<f64> {
    match word {
        "inf" => Some(f64::INFINITY),
        "NaN" => Some(f64::NAN),
        _ => None,
    }
}

/// A text in quotes, with Rust's escapes, and how long it is.
fn quoted(text: &str, start: usize) -> Result<(String, usize), TraceError> {
    let mut value = String::new();
    let mut rest = text[start + 1..].char_indices();
    while let Some((at, c)) = rest.next() {
        let here = start + 1 + at;
        match c {
            '"' => return Ok((value, here + 1 - start)),
            '\\' => {
                let escape = rest.next().map(|(_, escape)| escape);
                let wrong = || mistake(text, &(here..here + 2), "no such escape");
                value.push(match escape {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('0') => '\0',
                    Some(c @ ('"' | '\\' | '\'')) => c,
                    Some('u') => {
                        let digits: String = rest.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                        u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or_else(wrong)?
                    }
                    _ => return Err(wrong()),
                });
            }
            c => value.push(c),
        }
    }
    Err(mistake(text, &(start..start + 1), "this text does not end"))
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Spanned>,
    at: usize,
    draft: Draft,
    names: HashMap<String, Id>,
    operators: Names,
}

/// One result of a call, before its operator is known.
enum Pattern {
    Nothing,
    One(Id),
    List(Vec<Option<Id>>),
}

type Parsed<T> = Result<T, TraceError>;

impl Parser<'_> {
    /// A whole graph. It gives the values that are constants.
    fn graph(&mut self) -> Parsed<Vec<Id>> {
        self.word("fn")?;
        self.word("graph")?;
        self.sign('(')?;
        while !self.eat(')') {
            let id = self.definition()?;
            self.draft.inputs.push(id);
            if !self.eat(',') {
                self.sign(')')?;
                break;
            }
        }
        self.sign('{')?;
        let mut constants = Vec::new();
        while self.eat_word("const") {
            constants.push(self.definition()?);
            self.sign(';')?;
        }
        while !self.eat('[') {
            self.statement()?;
        }
        while !self.eat(']') {
            let id = self.used()?;
            self.draft.outputs.push(id);
            if !self.eat(',') {
                self.sign(']')?;
                break;
            }
        }
        self.sign('}')?;
        if self.peek() == &Token::End { Ok(constants) } else { Err(self.unexpected("the end")) }
    }

    fn statement(&mut self) -> Parsed<()> {
        let mut effects = Effects::default();
        while self.eat('#') {
            self.sign('[')?;
            if self.eat_word("random") {
                effects.random = true;
            } else {
                self.word("writes")?;
                self.sign('(')?;
                while !self.eat(')') {
                    effects.writes.push(self.used()?);
                    self.eat(',');
                }
            }
            self.sign(']')?;
        }
        // What is defined here is not there yet in the call, so its names wait.
        let mut outer = None;
        let patterns = if self.eat_word("let") {
            let known = self.names.clone();
            let patterns = self.patterns()?;
            self.sign('=')?;
            outer = Some(std::mem::replace(&mut self.names, known));
            Some(patterns)
        } else {
            None
        };
        let (operator, span) = self.operator()?;
        let inputs = self.arguments(operator)?;
        self.sign(';')?;
        if let Some(names) = outer {
            self.names = names;
        }
        let mut node = Node { operator, inputs, outputs: Vec::new(), effects };
        let schema = operator.schema();
        let mut writes = node.written();
        writes.retain(|id| !node.effects.writes.contains(id));
        writes.append(&mut node.effects.writes);
        node.effects.writes = writes;
        node.outputs = match patterns {
            None => (0..schema.returns.len()).map(|at| returned(&node, schema, at)).collect(),
            Some(patterns) if patterns.len() == schema.returns.len() => patterns
                .into_iter()
                .zip(&schema.returns)
                .map(|(pattern, described)| output(pattern, &described.ty))
                .collect::<Option<_>>()
                .ok_or_else(|| {
                    mistake(self.text, &span, format!("its results are not of these kinds: it is `{schema}`"))
                })?,
            Some(patterns) => {
                let problem = format!("it gives {}, not {}: it is `{schema}`", schema.returns.len(), patterns.len());
                return Err(mistake(self.text, &span, problem));
            }
        };
        self.draft.nodes.push(node);
        Ok(())
    }

    fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        if !self.eat('(') {
            return Ok(vec![self.pattern()?]);
        }
        let mut patterns = Vec::new();
        while !self.eat(')') {
            patterns.push(self.pattern()?);
            if !self.eat(',') {
                self.sign(')')?;
                break;
            }
        }
        Ok(patterns)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.eat_word("_") {
            return Ok(Pattern::Nothing);
        }
        if !self.eat('[') {
            return Ok(Pattern::One(self.defined_or_used()?));
        }
        let mut ids = Vec::new();
        while !self.eat(']') {
            ids.push(if self.eat_word("_") { None } else { Some(self.defined_or_used()?) });
            if !self.eat(',') {
                self.sign(']')?;
                break;
            }
        }
        Ok(Pattern::List(ids))
    }

    /// A value with its kind is a new one.
    fn defined_or_used(&mut self) -> Parsed<Id> {
        if matches!(self.tokens.get(self.at + 1), Some((Token::Sign(':'), _))) {
            self.definition()
        } else {
            self.used()
        }
    }

    /// `v3: &'v1 f32[2]`
    fn definition(&mut self) -> Parsed<Id> {
        let span = self.span();
        let name = self.name("a value")?;
        self.sign(':')?;
        let shares = if self.eat('&') {
            self.sign('\'')?;
            let of = self.used()?;
            Some(self.draft.values[of.0].shares.unwrap_or(of))
        } else {
            None
        };
        let at = self.span();
        let dtype = self.name("a dtype")?;
        let dtype: DType = dtype.parse().map_err(|error| mistake(self.text, &at, format!("{error}")))?;
        self.sign('[')?;
        let sizes = self.integers(&[']', ';'])?;
        let geometry = if self.eat(';') {
            let strides = self.integers(&[']'])?;
            Geometry::strided(&sizes, &strides, 0)
        } else {
            Some(Geometry::contiguous(&sizes)).filter(|_| sizes.iter().all(|&size| size >= 0))
        };
        let geometry =
            geometry.ok_or_else(|| mistake(self.text, &at, "these are not sizes and strides of a tensor"))?;
        self.sign(']')?;
        let id = self.draft.value(Shown { dtype, geometry, shares });
        if self.names.insert(name.clone(), id).is_some() {
            return Err(mistake(self.text, &span, format!("`{name}` is defined twice")));
        }
        Ok(id)
    }

    fn integers(&mut self, ends: &[char]) -> Parsed<Vec<i64>> {
        let mut numbers = Vec::new();
        while !ends.iter().any(|end| self.peek() == &Token::Sign(*end)) {
            let Token::Int(number) = *self.peek() else { return Err(self.unexpected("a whole number")) };
            self.at += 1;
            numbers.push(number);
            if !self.eat(',') {
                break;
            }
        }
        Ok(numbers)
    }

    fn used(&mut self) -> Parsed<Id> {
        let span = self.span();
        let name = self.name("a value")?;
        self.names.get(&name).copied().ok_or_else(|| {
            let near = suggest(&name, sorted(self.names.keys().map(String::as_str)))
                .map(|near| format!("; did you mean `{near}`?"));
            mistake(self.text, &span, format!("no value is called `{name}` here{}", near.unwrap_or_default()))
        })
    }

    fn operator(&mut self) -> Parsed<(&'static Operator, Range<usize>)> {
        let span = self.span();
        let path = self.name("an operator")?;
        if let Some(operator) = self.operators.find(&path) {
            return Ok((operator, span));
        }
        let near = suggest(&path, sorted(self.operators.paths())).map(|near| format!("; did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| "; link the crate that defines it".to_owned());
        Err(mistake(self.text, &span, format!("no operator is called `{path}`{hint}")))
    }

    fn arguments(&mut self, operator: &Operator) -> Parsed<Vec<Input>> {
        let schema = operator.schema();
        self.sign('(')?;
        let mut inputs: Vec<(usize, Input)> = Vec::new();
        while !self.eat(')') {
            let span = self.span();
            let named = matches!(self.tokens.get(self.at + 1), Some((Token::Sign('='), _)));
            let at = if named {
                let name = self.name("an argument")?;
                self.sign('=')?;
                schema.argument(&name).map(|(at, _)| at).ok_or_else(|| {
                    mistake(self.text, &span, format!("it has no argument `{name}`: it is `{schema}`"))
                })?
            } else {
                inputs.len()
            };
            let Some(described) = schema.arguments.get(at).filter(|argument| named || !argument.keyword_only) else {
                return Err(mistake(self.text, &span, format!("no argument is given by place here: it is `{schema}`")));
            };
            let arg = self.argument(&described.ty, described.is_written())?;
            if inputs.iter().any(|(other, _)| *other == at) {
                return Err(mistake(self.text, &span, format!("`{}` is given twice", described.name)));
            }
            if !Argument::default_of(described).is_some_and(|default| default.is(&arg)) {
                inputs.push((at, Input { name: described.name.clone(), arg, keyword: described.keyword_only }));
            }
            if !self.eat(',') {
                self.sign(')')?;
                break;
            }
        }
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
                let mut items = Vec::new();
                while !self.eat(']') {
                    items.push(self.argument(element, false)?);
                    if !self.eat(',') {
                        self.sign(']')?;
                        break;
                    }
                }
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

    /// What follows `&`.
    fn tensors(&mut self, ty: &Type) -> Parsed<Argument> {
        if !self.eat('[') {
            return Ok(Argument::Tensor(self.used()?));
        }
        let optional = matches!(&ty.kind, TypeKind::List(element, _) if element.accepts_none());
        let mut ids = Vec::new();
        while !self.eat(']') {
            ids.push(if !optional {
                Some(self.used()?)
            } else if self.eat_word("None") {
                None
            } else {
                self.word("Some")?;
                self.sign('(')?;
                let id = self.used()?;
                self.sign(')')?;
                Some(id)
            });
            if !self.eat(',') {
                self.sign(']')?;
                break;
            }
        }
        Ok(if optional {
            Argument::OptionalTensors(ids)
        } else {
            Argument::Tensors(ids.into_iter().flatten().collect())
        })
    }

    fn float(&mut self) -> Parsed<f64> {
        let Token::Float(value) = *self.peek() else { return Err(self.unexpected("a number with a point")) };
        self.at += 1;
        Ok(value)
    }

    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    fn unexpected(&self, expected: &str) -> TraceError {
        let span = self.span();
        let found = self.text.get(span.clone()).filter(|found| !found.is_empty());
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("`{found}`"));
        mistake(self.text, &span, format!("expected {expected}, found {found}"))
    }

    fn eat(&mut self, sign: char) -> bool {
        let is = self.peek() == &Token::Sign(sign);
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: char) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(found) if found == word);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        let Token::Word(name) = self.peek().clone() else { return Err(self.unexpected(what)) };
        self.at += 1;
        Ok(name)
    }
}

/// In an order that does not change, so that of several that are as near it is always the same one.
fn sorted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

fn numbered<T: std::fmt::Debug>(name: &str, of: impl Fn(i64) -> Option<T>) -> Option<T> {
    (0..8).filter_map(of).find(|value| format!("{value:?}") == name)
}

/// A result that no pattern names: the argument that was written, or nothing.
fn returned(node: &Node, schema: &Schema, at: usize) -> Argument {
    let written = schema.written_return(at).and_then(|at| schema.arguments.get(at));
    let input = written.and_then(|written| node.inputs.iter().find(|input| input.name == written.name));
    input.map_or(Argument::None, |input| input.arg.clone())
}

fn output(pattern: Pattern, ty: &Type) -> Option<Argument> {
    Some(match (pattern, &ty.required().kind) {
        (Pattern::Nothing, _) => Argument::None,
        (Pattern::One(id), TypeKind::Tensor | TypeKind::Any) => Argument::Tensor(id),
        (Pattern::List(ids), TypeKind::List(element, _)) if element.accepts_none() => Argument::OptionalTensors(ids),
        (Pattern::List(ids), TypeKind::List(element, _)) if element.kind == TypeKind::Tensor => {
            Argument::Tensors(ids.into_iter().collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
