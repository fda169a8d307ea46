//! From calls to nodes.
//!
//! The recorder hears of a call at the layer `Tracer`, above autograd, and of none that are made inside of it: a composite is one node,
//! and so is an operator whose kernel calls others. Only composites of tensors that require gradients are recorded by their parts: the
//! way back uses what those save. Before a call is made, it is made on Meta, so that what shapes can say is an error where it is made.
//!
//! Inside of a function that is transformed, a traced one is a *level* of its own on the stack of transforms: it hears of the calls of that
//! level alone, and these go on below as if nobody had listened. Several traces of one level hear of the same calls.

mod effects;
mod other_threads;
mod recorder;
mod shapes;

use std::cell::RefCell;
use std::rc::Rc;

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{
    Error, Key, KeySet, Operator, Provenance, Result, Stack, Tensor, Value, guard, keys, op_fallback,
};
use dispatch_transform::{Level, Transform, depth, enter};

use self::effects::Before;
use self::other_threads::OtherThreadCall;
use self::recorder::Recorder;
pub(crate) use self::shapes::is_ignorance;
use crate::error::TraceError;
use crate::graph::Graph;

thread_local! {
    /// The traces of this thread, the innermost last.
    static SESSIONS: RefCell<Vec<Session>> = const { RefCell::new(Vec::new()) };
}

/// A function that is being traced.
#[derive(Clone)]
struct Session {
    /// How many levels its calls are inside of.
    depth: usize,
    trace: Rc<RefCell<Trace>>,
    other_thread: OtherThreadCall,
}

#[derive(Default)]
struct Trace {
    /// Whether the next call is a part of one that is recorded, and not the function's own.
    inside: bool,
    /// Whether the call that is recorded has a random one inside.
    draws: bool,
    /// Whether all composites of the CPU's are recorded by their parts.
    opens: bool,
    recorder: Recorder,
    failed: Option<TraceError>,
}

/// Runs a function once, and gives what it did as a graph.
///
/// Every operator is recorded as it was called, composites and those of other crates included, with what autograd calls on the way
/// back; composites of tensors that require gradients are recorded by their parts. Tensors that the function has from elsewhere become
/// constants, and so does what it computes on threads that others start; numbers and sizes are what they were. A traced function may trace others, be mapped, and be differentiated.
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
/// Those of the function, and [`TraceError`]: where what an operator gives, or how large that is, depends on elements (`aten::item`,
/// `aten::nonzero`), where the function writes to a tensor from outside, where a thread that it starts calls operators, and where an argument cannot be recorded. Elements that are read without an operator
/// ([`Tensor::read`](Tensor::read)) go unnoticed.
pub fn trace<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    record(false, f, inputs)
}

/// The same, with all composites of the CPU's recorded by their parts.
pub(crate) fn trace_parts<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    record(true, f, inputs)
}

fn record<O: IntoIterator<Item = Tensor>>(
    opens: bool,
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    for (second, input) in inputs.iter().enumerate() {
        if let Some(first) = inputs[..second].iter().position(|other| other.same(input)) {
            return Err(TraceError::RepeatedInput { first, second }.into());
        }
    }
    let entered = (depth() > 0).then(|| enter(TracedLevel));
    let level = entered.as_ref().map(|entered| entered.level().clone());
    let lift = |tensor: &Tensor| level.as_ref().map_or_else(|| tensor.clone(), |level: &Level| level.lift(tensor));
    let inputs: Vec<Tensor> = inputs.iter().map(lift).collect();
    let recorder = Recorder::new(level, guard::is_grad_enabled(), &inputs);
    let trace = Rc::new(RefCell::new(Trace { opens, recorder, ..Trace::default() }));
    let other_thread = OtherThreadCall::default();
    let results = {
        let _session =
            RecordingGuard::begin(Session { depth: depth(), trace: trace.clone(), other_thread: other_thread.clone() });
        let _heard = guard::include(keys::Tracer.into());
        f(&inputs)
    };
    let Trace { recorder, failed, .. } = trace.take();
    if let Some(error) = failed.or_else(|| other_thread.call()) {
        return Err(error.into());
    }
    Ok(recorder.finish(results?)?)
}

/// The level of a function that is traced inside of a transformed one. What it differentiates is its own, as everywhere.
struct TracedLevel;

impl Transform for TracedLevel {
    fn layers(&self) -> KeySet {
        KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView)
    }

    fn has_own_grad_mode(&self) -> bool {
        true
    }
}

/// Ends the recording, however the function ends.
struct RecordingGuard;

impl RecordingGuard {
    fn begin(session: Session) -> Self {
        other_threads::take_along();
        SESSIONS.with_borrow_mut(|sessions| sessions.push(session));
        Self
    }
}

impl Drop for RecordingGuard {
    fn drop(&mut self) {
        drop(SESSIONS.with_borrow_mut(Vec::pop));
    }
}

