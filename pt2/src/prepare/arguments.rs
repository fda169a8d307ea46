//! Arguments and results of nodes: from names to slots.

use dispatch_runtime::schema::{self, Type};
use dispatch_runtime::{Complex64, Device, Operator, Str, Value};

use super::source::{SymSource, convert_number};
use super::{DEVICE_SLOT, OperatorCall, Output, Slot, SlotsByName, Source};
use crate::error::NodeProblem;
use crate::format::{self, Argument, Node, SymArgument};

/// The values that are defined so far.
pub(super) struct Definitions {
    slots: SlotsByName,
    names: Vec<String>,
}

impl Default for Definitions {
    /// Only the device is defined, in its own slot.
    fn default() -> Self {
        Self { slots: SlotsByName::new(), names: vec!["device".to_owned()] }
    }
}

impl Definitions {
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Defines the value of an input. Returns no slot if the input is a constant, and the name if it is defined before.
    pub(super) fn define_input(&mut self, input: &Argument) -> Result<Option<Slot>, String> {
        match names(input).next() {
            Some(name) => self.define(name).map(Some),
            None => Ok(None),
        }
    }

    /// Defines the results of a node.
    pub(super) fn define_results(&mut self, results: &[Argument]) -> Result<Vec<Output>, NodeProblem> {
        let mut define = |name: &str| self.define(name).map_err(|value| NodeProblem::DefinedTwice { value });
        let output = |output: &Argument| {
            Ok(match output {
                Argument::AsTensor(tensor) => Output::Value(define(&tensor.name)?),
                Argument::AsOptionalTensor(tensor) => match tensor.name() {
                    Some(name) => Output::Value(define(name)?),
                    None => Output::Ignored,
                },
                Argument::AsTensors(tensors) => Output::Values(
                    tensors.iter().map(|tensor| define(&tensor.name).map(Some)).collect::<Result<_, _>>()?,
                ),
                Argument::AsOptionalTensors(tensors) => Output::Values(
                    tensors
                        .iter()
                        .map(|tensor| tensor.name().map(&mut define).transpose())
                        .collect::<Result<_, _>>()?,
                ),
                Argument::AsSymInt(SymArgument::Name(name))
                | Argument::AsSymFloat(SymArgument::Name(name))
                | Argument::AsSymBool(SymArgument::Name(name)) => Output::Value(define(name)?),
                Argument::AsNone(_)
                | Argument::AsInt(_)
                | Argument::AsFloat(_)
                | Argument::AsBool(_)
                | Argument::AsSymInt(_)
                | Argument::AsSymFloat(_)
                | Argument::AsSymBool(_) => Output::Ignored,
                other => {
                    let argument = "result".to_owned();
                    return Err(NodeProblem::UnsupportedArgument { argument, kind: other.kind() });
                }
            })
        };
        results.iter().map(output).collect()
    }

    /// Defines the results of a node that has another error, so that the nodes after it have no consequential errors.
    pub(super) fn define_outputs_of_invalid_node(&mut self, node: &Node) {
        for name in node.outputs.iter().flat_map(names) {
            let _defined_before = self.define(name);
        }
    }

    /// Defines a value, or returns its name if it is defined before.
    pub(super) fn define(&mut self, name: &str) -> Result<Slot, String> {
        let slot = self.names.len();
        if self.slots.contains_key(name) {
            return Err(name.to_owned());
        }
        self.slots.insert(name.to_owned(), slot);
        self.names.push(name.to_owned());
        Ok(slot)
    }

    /// Returns the slot of a value.
    pub(super) fn slot(&self, name: &str) -> Result<Slot, NodeProblem> {
        self.slots.get(name).copied().ok_or_else(|| NodeProblem::Undefined { value: name.to_owned(), later: false })
    }

    /// Returns the source of an output of the graph, or the name that nothing defines.
    pub(super) fn output_source(&self, output: &Argument) -> Result<Source, String> {
        self.source(output, "output").map_err(|problem| match problem {
            NodeProblem::Undefined { value, .. } => value,
            other => other.to_string(),
        })
    }

