//! Tests of a program with one example of each finding of `verify`. Only calls of the operators concerned fail.
#![expect(unsafe_code, reason = "operators that are written by hand")]

use dispatch_runtime::__private::{Definition, Record, Sig, Signature, TableHeader};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    ErrorKind, FallbackRecord, Finding, InsertionPoint, KernelRecord, Location, Name, Registrar, UserKey, fallback,
    on_operator_event, register, verify,
};

/// An operator with two kernels for one key.
#[op_def("two_kernels(Tensor self) -> Tensor")]
fn two_kernels(this: &Tensor) -> Result<Tensor>;

#[op_impl(two_kernels, CPU)]
fn two_kernels_first(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(two_kernels, CPU, Meta)]
fn two_kernels_second(this: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with two kernels for one key, one of which overrides the other.
#[op_def("overridden(Tensor self) -> int")]
fn overridden(this: &Tensor) -> Result<i64>;

#[op_impl(overridden, CPU)]
fn overridden_kernel(_: &Tensor) -> i64 {
    1
}

#[op_impl(overridden, CPU, override)]
fn overriding_kernel(_: &Tensor) -> i64 {
    2
}

/// An operator with two conditions of the same priority.
#[op_def("same_priority(Tensor self) -> int")]
fn same_priority(this: &Tensor) -> Result<i64>;

#[op_impl(same_priority, CPU, when(this.sizes().is_empty()), priority = 1)]
fn same_priority_empty(_: &Tensor) -> i64 {
    1
}

#[op_impl(same_priority, CPU, when(!this.sizes().is_empty()), priority = 1)]
fn same_priority_non_empty(_: &Tensor) -> i64 {
    2
}

/// A composite that loses its derivative on one backend.
#[op_def("composite(Tensor self) -> Tensor")]
fn composite(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(composite, CPU)]
fn composite_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

/// A composite that also has a kernel for a storage without an autograd key of its own.
#[op_def("ambiguous_for_autograd_other(Tensor self) -> Tensor")]
fn ambiguous_for_autograd_other(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(ambiguous_for_autograd_other, SparseCPU)]
fn ambiguous_for_autograd_other_sparse(this: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with a body and a catch-all kernel.
#[op_def("with_body(Tensor self) -> Tensor")]
fn with_body(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(with_body)]
fn with_body_catch_all(this: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with a kernel for Autograd that never runs, because the other kernel names no key.
#[op_def("catch_all(Tensor self) -> int")]
fn catch_all(this: &Tensor) -> Result<i64>;

#[op_impl(catch_all)]
fn catch_all_kernel(_: &Tensor) -> i64 {
    1
}

#[op_impl(catch_all, Autograd)]
fn catch_all_derivative(_: &Tensor) -> i64 {
    2
}

/// The same operator with a kernel for a key.
#[op_def("not_catch_all(Tensor self) -> int")]
fn not_catch_all(this: &Tensor) -> Result<i64>;

#[op_impl(not_catch_all, CPU)]
fn not_catch_all_kernel(_: &Tensor) -> i64 {
    1
}

#[op_impl(not_catch_all, Autograd)]
fn not_catch_all_derivative(_: &Tensor) -> i64 {
    2
}

mod first_crate {
    #[dispatch_runtime::dispatch_key(layer, above = Autocast)]
    pub(super) static Namesake: dispatch_runtime::Key;
}

mod second_crate {
    #[dispatch_runtime::dispatch_key(layer, above = Autocast)]
    pub(super) static Namesake: dispatch_runtime::Key;
}

/// Submits keys without `#[dispatch_key]`, so that no macro has checked their names.
macro_rules! submit_keys {
    ($($key:expr;)*) => {$(
        const _: () = {
            static KEY: UserKey = $key;
            dispatch_runtime::__submit! { Record::Key(&KEY) }
        };
    )*};
}

submit_keys! {
    UserKey::new_backend("NNP", Location::new(file!(), line!()));
    UserKey::new_backend("Nnp", Location::new(file!(), line!()));
    UserKey::new_layer("Tracer", InsertionPoint::Autograd, Location::new(file!(), line!()));
}

#[op_fallback(Tracer)]
fn tracer_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(keys::Tracer), stack)
}

fallthrough!(Tracer);

fn one_element_tensor() -> Tensor {
    Tensor::from_slice(&[1.0_f32])
}

/// Returns a lock for tests that register, and for tests that see all registrations. They run one at a time.
fn lock_registrations() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn findings_about_operator(operator: &str) -> Vec<Finding> {
    let concerns = |finding: &Finding| finding.to_string().contains(&format!("`{operator}`"));
    verify().into_iter().filter(concerns).collect()
}

#[test]
fn duplicate_kernels_are_found_and_only_their_operators_fail() {
    let findings = findings_about_operator("verify::two_kernels");
    assert!(
        matches!(&findings[..], [Finding::Error(error)] if matches!(error.kind(), ErrorKind::DuplicateKernel { kernels, .. } if kernels.len() == 2)),
        "{findings:?}"
    );
    let error = two_kernels(&one_element_tensor()).unwrap_err().to_string();
    assert!(
        error.contains("`two_kernels_first`") && error.contains("`two_kernels_second`") && error.contains("override"),
        "{error}"
    );
    assert_eq!(error.matches("tests/verify.rs:").count(), 2, "{error}");
    // Calls for a key with only one of the kernels succeed.
    assert!(two_kernels::call_for(keys::Meta, &one_element_tensor()).is_ok());
}

#[test]
fn an_override_replaces_the_other_kernel_and_is_no_finding() {
    assert!(findings_about_operator("verify::overridden").is_empty());
    assert_eq!(overridden(&one_element_tensor()).unwrap(), 2);
    let kernels = overridden::operator().kernels_for_key(keys::CPU);
    assert_eq!(
        kernels.iter().map(dispatch_runtime::KernelHandle::name).collect::<Vec<_>>(),
        ["overriding_kernel", "overridden_kernel"]
    );
    let mut stack = Stack::new();
    stack.push(one_element_tensor());
    kernels[1].call(keys::CPU.into(), &mut stack).unwrap();
    assert_eq!(format!("{:?}", stack.values()), "[1]");
}

#[test]
fn conditions_with_the_same_priority_conflict() {
    assert_eq!(findings_about_operator("verify::same_priority").len(), 1);
    assert!(matches!(same_priority(&one_element_tensor()).unwrap_err().kind(), ErrorKind::DuplicateKernel { .. }));
}

#[test]
fn a_backend_kernel_of_a_composite_is_a_finding_and_runs() {
    assert!(
        matches!(&findings_about_operator("verify::composite")[..], [Finding::KernelDisablesAutograd { backend, .. }] if *backend == keys::CPU)
    );
    assert!(composite(&one_element_tensor()).is_ok());
}

#[test]
fn a_storage_kernel_beside_a_composite_is_ambiguous_for_autograd_other() {
    assert!(
        matches!(&findings_about_operator("verify::ambiguous_for_autograd_other")[..], [Finding::AmbiguousAutogradOther { storage, .. }] if *storage == keys::SparseCPU)
    );
    let sparse = one_element_tensor().with_keys(keys::SparseCPU | keys::AutogradOther);
    assert!(matches!(ambiguous_for_autograd_other(&sparse).unwrap_err().kind(), ErrorKind::AmbiguousAutogradOther(_)));
    assert!(ambiguous_for_autograd_other(&one_element_tensor()).is_ok());
}

#[test]
fn a_catch_all_beside_a_body_is_found() {
    assert!(
        matches!(&findings_about_operator("verify::with_body")[..], [Finding::AliasKernelBesideBody { kernels, .. }] if kernels.len() == 2)
    );
}

#[test]
fn a_derivative_that_never_runs_is_found() {
    let x = one_element_tensor().with_keys(keys::CPU | keys::AutogradCPU);
    let findings = findings_about_operator("verify::catch_all");
    assert!(matches!(&findings[..], [Finding::CompositeReplacesAutograd { .. }]), "{findings:?}");
    assert!(findings[0].to_string().contains("`#[op_impl(catch_all, CPU)]`"), "{}", findings[0]);
    assert_eq!(catch_all(&x).unwrap(), 1);

    assert!(findings_about_operator("verify::not_catch_all").is_empty());
    assert_eq!(not_catch_all(&x).unwrap(), 2);
}

#[test]
fn keys_with_the_same_name_are_found() {
    let found = verify().into_iter().find(|finding| matches!(finding, Finding::DuplicateKey { .. })).unwrap();
    assert!(found.to_string().starts_with("two keys are called `Namesake`"), "{found}");
    assert_ne!(KeySet::from(first_crate::Namesake), KeySet::from(second_crate::Namesake));
}

#[test]
fn keys_with_the_name_of_another_key_or_device_are_found() {
    let texts: Vec<String> = verify().iter().map(ToString::to_string).collect();
    for start in ["the devices of `NNP` and `Nnp` are both called `nnp`", "`Tracer` is the name of a built-in key"] {
        assert_eq!(texts.iter().filter(|text| text.starts_with(start)).count(), 1, "{texts:?}");
    }
}

#[test]
fn two_fallbacks_for_one_key_are_found() {
    let _alone = lock_registrations();
    let duplicate = |finding: &Finding| matches!(finding, Finding::Error(error) if matches!(error.kind(), ErrorKind::DuplicateFallback { .. }));
    assert_eq!(verify().iter().filter(|finding| duplicate(finding)).count(), 1);
    let _tracing = dispatch_runtime::guard::include(keys::Tracer.into());
    assert!(matches!(overridden(&one_element_tensor()).unwrap_err().kind(), ErrorKind::DuplicateFallback { .. }));
}

#[test]
fn a_kernel_without_definition_is_a_finding_until_it_is_defined() {
    let _alone = lock_registrations();
    let orphans = Registrar::new("orphans");
    let kernel = orphans.kernel("lost", keys::CPU, |_, _, _| Ok(())).unwrap();
    assert!(
        matches!(&findings_about_operator("orphans::lost")[..], [Finding::Error(error)] if matches!(error.kind(), ErrorKind::MissingDefinition { .. }))
    );
    let error = Operator::find("orphans::lost").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::MissingDefinition { kernels, .. } if kernels.len() == 1));
    let definition = orphans.define("lost() -> ()").unwrap();
    assert!(findings_about_operator("orphans::lost").is_empty());
    definition.remove();
    kernel.remove();
    assert!(findings_about_operator("orphans::lost").is_empty());
}

