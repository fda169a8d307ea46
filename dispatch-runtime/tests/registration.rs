//! Tests of registration at run time, with the cases of PyTorch's own tests.

use std::sync::{Arc, Mutex};

use dispatch_runtime::keys::*;
use dispatch_runtime::{
    Error, ErrorKind, Key, Operator, OperatorEvent, Registrar, Registration, Stack, Tensor, Value, dump_by_name,
    fallback, guard, on_operator_event, operator_names_with_kernel_for,
};

fn test_registrar() -> Registrar {
    Registrar::new("registration")
}

fn define_operator(name: &str) -> &'static Operator {
    test_registrar().define(&format!("{name}(Tensor? x) -> str")).unwrap().operator().unwrap()
}

/// Registers a kernel that returns the text `answer`.
fn register_answer_kernel(name: &str, key: Key, answer: &'static str) -> Registration {
    test_registrar()
        .override_kernel(name, key, move |_, _, stack| {
            push_answer(stack, answer);
            Ok(())
        })
        .unwrap()
}

fn push_answer(stack: &mut Stack, answer: &str) {
    stack.drop_top(1);
    stack.push(answer);
}

fn tensor_on(key: Key) -> Value {
    let plain = Tensor::from_slice(&[1.0_f32]);
    plain.with_keys(key | ADInplaceOrView).into()
}

fn answer_of_call(operator: &Operator, argument: Value) -> Result<String, Error> {
    let results = operator.call([argument])?;
    let [Value::Str(answer)] = &results[..] else { panic!("{results:?}") };
    Ok(answer.to_string())
}

#[test]
fn a_call_goes_to_the_kernel_of_its_tensors_backend() {
    let operator = define_operator("backends");
    drop((register_answer_kernel("backends", CPU, "cpu"), register_answer_kernel("backends", CUDA, "cuda")));
    assert_eq!(answer_of_call(operator, tensor_on(CPU)).unwrap(), "cpu");
    assert_eq!(answer_of_call(operator, tensor_on(CUDA)).unwrap(), "cuda");
    let error = answer_of_call(operator, tensor_on(XLA)).unwrap_err();
    let ErrorKind::NoKernel(explanation) = error.kind() else { panic!("{error}") };
    assert_eq!((explanation.key, explanation.losers.len()), (Some(XLA), 2));
    assert!(error.to_string().contains("CPU (") && error.to_string().contains("registration.rs:"), "{error}");
}

#[test]
fn a_call_with_two_backends_runs_on_the_higher_one() {
    let operator = test_registrar().define("pair(Tensor[] xs) -> str").unwrap().operator().unwrap();
    drop((register_answer_kernel("pair", CPU, "cpu"), register_answer_kernel("pair", CUDA, "cuda")));
    let plain = Tensor::from_slice(&[1_i64]);
    let pair = vec![plain.with_keys(CPU | ADInplaceOrView), plain.with_keys(CUDA | ADInplaceOrView)];
    assert_eq!(answer_of_call(operator, pair.into()).unwrap(), "cuda");
}

#[test]
fn an_explicit_composite_serves_every_backend_without_its_own_kernel() {
    let operator = define_operator("explicit");
    drop((
        register_answer_kernel("explicit", CompositeExplicitAutograd, "all"),
        register_answer_kernel("explicit", CPU, "cpu"),
    ));
    assert_eq!(
        ["cpu", "all", "all"],
        [CPU, CUDA, SparseCPU].map(|key| answer_of_call(operator, tensor_on(key)).unwrap())
    );
    let _bare = guard::force_key_sets(dispatch_runtime::KeySet::EMPTY, dispatch_runtime::KeySet::EMPTY);
    assert_eq!(answer_of_call(operator, Value::None).unwrap(), "all");
}

