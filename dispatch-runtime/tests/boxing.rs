//! Tests of boxing: operators of every shape, with typed and boxed kernels, called typed and boxed, directly and through a boxed layer. All
//! combinations return the same results.

use std::cell::RefCell;

use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

/// The backends of the kernels: every operator here has a typed kernel for the CPU, and an equal boxed kernel for Meta.
macro_rules! kernel_backends {
    () => {
        [keys::CPU, keys::Meta]
    };
}

#[op_def("no_results(Tensor self) -> ()")]
fn no_results(this: &Tensor) -> Result<()>;

#[op_def("one_result(Tensor self, int n) -> Tensor")]
fn one_result(this: &Tensor, n: i64) -> Result<Tensor>;

#[op_def("three_results(Tensor self, str name) -> (Tensor first, int second, str third)")]
fn three_results(this: &Tensor, name: &str) -> Result<(Tensor, i64, Str)>;

#[op_def("in_place_(Tensor(a!) self, Tensor other) -> Tensor(a!)")]
fn in_place_(this: &mut Tensor, other: &Tensor) -> Result<()>;

#[op_def("one_result.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)")]
fn one_result_out(this: &Tensor, n: i64, out: &mut Tensor) -> Result<()>;

#[op_def("min_max.out(Tensor self, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!) min, Tensor(b!) max)")]
fn min_max_out(this: &Tensor, min: &mut Tensor, max: &mut Tensor) -> Result<()>;

#[op_def("written_and_new_(Tensor(a!) self, Tensor(b!)? extra) -> (Tensor(a!), int)")]
fn written_and_new_(this: &mut Tensor, extra: Option<&mut Tensor>) -> Result<i64>;

#[op_def("list_in_place_(Tensor(a!)[] self) -> Tensor(a!)[]")]
fn list_in_place_(this: &mut [Tensor]) -> Result<()>;

#[op_def("reordered_results_(Tensor(a!) self, Tensor(b!) other, Tensor(c!)[] rest) -> (Tensor(b!), int, Tensor(a!))")]
fn reordered_results_(this: &mut Tensor, other: &mut Tensor, rest: &mut [Tensor]) -> Result<i64>;

#[op_impl(no_results, CPU)]
fn no_results_cpu(_: &Tensor) {}

#[op_impl(one_result, CPU)]
fn one_result_cpu(this: &Tensor, n: i64) -> Tensor {
    int_tensor(&[first_element(this) * n])
}

#[op_impl(three_results, CPU)]
fn three_results_cpu(this: &Tensor, name: &str) -> (Tensor, i64, Str) {
    (this.clone(), first_element(this), name.into())
}

#[op_impl(in_place_, CPU)]
fn in_place_cpu(this: &mut Tensor, other: &Tensor) -> Result<()> {
    let other = first_element(other);
    add_to_first_element(this, other)
}

#[op_impl(one_result_out, CPU)]
fn one_result_out_cpu(this: &Tensor, n: i64, out: &mut Tensor) -> Result<()> {
    set_first_element(out, first_element(this) * n)
}

#[op_impl(min_max_out, CPU)]
fn min_max_out_cpu(this: &Tensor, min: &mut Tensor, max: &mut Tensor) -> Result<()> {
    set_first_element(min, first_element(this) - 1)?;
    // A written argument may be bound to another tensor.
    *max = int_tensor(&[first_element(this) + 1]);
    Ok(())
}

#[op_impl(written_and_new_, CPU)]
fn written_and_new_cpu(this: &mut Tensor, extra: Option<&mut Tensor>) -> Result<i64> {
    add_to_first_element(this, 1)?;
    extra.map_or(Ok(0), |extra| add_to_first_element(extra, 1).map(|()| 1))
}

#[op_impl(list_in_place_, CPU)]
fn list_in_place_cpu(this: &mut [Tensor]) -> Result<()> {
    this.iter_mut().try_for_each(|tensor| add_to_first_element(tensor, 1))
}

