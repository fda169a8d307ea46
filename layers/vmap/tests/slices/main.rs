//! Tests that a mapped call equals the calls of its slices, for many operators and batch dimensions.

mod rules;

use std::sync::{Mutex, MutexGuard, PoisonError};

use aten::prelude::*;
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Randomness, SlowLoops, Vmap, VmapError, set_slow_loops, vmap};
use kernels_cpu as _;

/// Returns a tensor of different values.
fn distinct_tensor(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers: Vec<f64> =
        (0..count).map(|i| f64::from(i32::try_from((i * 7 + 3) % 23).unwrap()) / 8.0 + 0.1).collect();
    Tensor::from_slice(&numbers).reshape(sizes).unwrap()
}

fn index_elements(sizes: &[i64], below: i64) -> Tensor {
    let count: i64 = sizes.iter().product();
    Tensor::from_slice(&(0..count).map(|i| i * 5 % below).collect::<Vec<_>>()).reshape(sizes).unwrap()
}

const BATCH: i64 = 3;

/// Sets the treatment of operators without a batch rule, for one test at a time.
fn set_slow_loops_exclusively(slow: SlowLoops) -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let one = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    set_slow_loops(slow);
    one
}

/// One argument of a slice: a tensor of these sizes, or another value.
#[derive(Clone)]
enum TestArgument {
    Elements(Vec<i64>),
    Indices(Vec<i64>, i64),
    TensorList(Vec<Vec<i64>>),
    Value(Value),
}

fn tensor(sizes: &[i64]) -> TestArgument {
    TestArgument::Elements(sizes.to_vec())
}

fn index_tensor(sizes: &[i64], below: i64) -> TestArgument {
    TestArgument::Indices(sizes.to_vec(), below)
}

fn value(value: impl Into<Value>) -> TestArgument {
    TestArgument::Value(value.into())
}

fn none() -> TestArgument {
    TestArgument::Value(Value::None)
}

/// Inserts the batch size into the sizes of a slice, at a dimension.
fn with_batch(sizes: &[i64], dim: Option<usize>) -> Vec<i64> {
    let mut sizes = sizes.to_vec();
    if let Some(dim) = dim {
        sizes.insert(dim.min(sizes.len()), BATCH);
    }
    sizes
}

struct Call {
    operator: &'static Operator,
    given: Vec<TestArgument>,
}

impl Call {
    /// Returns the number of tensors among the arguments.
    fn tensors(&self) -> usize {
        self.given
            .iter()
            .map(|given| match given {
                TestArgument::Value(_) => 0,
                TestArgument::TensorList(all) => all.len(),
                _ => 1,
            })
            .sum()
    }

    /// Makes all tensors, with the batch at the given dimensions.
    fn make_tensors(&self, dims: &[Option<usize>]) -> Vec<Tensor> {
        let mut dims = dims.iter().copied();
        let mut made = Vec::new();
        for given in &self.given {
            match given {
                TestArgument::Elements(sizes) => made.push(distinct_tensor(&with_batch(sizes, dims.next().unwrap()))),
                TestArgument::Indices(sizes, below) => {
                    made.push(index_elements(&with_batch(sizes, dims.next().unwrap()), *below));
                }
                TestArgument::TensorList(all) => {
                    made.extend(all.iter().map(|sizes| distinct_tensor(&with_batch(sizes, dims.next().unwrap()))));
                }
                TestArgument::Value(_) => {}
            }
        }
        made
    }

    fn call(&self, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut tensors = tensors.iter().cloned();
        let mut values = Vec::new();
        for given in &self.given {
            values.push(match given {
                TestArgument::Value(value) => value.clone(),
                TestArgument::TensorList(all) => tensors.by_ref().take(all.len()).collect::<Vec<_>>().into(),
                _ => tensors.next().unwrap().into(),
            });
        }
        let mut results = Vec::new();
        for value in self.operator.call(values)? {
            match value {
                Value::Tensor(tensor) => results.push(tensor),
                Value::Tensors(tensors) => results.extend(*tensors),
                _ => panic!("{} returns no tensors", self.operator),
            }
        }
        Ok(results)
    }

