//! Tests of values in boxed calls: every kind of value passes through unchanged and in order, above any values on the stack.

use dispatch_runtime::keys::*;
use dispatch_runtime::{
    AccessError, Complex64, DType, Device, ErrorKind, Generator, Geometry, Layout, MemoryFormat, Object, Operator,
    OutOfMemory, OutOfStorage, Registrar, Result, Scalar, Stack, Storage, Tensor, Value, op_def, op_impl,
};

fn define_echo_operator(name: &str, ty: &str) -> &'static Operator {
    let lab = Registrar::new("values");
    let operator = lab.define(&format!("{name}({ty} x) -> ({ty})")).unwrap().operator().unwrap();
    drop(lab.kernel(name, CompositeExplicitAutograd, |_, _, _| Ok(())).unwrap());
    operator
}

fn one_element_tensor() -> Tensor {
    Tensor::from_slice(&[1.0_f32])
}

#[test]
fn every_kind_of_value_passes_a_boxed_call_unchanged() {
    let cases: Vec<(&str, Value)> = vec![
        ("int", Value::Int(i64::MIN)),
        ("float", Value::Float(-0.0)),
        ("bool", Value::Bool(true)),
        ("str", "text".into()),
        ("complex", Value::Complex(Box::new(Complex64::new(1.0, -2.0)))),
        ("Tensor", one_element_tensor().into()),
        ("Tensor?", Value::None),
        ("Tensor?", one_element_tensor().into()),
        ("Tensor[]", vec![one_element_tensor(), one_element_tensor()].into()),
        ("Tensor[]", Vec::<Tensor>::new().into()),
        ("Tensor?[]", vec![None, Some(one_element_tensor())].into()),
        ("int[]", vec![1_i64, -2].into()),
        ("int[]", Vec::<i64>::new().into()),
        ("int[]?", Value::None),
        ("float[]", vec![0.5_f64].into()),
        ("bool[]", vec![true, false].into()),
        ("Scalar[]", Value::Scalars(Box::new(vec![Scalar::from(1_i64), Scalar::from(2.5_f64)]))),
        ("ScalarType", Value::DType(DType::F32)),
        ("Layout", Value::Layout(Layout::Strided)),
        ("MemoryFormat", Value::MemoryFormat(MemoryFormat::Contiguous)),
        ("Device", Value::Device(Device::CPU.with_index(1).unwrap())),
        ("Generator", Generator::new(Device::CPU, 7).into()),
        ("Storage", Value::Storage(one_element_tensor().storage().clone())),
        ("Dict(str, int)", Value::Dict(vec!["a".into(), Value::Int(1), "b".into(), Value::Int(2)].into())),
        ("(int, str)", Value::Tuple(vec![Value::Int(1), "b".into()].into())),
        ("int[][]", Value::List(vec![vec![1_i64].into(), Vec::<i64>::new().into()].into())),
        ("Any", Value::Object(Box::new(Object::new(String::from("mine"))))),
    ];
    for (i, (ty, value)) in cases.into_iter().enumerate() {
        let operator = define_echo_operator(&format!("echo{i}"), ty);
        let mut stack = Stack::new();
        stack.push(-1_i64);
        stack.push(value.clone());
        operator.call_boxed(&mut stack).unwrap_or_else(|error| panic!("{ty}: {error}"));
        let [Value::Int(-1), result] = stack.values() else { panic!("{ty}: {:?}", stack.values()) };
        assert_eq!((result.kind(), format!("{result:?}")), (value.kind(), format!("{value:?}")), "{ty}");
        match (result, &value) {
            (Value::Tensor(out), Value::Tensor(before)) => assert!(out.same(before)),
            (Value::Object(out), Value::Object(_)) => assert_eq!(out.downcast::<String>().unwrap(), "mine"),
            _ => {}
        }
    }
}

#[test]
fn a_kernel_may_return_nothing_one_or_several_values() {
    let lab = Registrar::new("values");
    for (count, returns) in ["()", "int", "(int, int)", "(int, int, int)"].into_iter().enumerate() {
        let name = format!("returns{count}");
        let operator = lab.define(&format!("{name}(int x) -> {returns}")).unwrap().operator().unwrap();
        drop(lab.kernel(&name, CompositeExplicitAutograd, move |_, _, stack| {
            stack.drop_top(1);
            (0..count).for_each(|i| stack.push(i64::try_from(i).unwrap()));
            Ok(())
        }));
        let results = operator.call([Value::Int(9)]).unwrap();
        assert_eq!(format!("{results:?}"), format!("{:?}", (0..count).collect::<Vec<_>>()));
    }
}

#[test]
fn a_writing_kernel_returns_the_written_tensor() {
    let lab = Registrar::new("values");
    let operator = lab.define("fill_(Tensor(a!) self, float value) -> Tensor(a!)").unwrap().operator().unwrap();
    drop(lab.kernel("fill_", CPU, |_, _, stack| {
        let Some(Value::Float(value)) = stack.pop() else { return Err("no value".into()) };
        let Some(Value::Tensor(tensor)) = stack.top_mut(1).map(|top| &mut top[0]) else {
            return Err("no tensor".into());
        };
        #[expect(clippy::cast_possible_truncation, reason = "the test's own value")]
        tensor.write::<f32>()?.fill(value as f32);
        Ok(())
    }));
    let x = one_element_tensor();
    let results = operator.call([x.clone().into(), 5.0_f64.into()]).unwrap();
    assert!(results[0].as_tensor().unwrap().same(&x));
    assert_eq!(&*x.read::<f32>().unwrap(), [5.0]);
}