#[test]
fn an_implicit_composite_serves_autograd_if_the_backend_has_no_kernel() {
    let operator = define_operator("implicit");
    drop((
        register_answer_kernel("implicit", CompositeImplicitAutograd, "parts"),
        register_answer_kernel("implicit", Autograd, "derivative"),
    ));
    let tracked = |backend: Key| Value::from(Tensor::from_slice(&[1.0_f32]).with_keys(backend | Autograd.on(backend)));
    assert_eq!(answer_of_call(operator, tracked(CPU)).unwrap(), "parts");
    let own = register_answer_kernel("implicit", CPU, "cpu");
    assert_eq!(answer_of_call(operator, tracked(CPU)).unwrap(), "derivative");
    assert_eq!(answer_of_call(operator, tracked(CUDA)).unwrap(), "parts");
    own.remove();
    assert_eq!(answer_of_call(operator, tracked(CPU)).unwrap(), "parts");
}

#[test]
fn a_kernel_for_one_autograd_key_wins_over_the_alias() {
    let operator = define_operator("precedence");
    drop((
        register_answer_kernel("precedence", Autograd, "all"),
        register_answer_kernel("precedence", AutogradXLA, "xla"),
        register_answer_kernel("precedence", XLA, "dense"),
    ));
    assert_eq!(answer_of_call(operator, tensor_on(XLA)).unwrap(), "dense");
    let tracked = |key: Key| Value::from(Tensor::from_slice(&[1.0_f32]).with_keys(key | ADInplaceOrView));
    assert_eq!(answer_of_call(operator, tracked(AutogradXLA)).unwrap(), "xla");
    assert_eq!(answer_of_call(operator, tracked(AutogradCPU)).unwrap(), "all");
}

#[test]
fn an_ambiguous_call_is_an_error_until_autograd_other_has_a_kernel() {
    let operator = define_operator("ambiguous");
    drop((
        register_answer_kernel("ambiguous", CompositeImplicitAutograd, "parts"),
        register_answer_kernel("ambiguous", SparseCPU, "sparse"),
    ));
    let tracked = || Value::from(Tensor::from_slice(&[1.0_f32]).with_keys(SparseCPU | AutogradOther));
    let error = answer_of_call(operator, tracked()).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::AmbiguousAutogradOther(_)) && error.to_string().contains("AutogradOther"),
        "{error}"
    );
    let decided = register_answer_kernel("ambiguous", AutogradOther, "decided");
    assert_eq!(answer_of_call(operator, tracked()).unwrap(), "decided");
    decided.remove();
    assert!(answer_of_call(operator, tracked()).is_err());
}

#[test]
fn backend_selection_redispatches_calls_without_tensors() {
    let operator = define_operator("factory");
    drop(register_answer_kernel("factory", CUDA, "made"));
    let select = test_registrar().kernel("factory", BackendSelect, |operator, keys, stack| {
        operator.redispatch_boxed(keys.below(BackendSelect) | CUDA, stack)
    });
    assert_eq!(answer_of_call(operator, Value::None).unwrap(), "made");
    // Calls without a backend skip a per-backend layer.
    let _autocast = guard::include(dispatch_runtime::KeySet::layers_of(AutogradCPU));
    drop(register_answer_kernel("factory", AutogradCUDA, "recorded"));
    assert_eq!(answer_of_call(operator, Value::None).unwrap(), "made");
    select.unwrap().remove();
    assert!(answer_of_call(operator, Value::None).is_err());
}

#[test]
fn a_kernel_without_definition_is_not_callable_until_it_is_defined() {
    drop(register_answer_kernel("dangling", CPU, "cpu"));
    let error = Operator::find("registration::dangling").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::MissingDefinition { .. }), "{error}");
    assert!(dispatch_runtime::verify().iter().any(|finding| finding.to_string().contains("dangling")));
    assert!(dump_by_name("registration::dangling").contains("schema: (none)"));
    let definition = test_registrar().define("dangling(Tensor? x) -> str").unwrap();
    let operator = definition.operator().unwrap();
    assert_eq!(answer_of_call(operator, tensor_on(CPU)).unwrap(), "cpu");
    definition.remove();
    assert!(
        matches!(answer_of_call(operator, tensor_on(CPU)).unwrap_err().kind(), ErrorKind::MissingDefinition { .. }),
        "an old handle is safe"
    );
}