/// The traces of the function that makes the current call.
#[derive(Clone)]
struct Traces(Vec<Rc<RefCell<Trace>>>);

impl Traces {
    fn here() -> Self {
        let depth = depth();
        let of_level = |session: &&Session| session.depth == depth;
        let trace = |session: &Session| session.trace.clone();
        SESSIONS.with_borrow(|sessions| Self(sessions.iter().filter(of_level).map(trace).collect()))
    }

    /// Those for which the call is the function's own, and those that it is a part of a call for.
    fn told_apart(self) -> (Self, Self) {
        let (inside, own) = self.0.into_iter().partition(|trace| trace.borrow().inside);
        (Self(own), Self(inside))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn each(&self, mut f: impl FnMut(&mut Trace)) {
        self.0.iter().for_each(|trace| f(&mut trace.borrow_mut()));
    }
}

/// The calls that one call makes are a part of it.
struct Inside(Traces);

impl Inside {
    fn enter(traces: &Traces) -> Self {
        traces.each(|trace| (trace.inside, trace.draws) = (true, false));
        Self(traces.clone())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.each(|trace| trace.inside = false);
    }
}

#[op_fallback(Tracer)]
fn tracer(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let below = keys.below(keys::Tracer);
    let (own, inside) = Traces::here().told_apart();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    other_threads::heard(operator);
    if own.is_empty() && inside.is_empty() || !own.is_empty() && is_opened(operator, &arguments, &own) {
        return operator.redispatch_boxed(below, stack);
    }
    if own.is_empty() {
        operator.redispatch_boxed(below, stack)?;
    } else {
        let outcome = {
            let _inside = Inside::enter(&own);
            recorded(operator, below, &arguments, stack, &own)
        };
        if let Err(error) = outcome {
            let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<TraceError>());
            if let Some(source) = source {
                // A function that goes on after such an error is not recorded either.
                own.each(|trace| _ = trace.failed.get_or_insert_with(|| source.clone()));
            }
            return Err(error);
        }
    }
    let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
    inside.each(|trace| {
        trace.draws |= aten::is_random(operator);
        trace.recorder.hidden(operator, &arguments, results);
    });
    Ok(())
}

/// Makes a call, and a node of it.
fn recorded(operator: &Operator, below: KeySet, arguments: &[Value], stack: &mut Stack, traces: &Traces) -> Result<()> {
    let planned = shapes::planned(operator, arguments)?;
    if planned.is_none() && !gives_tensors(operator) && arguments.iter().flat_map(Value::tensors).next().is_some() {
        return Err(TraceError::DataDependent { operator: operator.name().to_string() }.into());
    }
    let before = Before::of(operator, arguments);
    operator.redispatch_boxed(below, stack)?;
    tell_apart(operator, arguments, stack)?;
    let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
    shapes::check(operator, &planned.unwrap_or_default(), results)?;
    let mut noted = Ok(());
    traces.each(|trace| {
        if noted.is_ok() {
            let random = trace.draws || aten::is_random(operator) || before.took_random_numbers();
            noted = trace.recorder.call(operator, arguments, results, (&before, random));
        }
    });
    noted.map_err(Error::from)
}

/// What an operator hands on as it was given may be something new at another run, such as a copy, so it has to be a value of its own.
fn tell_apart(operator: &Operator, arguments: &[Value], stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    for (at, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
        let Value::Tensor(tensor) = result else { continue };
        let is_given = arguments.iter().flat_map(Value::tensors).any(|argument| argument.same(tensor));
        if is_given && schema.written_return(at).is_none() {
            *tensor = aten::alias(tensor)?;
        }
    }
    Ok(())
}

/// Whether all that comes out are tensors.
fn gives_tensors(operator: &Operator) -> bool {
    let is_tensor = |kind: &TypeKind| match kind {
        TypeKind::Tensor => true,
        TypeKind::List(element, _) => element.required().kind == TypeKind::Tensor,
        _ => false,
    };
    operator.schema().returns.iter().all(|one| is_tensor(&one.ty.required().kind))
}

/// Whether a call is recorded by its parts: a composite that autograd sees through. What its parts save is used on the way back.
fn is_opened(operator: &Operator, arguments: &[Value], traces: &Traces) -> bool {
    let composite =
        |key: Key| operator.table().iter().any(|cell| cell.key == key && cell.provenance == Provenance::MathKernel);
    if traces.0.iter().any(|trace| trace.borrow().opens) {
        return composite(keys::CPU);
    }
    let differentiable = arguments.iter().flat_map(Value::tensors).find(|tensor| tensor.requires_grad());
    let Some(tensor) = differentiable.filter(|_| guard::is_grad_enabled()) else { return false };
    composite(keys::Autograd.on(tensor.device().key()))
}