    /// Returns the source of an argument without a schema type.
    pub(super) fn source(&self, argument: &Argument, name: &str) -> Result<Source, NodeProblem> {
        let unsupported = || NodeProblem::UnsupportedArgument { argument: name.to_owned(), kind: argument.kind() };
        Ok(match argument {
            Argument::AsNone(_) => Source::Constant(Value::None),
            Argument::AsTensor(tensor) => Source::Slot(self.slot(&tensor.name)?),
            Argument::AsOptionalTensor(tensor) => match tensor.name() {
                Some(name) => Source::Slot(self.slot(name)?),
                None => Source::Constant(Value::None),
            },
            Argument::AsTensors(tensors) => {
                Source::Tensors(tensors.iter().map(|tensor| self.slot(&tensor.name)).collect::<Result<_, _>>()?)
            }
            Argument::AsOptionalTensors(tensors) => Source::OptionalTensors(
                tensors
                    .iter()
                    .map(|tensor| tensor.name().map(|name| self.slot(name)).transpose())
                    .collect::<Result<_, _>>()?,
            ),
            Argument::AsInt(value) => Source::Constant((*value).into()),
            Argument::AsFloat(value) => Source::Constant(value.0.into()),
            Argument::AsBool(value) => Source::Constant((*value).into()),
            Argument::AsString(text) => Source::Constant(Str::from(text.as_str()).into()),
            Argument::AsComplex(value) => Source::Constant(Complex64::new(value.real.0, value.imag.0).into()),
            Argument::AsInts(values) => Source::Constant(values.clone().into()),
            Argument::AsFloats(values) => {
                Source::Constant(values.iter().map(|value| value.0).collect::<Vec<_>>().into())
            }
            Argument::AsBools(values) => Source::Constant(values.clone().into()),
            Argument::AsStrings(texts) => {
                Source::Constant(texts.iter().map(|text| Str::from(text.as_str())).collect::<Vec<_>>().into())
            }
            Argument::AsIntLists(lists) => Source::Constant(Value::List(
                lists.iter().map(|list| list.clone().into()).collect::<Vec<Value>>().into(),
            )),
            Argument::AsFloatLists(lists) => {
                let list = |list: &Vec<format::Number>| list.iter().map(|value| value.0).collect::<Vec<_>>().into();
                Source::Constant(Value::List(lists.iter().map(list).collect::<Vec<Value>>().into()))
            }
            Argument::AsSymInt(number) | Argument::AsSymFloat(number) | Argument::AsSymBool(number) => match number {
                SymArgument::Name(name) => Source::Slot(self.slot(name)?),
                SymArgument::Int(value) => Source::Constant((*value).into()),
                SymArgument::Float(value) => Source::Constant(value.0.into()),
                SymArgument::Bool(value) => Source::Constant((*value).into()),
            },
            Argument::AsSymInts(items) => Source::Ints(self.items(
                items,
                |item| match item {
                    SymArgument::Int(value) => Some(*value),
                    SymArgument::Bool(value) => Some(i64::from(*value)),
                    _ => None,
                },
                unsupported,
            )?),
            Argument::AsSymFloats(items) => Source::Floats(self.items(
                items,
                |item| match item {
                    SymArgument::Float(value) => Some(value.0),
                    #[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
                    SymArgument::Int(value) => Some(*value as f64),
                    _ => None,
                },
                unsupported,
            )?),
            Argument::AsSymBools(items) => Source::Bools(self.items(
                items,
                |item| match item {
                    SymArgument::Bool(value) => Some(*value),
                    _ => None,
                },
                unsupported,
            )?),
            Argument::AsScalarType(id) => Source::Constant(format::dtype_of_id(*id).ok_or_else(unsupported)?.into()),
            Argument::AsLayout(id) => Source::Constant(format::layout_of_id(*id).ok_or_else(unsupported)?.into()),
            Argument::AsMemoryFormat(id) => {
                Source::Constant(format::memory_format_of_id(*id).ok_or_else(unsupported)?.into())
            }
            Argument::AsDevice(device) => device_source(&device.kind),
            Argument::AsNestedTensors(_)
            | Argument::AsGraph(_)
            | Argument::AsOperator(_)
            | Argument::AsCustomObj(_)
            | Argument::AsStringToArgument(_) => return Err(unsupported()),
        })
    }

