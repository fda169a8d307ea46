//! From calls to nodes.
//!
//! The recorder hears of a call at the layer `Tracer`, above autograd, and of none that are made inside of it: a composite is one node,
//! and so is an operator whose kernel calls others. Only composites of tensors that require gradients are recorded by their parts: the
//! way back uses what those save. Tensors are known by their identity. One that is not, but shows memory of one that
//! is - autograd keeps such for its backward - is that one, or a view of it; all others come from outside.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{
    Bool, Complex64, DType, Device, Error, Generator, Geometry, Key, KeySet, Operator, Provenance, Result, Scalar,
    Spec, Stack, Tensor, Value, guard, keys, op_fallback,
};

use crate::argument::{Argument, Id};
use crate::error::TraceError;
use crate::graph::{Draft, Effects, Graph, Input, Node, Shown};

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
    /// Whether the next call is the function's own: not while there is no function, nor inside of a call.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function once, and gives what it did as a graph.
///
/// Every operator is recorded as it was called, composites and those of other crates included, with what autograd calls on the way
/// back; composites of tensors that require gradients are recorded by their parts. Tensors that the function has from elsewhere become constants; numbers and sizes are what they were.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_runtime::prelude::*;
/// use dispatch_trace::trace;
///
/// # fn main() -> Result<()> {
/// let (x, w) = (Tensor::from([[1.0_f32, 2.0]]), Tensor::from([[3.0_f32], [4.0]]));
/// let graph = trace(|x| Ok([aten::add(&aten::mm(&x[0], &w)?, &x[0], 2.into())?]), &[x])?;
/// assert_eq!(
///     graph.to_string(),
///     "\
/// fn graph(v0: f32[1, 2]) {
///     const v1: f32[2, 1];
///     let v2: f32[1, 1] = aten::mm(&v0, &v1);
///     let v3: f32[1, 2] = aten::add(&v2, &v0, alpha = 2);
///     [v3]
/// }
/// "
/// );
/// let results = graph.run(&[Tensor::from([[0.0_f32, 1.0]])])?;
/// assert_eq!(&*results[0].read::<f32>()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of the function, and [`TraceError`]: where the function asks for elements by an operator such as `aten::item`, where it writes
/// to a tensor from outside, and where an argument cannot be recorded. Elements that are read without an operator
/// ([`Tensor::read`](Tensor::read)) go unnoticed.
pub fn trace<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    record(Recorder::default(), f, inputs)
}

/// The same, with all composites of the CPU's recorded by their parts.
pub(crate) fn trace_parts<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    record(Recorder { opens: true, ..Recorder::default() }, f, inputs)
}

fn record<O: IntoIterator<Item = Tensor>>(
    mut recorder: Recorder,
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    for (second, input) in inputs.iter().enumerate() {
        if let Some(first) = inputs[..second].iter().position(|other| other.same(input)) {
            return Err(TraceError::RepeatedInput { first, second }.into());
        }
        let id = recorder.define(input);
        recorder.draft.inputs.push(id);
    }
    if RECORDER.with_borrow(Option::is_some) {
        return Err(TraceError::Nested.into());
    }
    RECORDER.set(Some(recorder));
    let session = Session(LISTENING.replace(true));
    let results = {
        let _traced = guard::include(keys::Tracer.into());
        f(inputs)
    };
    let recorder = RECORDER.take();
    drop(session);
    let Some(mut recorder) = recorder else { return Err(TraceError::Nested.into()) };
    if let Some(error) = recorder.failed.take() {
        return Err(error.into());
    }
    for (output, tensor) in results?.into_iter().enumerate() {
        let Argument::Tensor(id) = recorder.argument("the function", &tensor)? else {
            return Err(TraceError::ForeignOutput { output }.into());
        };
        recorder.draft.outputs.push(id);
    }
    Ok(recorder.draft.finish())
}

/// Ends the recording, however the function ends.
struct Session(bool);

impl Drop for Session {
    fn drop(&mut self) {
        LISTENING.set(self.0);
        drop(RECORDER.take());
    }
}

/// The calls that one call makes are a part of it.
struct Inside;

impl Inside {
    fn enter() -> Self {
        LISTENING.set(false);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        LISTENING.set(true);
    }
}

