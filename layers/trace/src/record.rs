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
mod meta_calls;
mod other_threads;
mod recorder;

use std::cell::RefCell;
use std::rc::Rc;

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{
    Error, Key, KeySet, Operator, Provenance, Result, Stack, Tensor, Value, guard, keys, op_fallback,
};
use dispatch_transform::{Level, Transform, depth, enter};

use self::effects::StateBeforeCall;
pub(crate) use self::meta_calls::is_meta_unsupported_error;
use self::other_threads::OtherThreadCall;
use self::recorder::Recorder;
use crate::error::TraceError;
use crate::graph::Graph;

thread_local! {
    /// The traces of this thread, the innermost last.
    static TRACE_SESSIONS: RefCell<Vec<TraceSession>> = const { RefCell::new(Vec::new()) };
}

/// A function that is being traced.
#[derive(Clone)]
struct TraceSession {
    /// The number of levels of transforms around the function.
    depth: usize,
    trace: Rc<RefCell<TraceState>>,
    other_thread: OtherThreadCall,
}

#[derive(Default)]
struct TraceState {
    /// Whether the next call is inside of a recorded call, and not the function's own.
    in_recorded_call: bool,
    /// Whether an operator inside of the recorded call draws random numbers.
    draws_random: bool,
    /// Whether all composites on the CPU are recorded as their parts.
    decomposes: bool,
    recorder: Recorder,
    error: Option<TraceError>,
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
    trace_function(false, f, inputs)
}

/// Traces a function as [`trace`] does, with all composites on the CPU recorded as their parts.
pub(crate) fn trace_decomposed<O: IntoIterator<Item = Tensor>>(
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    trace_function(true, f, inputs)
}

fn trace_function<O: IntoIterator<Item = Tensor>>(
    decomposes: bool,
    f: impl FnOnce(&[Tensor]) -> Result<O>,
    inputs: &[Tensor],
) -> Result<Graph> {
    for (second, input) in inputs.iter().enumerate() {
        if let Some(first) = inputs[..second].iter().position(|other| other.same(input)) {
            return Err(TraceError::RepeatedInput { first, second }.into());
        }
    }
    let entered = (depth() > 0).then(|| enter(TraceTransform));
    let level = entered.as_ref().map(|entered| entered.level().clone());
    let lift = |tensor: &Tensor| level.as_ref().map_or_else(|| tensor.clone(), |level: &Level| level.lift(tensor));
    let inputs: Vec<Tensor> = inputs.iter().map(lift).collect();
    let recorder = Recorder::new(level, guard::is_grad_enabled(), &inputs);
    let trace = Rc::new(RefCell::new(TraceState { decomposes, recorder, ..TraceState::default() }));
    let other_thread = OtherThreadCall::default();
    let results = {
        let _session = TraceSessionGuard::begin(TraceSession {
            depth: depth(),
            trace: trace.clone(),
            other_thread: other_thread.clone(),
        });
        let _tracer = guard::include(keys::Tracer.into());
        f(&inputs)
    };
    let TraceState { recorder, error, .. } = trace.take();
    if let Some(error) = error.or_else(|| other_thread.take_error()) {
        return Err(error.into());
    }
    Ok(recorder.finish(results?)?)
}

/// The level of a function that is traced inside of a transformed one. Autograd works inside of this level independently of other levels.
struct TraceTransform;

impl Transform for TraceTransform {
    fn layer_keys(&self) -> KeySet {
        KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView)
    }

    fn has_own_grad_mode(&self) -> bool {
        true
    }
}

/// A guard that ends the recording when it is dropped, also after an error or a panic.
struct TraceSessionGuard;

impl TraceSessionGuard {
    fn begin(session: TraceSession) -> Self {
        other_threads::register_trace_inheritance();
        TRACE_SESSIONS.with_borrow_mut(|sessions| sessions.push(session));
        Self
    }
}

impl Drop for TraceSessionGuard {
    fn drop(&mut self) {
        drop(TRACE_SESSIONS.with_borrow_mut(Vec::pop));
    }
}

/// The traces of the function that makes the current call.
#[derive(Clone)]
struct LevelTraces(Vec<Rc<RefCell<TraceState>>>);

impl LevelTraces {
    fn at_current_level() -> Self {
        let depth = depth();
        let of_level = |session: &&TraceSession| session.depth == depth;
        let trace = |session: &TraceSession| session.trace.clone();
        TRACE_SESSIONS.with_borrow(|sessions| Self(sessions.iter().filter(of_level).map(trace).collect()))
    }