    fn items<T>(
        &self,
        items: &[SymArgument],
        constant: impl Fn(&SymArgument) -> Option<T>,
        unsupported: impl Fn() -> NodeProblem,
    ) -> Result<Vec<SymSource<T>>, NodeProblem> {
        let item = |item: &SymArgument| match item.name() {
            Some(name) => self.slot(name).map(SymSource::Slot),
            None => constant(item).map(SymSource::Constant).ok_or_else(&unsupported),
        };
        items.iter().map(item).collect()
    }

    /// Returns the source of a number, for an operator of Python.
    pub(super) fn number(&self, argument: &Argument, position: usize) -> Result<Source, NodeProblem> {
        match argument {
            Argument::AsInt(_)
            | Argument::AsFloat(_)
            | Argument::AsBool(_)
            | Argument::AsSymInt(_)
            | Argument::AsSymFloat(_)
            | Argument::AsSymBool(_) => self.source(argument, &position.to_string()),
            other => Err(NodeProblem::WrongArgument {
                argument: position.to_string(),
                expected: "number".to_owned(),
                found: other.kind(),
            }),
        }
    }

    /// Returns the source of an argument of a schema's type.
    pub(super) fn typed_source(
        &self,
        argument: &Argument,
        name: &str,
        ty: &'static Type,
    ) -> Result<Source, NodeProblem> {
        let wrong = || NodeProblem::WrongArgument {
            argument: name.to_owned(),
            expected: ty.to_string(),
            found: argument.kind(),
        };
        let source = match self.source(argument, name)? {
            Source::Constant(value) => Source::Constant(convert_number(&value, ty).ok_or_else(wrong)?),
            // The value of a tensor is a tensor; a number may need a conversion.
            Source::Slot(slot)
                if !matches!(
                    argument,
                    Argument::AsTensor(_) | Argument::AsOptionalTensor(_) | Argument::AsDevice(_)
                ) =>
            {
                Source::Number(slot, ty)
            }
            Source::Tensors(slots) if is_list_of_optional_tensors(ty) => {
                Source::OptionalTensors(slots.into_iter().map(Some).collect())
            }
            other => other,
        };
        if let Source::Constant(Value::None) = source
            && !ty.accepts_none()
        {
            return Err(wrong());
        }
        Ok(source)
    }
}

/// Prepares the arguments of an operator by their names in its schema.
pub(super) fn prepare_call(
    operator: &'static Operator,
    node: &Node,
    definitions: &Definitions,
) -> Result<OperatorCall, NodeProblem> {
    let given = node.inputs.iter().map(|input| (input.name.as_str(), &input.arg));
    prepare_call_with(operator, given, node.outputs.len(), definitions)
}

