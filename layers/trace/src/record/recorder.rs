//! The recorder: the graph under construction, and the tensor of each of its values.
//!
//! Tensors are recognised by their identity. An unknown tensor that shares memory with a known one is recorded as that value or as a view
//! of it; autograd saves such tensors for its backward pass. All other unknown tensors become constants.

use std::collections::HashMap;

use dispatch_runtime::{Bool, Complex64, DType, Geometry, Operator, Scalar, Tensor, Value, guard};
use dispatch_transform::Level;

use super::effects::StateBeforeCall;
use super::meta_calls::geometry_without_offset;
use crate::argument::{Argument, ValueId};
use crate::error::TraceError;
use crate::graph::{Effects, Graph, GraphBuilder, NamedArgument, Node, ValueInfo};

#[derive(Default)]
pub(super) struct Recorder {
    /// The level of the function's tensors. The recorded tensors are those below it.
    level: Option<Level>,
    /// Whether autograd was recording when the function was called.
    grad_enabled: bool,
    builder: GraphBuilder,
    /// The tensor of each value. They are kept alive, so that identities stay unique.
    tensors: Vec<Tensor>,
    /// Other tensors that were recognised as one of the values. They are kept alive, so that identities stay unique.
    aliases: Vec<Tensor>,
    by_identity: HashMap<usize, ValueId>,
    /// The tensors that operators made inside of recorded calls, with the names of these operators.
    hidden: Vec<(Tensor, String)>,
}

impl Recorder {
    pub(super) fn new(level: Option<Level>, grad_enabled: bool, inputs: &[Tensor]) -> Self {
        let mut recorder = Self { level, grad_enabled, ..Self::default() };
        for input in inputs {
            let id = recorder.add_value(input);
            recorder.builder.inputs.push(id);
        }
        recorder
    }

    /// Returns the graph of a function with these results.
    pub(super) fn finish(mut self, results: impl IntoIterator<Item = Tensor>) -> Result<Graph, TraceError> {
        for (output, tensor) in results.into_iter().enumerate() {
            let Argument::Tensor(id) = self.argument_for_tensor("the function", &tensor)? else {
                return Err(TraceError::NumberAsOutput { output });
            };
            self.builder.outputs.push(id);
        }
        Ok(self.builder.finish())
    }

    /// Returns the tensor below the function's level.
    fn lower(&self, tensor: &Tensor) -> Tensor {
        self.level.as_ref().map_or_else(|| tensor.clone(), |level| level.lower(tensor))
    }

    /// Adds a value for a tensor.
    fn add_value(&mut self, tensor: &Tensor) -> ValueId {
        let tensor = &self.lower(tensor);
        let shares_memory_with =
            self.tensors.iter().position(|known| known.storage().same(tensor.storage())).map(ValueId);
        let geometry = geometry_without_offset(tensor);
        let id = self.builder.add_value(ValueInfo { dtype: tensor.dtype(), geometry, shares_memory_with });
        self.tensors.push(tensor.clone());
        self.by_identity.insert(tensor.identity(), id);
        id
    }

    pub(super) fn add_inner_tensors(&mut self, operator: &Operator, arguments: &[Value], results: &[Value]) {
        for tensor in results.iter().flat_map(Value::tensors) {
            let mut given = arguments.iter().flat_map(Value::tensors);
            if !given.any(|argument| argument.storage().same(tensor.storage())) {
                self.hidden.push((tensor.clone(), operator.name().to_string()));
            }
        }
    }

    /// Returns the argument for a tensor: a known value, a number, a view, or a new constant.
    fn argument_for_tensor(&mut self, operator: &str, tensor: &Tensor) -> Result<Argument, TraceError> {
        let tensor = &self.lower(tensor);
        if let Some(id) = self.by_identity.get(&tensor.identity()) {
            return Ok(Argument::Tensor(*id));
        }
        if let Some(number) = number_tensor_value(tensor) {
            return Ok(Argument::from_scalar(number));
        }
        let shares_storage = |known: &&Tensor| known.storage().same(tensor.storage());
        let Some(near) = self.tensors.iter().find(shares_storage) else {
            if let Some((_, made_by)) = self.hidden.iter().find(|(known, _)| shares_storage(&known)) {
                return Err(TraceError::TensorFromInnerCall {
                    operator: operator.to_owned(),
                    made_by: made_by.clone(),
                });
            }
            return Ok(self.add_constant(tensor));
        };
        let equal = |known: &Tensor| {
            shares_storage(&known) && known.dtype() == tensor.dtype() && known.geometry() == tensor.geometry()
        };
        if let Some(at) = self.tensors.iter().rposition(equal) {
            self.aliases.push(tensor.clone());
            self.by_identity.insert(tensor.identity(), ValueId(at));
            return Ok(Argument::Tensor(ValueId(at)));
        }
        if near.dtype() != tensor.dtype() {
            return Err(TraceError::ViewWithOtherDType { operator: operator.to_owned() });
        }
        let near = self.by_identity[&near.identity()];
        if self.builder.constants.iter().any(|(constant, _)| *constant == near) {
            return Ok(self.add_constant(tensor));
        }
        self.record_view_without_call(near, tensor)
            .map(Argument::Tensor)
            .ok_or_else(|| TraceError::ViewWithOtherDType { operator: operator.to_owned() })
    }

