//! Tests of boxing: operators of every shape, with typed and boxed kernels, called typed and boxed, directly and through a boxed layer. All
//! combinations return the same results.

use std::cell::RefCell;

use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

/// The backends of the kernels: every operator here has a typed kernel for the CPU, and an equal boxed kernel for Meta.
macro_rules! backends {
    () => {
        [keys::CPU, keys::Meta]
    };
}

#[op_def("nothing(Tensor self) -> ()")]
fn nothing(this: &Tensor) -> Result<()>;

#[op_def("one(Tensor self, int n) -> Tensor")]
fn one(this: &Tensor, n: i64) -> Result<Tensor>;

#[op_def("several(Tensor self, str name) -> (Tensor first, int second, str third)")]
fn several(this: &Tensor, name: &str) -> Result<(Tensor, i64, Str)>;

#[op_def("in_place_(Tensor(a!) self, Tensor other) -> Tensor(a!)")]
fn in_place_(this: &mut Tensor, other: &Tensor) -> Result<()>;

#[op_def("one.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)")]
fn one_out(this: &Tensor, n: i64, out: &mut Tensor) -> Result<()>;

#[op_def("pair.out(Tensor self, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!) min, Tensor(b!) max)")]
fn pair_out(this: &Tensor, min: &mut Tensor, max: &mut Tensor) -> Result<()>;

#[op_def("mixed_(Tensor(a!) self, Tensor(b!)? extra) -> (Tensor(a!), int)")]
fn mixed_(this: &mut Tensor, extra: Option<&mut Tensor>) -> Result<i64>;

#[op_def("each_(Tensor(a!)[] self) -> Tensor(a!)[]")]
fn each_(this: &mut [Tensor]) -> Result<()>;

#[op_def("crossed_(Tensor(a!) self, Tensor(b!) other, Tensor(c!)[] rest) -> (Tensor(b!), int, Tensor(a!))")]
fn crossed_(this: &mut Tensor, other: &mut Tensor, rest: &mut [Tensor]) -> Result<i64>;

#[op_impl(nothing, CPU)]
fn nothing_typed(_: &Tensor) {}

#[op_impl(one, CPU)]
fn one_typed(this: &Tensor, n: i64) -> Tensor {
    numbers(&[value(this) * n])
}

#[op_impl(several, CPU)]
fn several_typed(this: &Tensor, name: &str) -> (Tensor, i64, Str) {
    (this.clone(), value(this), name.into())
}

#[op_impl(in_place_, CPU)]
fn in_place_typed(this: &mut Tensor, other: &Tensor) -> Result<()> {
    let other = value(other);
    add(this, other)
}

#[op_impl(one_out, CPU)]
fn one_out_typed(this: &Tensor, n: i64, out: &mut Tensor) -> Result<()> {
    set(out, value(this) * n)
}

#[op_impl(pair_out, CPU)]
fn pair_out_typed(this: &Tensor, min: &mut Tensor, max: &mut Tensor) -> Result<()> {
    set(min, value(this) - 1)?;
    // A written argument may be bound to another tensor.
    *max = numbers(&[value(this) + 1]);
    Ok(())
}

#[op_impl(mixed_, CPU)]
fn mixed_typed(this: &mut Tensor, extra: Option<&mut Tensor>) -> Result<i64> {
    add(this, 1)?;
    extra.map_or(Ok(0), |extra| add(extra, 1).map(|()| 1))
}

#[op_impl(each_, CPU)]
fn each_typed(this: &mut [Tensor]) -> Result<()> {
    this.iter_mut().try_for_each(|tensor| add(tensor, 1))
}

#[op_impl(crossed_, CPU)]
fn crossed_typed(this: &mut Tensor, other: &mut Tensor, rest: &mut [Tensor]) -> Result<i64> {
    add(this, 1)?;
    add(other, 2)?;
    rest.iter_mut().try_for_each(|tensor| add(tensor, 3))?;
    Ok(9)
}

/// Runs the CPU's typed kernel on the same stack. This is a boxed kernel for any operator.
fn by_hand(op: &Operator, stack: &mut Stack) -> Result<()> {
    op.kernels(keys::CPU)[0].call(keys::CPU.into(), stack)
}

macro_rules! boxed_too {
    ($($operator:ident $kernel:ident;)*) => {$(
        #[op_impl($operator, Meta, boxed)]
        fn $kernel(op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
            by_hand(op, stack)
        }
    )*};
}