/// Registers records that no linked crate submitted, as a plug-in does.
fn register_late(records: Vec<Record>) {
    register(records.leak());
}

#[expect(clippy::unnecessary_wraps, reason = "it has the type of a boxed kernel")]
fn no_op_kernel(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Ok(())
}

/// A type for an operator that a registrar defines, as an attribute would generate it.
enum LateOperator {}

// SAFETY: the operator is always the same, and has no types.
unsafe impl Operation for LateOperator {
    type Signature = Sig<(), ()>;

    fn operator() -> &'static Operator {
        static OPERATOR: LazyLock<&'static Operator> = LazyLock::new(|| {
            let definition = Registrar::new("late").define("kernel() -> ()").unwrap();
            definition.operator().unwrap()
        });
        &OPERATOR
    }
}

/// Makes another definition of a name, which is callable through a stack.
fn late_definition(name: Name<'static>) -> Operator {
    static UNBOUND: TableHeader = TableHeader::unbound(None, Sig::<(), ()>::TYPED_ADAPTERS.slow_path);
    // SAFETY: the definition has no types.
    unsafe {
        Operator::new(
            &UNBOUND,
            Definition {
                name,
                signature: "() -> int",
                docs: "",
                location: TEST_LOCATION,
                argument_count: 0,
                tensor_result_count: u8::MAX,
                key_arguments: 0,
                aliasing: false,
                returns_views: false,
                device_argument: None,
                shape: None,
                plan: None,
                data_dependent: false,
                functional: None,
                typed: None,
                function: None,
                kernels: &[],
            },
        )
    }
}