    /// Compares a mapped call with the calls of its slices.
    fn check(&self, dims: &[Option<usize>]) {
        let what = format!("{} mapped over {dims:?}", self.operator);
        let tensors = self.make_tensors(dims);
        let clamped: Vec<Option<i64>> = tensors
            .iter()
            .zip(dims)
            .map(|(tensor, dim)| dim.map(|dim| i64::try_from(dim.min(tensor.sizes().len() - 1)).unwrap()))
            .collect();
        let slices: Vec<Vec<Tensor>> = (0..BATCH)
            .map(|i| {
                let fresh = self.make_tensors(dims);
                let slice = fresh.iter().zip(&clamped).map(|(tensor, dim)| match dim {
                    Some(dim) => tensor.select_int(*dim, i).unwrap(),
                    None => tensor.clone(),
                });
                self.call(&slice.collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{what}: a slice: {error}"))
            })
            .collect();
        let mapped = Vmap::new().in_dims(clamped.clone()).call(|tensors| self.call(tensors), &tensors[..]);
        let mapped = mapped.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(mapped.len(), slices[0].len(), "{what}");
        for (i, mapped) in mapped.iter().enumerate() {
            let column: Vec<Tensor> = slices.iter().map(|slice| slice[i].clone()).collect();
            let expected = aten::stack(&column, 0).unwrap();
            assert_eq!((mapped.sizes(), mapped.dtype()), (expected.sizes(), expected.dtype()), "{what}");
            let close = mapped.allclose_with(&expected);
            assert!(close, "{what}: {mapped} and not {expected}");
        }
    }
}

trait AllClose {
    fn allclose_with(&self, other: &Tensor) -> bool;
}

impl AllClose for Tensor {
    fn allclose_with(&self, other: &Tensor) -> bool {
        let both = [self, other]
            .map(|tensor| aten::to_dtype(tensor, DType::F64, false, false, None).unwrap().to_vec::<f64>().unwrap());
        both[0].iter().zip(&both[1]).all(|(a, b)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
    }
}

/// Checks an operator with every subset of its tensors batched at dimension 0, and with all batched at other dimensions.
fn check(operator: &'static Operator, given: impl Into<Vec<TestArgument>>) {
    let call = Call { operator, given: given.into() };
    let count = call.tensors();
    for choice in 1..1_usize << count {
        let dims: Vec<Option<usize>> = (0..count).map(|i| (choice >> i & 1 == 1).then_some(0)).collect();
        call.check(&dims);
    }
    call.check(&vec![Some(1); count]);
    call.check(&vec![Some(9); count]);
}

#[test]
fn elementwise_operators() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for unary in [aten::exp::operator(), aten::neg::operator(), aten::relu::operator(), aten::sigmoid::operator()] {
        check(unary, [tensor(&[2, 4])]);
        check(unary, [tensor(&[])]);
    }
    for binary in
        [aten::mul::operator(), aten::div::operator(), aten::pow_tensor_tensor::operator(), aten::lt::operator()]
    {
        check(binary, [tensor(&[2, 4]), tensor(&[2, 4])]);
        check(binary, [tensor(&[4]), tensor(&[2, 4])]);
        check(binary, [tensor(&[2, 1]), tensor(&[])]);
        check(binary, [tensor(&[2]), index_tensor(&[], 4)]);
        check(binary, [index_tensor(&[2], 4), tensor(&[])]);
    }
    check(aten::add::operator(), [tensor(&[2, 4]), tensor(&[4]), value(2_i64)]);
    check(aten::clamp::operator(), [tensor(&[2, 4]), value(0.5), value(1.5)]);
    check(aten::lerp::operator(), [tensor(&[2, 4]), tensor(&[4]), tensor(&[])]);
    check(aten::addcmul::operator(), [tensor(&[2, 4]), tensor(&[4]), tensor(&[2, 1]), value(2_i64)]);
    check(aten::gelu::operator(), [tensor(&[2, 4]), value("none")]);
}

#[test]
fn reductions() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for whole in [aten::sum::operator(), aten::mean::operator(), aten::prod::operator()] {
        check(whole, [tensor(&[2, 4]), none()]);
        check(whole, [tensor(&[]), none()]);
    }
    for whole in [aten::max::operator(), aten::min::operator(), aten::all::operator(), aten::median::operator()] {
        check(whole, [tensor(&[2, 4])]);
    }
    check(aten::sum_dim_intlist::operator(), [tensor(&[2, 4]), value(vec![-1_i64]), value(true), none()]);
    check(aten::sum_dim_intlist::operator(), [tensor(&[2, 4]), none(), value(false), none()]);
    check(aten::logsumexp::operator(), [tensor(&[2, 4]), value(vec![0_i64, 1]), value(false)]);
    check(aten::amax::operator(), [tensor(&[2, 4, 2]), value(vec![1_i64]), value(false)]);
    check(aten::argmax::operator(), [tensor(&[2, 4]), value(1_i64), value(false)]);
    check(aten::mean_dim::operator(), [tensor(&[2, 4]), none(), value(true), none()]);
    check(aten::var_correction::operator(), [tensor(&[2, 4]), value(Vec::<i64>::new()), none(), value(false)]);
    check(aten::max_dim::operator(), [tensor(&[2, 4]), value(-2_i64), value(false)]);
}