boxed_too! {
    nothing nothing_boxed;
    one one_boxed;
    several several_boxed;
    in_place_ in_place_boxed;
    one_out one_out_boxed;
    pair_out pair_out_boxed;
    mixed_ mixed_boxed;
    each_ each_boxed;
    crossed_ crossed_boxed;
    widest widest_boxed;
}

#[op_fallback(PreDispatch)]
fn watch(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    SEEN.with_borrow_mut(|seen| seen.push(op.to_string()));
    op.redispatch_boxed(keys.below(keys::PreDispatch), stack)
}

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn numbers(values: &[i64]) -> Tensor {
    Tensor::from_slice(values)
}

fn value(tensor: &Tensor) -> i64 {
    tensor.read::<i64>().unwrap()[0]
}

fn set(tensor: &mut Tensor, to: i64) -> Result<()> {
    tensor.write::<i64>()?[0] = to;
    Ok(())
}

fn add(tensor: &mut Tensor, by: i64) -> Result<()> {
    tensor.write::<i64>()?[0] += by;
    Ok(())
}

fn on(backend: Key, n: i64) -> Tensor {
    numbers(&[n]).with_keys(KeySet::from(backend))
}

/// Runs `test` for typed and boxed kernels, directly and through a boxed layer.
fn every_way(test: impl Fn(Key)) {
    for backend in backends!() {
        test(backend);
        let _watching = guard::include(keys::PreDispatch.into());
        SEEN.take();
        test(backend);
        assert!(!SEEN.take().is_empty());
    }
}

