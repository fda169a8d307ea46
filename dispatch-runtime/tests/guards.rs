//! Tests of the effect of a thread's guards on its calls.

use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::keys::*;
use dispatch_runtime::{Key, KeySet, Operator, Registrar, Tensor};

type EnterGuard = fn() -> guard::Guard;

fn define_operator(name: &str) -> &'static Operator {
    Registrar::new("guards").define(&format!("{name}(Tensor x) -> Tensor")).unwrap().operator().unwrap()
}

/// Returns the keys of a call on this thread with one plain tensor.
fn keys_of_call(operator: &Operator) -> KeySet {
    operator.explain(&[Tensor::from_slice(&[1.0_f32]).into()]).keys
}

#[test]
fn a_thread_starts_with_backend_select_and_view_tracking_and_without_autocast() {
    let operator = define_operator("defaults");
    assert_eq!(keys_of_call(operator), CPU | BackendSelect | ADInplaceOrView | AutogradCPU);
    let _bare = guard::force_key_sets(KeySet::EMPTY, KeySet::EMPTY);
    assert_eq!(keys_of_call(operator), CPU | ADInplaceOrView | AutogradCPU | AutocastCPU);
}

#[test]
fn exclude_removes_layers_and_keeps_backends() {
    let operator = define_operator("excluded");
    let _dense = guard::exclude(KeySet::from(CPU));
    assert!(!keys_of_call(operator).has(CPU) && keys_of_call(operator).has(AutogradCPU));
}

#[test]
fn guards_dropped_in_any_order_restore_the_state() {
    let before = (guard::included(), guard::excluded());
    let (first, second) = (guard::include(Tracer | Negative), guard::include(Negative | Conjugate));
    drop(first);
    assert_eq!(guard::included(), before.0 | Conjugate, "each guard removes only its own keys");
    drop(second);
    assert_eq!((guard::included(), guard::excluded()), before);
}

#[test]
fn inference_mode_dropped_after_an_older_guard_restores_the_state() {
    let before = (guard::included(), guard::excluded());
    let (older, inference) = (guard::exclude(KeySet::from(Tracer)), guard::inference_mode());
    drop(older);
    assert!(guard::is_inference_mode() && !guard::excluded().has(Tracer));
    drop(inference);
    assert_eq!((guard::included(), guard::excluded()), before);
}

#[test]
fn guards_below_a_layer_remove_its_keys_from_calls() {
    let operator = define_operator("below");
    let cases: [(EnterGuard, &[Key]); 4] = [
        (guard::below_autograd, &[AutogradCPU]),
        (guard::below_ad_inplace_or_view, &[AutogradCPU, ADInplaceOrView]),
        (guard::inference_mode, &[AutogradCPU, ADInplaceOrView]),
        (guard::skip_functionalize, &[Functionalize]),
    ];
    let _on = guard::include(KeySet::from(Functionalize));
    let all = keys_of_call(operator);
    for (enter, removed) in cases {
        let removed: KeySet = removed.iter().copied().collect();
        let tensor = Tensor::from_slice(&[1.0_f32]);
        let _guard = enter();
        // The tensor was made before the guard, so it has its own key for view tracking.
        let left = operator.explain(&[tensor.into()]).keys;
        let without_view_tracking =
            if guard::is_inference_mode() { left - KeySet::from(ADInplaceOrView) } else { left };
        assert_eq!(without_view_tracking, all - removed);
    }
    assert_eq!(keys_of_call(operator), all);
}

#[test]
fn dropping_a_forced_state_undoes_the_guards_entered_in_it() {
    let before = (guard::included(), guard::excluded());
    {
        let _forced = guard::force_key_sets(KeySet::from(Tracer), KeySet::from(Negative));
        let _more = guard::include(KeySet::from(Conjugate));
        assert_eq!((guard::included(), guard::excluded()), (Tracer | Conjugate, KeySet::from(Negative)));
    }
    assert_eq!((guard::included(), guard::excluded()), before);
}

#[test]
fn a_captured_state_can_run_on_another_thread() {
    let state = {
        let _tracing = guard::include(KeySet::from(Tracer));
        ThreadState::capture()
    };
    assert!(!guard::included().has(Tracer));
    assert!(state.run(|| guard::included().has(Tracer)));
    assert!(!guard::included().has(Tracer));
    assert!(std::thread::spawn(move || state.run(guard::included)).join().unwrap().has(Tracer));
}

#[test]
fn an_explanation_lists_the_keys_that_guards_removed() {
    let operator = define_operator("account");
    let (_below, line) = (guard::below_autograd(), line!());
    let explanation = operator.explain(&[Tensor::from_slice(&[1.0_f32]).into()]);
    assert_eq!(explanation.removed, AutogradCPU | AutocastCPU);
    assert!(explanation.to_string().contains(&format!("guards.rs:{line}")), "{explanation}");
}
