//! Tests of fallbacks: one boxed kernel for every operator, enabled by a guard or by a wrapper tensor. Calls skip a fallback that falls
//! through.

use std::sync::{Arc, Mutex};

use dispatch_runtime::keys::*;
use dispatch_runtime::{
    ErrorKind, KeySet, Operator, Registrar, ScopedRegistration, Stack, Tensor, Value, fallback, fallback_fallthrough,
    guard,
};

struct WrappedTensor(Tensor);

fn define_operator(name: &str) -> &'static Operator {
    let registrar = Registrar::new("fallbacks");
    let operator = registrar.define(&format!("{name}(Tensor x, int n) -> Tensor")).unwrap().operator().unwrap();
    drop(registrar.kernel(name, CPU, |_, _, stack| {
        // The first argument stays on the stack as the result.
        stack.drop_top(1);
        Ok(())
    }));
    operator
}

fn call_operator(operator: &Operator, tensor: &Tensor) -> Result<Tensor, dispatch_runtime::Error> {
    let results = operator.call([tensor.clone().into(), 4_i64.into()])?;
    let [Value::Tensor(tensor)] = &results[..] else { panic!("{results:?}") };
    Ok(tensor.clone())
}

#[test]
fn a_fallback_used_as_a_mode_runs_while_its_guard_lives() {
    let (operator, other) = (define_operator("mode"), define_operator("other_mode"));
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let writes = log.clone();
    let _mode: ScopedRegistration = fallback(PreDispatch, move |operator, keys, stack| {
        writes.lock().unwrap().push(format!("{operator}{}", stack.display_args(operator)));
        operator.redispatch_boxed(keys.below(PreDispatch), stack)
    })
    .unwrap()
    .scoped();
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(call_operator(operator, &x).unwrap().same(&x));
    assert!(log.lock().unwrap().is_empty());
    {
        let _on = guard::include(KeySet::from(PreDispatch));
        assert!(call_operator(operator, &x).unwrap().same(&x));
        assert!(call_operator(other, &x).unwrap().same(&x));
        let _off = guard::exclude(KeySet::from(PreDispatch));
        assert!(call_operator(operator, &x).unwrap().same(&x));
    }
    assert!(call_operator(operator, &x).unwrap().same(&x));
    let log = log.lock().unwrap();
    assert_eq!(
        *log,
        ["fallbacks::mode(Tensor(float32 [1] on cpu), 4)", "fallbacks::other_mode(Tensor(float32 [1] on cpu), 4)"]
    );
}

#[test]
fn a_fallback_used_as_a_wrapper_unwraps_arguments_and_wraps_results() {
    let operator = define_operator("wrapper");
    let _wrapper = fallback(FuncTorchGradWrapper, |operator, keys, stack| {
        let arguments = stack.top_mut(operator.argument_count()).expect("the dispatcher counts them");
        for argument in arguments {
            if let Some(original) =
                argument.as_tensor().and_then(Tensor::extension::<WrappedTensor>).map(|original| original.0.clone())
            {
                *argument = original.into();
            }
        }
        operator.redispatch_boxed(keys.below(FuncTorchGradWrapper), stack)?;
        let Some(Value::Tensor(result)) = stack.pop() else { return Err("no result".into()) };
        stack.push(wrap(&result));
        Ok(())
    })
    .unwrap()
    .scoped();
    let x = Tensor::from_slice(&[1.0_f32]);
    let wrapped = wrap(&x);
    assert_eq!(wrapped.keys(), x.keys() | FuncTorchGradWrapper);
    let result = call_operator(operator, &wrapped).unwrap();
    assert!(!result.same(&wrapped) && result.keys().has(FuncTorchGradWrapper));
    assert!(result.extension::<WrappedTensor>().unwrap().0.same(&x));
    assert!(call_operator(operator, &x).unwrap().same(&x), "a tensor without a wrapper is unchanged");
}

fn wrap(tensor: &Tensor) -> Tensor {
    let wrapper = tensor.with_keys(tensor.keys() | FuncTorchGradWrapper);
    wrapper.extension_or_init(|| WrappedTensor(tensor.clone()));
    wrapper
}

#[test]
fn a_kernel_of_a_layer_runs_although_its_fallback_is_a_fallthrough() {
    let (through, seen) = (define_operator("through"), define_operator("seen"));
    let _fallthrough = fallback_fallthrough(Conjugate).unwrap().scoped();
    drop(Registrar::new("fallbacks").kernel("seen", Conjugate, |_, _, _| Err("seen".into())));
    let _on = guard::include(KeySet::from(Conjugate));
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(call_operator(through, &x).unwrap().same(&x));
    assert_eq!(call_operator(seen, &x).unwrap_err().to_string(), "seen");
}

#[test]
fn an_operator_can_fall_through_although_the_layer_has_a_fallback() {
    let operator = define_operator("exempt");
    let _layer = fallback(Negative, |_, _, _| Err("layered".into())).unwrap().scoped();
    let _on = guard::include(KeySet::from(Negative));
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(call_operator(operator, &x).is_err());
    let exempt = Registrar::new("fallbacks").fallthrough("exempt", Negative).unwrap();
    assert!(call_operator(operator, &x).unwrap().same(&x));
    exempt.remove();
    assert!(call_operator(operator, &x).is_err());
}

#[test]
fn a_layer_without_fallback_is_skipped() {
    let operator = define_operator("idle");
    let _on = guard::include(KeySet::from(Python) | PythonDispatcher | Fake);
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(call_operator(operator, &x).unwrap().same(&x));
}

#[test]
fn a_fallthrough_for_one_backend_does_not_affect_another() {
    let operator = define_operator("uneven");
    drop(Registrar::new("fallbacks").kernel("uneven", CUDA, |_, _, _| Err("cuda".into())));
    let _cpu = fallback_fallthrough(AutogradCPU).unwrap().scoped();
    let _cuda = fallback(AutogradCUDA, |_, _, _| Err("autograd".into())).unwrap().scoped();
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(call_operator(operator, &x).unwrap().same(&x));
    assert_eq!(call_operator(operator, &x.with_keys(CUDA | AutogradCUDA)).unwrap_err().to_string(), "autograd");
    // Meta in the thread's included keys determines the backend, also after a skipped layer.
    let _meta = guard::include(KeySet::from(Meta));
    let error = call_operator(operator, &x.with_keys(CUDA | AutogradCUDA)).unwrap_err();
    let ErrorKind::NoKernel(explanation) = error.kind() else { panic!("{error}") };
    assert_eq!(explanation.key, Some(Meta));
}

#[test]
fn a_fallback_keeps_state_and_drops_it_when_it_is_removed() {
    let state = Arc::new(());
    let held = state.clone();
    let layer = fallback(ZeroTensor, move |operator, keys, stack: &mut Stack| {
        assert_eq!(Arc::strong_count(&held), 2);
        operator.redispatch_boxed(keys.below(ZeroTensor), stack)
    });
    let operator = define_operator("stateful");
    let x = Tensor::from_slice(&[1.0_f32]);
    {
        let _on = guard::include(KeySet::from(ZeroTensor));
        assert!(call_operator(operator, &x).unwrap().same(&x));
    }
    layer.unwrap().remove();
    assert_eq!(Arc::strong_count(&state), 1, "tables that contain the fallback may still exist");
}
