//! Parser of the text of a graph.

mod arguments;
mod cursor;
mod lex;

use std::collections::HashMap;
use std::ops::Range;

use dispatch_runtime::schema::{Schema, Type, TypeKind, suggest};
use dispatch_runtime::{DType, Geometry, Operator, Result, Tensor};

use self::lex::{Spanned, Token, lex, mistake};
use crate::argument::{Argument, Id};
use crate::error::TraceError;
use crate::graph::{Effects, Graph, GraphBuilder, Node, ValueInfo};
use crate::operator_paths;
use crate::print::Kind;
use crate::run::fits;

impl Graph {
    /// Parses the text that a graph prints, with its constants, and [verifies](Self::verify) the graph. Values may have any names.
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
    /// Returns [`TraceError::Text`], with the position, if the text is not a valid graph. Returns [`TraceError::ConstantCount`] or
    /// [`TraceError::Constant`] if the constants are not those of the text. Returns the errors of [`verify`](Self::verify).
    pub fn parse(text: &str, constants: &[Tensor]) -> Result<Self> {
        let mut parser =
            Parser { text, tokens: lex(text)?, at: 0, builder: GraphBuilder::default(), names: Names::default() };
        let found = parser.graph()?;
        if found.len() != constants.len() {
            return Err(TraceError::ConstantCount { expected: found.len(), found: constants.len() }.into());
        }
        let mut builder = parser.builder;
        for (constant, (id, tensor)) in found.iter().zip(constants).enumerate() {
            let shown = &builder.values[id.0];
            if !fits(shown, tensor) {
                let (expected, found) = (Kind::of(shown).to_string(), Kind::of_tensor(tensor).to_string());
                return Err(TraceError::Constant { constant, expected, found }.into());
            }
        }
        builder.constants = found.into_iter().zip(constants.iter().cloned()).collect();
        let graph = builder.finish();
        graph.verify()?;
        Ok(graph)
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Spanned>,
    at: usize,
    builder: GraphBuilder,
    names: Names,
}

/// The names of values.
#[derive(Default)]
struct Names {
    known: HashMap<String, Id>,
    /// The names that the current statement defines. Its call cannot use them.
    new: HashMap<String, Id>,
}

/// One result of a call, before its operator is known.
enum Pattern {
    Nothing,
    One(Id),
    List(Vec<Option<Id>>),
}

type Parsed<T> = Result<T, TraceError>;

impl Parser<'_> {
    /// Parses a whole graph. Returns the values of the constants.
    fn graph(&mut self) -> Parsed<Vec<Id>> {
        self.word("fn")?;
        self.word("graph")?;
        self.sign('(')?;
        self.builder.inputs = self.list(')', |parser| {
            let id = parser.definition()?;
            parser.define();
            Ok(id)
        })?;
        self.sign('{')?;
        let mut constants = Vec::new();
        while self.eat_word("const") {
            constants.push(self.definition()?);
            self.define();
            self.sign(';')?;
        }
        while !self.eat('[') {
            self.statement()?;
        }
        self.builder.outputs = self.list(']', Self::used)?;
        self.sign('}')?;
        if self.peek() == &Token::End { Ok(constants) } else { Err(self.unexpected("the end")) }
    }

    fn statement(&mut self) -> Parsed<()> {
        let (mut effects, mut grad) = (Effects::default(), None);
        while self.eat('#') {
            self.sign('[')?;
            if self.eat_word("random") {
                effects.random = true;
            } else if self.eat_word("no_grad") {
                grad = Some(false);
            } else if self.eat_word("enable_grad") {
                grad = Some(true);
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
        let patterns = if self.eat_word("let") {
            let patterns = self.patterns()?;
            self.sign('=')?;
            Some(patterns)
        } else {
            None
        };
        let (operator, span) = self.operator()?;
        let inputs = self.arguments(operator)?;
        self.sign(';')?;
        self.define();
        effects.random |= aten::is_random(operator);
        let mut node = Node { operator, inputs, outputs: Vec::new(), effects, grad };
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
                    mistake(self.text, &span, format!("its results are not of these kinds: it is `{schema:#}`"))
                })?,
            Some(patterns) => {
                let problem = format!("it gives {}, not {}: it is `{schema:#}`", schema.returns.len(), patterns.len());
                return Err(mistake(self.text, &span, problem));
            }
        };
        self.builder.nodes.push(node);
        Ok(())
    }

    fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        if self.eat('(') { self.list(')', Self::pattern) } else { Ok(vec![self.pattern()?]) }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.eat_word("_") {
            return Ok(Pattern::Nothing);
        }
        if !self.eat('[') {
            return Ok(Pattern::One(self.defined_or_used()?));
        }
        let id = |parser: &mut Self| parser.defined_or_used().map(Some);
        let ids = self.list(']', |parser| if parser.eat_word("_") { Ok(None) } else { id(parser) })?;
        Ok(Pattern::List(ids))
    }

    /// Parses a definition, if a colon follows the name, or a use of a value.
    fn defined_or_used(&mut self) -> Parsed<Id> {
        if matches!(self.tokens.get(self.at + 1), Some((Token::Sign(':'), _))) {
            self.definition()
        } else {
            self.used()
        }
    }

    /// Parses the definition of a value, such as `v3: &'v1 f32[2]`.
    fn definition(&mut self) -> Parsed<Id> {
        let span = self.span();
        let name = self.name("a value")?;
        self.sign(':')?;
        let shares = if self.eat('&') {
            self.sign('\'')?;
            let of = self.found(true)?;
            Some(self.builder.values[of.0].shares.unwrap_or(of))
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
        let id = self.builder.value(ValueInfo { dtype, geometry, shares });
        if self.names.known.contains_key(&name) || self.names.new.insert(name.clone(), id).is_some() {
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

    /// Makes the values that a statement defines visible to the next statements.
    fn define(&mut self) {
        self.names.known.extend(self.names.new.drain());
    }

    fn used(&mut self) -> Parsed<Id> {
        self.found(false)
    }

    /// Parses the name of a defined value. With `or_here`, values of the same statement count as defined.
    fn found(&mut self, or_here: bool) -> Parsed<Id> {
        let span = self.span();
        let name = self.name("a value")?;
        let Names { known, new } = &self.names;
        let here = new.get(&name).filter(|_| or_here);
        known.get(&name).or(here).copied().ok_or_else(|| {
            let mut known: Vec<&str> = known.keys().map(String::as_str).collect();
            // Sorted, so that of several equally similar names the same one is always suggested.
            known.sort_unstable();
            let near = suggest(&name, known).map(|near| format!("; did you mean `{near}`?"));
            mistake(self.text, &span, format!("no value is called `{name}` here{}", near.unwrap_or_default()))
        })
    }

    fn operator(&mut self) -> Parsed<(&'static Operator, Range<usize>)> {
        let span = self.span();
        let path = self.name("an operator")?;
        if let Some(operator) = operator_paths::find(&path) {
            return Ok((operator, span));
        }
        let near = operator_paths::near(&path).map(|near| format!("; did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| "; link the crate that defines it".to_owned());
        Err(mistake(self.text, &span, format!("no operator is called `{path}`{hint}")))
    }
}

/// Returns the result of a call for which the text has no pattern: the written argument, or nothing.
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