/// Returns the results of a boxed call as texts, tensors by their values.
fn boxed(operator: &'static Operator, arguments: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut stack = Stack::new();
    stack.push("below");
    arguments.into_iter().for_each(|argument| stack.push(argument));
    operator.call_boxed(&mut stack).unwrap();
    let mut values = stack.into_values();
    assert_eq!(format!("{:?}", values.remove(0)), "\"below\"", "what lies below stays");
    let shown = |value: Value| match &value {
        Value::Tensor(tensor) => crate::value(tensor).to_string(),
        Value::Tensors(tensors) => format!("{:?}", tensors.iter().map(crate::value).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    values.into_iter().map(shown).collect()
}

#[test]
fn no_result() {
    every_way(|backend| {
        nothing(&on(backend, 1)).unwrap();
        assert!(boxed(nothing::operator(), [on(backend, 1).into()]).is_empty());
    });
}

#[test]
fn one_result() {
    every_way(|backend| {
        assert_eq!(value(&one(&on(backend, 3), 4).unwrap()), 12);
        assert_eq!(boxed(one::operator(), [on(backend, 3).into(), 4.into()]), ["12"]);
    });
}

#[test]
fn several_results_come_in_order() {
    every_way(|backend| {
        let (first, second, third) = several(&on(backend, 5), "x").unwrap();
        assert_eq!((value(&first), second, &*third), (5, 5, "x"));
        assert_eq!(boxed(several::operator(), [on(backend, 5).into(), "x".into()]), ["5", "5", "\"x\""]);
    });
}

#[test]
fn an_in_place_operator_writes_the_callers_tensor_and_returns_it() {
    every_way(|backend| {
        let mut x = on(backend, 1);
        let alias = x.clone();
        in_place_(&mut x, &on(backend, 2)).unwrap();
        assert_eq!((value(&x), value(&alias)), (3, 3));
        assert!(x.same(&alias));
        assert_eq!(boxed(in_place_::operator(), [x.clone().into(), on(backend, 4).into()]), ["7"]);
        assert_eq!(value(&alias), 7);
    });
}

#[test]
fn an_out_operator_writes_its_out_argument() {
    every_way(|backend| {
        let mut out = on(backend, 0);
        one_out(&on(backend, 3), 5, &mut out).unwrap();
        assert_eq!(value(&out), 15);
        assert_eq!(boxed(one_out::operator(), [on(backend, 3).into(), 2.into(), out.clone().into()]), ["6"]);
        assert_eq!(value(&out), 6);
    });
}

#[test]
fn several_out_arguments_are_written_and_may_be_bound_anew() {
    every_way(|backend| {
        let (mut min, mut max) = (on(backend, 0), on(backend, 0));
        let before = max.clone();
        pair_out(&on(backend, 5), &mut min, &mut max).unwrap();
        assert_eq!((value(&min), value(&max), value(&before)), (4, 6, 0));
        let results = boxed(pair_out::operator(), [on(backend, 8).into(), min.clone().into(), before.clone().into()]);
        assert_eq!(results, ["7", "9"]);
        assert_eq!((value(&min), value(&before)), (7, 0));
    });
}

#[test]
fn written_and_plain_results_mix_and_optional_ones_may_be_missing() {
    every_way(|backend| {
        let (mut x, mut extra) = (on(backend, 1), on(backend, 10));
        assert_eq!(mixed_(&mut x, Some(&mut extra)).unwrap(), 1);
        assert_eq!(mixed_(&mut x, None).unwrap(), 0);
        assert_eq!((value(&x), value(&extra)), (3, 11));
        assert_eq!(boxed(mixed_::operator(), [x.clone().into(), Value::None]), ["4", "0"]);
    });
}

#[test]
fn a_written_list_is_written_element_by_element() {
    every_way(|backend| {
        let mut list = [on(backend, 1), on(backend, 2)];
        each_(&mut list).unwrap();
        assert_eq!(list.iter().map(value).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(boxed(each_::operator(), [list.to_vec().into()]), ["[3, 4]"]);
    });
}

#[test]
fn results_may_be_written_arguments_in_another_order_with_new_ones_between() {
    every_way(|backend| {
        let (mut x, mut y, mut rest) = (on(backend, 10), on(backend, 20), [on(backend, 30)]);
        assert_eq!(crossed_(&mut x, &mut y, &mut rest).unwrap(), 9);
        assert_eq!((value(&x), value(&y), value(&rest[0])), (11, 22, 33));
        let results = boxed(crossed_::operator(), [x.clone().into(), y.clone().into(), rest.to_vec().into()]);
        assert_eq!(results, ["24", "9", "12"]);
        assert_eq!((value(&x), value(&y), value(&rest[0])), (12, 24, 36));
    });
}

/// An operator with the maximal number of arguments and results.
#[op_def("widest(Tensor self, \
     int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12, int a13, \
     int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24, int a25, int a26, \
     int a27, int a28, int a29, int a30) -> (int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int)")]
#[allow(clippy::type_complexity, reason = "it has all results that there can be")]
#[rustfmt::skip]
fn widest(
    this: &Tensor,
    a0: i64, a1: i64, a2: i64, a3: i64, a4: i64, a5: i64, a6: i64, a7: i64, a8: i64, a9: i64, a10: i64, a11: i64,
    a12: i64, a13: i64, a14: i64, a15: i64, a16: i64, a17: i64, a18: i64, a19: i64, a20: i64, a21: i64, a22: i64,
    a23: i64, a24: i64, a25: i64, a26: i64, a27: i64, a28: i64, a29: i64, a30: i64,
) -> Result<(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)>;

#[op_impl(widest, CPU)]
#[allow(clippy::type_complexity, reason = "it has all results that there can be")]
#[rustfmt::skip]
fn widest_typed(
    this: &Tensor,
    a0: i64, a1: i64, a2: i64, a3: i64, a4: i64, a5: i64, a6: i64, a7: i64, a8: i64, a9: i64, a10: i64, a11: i64,
    a12: i64, a13: i64, a14: i64, a15: i64, a16: i64, a17: i64, a18: i64, a19: i64, a20: i64, a21: i64, a22: i64,
    a23: i64, a24: i64, a25: i64, a26: i64, a27: i64, a28: i64, a29: i64, a30: i64,
) -> (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) {
    (a0 - a30, a1 - a29, a2 - a28, a3 - a27, a4 - a26, a5 - a25, a6 - a24, a7 - a23, a8 - a22, a9 - a21, a10 - a20,
     a11 - a19, a12 - a18, a13 - a17, a14 - a16, value(this) + a15)
}

#[test]
fn an_operator_with_the_most_arguments_and_results() {
    every_way(|backend| {
        let arguments = (0..31).map(|i| Value::from(i * i));
        let results = boxed(widest::operator(), std::iter::once(Value::from(on(backend, 7))).chain(arguments));
        let expected: Vec<String> =
            (0..15_i64).map(|i| i * i - (30 - i) * (30 - i)).chain([7 + 225]).map(|n| n.to_string()).collect();
        assert_eq!(results, expected);
        #[rustfmt::skip]
        let typed = widest(
            &on(backend, 7), 30, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 1,
        ).unwrap();
        assert_eq!((typed.0, typed.1, typed.14, typed.15), (29, -28, -2, 7 + 15));
    });
}

#[op_def("keyed(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Generator? e, Any f) -> int")]
#[rustfmt::skip]
fn keyed(
    a: &Tensor, b: Option<&Tensor>, c: &[Tensor], d: &[Option<Tensor>], e: Option<&Generator>, f: &Value,
) -> Result<i64>;

#[op_impl(keyed, CPU, CUDA, XLA, MPS, HIP, XPU)]
#[rustfmt::skip]
fn keys_of(
    _: &Tensor, _: Option<&Tensor>, _: &[Tensor], _: &[Option<Tensor>], _: Option<&Generator>, _: &Value, keys: KeySet,
) -> i64 {
    i64::from_ne_bytes(keys.bits().to_ne_bytes())
}

#[test]
fn every_argument_that_carries_keys_does_so_in_typed_and_boxed_calls_alike() {
    let cpu = on(keys::CPU, 0);
    let cuda = Device::new(keys::CUDA).unwrap();
    let (xla, mps, hip, xpu) = (on(keys::XLA, 0), on(keys::MPS, 0), on(keys::HIP, 0), on(keys::XPU, 0));
    let generator = Generator::new(cuda, 1);
    for bits in 0..32_u32 {
        let has = |i: u32| bits & 1 << i != 0;
        let optional = has(0).then_some(&xla);
        let list = if has(1) { vec![cpu.clone(), mps.clone()] } else { vec![] };
        let optional_list = if has(2) { vec![None, Some(hip.clone())] } else { vec![None] };
        let random = has(3).then_some(&generator);
        let any = if has(4) { Value::from(&xpu) } else { Value::None };
        let typed = keyed(&cpu, optional, &list, &optional_list, random, &any).unwrap();

        let arguments =
            [(&cpu).into(), optional.into(), list.into(), optional_list.into(), random.cloned().into(), any];
        let boxed = keyed::operator().call(arguments).unwrap();
        assert_eq!(format!("{boxed:?}"), format!("[{typed}]"), "{bits:05b}");

        let keys = KeySet::from_bits(u64::from_ne_bytes(typed.to_ne_bytes()));
        assert_eq!(
            [keys::XLA, keys::MPS, keys::HIP, keys::CUDA, keys::XPU].map(|key| keys.has(key)),
            [has(0), has(1), has(2), has(3), false],
            "a value of any type is not looked into"
        );
    }
}

#[test]
fn a_wrong_value_names_operator_argument_and_kinds_and_leaves_the_stack() {
    let mut stack = Stack::new();
    stack.push(on(keys::CPU, 1));
    stack.push("four");
    let error = one::operator().call_boxed(&mut stack).unwrap_err();
    assert_eq!(error.to_string(), "argument `n` (number 2) of `boxing::one` must be int, found str");
    assert_eq!(stack.len(), 2);
    stack.pop();
    let error = one::operator().call_boxed(&mut stack).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`boxing::one` takes 2 arguments, but the stack holds 1; push all of them, left to right"
    );
}

#[test]
fn a_call_takes_no_more_arguments_than_its_operator() {
    let error = one::operator().call([on(keys::CPU, 1).into(), 2.into(), 3.into()]).unwrap_err();
    assert!(matches!(error.kind(), dispatch_runtime::ErrorKind::TooManyArguments { expected: 2, found: 3, .. }));
    assert_eq!(error.to_string(), "`boxing::one` takes 2 arguments, but 3 were given; leave out the last ones");
}

#[op_def("broken(Tensor self) -> Tensor")]
fn broken(this: &Tensor) -> Result<Tensor>;

#[op_impl(broken, CPU, boxed)]
fn leaves_a_number(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.pop();
    stack.push(1_i64);
    Ok(())
}

#[op_impl(broken, XLA, boxed)]
fn leaves_two(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    // The argument also stays on the stack.
    stack.push(1_i64);
    stack.push(numbers(&[1]));
    Ok(())
}

/// A kernel that leaves its argument on the stack: an operator without results drops it all the same.
#[op_impl(nothing, XLA, boxed)]
fn takes_none(_op: &Operator, _keys: KeySet, _stack: &mut Stack) -> Result<()> {
    Ok(())
}

#[op_impl(broken, Meta, boxed)]
fn leaves_nothing(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.pop();
    Ok(())
}

#[test]
fn a_boxed_kernel_with_the_wrong_results_is_told_on() {
    let error = |backend| broken(&on(backend, 1)).unwrap_err().to_string();
    let start = "a boxed kernel of `boxing::broken` must leave Tensor on the stack, but left";
    assert_eq!(error(keys::CPU), format!("{start} int"));
    assert_eq!(error(keys::Meta), format!("{start} nothing"));
}

#[test]
fn a_boxed_kernel_that_leaves_too_much_is_told_on() {
    let surplus = |error: Error| match *error.kind() {
        dispatch_runtime::ErrorKind::SurplusResults { expected, found, .. } => (expected, found),
        _ => panic!("{error}"),
    };
    let error = broken(&on(keys::XLA, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a boxed kernel of `boxing::broken` must pop its arguments and push its results: 3 values are left, not 1"
    );
    assert_eq!(surplus(error), (1, 3));
    assert_eq!(surplus(nothing(&on(keys::XLA, 1)).unwrap_err()), (0, 1));
}

#[op_def("counted(Tensor self) -> (Tensor, int)")]
fn counted(this: &Tensor) -> Result<(Tensor, i64)>;

#[op_impl(counted, CPU, boxed)]
fn leaves_junk(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.push("junk");
    Ok(())
}

#[op_impl(counted, Meta, boxed)]
fn takes_all(_op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    while stack.pop().is_some() {}
    stack.push(numbers(&[1]));
    stack.push(1_i64);
    stack.drop_top(5);
    stack.push(numbers(&[2]));
    stack.push(2_i64);
    Ok(())
}

#[test]
fn results_of_a_boxed_kernel_are_checked_in_a_boxed_call() {
    let error = |operator: &'static Operator, backend| operator.call([on(backend, 1).into()]).unwrap_err().to_string();
    let start = "a boxed kernel of `boxing::broken` must leave Tensor on the stack, but left";
    assert!(
        error(broken::operator(), keys::CPU)
            .starts_with(&format!("{start} int\n  the kernel: CPU `leaves_a_number` ("))
    );
    assert!(
        error(broken::operator(), keys::Meta)
            .starts_with(&format!("{start} nothing\n  the kernel: Meta `leaves_nothing` ("))
    );
    assert!(
        error(broken::operator(), keys::XLA).contains("3 values are left, not 1\n  the kernel: XLA `leaves_two` (")
    );
    assert!(error(nothing::operator(), keys::XLA).contains("1 value is left, not 0\n  the kernel: XLA `takes_none` ("));
    let start = "a boxed kernel of `boxing::counted` must leave int on the stack, but left";
    assert!(
        error(counted::operator(), keys::CPU).starts_with(&format!("{start} str\n  the kernel: CPU `leaves_junk` ("))
    );
}

#[test]
fn a_boxed_kernel_sees_its_own_arguments_alone() {
    for below in [1, 7, 20] {
        let mut stack: Stack = (0..below).collect();
        stack.push(on(keys::Meta, 1));
        counted::operator().call_boxed(&mut stack).unwrap();
        let mut values = stack.into_values();
        let results = values.split_off(values.len() - 2);
        assert!(matches!(results[..], [Value::Tensor(_), Value::Int(2)]), "{results:?}");
        assert!(values.iter().zip(0..below).all(|(value, i)| matches!(value, Value::Int(n) if *n == i)), "{values:?}");
        assert_eq!(values.len(), usize::try_from(below).unwrap());
    }
}

#[test]
fn a_boxed_kernel_that_fails_or_finds_too_little_leaves_the_callers_values() {
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
fn a_boxed_kernel_of_an_earlier_definition_is_refused_if_it_does_not_fit() {
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
    let error = second.call([numbers(&[1]).into(), numbers(&[2]).into()]).unwrap_err();
    assert!(
        matches!(error.kind(), dispatch_runtime::ErrorKind::SurplusResults { expected: 1, found: 2, .. }),
        "{error}"
    );
}

/// An operator with kernels with conditions and a boxed default.
#[op_def("defaulted(Tensor self, int n) -> int")]
fn defaulted(this: &Tensor, n: i64) -> Result<i64>;

#[op_impl(defaulted, CPU, when(n > 10), priority = 1)]
fn for_large(_: &Tensor, n: i64) -> i64 {
    n - 10
}

#[op_impl(defaulted, CPU, boxed)]
fn for_all(op: &Operator, _keys: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(op.argument_count());
    stack.push(-1_i64);
    Ok(())
}

/// The default is a fallthrough here: in a layer, and in the slot for calls without keys.
#[op_impl(defaulted, Conjugate, when(n % 2 == 1), priority = 1)]
fn for_odd(_: &Tensor, _: i64) -> i64 {
    -2
}

fallthrough!(defaulted, Conjugate);

#[op_impl(defaulted, CompositeExplicitAutograd, when(n == 0), priority = 1)]
fn for_none(_: &Tensor, _: i64) -> i64 {
    0
}

fallthrough!(defaulted, CompositeExplicitAutograd);

#[test]
fn the_default_of_conditional_kernels_can_be_any_kernel() {
    let operator = defaulted::operator();
    let both = |key: Key, n: i64| {
        let x = on(key, 0);
        let boxed = operator.call([(&x).into(), n.into()]).map_err(|error| error.to_string());
        let typed = defaulted(&x, n).map_err(|error| error.to_string());
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
    assert!(error.starts_with("no kernel of `boxing::defaulted` for a call without"), "{error}");
}

#[op_def("chosen(Tensor self, Tensor[] rest) -> Tensor")]
fn chosen(this: &Tensor, rest: &[Tensor]) -> Result<Tensor>;

#[op_impl(chosen, CPU)]
fn chosen_cpu(this: &Tensor, _: &[Tensor]) -> Tensor {
    this.clone()
}

/// An operator like `chosen`, but with a fallthrough for CPU.
#[op_def("nowhere(Tensor self, Tensor[] rest) -> Tensor")]
fn nowhere(this: &Tensor, rest: &[Tensor]) -> Result<Tensor>;

fallthrough!(nowhere, CPU);

#[test]
fn a_value_that_is_no_tensor_is_named_in_the_error() {
    let x = || Value::from(on(keys::CPU, 0));
    let dynamic = dispatch_runtime::Registrar::new("boxing_kinds")
        .define("chosen(Tensor self, Tensor[] rest) -> Tensor")
        .unwrap();
    for operator in [chosen::operator(), nowhere::operator(), dynamic.operator().unwrap()] {
        let error = |arguments: [Value; 2]| operator.call(arguments).unwrap_err().to_string();
        for (value, kind) in [(3_i64.into(), "int"), (Value::None, "None")] {
            let error = error([value, Vec::<Tensor>::new().into()]);
            assert!(error.contains("`self`") && error.contains("Tensor") && error.contains(kind), "{error}");
        }
        let error = error([3_i64.into(), Value::List(vec![x()].into())]);
        assert!(error.contains("`self`"), "the first one: {error}");
    }
    let error = nowhere::operator().call([x(), Value::List(vec![x()].into())]).unwrap_err().to_string();
    assert!(error.contains("`rest`") && error.contains("Tensor[]") && error.contains("list"), "{error}");
}

#[op_def("write_only(Tensor(a!) self, Tensor(b!)[] rest, int mode) -> ()")]
fn write_only(this: &mut Tensor, rest: &mut [Tensor], mode: i64) -> Result<()>;

#[op_impl(write_only, CPU)]
fn write_only_cpu(this: &mut Tensor, rest: &mut [Tensor], mode: i64) -> Result<()> {
    match mode {
        0 => set(this, 7)?,
        1 => *this = numbers(&[7]),
        _ => rest[0] = numbers(&[7]),
    }
    Ok(())
}

#[test]
fn a_written_argument_that_is_not_returned_is_written_or_an_error_and_never_lost() {
    let watched = |mode| {
        let _watching = guard::include(keys::PreDispatch.into());
        let (mut x, mut rest) = (on(keys::CPU, 1), [on(keys::CPU, 2)]);
        write_only(&mut x, &mut rest, mode).map(|()| value(&x))
    };
    assert_eq!(watched(0).unwrap(), 7);
    for (mode, argument) in [(1, "self"), (2, "rest")] {
        assert_eq!(
            watched(mode).unwrap_err().to_string(),
            format!(
                "a kernel of `boxing::write_only` replaced `{argument}` by another tensor, which a boxed call cannot return: \
                 write into the tensor, or make it a result in the schema"
            )
        );
    }
}