#[test]
fn products() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::mm::operator(), [tensor(&[2, 4]), tensor(&[4, 5])]);
    check(aten::bmm::operator(), [tensor(&[2, 3, 4]), tensor(&[2, 4, 5])]);
    check(aten::mv::operator(), [tensor(&[2, 4]), tensor(&[4])]);
    check(aten::dot::operator(), [tensor(&[4]), tensor(&[4])]);
    check(aten::addmm::operator(), [tensor(&[5]), tensor(&[2, 4]), tensor(&[4, 5]), value(2_i64), value(1_i64)]);
    check(aten::matmul::operator(), [tensor(&[2, 3, 4]), tensor(&[4, 5])]);
    check(aten::linear::operator(), [tensor(&[2, 4]), tensor(&[5, 4]), tensor(&[5])]);
}

#[test]
fn views() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check(aten::view::operator(), [tensor(&[2, 4]), value(vec![2_i64, 2, 2])]);
    check(aten::permute::operator(), [tensor(&[2, 4, 3]), value(vec![2_i64, 0, 1])]);
    check(aten::transpose_int::operator(), [tensor(&[2, 4]), value(0_i64), value(-1_i64)]);
    check(aten::expand::operator(), [tensor(&[2, 1]), value(vec![5_i64, 2, 3]), value(false)]);
    check(aten::select_int::operator(), [tensor(&[2, 4]), value(1_i64), value(-1_i64)]);
    check(aten::slice::operator(), [tensor(&[2, 4]), value(1_i64), value(1_i64), none(), value(2_i64)]);
    check(aten::narrow::operator(), [tensor(&[2, 4]), value(1_i64), value(1_i64), value(2_i64)]);
    check(aten::unsqueeze::operator(), [tensor(&[2, 4]), value(-1_i64)]);
    check(aten::unsqueeze::operator(), [tensor(&[]), value(0_i64)]);
    check(aten::squeeze::operator(), [tensor(&[2, 1])]);
    check(aten::diagonal::operator(), [tensor(&[3, 4]), value(1_i64), value(0_i64), value(1_i64)]);
    check(aten::unfold::operator(), [tensor(&[2, 5]), value(1_i64), value(3_i64), value(2_i64)]);
    check(aten::split::operator(), [tensor(&[5, 2]), value(2_i64), value(0_i64)]);
    check(aten::unbind_int::operator(), [tensor(&[2, 4]), value(0_i64)]);
    check(aten::detach::operator(), [tensor(&[2, 4])]);
    check(aten::reshape::operator(), [tensor(&[2, 4]), value(vec![4_i64, -1])]);
    check(aten::t::operator(), [tensor(&[2, 4])]);
}

#[test]
fn operators_along_dimensions() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    check(aten::cat::operator(), [TestArgument::TensorList(vec![vec![2, 4], vec![3, 4]]), value(0_i64)]);
    check(aten::stack::operator(), [TestArgument::TensorList(vec![vec![2, 4], vec![2, 4]]), value(-1_i64)]);
    check(aten::cumsum::operator(), [tensor(&[2, 4]), value(1_i64), none()]);
    check(aten::softmax_int::operator(), [tensor(&[2, 4]), value(-1_i64), none()]);
    check(aten::softmax_int::operator(), [tensor(&[]), value(0_i64), none()]);
    check(aten::log_softmax_int::operator(), [tensor(&[2, 4]), value(0_i64), none()]);
    check(aten::sort::operator(), [tensor(&[5, 2]), value(0_i64), value(true)]);
    check(aten::topk::operator(), [tensor(&[2, 5]), value(2_i64), value(-1_i64), value(true), value(true)]);
    check(aten::flip::operator(), [tensor(&[2, 4]), value(vec![0_i64, -1])]);
    check(aten::roll::operator(), [tensor(&[2, 4]), value(vec![1_i64]), value(vec![1_i64])]);
    check(aten::roll::operator(), [tensor(&[2, 4]), value(vec![1_i64]), value(Vec::<i64>::new())]);
    check(aten::gather::operator(), [tensor(&[4, 2]), value(0_i64), index_tensor(&[3, 2], 4), value(false)]);
    check(aten::scatter_add::operator(), [tensor(&[4, 2]), value(0_i64), index_tensor(&[3, 2], 4), tensor(&[3, 2])]);
    check(aten::index_select::operator(), [tensor(&[4, 2]), value(0_i64), index_tensor(&[3], 4)]);
    check(aten::triu::operator(), [tensor(&[3, 4]), value(1_i64)]);
    check(aten::constant_pad_nd::operator(), [tensor(&[3, 4]), value(vec![1_i64, 2]), value(0.5)]);
    check(aten::clone::operator(), [tensor(&[3, 4]), none()]);
}