    /// Records a view that no operator made, as a call of `as_strided`. The offset is relative to the value `near`, which may be at another
    /// offset of its memory in another run.
    fn record_view_without_call(&mut self, near: ValueId, tensor: &Tensor) -> Option<ValueId> {
        let start = self.tensors[near.0].geometry().offset();
        let ahead = tensor.geometry().offset() - start;
        let mut base = near;
        if ahead > 0 {
            let row = tensor.restride(Geometry::strided(&[ahead + 1], &[1], start)?).ok()?;
            let last = tensor.restride(Geometry::strided(&[1], &[1], start + ahead)?).ok()?;
            let row = self.record_as_strided(near, &row, None);
            base = self.add_value(&last);
            let inputs =
                vec![named_argument("self", Argument::Tensor(row)), named_argument("start", Argument::Int(ahead))];
            self.push_view_node(aten::slice::operator(), inputs, base);
        }
        // A view that begins before the value is recorded with its offset from the start of the memory.
        let offset = (ahead < 0).then(|| tensor.geometry().offset());
        Some(self.record_as_strided(base, tensor, offset))
    }

    fn record_as_strided(&mut self, base: ValueId, tensor: &Tensor, offset: Option<i64>) -> ValueId {
        let id = self.add_value(tensor);
        let geometry = tensor.geometry();
        let mut inputs = vec![
            named_argument("self", Argument::Tensor(base)),
            named_argument("size", Argument::Ints(geometry.sizes().to_vec())),
            named_argument("stride", Argument::Ints(geometry.strides().to_vec())),
        ];
        inputs.extend(offset.map(|offset| named_argument("storage_offset", Argument::Int(offset))));
        self.push_view_node(aten::as_strided::operator(), inputs, id);
        id
    }

    fn push_view_node(&mut self, operator: &'static Operator, inputs: Vec<NamedArgument>, id: ValueId) {
        let outputs = vec![Argument::Tensor(id)];
        self.builder.nodes.push(Node { operator, inputs, outputs, effects: Effects::default(), grad_mode: None });
    }

    /// Adds a constant for a tensor from outside of the function.
    fn add_constant(&mut self, tensor: &Tensor) -> Argument {
        let id = self.add_value(tensor);
        self.builder.constants.push((id, tensor.clone()));
        Argument::Tensor(id)
    }

    pub(super) fn record_call(
        &mut self,
        operator: &Operator,
        arguments: &[Value],
        results: &[Value],
        (before, random): (&StateBeforeCall, bool),
    ) -> Result<(), TraceError> {
        let name = operator.name().to_string();
        let schema = operator.schema();
        let returns_only_tensors = results.iter().flat_map(Value::tensors).next().is_some();
        if !results.is_empty() && !returns_only_tensors && before.written_tensors().next().is_none() {
            return Ok(());
        }
        let unrecordable = |argument: &str, value: &Value| TraceError::UnsupportedValueKind {
            operator: name.clone(),
            argument: argument.to_owned(),
            kind: value.kind(),
        };
        let mut inputs = Vec::new();
        for (value, described) in arguments.iter().zip(&schema.arguments) {
            let recorded = Argument::from_value(value, &mut |tensor| self.argument_for_tensor(&name, tensor))?;
            let arg = recorded.ok_or_else(|| unrecordable(&described.name, value))?;
            if !Argument::schema_default(described).is_some_and(|default| default == arg) {
                inputs.push(NamedArgument { name: described.name.clone(), arg, keyword: described.keyword_only });
            }
        }
        let mut writes = Vec::new();
        for tensor in before.written_tensors() {
            let Argument::Tensor(id) = self.argument_for_tensor(&name, tensor)? else { continue };
            let root = self.builder.values[id.0].shares_memory_with.unwrap_or(id);
            if self.builder.constants.iter().any(|(constant, _)| *constant == root) {
                return Err(TraceError::WriteToCaptured { operator: name, sizes: tensor.sizes().to_vec() });
            }
            if !writes.contains(&id) {
                writes.push(id);
            }
        }
        let mut outputs = Vec::new();
        for (at, value) in results.iter().enumerate() {
            let written = schema.written_argument_of_return(at).map(|at| &arguments[at]);
            let recorded = Argument::from_value(value, &mut |tensor| {
                let is_written = written.is_some_and(|written| written.tensors().any(|known| known.same(tensor)));
                if is_written {
                    self.argument_for_tensor(&name, tensor)
                } else {
                    Ok(Argument::Tensor(self.add_value(tensor)))
                }
            })?;
            outputs.push(recorded.ok_or_else(|| unrecordable(&format!("result {at}"), value))?);
        }
        let Ok(operator) = Operator::find(&name) else { return Ok(()) };
        let grad_mode = Some(guard::is_grad_enabled()).filter(|grad| *grad != self.grad_enabled);
        self.builder.nodes.push(Node { operator, inputs, outputs, effects: Effects { random, writes }, grad_mode });
        Ok(())
    }
}

fn named_argument(name: &str, arg: Argument) -> NamedArgument {
    NamedArgument { name: name.to_owned(), arg, keyword: false }
}

/// Returns the scalar of a number tensor.
fn number_tensor_value(tensor: &Tensor) -> Option<Scalar> {
    if !tensor.is_number() {
        return None;
    }
    Some(match tensor.dtype() {
        DType::Bool => Scalar::Bool(tensor.read::<Bool>().ok()?.first()?.0 != 0),
        DType::I64 => Scalar::Int(*tensor.read::<i64>().ok()?.first()?),
        DType::F64 => Scalar::Float(*tensor.read::<f64>().ok()?.first()?),
        DType::C128 => Scalar::Complex(*tensor.read::<Complex64>().ok()?.first()?),
        _ => return None,
    })
}
