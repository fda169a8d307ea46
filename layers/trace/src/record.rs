//! Tracing: the fallback of the layer `Tracer`, which records calls as nodes.
//!
//! The layer is above autograd. It records the calls of the function, and not the calls inside of them: a composite is one node, and so is
//! an operator whose kernel calls others. Only composites of tensors that require gradients are recorded as their parts, because the
//! backward pass uses tensors that the parts save. Each call is first made on Meta, so that a call that fails for its sizes or dtypes fails
//! before it runs.
//!
//! If a function is traced inside of a transformed function, the trace is a *level* on the stack of transforms. It records the calls of
//! that level only, and these continue below without change. Several traces of one level record the same calls.

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
    /// The number of levels of transforms around the function.
    depth: usize,
    trace: Rc<RefCell<Trace>>,
    other_thread: OtherThreadCall,
}

#[derive(Default)]
struct Trace {
    /// Whether the next call is inside of a recorded call, and not the function's own.
    inside: bool,
    /// Whether an operator inside of the recorded call draws random numbers.
    draws: bool,
    /// Whether all composites on the CPU are recorded as their parts.
    opens: bool,
    recorder: Recorder,
    failed: Option<TraceError>,
}

/// Runs a function once, and returns its calls as a graph.
///
/// Every operator is recorded as it was called, including composites, operators of other crates, and the calls of a backward pass.
/// Composites of tensors that require gradients are recorded as their parts. Tensors from outside of the function become constants, and so
/// do tensors that are computed on threads that the function did not start. Numbers and sizes keep the values of this run. A traced
/// function may trace other functions, be mapped, and be differentiated.
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
/// Returns the errors of the function, and [`TraceError`] in these cases: the result of an operator or its sizes depend on elements
/// (`aten::item`, `aten::nonzero`); the function writes to a tensor from outside; a thread that the function starts calls operators; an
/// argument cannot be recorded. Elements that are read without an operator ([`Tensor::read`](Tensor::read)) are not noticed.
pub fn trace<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    record(false, f, inputs)
}

/// Traces a function as [`trace`] does, with all composites on the CPU recorded as their parts.
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

/// The level of a function that is traced inside of a transformed one. Autograd works inside of this level independently of other levels.
struct TracedLevel;

impl Transform for TracedLevel {
    fn layers(&self) -> KeySet {
        KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView)
    }

    fn has_own_grad_mode(&self) -> bool {
        true
    }
}

/// A guard that ends the recording when it is dropped, also after an error or a panic.
struct RecordingGuard;

impl RecordingGuard {
    fn begin(session: Session) -> Self {
        other_threads::register_inherited_state();
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

    /// Splits the traces into those for which the call is the function's own, and those for which it is inside of a recorded call.
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

/// A guard that marks calls as inside of the recorded call while it lives.
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
                // A function that continues after such an error is not recorded either.
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

/// Makes a call and records it as a node.
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

/// Replaces a result that is an unwritten argument by an alias. In another run the result may be a new tensor, such as a copy, so it must
/// be a value different from the argument.
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

/// Returns whether all results are tensors.
fn gives_tensors(operator: &Operator) -> bool {
    let is_tensor = |kind: &TypeKind| match kind {
        TypeKind::Tensor => true,
        TypeKind::List(element, _) => element.required().kind == TypeKind::Tensor,
        _ => false,
    };
    operator.schema().returns.iter().all(|one| is_tensor(&one.ty.required().kind))
}

/// Returns whether a call is recorded as its parts: it is a composite of which autograd records the parts. The backward pass uses tensors
/// that the parts save.
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
