//! The recorder: the graph under construction, and the tensor of each of its values.
//!
//! Tensors are recognised by their identity. An unknown tensor that shares memory with a known one is recorded as that value or as a view
//! of it; autograd saves such tensors for its backward pass. All other unknown tensors become constants.

use std::collections::HashMap;

use dispatch_runtime::{Bool, Complex64, DType, Geometry, Operator, Scalar, Tensor, Value, guard};
use dispatch_transform::Level;

use super::effects::Before;
use super::shapes::without_offset;
use crate::argument::{Argument, Id};
use crate::error::TraceError;
use crate::graph::{Effects, Graph, GraphBuilder, Input, Node, ValueInfo};

#[derive(Default)]
pub(super) struct Recorder {
    /// The level of the function's tensors. The recorded tensors are those below it.
    level: Option<Level>,
    /// Whether autograd was recording when the function was called.
    grad: bool,
    builder: GraphBuilder,
    /// The tensor of each value. They are kept alive, so that identities stay unique.
    tensors: Vec<Tensor>,
    /// Other tensors that were recognised as one of the values, kept alive for the same reason.
    others: Vec<Tensor>,
    by_identity: HashMap<usize, Id>,
    /// The tensors that operators made inside of recorded calls, with the names of these operators.
    hidden: Vec<(Tensor, String)>,
}

impl Recorder {
    pub(super) fn new(level: Option<Level>, grad: bool, inputs: &[Tensor]) -> Self {
        let mut recorder = Self { level, grad, ..Self::default() };
        for input in inputs {
            let id = recorder.define(input);
            recorder.builder.inputs.push(id);
        }
        recorder
    }

    /// Returns the graph of a function with these results.
    pub(super) fn finish(mut self, results: impl IntoIterator<Item = Tensor>) -> Result<Graph, TraceError> {
        for (output, tensor) in results.into_iter().enumerate() {
            let Argument::Tensor(id) = self.argument("the function", &tensor)? else {
                return Err(TraceError::ForeignOutput { output });
            };
            self.builder.outputs.push(id);
        }
        Ok(self.builder.finish())
    }

    /// Returns the tensor below the function's level.
    fn below(&self, tensor: &Tensor) -> Tensor {
        self.level.as_ref().map_or_else(|| tensor.clone(), |level| level.lower(tensor))
    }

    /// Adds a value for a tensor.
    fn define(&mut self, tensor: &Tensor) -> Id {
        let tensor = &self.below(tensor);
        let shares = self.tensors.iter().position(|known| known.storage().same(tensor.storage())).map(Id);
        let geometry = without_offset(tensor);
        let id = self.builder.value(ValueInfo { dtype: tensor.dtype(), geometry, shares });
        self.tensors.push(tensor.clone());
        self.by_identity.insert(tensor.identity(), id);
        id
    }

    pub(super) fn hidden(&mut self, operator: &Operator, arguments: &[Value], results: &[Value]) {
        for tensor in results.iter().flat_map(Value::tensors) {
            let mut given = arguments.iter().flat_map(Value::tensors);
            if !given.any(|argument| argument.storage().same(tensor.storage())) {
                self.hidden.push((tensor.clone(), operator.name().to_string()));
            }
        }
    }

    /// Returns the argument for a tensor: a known value, a number, a view, or a new constant.
    fn argument(&mut self, operator: &str, tensor: &Tensor) -> Result<Argument, TraceError> {
        let tensor = &self.below(tensor);
        if let Some(id) = self.by_identity.get(&tensor.identity()) {
            return Ok(Argument::Tensor(*id));
        }
        if let Some(number) = number(tensor) {
            return Ok(Argument::number(number));
        }
        let shows_same = |known: &&Tensor| known.storage().same(tensor.storage());
        let Some(near) = self.tensors.iter().find(shows_same) else {
            if let Some((_, made_by)) = self.hidden.iter().find(|(known, _)| shows_same(&known)) {
                return Err(TraceError::Hidden { operator: operator.to_owned(), made_by: made_by.clone() });
            }
            return Ok(self.constant(tensor));
        };
        let equal = |known: &Tensor| {
            shows_same(&known) && known.dtype() == tensor.dtype() && known.geometry() == tensor.geometry()
        };
        if let Some(at) = self.tensors.iter().rposition(equal) {
            self.others.push(tensor.clone());
            self.by_identity.insert(tensor.identity(), Id(at));
            return Ok(Argument::Tensor(Id(at)));
        }
        if near.dtype() != tensor.dtype() {
            return Err(TraceError::Reinterpreted { operator: operator.to_owned() });
        }
        let near = self.by_identity[&near.identity()];
        if self.builder.constants.iter().any(|(constant, _)| *constant == near) {
            return Ok(self.constant(tensor));
        }
        self.strided(near, tensor)
            .map(Argument::Tensor)
            .ok_or_else(|| TraceError::Reinterpreted { operator: operator.to_owned() })
    }