#[test]
fn neural_network_operators() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    let ones = || value(vec![1_i64, 1]);
    let zeros = || value(vec![0_i64, 0]);
    for bias in [tensor(&[2]), none()] {
        let given = [
            tensor(&[2, 4, 5, 5]),
            tensor(&[2, 2, 3, 3]),
            bias,
            ones(),
            ones(),
            ones(),
            value(false),
            zeros(),
            value(2_i64),
        ];
        check(aten::convolution::operator(), given);
    }
    let given = [
        tensor(&[2, 4, 5, 5]),
        tensor(&[4, 1, 3, 3]),
        none(),
        ones(),
        ones(),
        ones(),
        value(true),
        zeros(),
        value(2_i64),
    ];
    check(aten::convolution::operator(), given);
    check(
        aten::native_layer_norm::operator(),
        [tensor(&[2, 4]), value(vec![4_i64]), tensor(&[4]), tensor(&[4]), value(1e-5)],
    );
    check(
        aten::embedding::operator(),
        [tensor(&[5, 2]), index_tensor(&[4], 5), value(-1_i64), value(false), value(false)],
    );
}

#[test]
fn operators_without_a_batch_rule() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    check(aten::cross::operator(), [tensor(&[2, 3]), tensor(&[2, 3]), value(1_i64)]);
    check(aten::searchsorted::operator(), [tensor(&[5]), tensor(&[2]), value(false), value(false), none(), none()]);
}

#[test]
fn operators_without_a_rule_loop_over_slices_unless_loops_are_refused() {
    let x = distinct_tensor(&[4, 1, 3]);
    let distances = |x: &Tensor| aten::_cdist_forward(x, x, 2.0, None);
    let allowed = set_slow_loops_exclusively(SlowLoops::Allow);
    assert_eq!(vmap(distances, &x).unwrap().sizes(), [4, 1, 1]);
    drop(allowed);
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    let error = vmap(distances, &x).unwrap_err();
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    assert!(matches!(cause, Some(VmapError::LoopRefused { .. })), "{error}");
}

#[test]
fn a_loop_over_slices_without_elements_calls_once() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    let many = 1_i64 << 40;
    let meta = |sizes: &[i64], dtype| Spec::contiguous(dtype, sizes).on(Device::META).unwrap();
    let (x, places) = (meta(&[many, 2], DType::F32), meta(&[many, 5], DType::I64));
    let found = vmap(|(x, y)| aten::searchsorted(x, y, false, false, None, None), (&x, &places)).unwrap();
    assert_eq!((found.sizes(), found.dtype(), found.device()), (&[many, 5][..], DType::I64, Device::META));
    let drawn = Vmap::new().randomness(Randomness::Different).call(|x| aten::rand_like!(x), &x).unwrap();
    assert_eq!(drawn.sizes(), [many, 2]);
    let none = Tensor::zeros(&[many, 0], DType::F32).unwrap();
    let drawn = Vmap::new().randomness(Randomness::Different).call(|x| aten::rand_like!(x), &none).unwrap();
    assert_eq!((drawn.sizes(), drawn.device()), (&[many, 0][..], Device::CPU));
}

#[test]
fn a_loop_over_equal_slices_calls_once() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    let many = 1_i64 << 40;
    // A scalar is on the CPU, also if the other arguments are on another device.
    let meta = Spec::contiguous(DType::I32, &[many]).on(Device::META).unwrap();
    let found = vmap(|x| aten::isin_scalar_tensor(2.into(), x, false, false), &meta).unwrap();
    assert_eq!((found.sizes(), found.device()), (&[many][..], Device::META));
    // Results that do not fit in memory are an error before any slice is computed.
    let none = Tensor::zeros(&[many, 0], DType::F32).unwrap();
    assert!(vmap(aten::median, &none).unwrap_err().to_string().contains("bytes of memory"));
    // A random call must run for each slice, as each draws other numbers.
    let x = distinct_tensor(&[1, 2]).expand(&[many, 2]).unwrap();
    assert!(vmap(aten::median, &x).unwrap_err().to_string().contains("bytes of memory"));
    let few = x.i(..9).unwrap();
    let drawn = Vmap::new().randomness(Randomness::Different).call(|x| aten::rand_like!(x), &few).unwrap();
    let mut drawn = drawn.to_vec::<f64>().unwrap();
    drawn.sort_by(f64::total_cmp);
    drawn.dedup();
    assert_eq!(drawn.len(), 18);
}