#[op_impl(reordered_results_, CPU)]
fn reordered_results_cpu(this: &mut Tensor, other: &mut Tensor, rest: &mut [Tensor]) -> Result<i64> {
    add_to_first_element(this, 1)?;
    add_to_first_element(other, 2)?;
    rest.iter_mut().try_for_each(|tensor| add_to_first_element(tensor, 3))?;
    Ok(9)
}

/// Runs the CPU's typed kernel on the same stack. This is a boxed kernel for any operator.
fn run_cpu_kernel(op: &Operator, stack: &mut Stack) -> Result<()> {
    op.kernels_for_key(keys::CPU)[0].call(keys::CPU.into(), stack)
}

macro_rules! define_boxed_meta_kernels {
    ($($operator:ident $kernel:ident;)*) => {$(
        #[op_impl($operator, Meta, boxed)]
        fn $kernel(op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
            run_cpu_kernel(op, stack)
        }
    )*};
}

define_boxed_meta_kernels! {
    no_results no_results_meta;
    one_result one_result_meta;
    three_results three_results_meta;
    in_place_ in_place_meta;
    one_result_out one_result_out_meta;
    min_max_out min_max_out_meta;
    written_and_new_ written_and_new_meta;
    list_in_place_ list_in_place_meta;
    reordered_results_ reordered_results_meta;
    max_arguments max_arguments_meta;
}

#[op_fallback(PreDispatch)]
fn record_call_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    RECORDED_CALLS.with_borrow_mut(|calls| calls.push(op.to_string()));
    op.redispatch_boxed(keys.below(keys::PreDispatch), stack)
}