#[test]
fn a_removed_operator_can_be_defined_again_with_another_schema() {
    let old = test_registrar().define("reborn(Tensor? x) -> str").unwrap();
    let handle = old.operator().unwrap();
    drop(register_answer_kernel("reborn", CPU, "cpu"));
    assert_eq!(answer_of_call(handle, tensor_on(CPU)).unwrap(), "cpu");
    old.remove();
    let new = test_registrar().define("reborn(Tensor? x, int n) -> str").unwrap().operator().unwrap();
    assert!(answer_of_call(handle, tensor_on(CPU)).is_err());
    assert_eq!(new.argument_count(), 2);
    assert!(matches!(
        answer_of_call(new, tensor_on(CPU)).unwrap_err().kind(),
        ErrorKind::TooFewArguments { expected: 2, found: 1, .. }
    ));
}

#[test]
fn overloads_are_separate_operators() {
    let plain = test_registrar().define("over(Tensor? x) -> str").unwrap().operator().unwrap();
    let other = test_registrar().define("over.other(Tensor? x) -> str").unwrap().operator().unwrap();
    drop((
        register_answer_kernel("over", CPU, "plain"),
        register_answer_kernel("over.other", CPU, "other"),
        register_answer_kernel("registration::over.other", CUDA, "full"),
    ));
    assert_eq!(
        (answer_of_call(plain, tensor_on(CPU)).unwrap(), answer_of_call(other, tensor_on(CPU)).unwrap()),
        ("plain".to_owned(), "other".to_owned())
    );
    assert_eq!(
        (answer_of_call(other, tensor_on(CUDA)).unwrap(), other.name().to_string()),
        ("full".to_owned(), "registration::over.other".to_owned())
    );
}

#[test]
fn an_override_can_call_the_replaced_kernel_until_its_removal() {
    let operator = define_operator("displaced");
    let below = register_answer_kernel("displaced", CPU, "below");
    let displaced = operator.kernels_for_key(CPU).remove(0);
    let above =
        test_registrar().override_kernel("displaced", CPU, move |_, keys, stack| displaced.call(keys, stack)).unwrap();
    assert_eq!(
        (answer_of_call(operator, tensor_on(CPU)).unwrap(), operator.kernels_for_key(CPU).len()),
        ("below".to_owned(), 2)
    );
    below.remove();
    assert!(matches!(answer_of_call(operator, tensor_on(CPU)).unwrap_err().kind(), ErrorKind::KernelRemoved { .. }));
    above.remove();
    assert!(!operator.has_kernel(CPU));
}

#[test]
fn a_scoped_registration_ends_with_its_scope_and_a_plain_one_does_not() {
    let operator = define_operator("scopes");
    {
        let _scoped = register_answer_kernel("scopes", CPU, "scoped").scoped();
        drop(register_answer_kernel("scopes", CUDA, "permanent"));
        assert_eq!(answer_of_call(operator, tensor_on(CPU)).unwrap(), "scoped");
    }
    assert!(answer_of_call(operator, tensor_on(CPU)).is_err());
    assert_eq!(answer_of_call(operator, tensor_on(CUDA)).unwrap(), "permanent");
}

#[test]
fn a_call_without_tensors_whose_kernel_falls_through_is_an_error() {
    let operator = define_operator("through");
    drop(test_registrar().fallthrough("through", CompositeExplicitAutograd).unwrap());
    for argument in [Value::None, tensor_on(CPU)] {
        assert!(matches!(answer_of_call(operator, argument).unwrap_err().kind(), ErrorKind::NoKernel(_)));
    }
    assert!(operator.call_boxed_for_key(Undefined, &mut [Value::None].into_iter().collect()).is_err());
}

#[test]
fn listeners_receive_operator_events_and_may_call_operators() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = heard.clone();
    let listening = on_operator_event(move |change, operator| {
        if operator.name().base == "heard" {
            let result = if operator.call([Value::None]).is_ok() { "answers" } else { "does not answer" };
            log.lock().unwrap().push(format!("{change:?}, {result}"));
        }
    });
    drop(register_answer_kernel("heard", BackendSelect, "yes"));
    let operator = test_registrar().define("heard(Tensor? x) -> str").unwrap();
    drop(register_answer_kernel("heard", CPU, "kernels are not news"));
    operator.remove();
    listening.remove();
    drop(test_registrar().define("heard(Tensor? x) -> str").unwrap());
    assert_eq!(
        *heard.lock().unwrap(),
        [format!("{:?}, answers", OperatorEvent::Defined), format!("{:?}, does not answer", OperatorEvent::Removed)]
    );
}