/// Prepares a call with arguments by name. An argument without a name is the next positional one.
pub(super) fn prepare_call_with<'n>(
    operator: &'static Operator,
    given: impl Iterator<Item = (&'n str, &'n Argument)>,
    output_count: usize,
    definitions: &Definitions,
) -> Result<OperatorCall, NodeProblem> {
    let schema = operator.schema();
    let mut by_position: Vec<Option<&Argument>> = vec![None; schema.arguments.len()];
    for (at, (name, argument)) in given.enumerate() {
        let position =
            if name.is_empty() { Some(at) } else { schema.arguments.iter().position(|known| known.name == name) };
        let unknown = || NodeProblem::UnknownArgument {
            argument: if name.is_empty() { at.to_string() } else { name.to_owned() },
        };
        let place = position.and_then(|position| by_position.get_mut(position)).ok_or_else(unknown)?;
        if place.replace(argument).is_some() {
            return Err(NodeProblem::RepeatedArgument { argument: name.to_owned() });
        }
    }
    let is_factory = !schema.arguments.iter().any(|argument| mentions_tensors(&argument.ty));
    let source = |(described, given): (&'static schema::Argument, Option<&Argument>)| match given {
        // A factory without a device allocates on PyTorch's default device, which is the program's.
        None | Some(Argument::AsNone(_))
            if is_factory && described.ty.without_optional().kind == schema::TypeKind::Device =>
        {
            Ok(Source::Slot(DEVICE_SLOT))
        }
        Some(argument) => definitions.typed_source(argument, &described.name, &described.ty),
        None => Value::default_of(described)
            .map(Source::Constant)
            .ok_or_else(|| NodeProblem::MissingArgument { argument: described.name.clone() }),
    };
    let arguments = schema.arguments.iter().zip(by_position).map(source).collect::<Result<Vec<_>, _>>()?;
    if output_count > schema.returns.len() {
        return Err(NodeProblem::WrongOutputs { expected: schema.returns.len(), found: output_count });
    }
    let written = written_results(schema, &arguments);
    Ok(OperatorCall { operator, arguments, written })
}

/// Returns the results that are one of the written arguments.
fn written_results(schema: &'static schema::Schema, arguments: &[Source]) -> Vec<(usize, Slot)> {
    let mut written = Vec::new();
    for (at, result) in schema.returns.iter().enumerate() {
        let Some(alias) = &result.ty.alias else { continue };
        for (described, source) in schema.arguments.iter().zip(arguments) {
            if let (Some(own), Source::Slot(slot)) = (&described.ty.alias, source)
                && own.write
                && own == alias
            {
                written.push((at, *slot));
            }
        }
    }
    written
}

fn mentions_tensors(ty: &Type) -> bool {
    match &ty.without_optional().kind {
        schema::TypeKind::Tensor => true,
        schema::TypeKind::List(element, _) => mentions_tensors(element),
        _ => false,
    }
}

fn is_list_of_optional_tensors(ty: &Type) -> bool {
    match &ty.without_optional().kind {
        schema::TypeKind::List(element, _) => {
            element.accepts_none() && element.without_optional().kind == schema::TypeKind::Tensor
        }
        _ => false,
    }
}

/// Returns the source of a device: the device that the graph runs on. So a program runs on the device of its parameters, and not on the
/// one where it was exported. Meta tensors have no elements anywhere, so they stay Meta tensors.
pub(super) fn device_source(kind: &str) -> Source {
    if kind == "meta" { Source::Constant(Device::META.into()) } else { Source::Slot(DEVICE_SLOT) }
}

/// Returns the names of values in an argument or a result.
pub(super) fn names(argument: &Argument) -> Box<dyn Iterator<Item = &str> + '_> {
    match argument {
        Argument::AsTensor(tensor) => Box::new(std::iter::once(tensor.name.as_str())),
        Argument::AsTensors(tensors) => Box::new(tensors.iter().map(|tensor| tensor.name.as_str())),
        Argument::AsOptionalTensor(tensor) => Box::new(tensor.name().into_iter()),
        Argument::AsOptionalTensors(tensors) => Box::new(tensors.iter().filter_map(|tensor| tensor.name())),
        Argument::AsSymInt(number) | Argument::AsSymFloat(number) | Argument::AsSymBool(number) => {
            Box::new(number.name().into_iter())
        }
        Argument::AsSymInts(numbers) | Argument::AsSymFloats(numbers) | Argument::AsSymBools(numbers) => {
            Box::new(numbers.iter().filter_map(SymArgument::name))
        }
        Argument::AsNestedTensors(lists) => Box::new(lists.iter().flatten().map(|tensor| tensor.name.as_str())),
        Argument::AsStringToArgument(arguments) => Box::new(arguments.values().flat_map(names)),
        Argument::AsCustomObj(object) => Box::new(std::iter::once(object.name.as_str())),
        _ => Box::new(std::iter::empty()),
    }
}