thread_local! {
    static RECORDED_CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn int_tensor(values: &[i64]) -> Tensor {
    Tensor::from_slice(values)
}

fn first_element(tensor: &Tensor) -> i64 {
    tensor.read::<i64>().unwrap()[0]
}

fn set_first_element(tensor: &mut Tensor, to: i64) -> Result<()> {
    tensor.write::<i64>()?[0] = to;
    Ok(())
}

fn add_to_first_element(tensor: &mut Tensor, by: i64) -> Result<()> {
    tensor.write::<i64>()?[0] += by;
    Ok(())
}

fn int_tensor_on(backend: Key, n: i64) -> Tensor {
    int_tensor(&[n]).with_keys(KeySet::from(backend))
}

/// Runs `test` for typed and boxed kernels, directly and through a boxed layer.
fn for_typed_and_boxed_kernels(test: impl Fn(Key)) {
    for backend in kernel_backends!() {
        test(backend);
        let _watching = guard::include(keys::PreDispatch.into());
        RECORDED_CALLS.take();
        test(backend);
        assert!(!RECORDED_CALLS.take().is_empty());
    }
}

/// Returns the results of a boxed call as texts, tensors by their values.
fn boxed_call_results(operator: &'static Operator, arguments: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut stack = Stack::new();
    stack.push("below");
    arguments.into_iter().for_each(|argument| stack.push(argument));
    operator.call_boxed(&mut stack).unwrap();
    let mut values = stack.into_values();
    assert_eq!(format!("{:?}", values.remove(0)), "\"below\"", "values below the arguments stay");
    let shown = |value: Value| match &value {
        Value::Tensor(tensor) => first_element(tensor).to_string(),
        Value::Tensors(tensors) => format!("{:?}", tensors.iter().map(first_element).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    values.into_iter().map(shown).collect()
}

#[test]
fn calls_without_results_return_nothing() {
    for_typed_and_boxed_kernels(|backend| {
        no_results(&int_tensor_on(backend, 1)).unwrap();
        assert!(boxed_call_results(no_results::operator(), [int_tensor_on(backend, 1).into()]).is_empty());
    });
}

#[test]
fn calls_with_one_result_return_it() {
    for_typed_and_boxed_kernels(|backend| {
        assert_eq!(first_element(&one_result(&int_tensor_on(backend, 3), 4).unwrap()), 12);
        assert_eq!(boxed_call_results(one_result::operator(), [int_tensor_on(backend, 3).into(), 4.into()]), ["12"]);
    });
}

#[test]
fn several_results_keep_their_order() {
    for_typed_and_boxed_kernels(|backend| {
        let (first, second, third) = three_results(&int_tensor_on(backend, 5), "x").unwrap();
        assert_eq!((first_element(&first), second, &*third), (5, 5, "x"));
        assert_eq!(
            boxed_call_results(three_results::operator(), [int_tensor_on(backend, 5).into(), "x".into()]),
            ["5", "5", "\"x\""]
        );
    });
}

#[test]
fn an_in_place_operator_writes_the_callers_tensor_and_returns_it() {
    for_typed_and_boxed_kernels(|backend| {
        let mut x = int_tensor_on(backend, 1);
        let alias = x.clone();
        in_place_(&mut x, &int_tensor_on(backend, 2)).unwrap();
        assert_eq!((first_element(&x), first_element(&alias)), (3, 3));
        assert!(x.same(&alias));
        assert_eq!(
            boxed_call_results(in_place_::operator(), [x.clone().into(), int_tensor_on(backend, 4).into()]),
            ["7"]
        );
        assert_eq!(first_element(&alias), 7);
    });
}

#[test]
fn an_out_operator_writes_its_out_argument() {
    for_typed_and_boxed_kernels(|backend| {
        let mut out = int_tensor_on(backend, 0);
        one_result_out(&int_tensor_on(backend, 3), 5, &mut out).unwrap();
        assert_eq!(first_element(&out), 15);
        assert_eq!(
            boxed_call_results(
                one_result_out::operator(),
                [int_tensor_on(backend, 3).into(), 2.into(), out.clone().into()]
            ),
            ["6"]
        );
        assert_eq!(first_element(&out), 6);
    });
}

#[test]
fn several_out_arguments_are_written_or_replaced() {
    for_typed_and_boxed_kernels(|backend| {
        let (mut min, mut max) = (int_tensor_on(backend, 0), int_tensor_on(backend, 0));
        let before = max.clone();
        min_max_out(&int_tensor_on(backend, 5), &mut min, &mut max).unwrap();
        assert_eq!((first_element(&min), first_element(&max), first_element(&before)), (4, 6, 0));
        let results = boxed_call_results(
            min_max_out::operator(),
            [int_tensor_on(backend, 8).into(), min.clone().into(), before.clone().into()],
        );
        assert_eq!(results, ["7", "9"]);
        assert_eq!((first_element(&min), first_element(&before)), (7, 0));
    });
}

#[test]
fn written_arguments_and_new_results_can_be_returned_together() {
    for_typed_and_boxed_kernels(|backend| {
        let (mut x, mut extra) = (int_tensor_on(backend, 1), int_tensor_on(backend, 10));
        assert_eq!(written_and_new_(&mut x, Some(&mut extra)).unwrap(), 1);
        assert_eq!(written_and_new_(&mut x, None).unwrap(), 0);
        assert_eq!((first_element(&x), first_element(&extra)), (3, 11));
        assert_eq!(boxed_call_results(written_and_new_::operator(), [x.clone().into(), Value::None]), ["4", "0"]);
    });
}

#[test]
fn each_tensor_of_a_written_list_is_written() {
    for_typed_and_boxed_kernels(|backend| {
        let mut list = [int_tensor_on(backend, 1), int_tensor_on(backend, 2)];
        list_in_place_(&mut list).unwrap();
        assert_eq!(list.iter().map(first_element).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(boxed_call_results(list_in_place_::operator(), [list.to_vec().into()]), ["[3, 4]"]);
    });
}

#[test]
fn written_arguments_can_be_returned_in_another_order() {
    for_typed_and_boxed_kernels(|backend| {
        let (mut x, mut y, mut rest) =
            (int_tensor_on(backend, 10), int_tensor_on(backend, 20), [int_tensor_on(backend, 30)]);
        assert_eq!(reordered_results_(&mut x, &mut y, &mut rest).unwrap(), 9);
        assert_eq!((first_element(&x), first_element(&y), first_element(&rest[0])), (11, 22, 33));
        let results = boxed_call_results(
            reordered_results_::operator(),
            [x.clone().into(), y.clone().into(), rest.to_vec().into()],
        );
        assert_eq!(results, ["24", "9", "12"]);
        assert_eq!((first_element(&x), first_element(&y), first_element(&rest[0])), (12, 24, 36));
    });
}

/// An operator with the maximal number of arguments and results.
#[op_def("max_arguments(Tensor self, \
     int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12, int a13, \
     int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24, int a25, int a26, \
     int a27, int a28, int a29, int a30) -> (int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int)")]
#[allow(clippy::type_complexity, reason = "the operator has the maximum number of results")]
#[rustfmt::skip]
fn max_arguments(
    this: &Tensor,
    a0: i64, a1: i64, a2: i64, a3: i64, a4: i64, a5: i64, a6: i64, a7: i64, a8: i64, a9: i64, a10: i64, a11: i64,
    a12: i64, a13: i64, a14: i64, a15: i64, a16: i64, a17: i64, a18: i64, a19: i64, a20: i64, a21: i64, a22: i64,
    a23: i64, a24: i64, a25: i64, a26: i64, a27: i64, a28: i64, a29: i64, a30: i64,
) -> Result<(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)>;

#[op_impl(max_arguments, CPU)]
#[allow(clippy::type_complexity, reason = "the operator has the maximum number of results")]
#[rustfmt::skip]
fn max_arguments_cpu(
    this: &Tensor,
    a0: i64, a1: i64, a2: i64, a3: i64, a4: i64, a5: i64, a6: i64, a7: i64, a8: i64, a9: i64, a10: i64, a11: i64,
    a12: i64, a13: i64, a14: i64, a15: i64, a16: i64, a17: i64, a18: i64, a19: i64, a20: i64, a21: i64, a22: i64,
    a23: i64, a24: i64, a25: i64, a26: i64, a27: i64, a28: i64, a29: i64, a30: i64,
) -> (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) {
    (a0 - a30, a1 - a29, a2 - a28, a3 - a27, a4 - a26, a5 - a25, a6 - a24, a7 - a23, a8 - a22, a9 - a21, a10 - a20,
     a11 - a19, a12 - a18, a13 - a17, a14 - a16, first_element(this) + a15)
}

#[test]
fn operators_can_have_32_arguments_and_16_results() {
    for_typed_and_boxed_kernels(|backend| {
        let arguments = (0..31).map(|i| Value::from(i * i));
        let results = boxed_call_results(
            max_arguments::operator(),
            std::iter::once(Value::from(int_tensor_on(backend, 7))).chain(arguments),
        );
        let expected: Vec<String> =
            (0..15_i64).map(|i| i * i - (30 - i) * (30 - i)).chain([7 + 225]).map(|n| n.to_string()).collect();
        assert_eq!(results, expected);
        #[rustfmt::skip]
        let typed = max_arguments(
            &int_tensor_on(backend, 7), 30, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 1,
        ).unwrap();
        assert_eq!((typed.0, typed.1, typed.14, typed.15), (29, -28, -2, 7 + 15));
    });
}

#[op_def("all_key_arguments(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Generator? e, Any f) -> int")]
#[rustfmt::skip]
fn all_key_arguments(
    a: &Tensor, b: Option<&Tensor>, c: &[Tensor], d: &[Option<Tensor>], e: Option<&Generator>, f: &Value,
) -> Result<i64>;

#[op_impl(all_key_arguments, CPU, CUDA, XLA, MPS, HIP, XPU)]
#[rustfmt::skip]
fn all_key_arguments_return_keys(
    _: &Tensor, _: Option<&Tensor>, _: &[Tensor], _: &[Option<Tensor>], _: Option<&Generator>, _: &Value, keys: KeySet,
) -> i64 {
    i64::from_ne_bytes(keys.bits().to_ne_bytes())
}

#[test]
fn typed_and_boxed_calls_take_keys_from_the_same_arguments() {
    let cpu = int_tensor_on(keys::CPU, 0);
    let cuda = Device::new(keys::CUDA).unwrap();
    let (xla, mps, hip, xpu) = (
        int_tensor_on(keys::XLA, 0),
        int_tensor_on(keys::MPS, 0),
        int_tensor_on(keys::HIP, 0),
        int_tensor_on(keys::XPU, 0),
    );
    let generator = Generator::new(cuda, 1);
    for bits in 0..32_u32 {
        let has = |i: u32| bits & 1 << i != 0;
        let optional = has(0).then_some(&xla);
        let list = if has(1) { vec![cpu.clone(), mps.clone()] } else { vec![] };
        let optional_list = if has(2) { vec![None, Some(hip.clone())] } else { vec![None] };
        let random = has(3).then_some(&generator);
        let any = if has(4) { Value::from(&xpu) } else { Value::None };
        let typed = all_key_arguments(&cpu, optional, &list, &optional_list, random, &any).unwrap();

        let arguments =
            [(&cpu).into(), optional.into(), list.into(), optional_list.into(), random.cloned().into(), any];
        let boxed = all_key_arguments::operator().call(arguments).unwrap();
        assert_eq!(format!("{boxed:?}"), format!("[{typed}]"), "{bits:05b}");

        let keys = KeySet::from_bits(u64::from_ne_bytes(typed.to_ne_bytes()));
        assert_eq!(
            [keys::XLA, keys::MPS, keys::HIP, keys::CUDA, keys::XPU].map(|key| keys.has(key)),
            [has(0), has(1), has(2), has(3), false],
            "keys inside an argument of type Any are ignored"
        );
    }
}

#[test]
fn the_error_for_a_wrong_value_names_operator_argument_and_kinds() {
    let mut stack = Stack::new();
    stack.push(int_tensor_on(keys::CPU, 1));
    stack.push("four");
    let error = one_result::operator().call_boxed(&mut stack).unwrap_err();
    assert_eq!(error.to_string(), "argument `n` (number 2) of `boxing::one_result` must be int, found str");
    assert_eq!(stack.len(), 2);
    stack.pop();
    let error = one_result::operator().call_boxed(&mut stack).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`boxing::one_result` takes 2 arguments, but the stack holds 1; push all of them, left to right"
    );
}

#[test]
fn too_many_arguments_are_an_error() {
    let error = one_result::operator().call([int_tensor_on(keys::CPU, 1).into(), 2.into(), 3.into()]).unwrap_err();
    assert!(matches!(error.kind(), dispatch_runtime::ErrorKind::TooManyArguments { expected: 2, found: 3, .. }));
    assert_eq!(error.to_string(), "`boxing::one_result` takes 2 arguments, but 3 were given; leave out the last ones");
}

#[op_def("wrong_results(Tensor self) -> Tensor")]
fn wrong_results(this: &Tensor) -> Result<Tensor>;

#[op_impl(wrong_results, CPU, boxed)]
fn leave_int_cpu(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.pop();
    stack.push(1_i64);
    Ok(())
}

#[op_impl(wrong_results, XLA, boxed)]
fn leave_surplus_values_xla(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    // The argument also stays on the stack.
    stack.push(1_i64);
    stack.push(int_tensor(&[1]));
    Ok(())
}

/// A kernel that leaves its argument on the stack: an operator without results drops it all the same.
#[op_impl(no_results, XLA, boxed)]
fn leave_argument_xla(_op: &Operator, _keys: KeySet, _stack: &mut Stack) -> Result<()> {
    Ok(())
}

#[op_impl(wrong_results, Meta, boxed)]
fn leave_nothing_meta(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.pop();
    Ok(())
}

#[test]
fn typed_calls_check_the_results_of_boxed_kernels() {
    let error = |backend| wrong_results(&int_tensor_on(backend, 1)).unwrap_err().to_string();
    let start = "a boxed kernel of `boxing::wrong_results` must leave Tensor on the stack, but left";
    assert_eq!(error(keys::CPU), format!("{start} int"));
    assert_eq!(error(keys::Meta), format!("{start} nothing"));
}

#[test]
fn a_boxed_kernel_that_leaves_surplus_values_is_an_error() {
    let surplus = |error: Error| match *error.kind() {
        dispatch_runtime::ErrorKind::SurplusResults { expected, found, .. } => (expected, found),
        _ => panic!("{error}"),
    };
    let error = wrong_results(&int_tensor_on(keys::XLA, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a boxed kernel of `boxing::wrong_results` must pop its arguments and push its results: 3 values are left, not 1"
    );
    assert_eq!(surplus(error), (1, 3));
    assert_eq!(surplus(no_results(&int_tensor_on(keys::XLA, 1)).unwrap_err()), (0, 1));
}

#[op_def("tensor_and_int(Tensor self) -> (Tensor, int)")]
fn tensor_and_int(this: &Tensor) -> Result<(Tensor, i64)>;

#[op_impl(tensor_and_int, CPU, boxed)]
fn leave_text_cpu(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.push("junk");
    Ok(())
}

#[op_impl(tensor_and_int, Meta, boxed)]
fn refill_stack_meta(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    while stack.pop().is_some() {}
    stack.push(int_tensor(&[1]));
    stack.push(1_i64);
    stack.drop_top(5);
    stack.push(int_tensor(&[2]));
    stack.push(2_i64);
    Ok(())
}

#[test]
fn boxed_calls_check_the_results_of_boxed_kernels() {
    let error = |operator: &'static Operator, backend| {
        operator.call([int_tensor_on(backend, 1).into()]).unwrap_err().to_string()
    };
    let start = "a boxed kernel of `boxing::wrong_results` must leave Tensor on the stack, but left";
    assert!(
        error(wrong_results::operator(), keys::CPU)
            .starts_with(&format!("{start} int\n  the kernel: CPU `leave_int_cpu` ("))
    );
    assert!(
        error(wrong_results::operator(), keys::Meta)
            .starts_with(&format!("{start} nothing\n  the kernel: Meta `leave_nothing_meta` ("))
    );
    assert!(
        error(wrong_results::operator(), keys::XLA)
            .contains("3 values are left, not 1\n  the kernel: XLA `leave_surplus_values_xla` (")
    );
    assert!(
        error(no_results::operator(), keys::XLA)
            .contains("1 value is left, not 0\n  the kernel: XLA `leave_argument_xla` (")
    );
    let start = "a boxed kernel of `boxing::tensor_and_int` must leave int on the stack, but left";
    assert!(
        error(tensor_and_int::operator(), keys::CPU)
            .starts_with(&format!("{start} str\n  the kernel: CPU `leave_text_cpu` ("))
    );
}

#[test]
fn a_boxed_kernel_sees_only_its_own_arguments() {
    for below in [1, 7, 20] {
        let mut stack: Stack = (0..below).collect();
        stack.push(int_tensor_on(keys::Meta, 1));
        tensor_and_int::operator().call_boxed(&mut stack).unwrap();
        let mut values = stack.into_values();
        let results = values.split_off(values.len() - 2);
        assert!(matches!(results[..], [Value::Tensor(_), Value::Int(2)]), "{results:?}");
        assert!(values.iter().zip(0..below).all(|(value, i)| matches!(value, Value::Int(n) if *n == i)), "{values:?}");
        assert_eq!(values.len(), usize::try_from(below).unwrap());
    }
}

#[test]
fn a_failed_boxed_kernel_leaves_the_other_values_of_the_caller() {
    let registrar = dispatch_runtime::Registrar::new("boxing");
    let operator = registrar.define("failing(int x) -> int").unwrap().operator().unwrap();
    let kernel = |_: &Operator, _: KeySet, stack: &mut Stack| {
        stack.drop_top(3);
        Err(Error::kernel("as it must"))
    };
    drop(registrar.kernel("failing", keys::CompositeExplicitAutograd, kernel).unwrap());
    let mut stack: Stack = [1_i64, 2].into_iter().collect();
    assert_eq!(operator.call_boxed(&mut stack).unwrap_err().to_string(), "as it must");
    assert!(matches!(stack.values(), [Value::Int(1)]));
    let mut empty = Stack::new();
    let error = operator.redispatch_boxed(KeySet::from(keys::CPU), &mut empty).unwrap_err();
    assert!(matches!(error.kind(), dispatch_runtime::ErrorKind::TooFewArguments { expected: 1, found: 0, .. }));
}

#[test]
fn a_boxed_kernel_of_an_earlier_definition_is_an_error_if_its_results_differ() {
    let registrar = dispatch_runtime::Registrar::new("boxing");
    let first = registrar.define("changing(Tensor x) -> int").unwrap();
    let kernel = |_: &Operator, _: KeySet, stack: &mut Stack| {
        stack.drop_top(1);
        stack.push(1_i64);
        Ok(())
    };
    drop(registrar.kernel("changing", keys::CPU, kernel).unwrap());
    first.remove();
    let second = registrar.define("changing(Tensor x, Tensor y) -> Tensor").unwrap().operator().unwrap();
    let error = second.call([int_tensor(&[1]).into(), int_tensor(&[2]).into()]).unwrap_err();
    assert!(
        matches!(error.kind(), dispatch_runtime::ErrorKind::SurplusResults { expected: 1, found: 2, .. }),
        "{error}"
    );
}

/// An operator with kernels with conditions and a boxed default.
#[op_def("with_default_kernel(Tensor self, int n) -> int")]
fn with_default_kernel(this: &Tensor, n: i64) -> Result<i64>;

#[op_impl(with_default_kernel, CPU, when(n > 10), priority = 1)]
fn kernel_for_large_n(_: &Tensor, n: i64) -> i64 {
    n - 10
}

#[op_impl(with_default_kernel, CPU, boxed)]
fn with_default_kernel_boxed(op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(op.argument_count());
    stack.push(-1_i64);
    Ok(())
}

/// A conditional kernel whose default is a fallthrough, as for `kernel_for_zero`: here in a layer, there for calls without keys.
#[op_impl(with_default_kernel, Conjugate, when(n % 2 == 1), priority = 1)]
fn kernel_for_odd_n(_: &Tensor, _: i64) -> i64 {
    -2
}

fallthrough!(with_default_kernel, Conjugate);

#[op_impl(with_default_kernel, CompositeExplicitAutograd, when(n == 0), priority = 1)]
fn kernel_for_zero(_: &Tensor, _: i64) -> i64 {
    0
}

fallthrough!(with_default_kernel, CompositeExplicitAutograd);

#[test]
fn the_default_of_conditional_kernels_can_be_boxed_or_a_fallthrough() {
    let operator = with_default_kernel::operator();
    let both = |key: Key, n: i64| {
        let x = int_tensor_on(key, 0);
        let boxed = operator.call([(&x).into(), n.into()]).map_err(|error| error.to_string());
        let typed = with_default_kernel(&x, n).map_err(|error| error.to_string());
        assert_eq!(boxed.map(|results| format!("{results:?}")), typed.clone().map(|result| format!("[{result}]")));
        typed
    };
    assert_eq!([12, 5, 8].map(|n| both(keys::CPU, n).unwrap()), [2, -1, -1]);
    {
        let _layer = guard::include(keys::Conjugate.into());
        assert_eq!([13, 12, 4].map(|n| both(keys::CPU, n).unwrap()), [-2, 2, -1]);
        let _watched = guard::include(keys::PreDispatch.into());
        assert_eq!([13, 12, 4].map(|n| both(keys::CPU, n).unwrap()), [-2, 2, -1]);
    }
    assert_eq!(both(keys::CUDA, 0).unwrap(), 0);
    let error = both(keys::CUDA, 1).unwrap_err();
    assert!(error.starts_with("no kernel of `boxing::with_default_kernel` for a call without"), "{error}");
}

#[op_def("with_cpu_kernel(Tensor self, Tensor[] rest) -> Tensor")]
fn with_cpu_kernel(this: &Tensor, rest: &[Tensor]) -> Result<Tensor>;

#[op_impl(with_cpu_kernel, CPU)]
fn with_cpu_kernel_cpu(this: &Tensor, _: &[Tensor]) -> Tensor {
    this.clone()
}

/// An operator like `with_cpu_kernel`, but with a fallthrough for CPU.
#[op_def("without_cpu_kernel(Tensor self, Tensor[] rest) -> Tensor")]
fn without_cpu_kernel(this: &Tensor, rest: &[Tensor]) -> Result<Tensor>;

fallthrough!(without_cpu_kernel, CPU);

#[test]
fn the_error_names_the_argument_that_is_no_tensor() {
    let x = || Value::from(int_tensor_on(keys::CPU, 0));
    let dynamic = dispatch_runtime::Registrar::new("boxing_kinds")
        .define("with_cpu_kernel(Tensor self, Tensor[] rest) -> Tensor")
        .unwrap();
    for operator in [with_cpu_kernel::operator(), without_cpu_kernel::operator(), dynamic.operator().unwrap()] {
        let error = |arguments: [Value; 2]| operator.call(arguments).unwrap_err().to_string();
        for (value, kind) in [(3_i64.into(), "int"), (Value::None, "None")] {
            let error = error([value, Vec::<Tensor>::new().into()]);
            assert!(error.contains("`self`") && error.contains("Tensor") && error.contains(kind), "{error}");
        }
        let error = error([3_i64.into(), Value::List(vec![x()].into())]);
        assert!(error.contains("`self`"), "the first one: {error}");
    }
    let error = without_cpu_kernel::operator().call([x(), Value::List(vec![x()].into())]).unwrap_err().to_string();
    assert!(error.contains("`rest`") && error.contains("Tensor[]") && error.contains("list"), "{error}");
}

#[op_def("write_without_returning(Tensor(a!) self, Tensor(b!)[] rest, int mode) -> ()")]
fn write_without_returning(this: &mut Tensor, rest: &mut [Tensor], mode: i64) -> Result<()>;

#[op_impl(write_without_returning, CPU)]
fn write_without_returning_cpu(this: &mut Tensor, rest: &mut [Tensor], mode: i64) -> Result<()> {
    match mode {
        0 => set_first_element(this, 7)?,
        1 => *this = int_tensor(&[7]),
        _ => rest[0] = int_tensor(&[7]),
    }
    Ok(())
}

#[test]
fn replacing_a_written_argument_that_is_not_returned_is_an_error() {
    let watched = |mode| {
        let _watching = guard::include(keys::PreDispatch.into());
        let (mut x, mut rest) = (int_tensor_on(keys::CPU, 1), [int_tensor_on(keys::CPU, 2)]);
        write_without_returning(&mut x, &mut rest, mode).map(|()| first_element(&x))
    };
    assert_eq!(watched(0).unwrap(), 7);
    for (mode, argument) in [(1, "self"), (2, "rest")] {
        assert_eq!(
            watched(mode).unwrap_err().to_string(),
            format!(
                "a kernel of `boxing::write_without_returning` replaced `{argument}` by another tensor, which a boxed call cannot return: \
                 write into the tensor, or make it a result in the schema"
            )
        );
    }
}