#[op_fallback(Tracer)]
fn tracer(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let below = keys.below(keys::Tracer);
    let arguments = stack.top(operator.argument_count());
    let recording = RECORDER.with_borrow(Option::is_some);
    let Some(arguments) = arguments.filter(|arguments| recording && !is_opened(operator, arguments)) else {
        return operator.redispatch_boxed(below, stack);
    };
    let arguments = arguments.to_vec();
    if !LISTENING.get() {
        operator.redispatch_boxed(below, stack)?;
        let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
        note(|recorder| recorder.hidden(operator, &arguments, results));
        return Ok(());
    }
    let inside = Inside::enter();
    let before = Before::of(operator, &arguments);
    let outcome = if is_answered_by_shapes(operator, &arguments) {
        operator.redispatch_boxed(below, stack)?;
        let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
        note(|recorder| recorder.call(operator, &arguments, results, &before)).unwrap_or(Ok(()))
    } else {
        Err(TraceError::DataDependent { operator: operator.name().to_string() })
    };
    drop(inside);
    outcome.map_err(|error| {
        // A function that goes on after an error is not recorded either.
        note(|recorder| _ = recorder.failed.get_or_insert_with(|| error.clone()));
        Error::from(error)
    })
}

fn note<R>(f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    RECORDER.with_borrow_mut(|recorder| recorder.as_mut().map(f))
}

/// Whether a call is recorded by its parts: a composite that autograd sees through. What its parts save is used on the way back.
fn is_opened(operator: &Operator, arguments: &[Value]) -> bool {
    let composite =
        |key: Key| operator.table().iter().any(|cell| cell.key == key && cell.provenance == Provenance::MathKernel);
    if RECORDER.with_borrow(|recorder| recorder.as_ref().is_some_and(|recorder| recorder.opens)) {
        return LISTENING.get() && composite(keys::CPU);
    }
    let mut differentiable = None;
    for value in arguments {
        each_tensor(value, &mut |tensor| {
            if tensor.requires_grad() {
                differentiable = Some(tensor.device());
            }
        });
    }
    let Some(device) = differentiable.filter(|_| LISTENING.get() && guard::is_grad_enabled()) else { return false };
    composite(keys::Autograd.on(device.key()))
}

/// Whether results that are no tensors do not depend on elements: then Meta, which has none, knows them.
fn is_answered_by_shapes(operator: &Operator, arguments: &[Value]) -> bool {
    let schema = operator.schema();
    let is_tensor = |kind: &TypeKind| match kind {
        TypeKind::Tensor => true,
        TypeKind::List(element, _) => element.required().kind == TypeKind::Tensor,
        _ => false,
    };
    if schema.returns.iter().all(|one| is_tensor(&one.ty.required().kind)) || !arguments.iter().any(has_tensor) {
        return true;
    }
    let Some(shapes) = arguments.iter().map(as_shape).collect::<Option<Vec<_>>>() else { return false };
    operator.call(shapes).is_ok()
}

fn has_tensor(value: &Value) -> bool {
    let mut any = false;
    each_tensor(value, &mut |_| any = true);
    any
}

fn each_tensor<'v>(value: &'v Value, f: &mut impl FnMut(&'v Tensor)) {
    match value {
        Value::Tensor(tensor) => f(tensor),
        Value::Tensors(tensors) => tensors.iter().for_each(f),
        Value::OptionalTensors(tensors) => tensors.iter().flatten().for_each(f),
        Value::List(values) | Value::Tuple(values) => values.iter().for_each(|value| each_tensor(value, f)),
        _ => {}
    }
}

fn as_shape(value: &Value) -> Option<Value> {
    let shape =
        |tensor: &Tensor| Spec { dtype: tensor.dtype(), geometry: without_offset(tensor) }.on(Device::META).ok();
    Some(match value {
        Value::Tensor(tensor) => shape(tensor)?.into(),
        Value::Tensors(tensors) => tensors.iter().map(shape).collect::<Option<Vec<_>>>()?.into(),
        Value::OptionalTensors(tensors) => {
            let shapes =
                tensors.iter().map(|tensor| tensor.as_ref().map_or(Some(None), |tensor| shape(tensor).map(Some)));
            shapes.collect::<Option<Vec<_>>>()?.into()
        }
        other => other.clone(),
    })
}

fn without_offset(tensor: &Tensor) -> Geometry {
    tensor.geometry().clone().at(0)
}

/// What a call may change without saying so.
struct Before {
    versions: Vec<(Tensor, u64)>,
    generators: Vec<(Generator, u64)>,
}

impl Before {
    fn of(operator: &Operator, arguments: &[Value]) -> Self {
        let mut versions: Vec<(Tensor, u64)> = Vec::new();
        let mut generators: Vec<(Generator, u64)> = Vec::new();
        let mut watch = |generator: Generator| {
            if !generators.iter().any(|(known, _)| known.same(&generator)) {
                let position = generator.position();
                generators.push((generator, position));
            }
        };
        watch(Generator::of(Device::CPU));
        for value in arguments {
            if let Value::Device(device) = value {
                watch(Generator::of(*device));
            }
            each_tensor(value, &mut |tensor| {
                watch(Generator::of(tensor.device()));
                versions.push((tensor.clone(), tensor.storage().version()));
            });
        }
        for (value, described) in arguments.iter().zip(&operator.schema().arguments) {
            if described.is_written() {
                // Where memory has no version, such as Meta's, the schema alone says it.
                each_tensor(value, &mut |tensor| {
                    versions
                        .iter_mut()
                        .filter(|(known, _)| known.same(tensor))
                        .for_each(|(_, version)| *version = u64::MAX);
                });
            }
        }
        Self { versions, generators }
    }

