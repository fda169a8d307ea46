//! Parser of the text of a graph.

mod arguments;
mod cursor;
mod lex;

use std::collections::HashMap;
use std::ops::Range;

use dispatch_runtime::schema::{Schema, Type, TypeKind, suggest};
use dispatch_runtime::{DType, Geometry, Operator, Result, Tensor};

use self::lex::{SpannedToken, Token, lex, syntax_error};
use crate::argument::{Argument, ValueId};
use crate::error::TraceError;
use crate::graph::{Effects, Graph, GraphBuilder, Node, ValueInfo};
use crate::operator_paths;
use crate::print::TensorTypeText;
use crate::run::matches_value_info;

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
    /// let info = "\
    /// no operator is called `aten::sigmid`; did you mean `aten::sigmoid`?
    ///   |
    /// 2 |     let y: f32[2] = aten::sigmid(&x);
    ///   |                     ^^^^^^^^^^^^";
    /// assert_eq!(std::error::Error::source(&error).unwrap().to_string(), info);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`TraceError::SyntaxError`], with the position, if the text is not a valid graph. Returns [`TraceError::WrongConstantCount`]
    /// or [`TraceError::ConstantMismatch`] if the constants are not those of the text. Returns the errors of [`verify`](Self::verify).
    pub fn parse(text: &str, constants: &[Tensor]) -> Result<Self> {
        let mut parser = Parser {
            text,
            tokens: lex(text)?,
            position: 0,
            builder: GraphBuilder::default(),
            names: ValueNames::default(),
        };
        let found = parser.parse_graph()?;
        if found.len() != constants.len() {
            return Err(TraceError::WrongConstantCount { expected: found.len(), found: constants.len() }.into());
        }
        let mut builder = parser.builder;
        for (constant, (id, tensor)) in found.iter().zip(constants).enumerate() {
            let info = &builder.values[id.0];
            if !matches_value_info(info, tensor) {
                let (expected, found) = (
                    TensorTypeText::from_value_info(info).to_string(),
                    TensorTypeText::from_tensor(tensor).to_string(),
                );
                return Err(TraceError::ConstantMismatch { constant, expected, found }.into());
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
    tokens: Vec<SpannedToken>,
    position: usize,
    builder: GraphBuilder,
    names: ValueNames,
}

/// The value that each name in the text stands for.
#[derive(Default)]
struct ValueNames {
    known: HashMap<String, ValueId>,
    /// The names that the current statement defines. Its call cannot use them.
    new: HashMap<String, ValueId>,
}

/// The text of one result of a call, parsed before the operator of the call is known.
enum ResultPattern {
    Ignored,
    OneValue(ValueId),
    ValueList(Vec<Option<ValueId>>),
}

type ParseResult<T> = Result<T, TraceError>;

impl Parser<'_> {
    /// Parses a whole graph. Returns the values of the constants.
    fn parse_graph(&mut self) -> ParseResult<Vec<ValueId>> {
        self.expect_word("fn")?;
        self.expect_word("graph")?;
        self.expect_punctuation('(')?;
        self.builder.inputs = self.parse_list(')', |parser| {
            let id = parser.parse_definition()?;
            parser.commit_definitions();
            Ok(id)
        })?;
        self.expect_punctuation('{')?;
        let mut constants = Vec::new();
        while self.eat_word("const") {
            constants.push(self.parse_definition()?);
            self.commit_definitions();
            self.expect_punctuation(';')?;
        }
        while !self.eat_punctuation('[') {
            self.parse_statement()?;
        }
        self.builder.outputs = self.parse_list(']', Self::parse_use)?;
        self.expect_punctuation('}')?;
        if self.peek() == &Token::End { Ok(constants) } else { Err(self.unexpected_token("the end")) }
    }

    fn parse_statement(&mut self) -> ParseResult<()> {
        let (mut effects, mut grad_mode) = (Effects::default(), None);
        while self.eat_punctuation('#') {
            self.expect_punctuation('[')?;
            if self.eat_word("random") {
                effects.random = true;
            } else if self.eat_word("no_grad") {
                grad_mode = Some(false);
            } else if self.eat_word("enable_grad") {
                grad_mode = Some(true);
            } else {
                self.expect_word("writes")?;
                self.expect_punctuation('(')?;
                while !self.eat_punctuation(')') {
                    effects.writes.push(self.parse_use()?);
                    self.eat_punctuation(',');
                }
            }
            self.expect_punctuation(']')?;
        }
        let patterns = if self.eat_word("let") {
            let patterns = self.parse_patterns()?;
            self.expect_punctuation('=')?;
            Some(patterns)
        } else {
            None
        };
        let (operator, span) = self.parse_operator()?;
        let inputs = self.parse_arguments(operator)?;
        self.expect_punctuation(';')?;
        self.commit_definitions();
        effects.random |= aten::is_random(operator);
        let mut node = Node { operator, inputs, outputs: Vec::new(), effects, grad_mode };
        let schema = operator.schema();
        let mut writes = node.values_written_by_schema();
        writes.retain(|id| !node.effects.writes.contains(id));
        writes.append(&mut node.effects.writes);
        node.effects.writes = writes;
        node.outputs = match patterns {
            None => (0..schema.returns.len()).map(|at| output_without_pattern(&node, schema, at)).collect(),
            Some(patterns) if patterns.len() == schema.returns.len() => patterns
                .into_iter()
                .zip(&schema.returns)
                .map(|(pattern, described)| pattern_to_argument(pattern, &described.ty))
                .collect::<Option<_>>()
                .ok_or_else(|| {
                    syntax_error(
                        self.text,
                        &span,
                        format!("the results have other types: the operator is `{schema:#}`"),
                    )
                })?,
            Some(patterns) => {
                let problem = format!(
                    "the operator returns {} results, not {}: it is `{schema:#}`",
                    schema.returns.len(),
                    patterns.len()
                );
                return Err(syntax_error(self.text, &span, problem));
            }
        };
        self.builder.nodes.push(node);
        Ok(())
    }

    fn parse_patterns(&mut self) -> ParseResult<Vec<ResultPattern>> {
        if self.eat_punctuation('(') {
            self.parse_list(')', Self::parse_pattern)
        } else {
            Ok(vec![self.parse_pattern()?])
        }
    }

    fn parse_pattern(&mut self) -> ParseResult<ResultPattern> {
        if self.eat_word("_") {
            return Ok(ResultPattern::Ignored);
        }
        if !self.eat_punctuation('[') {
            return Ok(ResultPattern::OneValue(self.parse_definition_or_use()?));
        }
        let id = |parser: &mut Self| parser.parse_definition_or_use().map(Some);
        let ids = self.parse_list(']', |parser| if parser.eat_word("_") { Ok(None) } else { id(parser) })?;
        Ok(ResultPattern::ValueList(ids))
    }

    /// Parses a definition, if a colon follows the name, or a use of a value.
    fn parse_definition_or_use(&mut self) -> ParseResult<ValueId> {
        if matches!(self.tokens.get(self.position + 1), Some((Token::Punctuation(':'), _))) {
            self.parse_definition()
        } else {
            self.parse_use()
        }
    }

    /// Parses the definition of a value, such as `v3: &'v1 f32[2]`.
    fn parse_definition(&mut self) -> ParseResult<ValueId> {
        let span = self.current_span();
        let name = self.parse_name("a value")?;
        self.expect_punctuation(':')?;
        let shares_memory_with = if self.eat_punctuation('&') {
            self.expect_punctuation('\'')?;
            let of = self.resolve_name(true)?;
            Some(self.builder.values[of.0].shares_memory_with.unwrap_or(of))
        } else {
            None
        };
        let at = self.current_span();
        let dtype = self.parse_name("a dtype")?;
        let dtype: DType = dtype.parse().map_err(|error| syntax_error(self.text, &at, format!("{error}")))?;
        self.expect_punctuation('[')?;
        let sizes = self.parse_integers(&[']', ';'])?;
        let geometry = if self.eat_punctuation(';') {
            let strides = self.parse_integers(&[']'])?;
            Geometry::strided(&sizes, &strides, 0)
        } else {
            Some(Geometry::contiguous(&sizes)).filter(|_| sizes.iter().all(|&size| size >= 0))
        };
        let geometry =
            geometry.ok_or_else(|| syntax_error(self.text, &at, "these are not sizes and strides of a tensor"))?;
        self.expect_punctuation(']')?;
        let id = self.builder.add_value(ValueInfo { dtype, geometry, shares_memory_with });
        if self.names.known.contains_key(&name) || self.names.new.insert(name.clone(), id).is_some() {
            return Err(syntax_error(self.text, &span, format!("`{name}` is defined twice")));
        }
        Ok(id)
    }

    fn parse_integers(&mut self, ends: &[char]) -> ParseResult<Vec<i64>> {
        let mut numbers = Vec::new();
        while !ends.iter().any(|end| self.peek() == &Token::Punctuation(*end)) {
            let Token::Int(number) = *self.peek() else { return Err(self.unexpected_token("an integer")) };
            self.position += 1;
            numbers.push(number);
            if !self.eat_punctuation(',') {
                break;
            }
        }
        Ok(numbers)
    }

    /// Makes the values that a statement defines visible to the next statements.
    fn commit_definitions(&mut self) {
        self.names.known.extend(self.names.new.drain());
    }

    fn parse_use(&mut self) -> ParseResult<ValueId> {
        self.resolve_name(false)
    }

    /// Parses the name of a defined value. With `in_statement`, values of the same statement count as defined.
    fn resolve_name(&mut self, in_statement: bool) -> ParseResult<ValueId> {
        let span = self.current_span();
        let name = self.parse_name("a value")?;
        let ValueNames { known, new } = &self.names;
        let here = new.get(&name).filter(|_| in_statement);
        known.get(&name).or(here).copied().ok_or_else(|| {
            let mut known: Vec<&str> = known.keys().map(String::as_str).collect();
            // Sorted, so that of several equally similar names the same one is always suggested.
            known.sort_unstable();
            let near = suggest(&name, known).map(|near| format!("; did you mean `{near}`?"));
            syntax_error(self.text, &span, format!("no value is called `{name}` here{}", near.unwrap_or_default()))
        })
    }

    fn parse_operator(&mut self) -> ParseResult<(&'static Operator, Range<usize>)> {
        let span = self.current_span();
        let path = self.parse_name("an operator")?;
        if let Some(operator) = operator_paths::find_operator(&path) {
            return Ok((operator, span));
        }
        let near = operator_paths::similar_path(&path).map(|near| format!("; did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| "; link the crate that defines it".to_owned());
        Err(syntax_error(self.text, &span, format!("no operator is called `{path}`{hint}")))
    }
}

/// Returns the result of a call for which the text has no pattern: the written argument, or nothing.
fn output_without_pattern(node: &Node, schema: &Schema, at: usize) -> Argument {
    let written = schema.written_argument_of_return(at).and_then(|at| schema.arguments.get(at));
    let input = written.and_then(|written| node.inputs.iter().find(|input| input.name == written.name));
    input.map_or(Argument::None, |input| input.arg.clone())
}

fn pattern_to_argument(pattern: ResultPattern, ty: &Type) -> Option<Argument> {
    Some(match (pattern, &ty.without_optional().kind) {
        (ResultPattern::Ignored, _) => Argument::None,
        (ResultPattern::OneValue(id), TypeKind::Tensor | TypeKind::Any) => Argument::Tensor(id),
        (ResultPattern::ValueList(ids), TypeKind::List(element, _)) if element.accepts_none() => {
            Argument::OptionalTensors(ids)
        }
        (ResultPattern::ValueList(ids), TypeKind::List(element, _)) if element.kind == TypeKind::Tensor => {
            Argument::Tensors(ids.into_iter().collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