#[test]
fn operators_can_be_listed_by_key() {
    let _operator = define_operator("listed");
    let kernel = register_answer_kernel("listed", MkldnnCPU, "");
    assert_eq!(operator_names_with_kernel_for(MkldnnCPU), ["registration::listed"]);
    kernel.remove();
    assert!(operator_names_with_kernel_for(MkldnnCPU).is_empty());
}

#[test]
fn an_unknown_name_suggests_a_similar_one() {
    let _operator = define_operator("misspelt_name");
    let error = Operator::find("registration::mispelt_name").unwrap_err();
    assert!(error.to_string().contains("did you mean `registration::misspelt_name`?"), "{error}");
}

#[test]
fn an_unknown_name_lists_its_overloads_or_suggests_the_name_without_torch_ops() {
    for overload in ["One", "Two"] {
        drop(test_registrar().define(&format!("loaded.{overload}() -> int")).unwrap());
    }
    for name in ["loaded", "registration::loaded"] {
        let error = Operator::find(name).unwrap_err().to_string();
        let expected = "; write one of its overloads in full: `registration::loaded.One`, `registration::loaded.Two`";
        assert!(error.ends_with(expected), "{error}");
    }
    let error = Operator::find("torch.ops.registration.loaded.One").unwrap_err().to_string();
    assert!(error.ends_with("did you mean `registration::loaded.One`?"), "{error}");
}

#[test]
fn a_name_without_definition_is_not_suggested() {
    let removed = test_registrar().define("once_was(Tensor? x) -> str").unwrap();
    removed.remove();
    drop(register_answer_kernel("never_wass", CPU, "a kernel defines nothing"));
    for (name, close) in [("once_wass", "once_was"), ("never_was", "never_wass")] {
        let error = Operator::find(&format!("registration::{name}")).unwrap_err();
        let ErrorKind::UnknownOperator { suggestion, .. } = error.kind() else { panic!("{error}") };
        assert_ne!(suggestion.as_deref(), Some(&*format!("registration::{close}")));
    }
}

#[test]
fn an_operator_has_at_most_64_arguments() {
    let schema = |name: &str, count: usize| {
        let arguments: Vec<String> = (0..count).map(|i| format!("Tensor? x{i}")).collect();
        format!("{name}({}) -> str", arguments.join(", "))
    };
    assert!(matches!(
        test_registrar().define(&schema("too_wide", 65)).unwrap_err().kind(),
        ErrorKind::UnsupportedSchema { .. }
    ));
    let operator = test_registrar().define(&schema("wide", 64)).unwrap().operator().unwrap();
    drop(test_registrar().kernel("wide", CUDA, |operator, _, stack| {
        stack.drop_top(operator.argument_count());
        stack.push("last");
        Ok(())
    }));
    let arguments = std::iter::repeat_n(Value::None, 63).chain([tensor_on(CUDA)]);
    assert_eq!(format!("{:?}", operator.call(arguments).unwrap()), "[\"last\"]");
}

#[test]
fn only_arguments_that_carry_keys_select_the_kernel() {
    let operator = test_registrar()
        .define("carriers(Tensor[] a, Tensor?[] b, Any c, Generator? d) -> str")
        .unwrap()
        .operator()
        .unwrap();
    drop((
        register_answer_kernel("carriers", CUDA, ""),
        register_answer_kernel("carriers", BackendSelect, "no tensors"),
    ));
    let lands = |arguments: [Value; 4]| operator.explain(&arguments).key;
    let Value::Tensor(cuda) = tensor_on(CUDA) else { unreachable!() };
    let empty = || Value::from(Vec::<Tensor>::new());
    assert_eq!(
        lands([vec![cuda.clone()].into(), empty(), Value::None, Value::None]),
        Some(BackendSelect),
        "selection comes first"
    );
    let _selected = guard::exclude(dispatch_runtime::KeySet::from(BackendSelect));
    assert_eq!(lands([vec![cuda.clone()].into(), empty(), Value::None, Value::None]), Some(CUDA));
    assert_eq!(lands([empty(), vec![None, Some(cuda.clone())].into(), Value::None, Value::None]), Some(CUDA));
    assert_eq!(lands([empty(), empty(), cuda.into(), Value::None]), None);
    let generator = dispatch_runtime::Generator::new(dispatch_runtime::Device::new(CUDA).unwrap(), 0);
    assert_eq!(
        lands([empty(), empty(), Value::None, generator.into()]),
        Some(CUDA),
        "generators count in boxed calls too"
    );
}