#[test]
fn a_kernel_knows_its_operator_and_the_keys_of_the_call() {
    let lab = Registrar::new("values");
    let operator = lab.define("aware(Tensor x) -> str").unwrap().operator().unwrap();
    drop(lab.kernel("aware", CPU, |operator, keys, stack| {
        stack.drop_top(1);
        stack.push(format!("{operator} {keys}").as_str());
        Ok(())
    }));
    let mut stack: Stack = [one_element_tensor()].into_iter().collect();
    operator.redispatch_boxed(CPU | CUDA | CPU, &mut [one_element_tensor()].into_iter().collect()).unwrap_err();
    operator.call_boxed_for_key(CPU, &mut stack).unwrap();
    assert_eq!(format!("{:?}", stack.values()), "[\"values::aware {CPU}\"]");
}

#[test]
fn a_call_for_a_key_that_is_not_a_single_runtime_key_is_an_error() {
    let lab = Registrar::new("values");
    let operator = lab.define("pointed(Tensor x) -> Tensor").unwrap().operator().unwrap();
    for key in [CompositeExplicitAutograd, Autograd] {
        drop(lab.kernel("pointed", key, |_, _, _| Ok(())).unwrap());
    }
    for key in [Autograd, Autocast, CompositeExplicitAutograd, Sparse] {
        let error = operator.call_boxed_for_key(key, &mut [one_element_tensor()].into_iter().collect()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotARuntimeKey { key: found } if *found == key), "{error}");
        let error = fail_with_tensor_error::call_for(key, &one_element_tensor(), 3).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotARuntimeKey { key: found } if *found == key), "{error}");
    }
    let error = fail_with_tensor_error::call_for(Tracer.on(CPU), &one_element_tensor(), 3).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidKey(_)), "{error}");
    for key in [CPU, AutogradCPU, AutogradOther] {
        operator.call_boxed_for_key(key, &mut [one_element_tensor()].into_iter().collect()).unwrap();
    }
}

#[test]
fn a_call_with_too_few_arguments_is_an_error_and_pops_nothing() {
    let operator = define_echo_operator("lonely", "Tensor");
    let mut stack = Stack::new();
    for call in [Operator::call_boxed, |operator: &Operator, stack: &mut Stack| operator.call_boxed_for_key(CPU, stack)]
    {
        let error = call(operator, &mut stack).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooFewArguments { expected: 1, found: 0, .. }), "{error}");
    }
    assert!(stack.is_empty());
}

#[test]
fn an_error_of_a_kernel_passes_through_every_layer() {
    let lab = Registrar::new("values");
    let operator = lab.define("failing(Tensor x) -> Tensor").unwrap().operator().unwrap();
    drop(lab.kernel("failing", CPU, |_, _, _| Err("out of ink".into())));
    drop(lab.kernel("failing", AutogradCPU, |operator, keys, stack| {
        operator.redispatch_boxed(keys.below(Autograd), stack)
    }));
    let error = operator.call([one_element_tensor().into()]).unwrap_err();
    assert!(error.to_string().contains("out of ink"));
    assert!(std::error::Error::source(&error).is_some());
}

#[op_def("values::fail_with_tensor_error(Tensor self, int how) -> Tensor")]
fn fail_with_tensor_error(this: &Tensor, how: i64) -> Result<Tensor>;

#[op_impl(fail_with_tensor_error, CPU)]
fn fail_with_tensor_error_cpu(this: &Tensor, how: i64) -> Result<Tensor> {
    Ok(match how {
        0 => Tensor::from_slice(&this.read::<f64>()?),
        1 => this.restride(Geometry::contiguous(&[9]))?,
        _ => Tensor::new(Storage::try_new_host(usize::MAX)?, DType::F32, Geometry::contiguous(&[1]))?,
    })
}

#[test]
fn a_tensor_error_from_a_kernel_gets_the_operator_name_and_keeps_its_type() {
    let error = |how| fail_with_tensor_error(&one_element_tensor(), how).unwrap_err();
    assert_eq!(
        error(0).to_string(),
        "`values::fail_with_tensor_error`: the tensor holds float32, not float64; read it as `f32`, or convert it with \
         `.to(DType::F64)`"
    );
    assert_eq!(
        error(1).to_string(),
        "`values::fail_with_tensor_error`: sizes [9] with strides [1] from element 0 need 36 bytes of float32, but the storage has 4"
    );
    assert_eq!(
        error(2).to_string(),
        format!("`values::fail_with_tensor_error`: cannot allocate {} bytes of memory", usize::MAX)
    );
    let source = |error: &dispatch_runtime::Error, is: fn(&(dyn std::error::Error + 'static)) -> bool| {
        std::error::Error::source(error).is_some_and(is)
    };
    assert!(source(&error(0), <dyn std::error::Error>::is::<AccessError>));
    assert!(source(&error(1), <dyn std::error::Error>::is::<OutOfStorage>));
    assert!(source(&error(2), <dyn std::error::Error>::is::<OutOfMemory>));
}

#[test]
fn values_leave_the_stack_without_a_copy_and_are_dropped_once() {
    let state = std::sync::Arc::new(());
    let operator = define_echo_operator("counted", "Any");
    let results = operator.call([Value::Object(Box::new(Object::new(state.clone())))]).unwrap();
    assert_eq!(std::sync::Arc::strong_count(&state), 2);
    drop(results);
    assert_eq!(std::sync::Arc::strong_count(&state), 1);
}