const TEST_LOCATION: Location = Location::new("plug-in.rs", 1);

#[test]
fn a_kernel_that_is_registered_late_clashes_unless_it_is_overridden() {
    static RECORD: KernelRecord =
        KernelRecord::boxed::<LateOperator>(no_op_kernel, &[&keys::CPU], "plugged_in", TEST_LOCATION);

    let _alone = lock_registrations();
    let lab = Registrar::new("late");
    let operator = LateOperator::operator();
    let first = lab.kernel("kernel", keys::CPU, |_, _, _| Ok(())).unwrap();
    register_late(vec![Record::Kernel(&RECORD)]);

    let call = || operator.redispatch_boxed(keys::CPU.into(), &mut Stack::new());
    let is_clash =
        |error: &Error| matches!(error.kind(), ErrorKind::DuplicateKernel { kernels, .. } if kernels.len() == 2);
    assert!(is_clash(&call().unwrap_err()));
    assert!(matches!(&findings_about_operator("late::kernel")[..], [Finding::Error(error)] if is_clash(error)));

    let above = lab.override_kernel("kernel", keys::CPU, |_, _, _| Err("above".into())).unwrap();
    assert!(findings_about_operator("late::kernel").is_empty());
    assert!(call().unwrap_err().to_string().contains("above"));
    above.remove();
    assert!(is_clash(&call().unwrap_err()), "removing the override restores the conflict");
    first.remove();
    assert!(findings_about_operator("late::kernel").is_empty());
    call().unwrap();
}