    fn written(&self) -> impl Iterator<Item = &Tensor> {
        self.versions
            .iter()
            .filter(|(tensor, version)| tensor.storage().version() != *version)
            .map(|(tensor, _)| tensor)
    }

    fn took_random_numbers(&self) -> bool {
        self.generators.iter().any(|(generator, position)| generator.position() != *position)
    }
}

#[derive(Default)]
struct Recorder {
    draft: Draft,
    /// All composites are recorded by their parts.
    opens: bool,
    /// The tensor of each value; kept, so that identities stay what they are.
    tensors: Vec<Tensor>,
    /// Others that are known to be one of them.
    others: Vec<Tensor>,
    by_identity: HashMap<usize, Id>,
    /// What operators gave inside of recorded calls.
    hidden: Vec<(Tensor, String)>,
    failed: Option<TraceError>,
}

impl Recorder {
    /// A new value.
    fn define(&mut self, tensor: &Tensor) -> Id {
        let shares = self.tensors.iter().position(|known| known.storage().same(tensor.storage())).map(Id);
        let geometry = without_offset(tensor);
        let id = self.draft.value(Shown { dtype: tensor.dtype(), geometry, shares });
        self.tensors.push(tensor.clone());
        self.by_identity.insert(tensor.identity(), id);
        id
    }

    fn hidden(&mut self, operator: &Operator, arguments: &[Value], results: &[Value]) {
        for value in results {
            each_tensor(value, &mut |tensor| {
                let mut is_new = true;
                for value in arguments {
                    each_tensor(value, &mut |argument| is_new &= !argument.storage().same(tensor.storage()));
                }
                if is_new {
                    self.hidden.push((tensor.clone(), operator.name().to_string()));
                }
            });
        }
    }

    /// The argument that a tensor is.
    fn argument(&mut self, operator: &str, tensor: &Tensor) -> Result<Argument, TraceError> {
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
            let id = self.define(tensor);
            self.draft.constants.push((id, tensor.clone()));
            return Ok(Argument::Tensor(id));
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
        let id = self.define(tensor);
        self.draft.nodes.push(as_strided(near, id, tensor));
        Ok(Argument::Tensor(id))
    }

    fn call(
        &mut self,
        operator: &Operator,
        arguments: &[Value],
        results: &[Value],
        before: &Before,
    ) -> Result<(), TraceError> {
        let name = operator.name().to_string();
        let schema = operator.schema();
        if !results.is_empty() && !results.iter().any(has_tensor) && before.written().next().is_none() {
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
            if !Argument::default_of(described).is_some_and(|default| default.is(&arg)) {
                inputs.push(Input { name: described.name.clone(), arg, keyword: described.keyword_only });
            }
        }
        let mut writes = Vec::new();
        for tensor in before.written() {
            let Argument::Tensor(id) = self.argument(&name, tensor)? else { continue };
            let root = self.draft.values[id.0].shares.unwrap_or(id);
            if self.draft.constants.iter().any(|(constant, _)| *constant == root) {
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
                let mut is_written = false;
                if let Some(written) = written {
                    each_tensor(written, &mut |known| is_written |= known.same(tensor));
                }
                // An operator that hands on what it was given may give something new at another run.
                if is_written { self.argument(&name, tensor) } else { Ok(Argument::Tensor(self.define(tensor))) }
            })?;
            outputs.push(recorded.ok_or_else(|| unrecordable(&format!("result {at}"), value))?);
        }
        let random = before.took_random_numbers();
        let Ok(operator) = Operator::find(&name) else { return Ok(()) };
        self.draft.nodes.push(Node { operator, inputs, outputs, effects: Effects { random, writes } });
        Ok(())
    }
}

fn as_strided(base: Id, id: Id, tensor: &Tensor) -> Node {
    let input = |name: &str, arg| Input { name: name.to_owned(), arg, keyword: false };
    let geometry = tensor.geometry();
    let inputs = vec![
        input("self", Argument::Tensor(base)),
        input("size", Argument::Ints(geometry.sizes().to_vec())),
        input("stride", Argument::Ints(geometry.strides().to_vec())),
        input("storage_offset", Argument::Int(geometry.offset())),
    ];
    let outputs = vec![Argument::Tensor(id)];
    Node { operator: aten::as_strided::operator(), inputs, outputs, effects: Effects::default() }
}

/// The number that a tensor is.
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