    /// Records a view that no operator made, as a call of `as_strided`. The offset is relative to the value `near`, which may be at another
    /// offset of its memory in another run.
    fn strided(&mut self, near: Id, tensor: &Tensor) -> Option<Id> {
        let start = self.tensors[near.0].geometry().offset();
        let ahead = tensor.geometry().offset() - start;
        let mut base = near;
        if ahead > 0 {
            let row = tensor.restride(Geometry::strided(&[ahead + 1], &[1], start)?).ok()?;
            let last = tensor.restride(Geometry::strided(&[1], &[1], start + ahead)?).ok()?;
            let row = self.as_strided(near, &row, None);
            base = self.define(&last);
            let inputs = vec![input("self", Argument::Tensor(row)), input("start", Argument::Int(ahead))];
            self.view(aten::slice::operator(), inputs, base);
        }
        // A view that begins before the value is recorded with its offset from the start of the memory.
        let offset = (ahead < 0).then(|| tensor.geometry().offset());
        Some(self.as_strided(base, tensor, offset))
    }

    fn as_strided(&mut self, base: Id, tensor: &Tensor, offset: Option<i64>) -> Id {
        let id = self.define(tensor);
        let geometry = tensor.geometry();
        let mut inputs = vec![
            input("self", Argument::Tensor(base)),
            input("size", Argument::Ints(geometry.sizes().to_vec())),
            input("stride", Argument::Ints(geometry.strides().to_vec())),
        ];
        inputs.extend(offset.map(|offset| input("storage_offset", Argument::Int(offset))));
        self.view(aten::as_strided::operator(), inputs, id);
        id
    }

    fn view(&mut self, operator: &'static Operator, inputs: Vec<Input>, id: Id) {
        let outputs = vec![Argument::Tensor(id)];
        self.builder.nodes.push(Node { operator, inputs, outputs, effects: Effects::default(), grad: None });
    }

    /// Adds a constant for a tensor from outside of the function.
    fn constant(&mut self, tensor: &Tensor) -> Argument {
        let id = self.define(tensor);
        self.builder.constants.push((id, tensor.clone()));
        Argument::Tensor(id)
    }

    pub(super) fn call(
        &mut self,
        operator: &Operator,
        arguments: &[Value],
        results: &[Value],
        (before, random): (&Before, bool),
    ) -> Result<(), TraceError> {
        let name = operator.name().to_string();
        let schema = operator.schema();
        let gives_tensors = results.iter().flat_map(Value::tensors).next().is_some();
        if !results.is_empty() && !gives_tensors && before.written().next().is_none() {
            return Ok(());
        }
        let unrecordable = |argument: &str, value: &Value| TraceError::Unrecordable {
            operator: name.clone(),
            argument: argument.to_owned(),
            kind: value.kind(),
        };
        let mut inputs = Vec::new();
        for (value, described) in arguments.iter().zip(&schema.arguments) {
            let recorded = Argument::record(value, &mut |tensor| self.argument(&name, tensor))?;
            let arg = recorded.ok_or_else(|| unrecordable(&described.name, value))?;
            if !Argument::default_of(described).is_some_and(|default| default == arg) {
                inputs.push(Input { name: described.name.clone(), arg, keyword: described.keyword_only });
            }
        }
        let mut writes = Vec::new();
        for tensor in before.written() {
            let Argument::Tensor(id) = self.argument(&name, tensor)? else { continue };
            let root = self.builder.values[id.0].shares.unwrap_or(id);
            if self.builder.constants.iter().any(|(constant, _)| *constant == root) {
                return Err(TraceError::OutsideWritten { operator: name, sizes: tensor.sizes().to_vec() });
            }
            if !writes.contains(&id) {
                writes.push(id);
            }
        }
        let mut outputs = Vec::new();
        for (at, value) in results.iter().enumerate() {
            let written = schema.written_return(at).map(|at| &arguments[at]);
            let recorded = Argument::record(value, &mut |tensor| {
                let is_written = written.is_some_and(|written| written.tensors().any(|known| known.same(tensor)));
                if is_written { self.argument(&name, tensor) } else { Ok(Argument::Tensor(self.define(tensor))) }
            })?;
            outputs.push(recorded.ok_or_else(|| unrecordable(&format!("result {at}"), value))?);
        }
        let Ok(operator) = Operator::find(&name) else { return Ok(()) };
        let grad = Some(guard::is_grad_enabled()).filter(|grad| *grad != self.grad);
        self.builder.nodes.push(Node { operator, inputs, outputs, effects: Effects { random, writes }, grad });
        Ok(())
    }
}

fn input(name: &str, arg: Argument) -> Input {
    Input { name: name.to_owned(), arg, keyword: false }
}

/// Returns the scalar of a number tensor.
fn number(tensor: &Tensor) -> Option<Scalar> {
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