#[test]
fn a_fallback_serves_operators_without_a_kernel() {
    let operator = define_operator("served");
    let all = fallback(Vulkan, |_, _, stack| {
        push_answer(stack, "fallback");
        Ok(())
    })
    .unwrap();
    assert_eq!(answer_of_call(operator, tensor_on(Vulkan)).unwrap(), "fallback");
    let own = register_answer_kernel("served", Vulkan, "kernel");
    assert_eq!(answer_of_call(operator, tensor_on(Vulkan)).unwrap(), "kernel");
    own.remove();
    assert_eq!(answer_of_call(operator, tensor_on(Vulkan)).unwrap(), "fallback");
    all.remove();
    assert!(answer_of_call(operator, tensor_on(Vulkan)).is_err());
}

#[test]
fn a_registrar_rejects_names_that_are_invalid_in_a_schema() {
    for namespace in ["my lab", "", "a::b", "def"] {
        let registrar = Registrar::new(namespace);
        let error = registrar.define("f(Tensor x) -> ()").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidNamespace { .. }), "{error}");
        assert!(registrar.kernel("f", CPU, |_, _, _| Ok(())).is_err());
    }
    let registrar = Registrar::new("spelled");
    for name in ["what is this(", "f.g.h", "", "f.__x"] {
        assert!(registrar.kernel(name, CPU, |_, _, _| Ok(())).is_err(), "{name}");
    }
}

#[test]
fn a_handle_of_a_removed_closure_does_not_call_its_successor() {
    let operator = define_operator("placed");
    let first = register_answer_kernel("placed", CPU, "first");
    let handle = operator.kernels_for_key(CPU).remove(0);
    let call = || handle.call(CPU.into(), &mut [tensor_on(CPU)].into_iter().collect());
    call().unwrap();
    first.remove();
    let second = register_answer_kernel("placed", CPU, "second");
    assert_eq!(answer_of_call(operator, tensor_on(CPU)).unwrap(), "second");
    let error = call().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::KernelRemoved { .. }), "{error}");
    second.remove();
}

#[test]
fn a_call_of_a_replaced_definition_names_the_new_one() {
    let first = test_registrar().define("replaced(Tensor x) -> Tensor").unwrap();
    let old = first.operator().unwrap();
    first.remove();
    assert!(matches!(old.call([tensor_on(CPU)]).unwrap_err().kind(), ErrorKind::MissingDefinition { .. }));
    let new = test_registrar().define("replaced(Tensor x, int n) -> Tensor").unwrap().operator().unwrap();
    let error = old.call([tensor_on(CPU)]).unwrap_err();
    let ErrorKind::OperatorRedefined { location, new_location, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((*location, *new_location), (old.location(), new.location()));
    assert!(error.to_string().contains(&new.location().to_string()), "{error}");
}

#[test]
fn redefining_from_the_same_line_gives_the_same_operator() {
    let define = |n: u8| test_registrar().define(if n == 2 { "again() -> str" } else { "again() -> int" }).unwrap();
    let first = define(0);
    let operator = first.operator().unwrap();
    first.remove();
    let second = define(1);
    assert_eq!(second.operator().unwrap(), operator);
    assert_eq!(Operator::find("registration::again").unwrap(), operator);
    second.remove();
    assert_ne!(define(2).operator().unwrap(), operator);
}

#[test]
fn a_list_of_lists_of_tensors_is_rejected() {
    let error = test_registrar().define("nested(Tensor[][] lists) -> Tensor").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnsupportedSchema { .. }), "{error}");
    assert!(test_registrar().define("nested_numbers(int[][] lists) -> int").is_ok());
}