    /// Splits the traces into those for which the call is the function's own, and those for which it is inside of a recorded call.
    fn split_own_and_inner(self) -> (Self, Self) {
        let (inner, own) = self.0.into_iter().partition(|trace| trace.borrow().in_recorded_call);
        (Self(own), Self(inner))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn for_each(&self, mut f: impl FnMut(&mut TraceState)) {
        self.0.iter().for_each(|trace| f(&mut trace.borrow_mut()));
    }
}

/// A guard that marks calls as inside of the recorded call while it lives.
struct InnerCallGuard(LevelTraces);

impl InnerCallGuard {
    fn enter(traces: &LevelTraces) -> Self {
        traces.for_each(|trace| (trace.in_recorded_call, trace.draws_random) = (true, false));
        Self(traces.clone())
    }
}

impl Drop for InnerCallGuard {
    fn drop(&mut self) {
        self.0.for_each(|trace| trace.in_recorded_call = false);
    }
}

#[op_fallback(Tracer)]
fn tracer_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let below = keys.below(keys::Tracer);
    let (own, inner) = LevelTraces::at_current_level().split_own_and_inner();
    let arguments = stack.top(operator.argument_count()).unwrap_or_default().to_vec();
    other_threads::report_call_to_parents(operator);
    if own.is_empty() && inner.is_empty() || !own.is_empty() && is_recorded_as_parts(operator, &arguments, &own) {
        return operator.redispatch_boxed(below, stack);
    }
    if own.is_empty() {
        operator.redispatch_boxed(below, stack)?;
    } else {
        let outcome = {
            let _guard = InnerCallGuard::enter(&own);
            call_and_record(operator, below, &arguments, stack, &own)
        };
        if let Err(error) = outcome {
            let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<TraceError>());
            if let Some(source) = source {
                // A function that continues after such an error is not recorded either.
                own.for_each(|trace| _ = trace.error.get_or_insert_with(|| source.clone()));
            }
            return Err(error);
        }
    }
    let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
    inner.for_each(|trace| {
        trace.draws_random |= aten::is_random(operator);
        trace.recorder.add_inner_tensors(operator, &arguments, results);
    });
    Ok(())
}

/// Makes a call and records it as a node.
fn call_and_record(
    operator: &Operator,
    below: KeySet,
    arguments: &[Value],
    stack: &mut Stack,
    traces: &LevelTraces,
) -> Result<()> {
    let on_meta = meta_calls::call_on_meta(operator, arguments)?;
    if on_meta.is_none()
        && !returns_only_tensors(operator)
        && arguments.iter().flat_map(Value::tensors).next().is_some()
    {
        return Err(TraceError::DataDependent { operator: operator.name().to_string() }.into());
    }
    let before = StateBeforeCall::capture(operator, arguments);
    operator.redispatch_boxed(below, stack)?;
    alias_returned_arguments(operator, arguments, stack)?;
    let results = stack.top(operator.schema().returns.len()).unwrap_or_default();
    meta_calls::check_results_match_meta(operator, &on_meta.unwrap_or_default(), results)?;
    let mut recorded = Ok(());
    traces.for_each(|trace| {
        if recorded.is_ok() {
            let random = trace.draws_random || aten::is_random(operator) || before.drew_random_numbers();
            recorded = trace.recorder.record_call(operator, arguments, results, (&before, random));
        }
    });
    recorded.map_err(Error::from)
}

/// Replaces a result that is an unwritten argument by an alias. In another run the result may be a new tensor, such as a copy, so it must
/// be a value different from the argument.
fn alias_returned_arguments(operator: &Operator, arguments: &[Value], stack: &mut Stack) -> Result<()> {
    let schema = operator.schema();
    for (at, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
        let Value::Tensor(tensor) = result else { continue };
        let is_given = arguments.iter().flat_map(Value::tensors).any(|argument| argument.same(tensor));
        if is_given && schema.written_argument_of_return(at).is_none() {
            *tensor = aten::alias(tensor)?;
        }
    }
    Ok(())
}

/// Returns whether all results are tensors.
fn returns_only_tensors(operator: &Operator) -> bool {
    let is_tensor = |kind: &TypeKind| match kind {
        TypeKind::Tensor => true,
        TypeKind::List(element, _) => element.without_optional().kind == TypeKind::Tensor,
        _ => false,
    };
    operator.schema().returns.iter().all(|one| is_tensor(&one.ty.without_optional().kind))
}

/// Returns whether a call is recorded as its parts: it is a composite of which autograd records the parts. The backward pass uses tensors
/// that the parts save.
fn is_recorded_as_parts(operator: &Operator, arguments: &[Value], traces: &LevelTraces) -> bool {
    let composite =
        |key: Key| operator.table().iter().any(|cell| cell.key == key && cell.provenance == Provenance::MathKernel);
    if traces.0.iter().any(|trace| trace.borrow().decomposes) {
        return composite(keys::CPU);
    }
    let differentiable = arguments.iter().flat_map(Value::tensors).find(|tensor| tensor.requires_grad());
    let Some(tensor) = differentiable.filter(|_| guard::is_grad_enabled()) else { return false };
    composite(keys::Autograd.on(tensor.device().key()))
}