#[test]
fn a_fallback_that_is_registered_late_clashes() {
    static RECORD: FallbackRecord = FallbackRecord::boxed(no_op_kernel, &keys::Conjugate, "plugged_in", TEST_LOCATION);

    let _alone = lock_registrations();
    let lab = Registrar::new("late");
    let operator = lab.define("layered() -> ()").unwrap().operator().unwrap();
    let first = fallback(keys::Conjugate, |_, _, _| Ok(())).unwrap();
    register_late(vec![Record::Fallback(&RECORD)]);

    let call = || operator.redispatch_boxed(keys::Conjugate.into(), &mut Stack::new());
    assert!(matches!(call().unwrap_err().kind(), ErrorKind::DuplicateFallback { .. }));
    let clashes = || verify().iter().filter(|finding| finding.to_string().contains("fallbacks for Conjugate")).count();
    assert_eq!(clashes(), 1);
    first.remove();
    assert_eq!(clashes(), 0);
    call().unwrap();
}

#[test]
fn a_definition_that_is_registered_late_clashes() {
    let _alone = lock_registrations();
    let first = Registrar::new("late").define("definition() -> int").unwrap();
    let operator = first.operator().unwrap();
    drop(Registrar::new("late").kernel("definition", keys::BackendSelect, |_, _, stack| {
        stack.push(1_i64);
        Ok(())
    }));
    assert!(operator.call([]).is_ok());
    let heard = Arc::new(AtomicUsize::new(0));
    let second: &'static Operator = Box::leak(Box::new(late_definition(operator.name())));
    let listening = on_operator_event({
        let heard = heard.clone();
        move |_, operator| _ = heard.fetch_add(usize::from(operator == second), Ordering::Relaxed)
    });
    register_late(vec![Record::Operator(second)]);
    assert_eq!(heard.load(Ordering::Relaxed), 1, "the listener receives the event");
    listening.remove();
    let is_clash =
        |error: &Error| matches!(error.kind(), ErrorKind::DuplicateOperator { locations, .. } if locations.len() == 2);
    assert!(is_clash(&operator.call([]).unwrap_err()) && is_clash(&second.call([]).unwrap_err()));
    assert!(matches!(&findings_about_operator("late::definition")[..], [Finding::Error(error)] if is_clash(error)));
    first.remove();
    assert!(second.call([]).is_ok());
}

#[test]
fn the_findings_come_in_a_stable_order() {
    let _alone = lock_registrations();
    let print = || verify().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(print(), print());
}

/// An operator with kernels for keys that do not exist.
#[op_def("with_invalid_keys(Tensor self) -> Tensor")]
fn with_invalid_keys(this: &Tensor) -> Result<Tensor>;

#[op_impl(with_invalid_keys, Tracer.on(CPU))]
fn kernel_for_invalid_key(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_fallback(Autograd.on(Functionalize))]
fn fallback_for_invalid_key(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys, stack)
}

#[test]
fn a_kernel_for_an_invalid_key_is_a_finding_and_never_runs() {
    for name in ["Tracer", "Functionalize"] {
        let findings: Vec<Finding> =
            findings_about_operator(name).into_iter().filter(|finding| matches!(finding, Finding::Error(_))).collect();
        assert!(
            matches!(&findings[..], [Finding::Error(error)] if matches!(error.kind(), ErrorKind::InvalidKey(_))),
            "{findings:?}"
        );
    }
    assert!(matches!(with_invalid_keys(&one_element_tensor()).unwrap_err().kind(), ErrorKind::NoKernel(_)));
    let registrar = Registrar::new("verify");
    let errors = [
        registrar.kernel("with_invalid_keys", keys::Tracer.on(keys::CPU), |_, _, _| Ok(())).unwrap_err(),
        dispatch_runtime::fallback_fallthrough(keys::Autograd.on(keys::Tracer)).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| matches!(error.kind(), ErrorKind::InvalidKey(_))), "{errors:?}");
}
