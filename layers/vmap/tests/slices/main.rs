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

const BATCH_SIZE: i64 = 3;

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
    FloatTensor(Vec<i64>),
    IndexTensor(Vec<i64>, i64),
    TensorList(Vec<Vec<i64>>),
    Value(Value),
}

fn tensor_arg(sizes: &[i64]) -> TestArgument {
    TestArgument::FloatTensor(sizes.to_vec())
}

fn index_arg(sizes: &[i64], below: i64) -> TestArgument {
    TestArgument::IndexTensor(sizes.to_vec(), below)
}

fn value_arg(value: impl Into<Value>) -> TestArgument {
    TestArgument::Value(value.into())
}

fn none_arg() -> TestArgument {
    TestArgument::Value(Value::None)
}

/// Inserts the batch size into the sizes of a slice, at a dimension.
fn insert_batch_size(sizes: &[i64], dim: Option<usize>) -> Vec<i64> {
    let mut sizes = sizes.to_vec();
    if let Some(dim) = dim {
        sizes.insert(dim.min(sizes.len()), BATCH_SIZE);
    }
    sizes
}

struct OperatorCall {
    operator: &'static Operator,
    given: Vec<TestArgument>,
}

impl OperatorCall {
    /// Returns the number of tensors among the arguments.
    fn tensor_count(&self) -> usize {
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
                TestArgument::FloatTensor(sizes) => {
                    made.push(distinct_tensor(&insert_batch_size(sizes, dims.next().unwrap())));
                }
                TestArgument::IndexTensor(sizes, below) => {
                    made.push(index_elements(&insert_batch_size(sizes, dims.next().unwrap()), *below));
                }
                TestArgument::TensorList(all) => {
                    made.extend(
                        all.iter().map(|sizes| distinct_tensor(&insert_batch_size(sizes, dims.next().unwrap()))),
                    );
                }
                TestArgument::Value(_) => {}
            }
        }
        made
    }

    fn call_operator(&self, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
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
    fn check_against_slices(&self, dims: &[Option<usize>]) {
        let what = format!("{} mapped over {dims:?}", self.operator);
        let tensors = self.make_tensors(dims);
        let clamped: Vec<Option<i64>> = tensors
            .iter()
            .zip(dims)
            .map(|(tensor, dim)| dim.map(|dim| i64::try_from(dim.min(tensor.sizes().len() - 1)).unwrap()))
            .collect();
        let slices: Vec<Vec<Tensor>> = (0..BATCH_SIZE)
            .map(|i| {
                let fresh = self.make_tensors(dims);
                let slice = fresh.iter().zip(&clamped).map(|(tensor, dim)| match dim {
                    Some(dim) => tensor.select(*dim, i).unwrap(),
                    None => tensor.clone(),
                });
                self.call_operator(&slice.collect::<Vec<_>>())
                    .unwrap_or_else(|error| panic!("{what}: a slice: {error}"))
            })
            .collect();
        let mapped = Vmap::new().in_dims(clamped.clone()).call(|tensors| self.call_operator(tensors), &tensors[..]);
        let mapped = mapped.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(mapped.len(), slices[0].len(), "{what}");
        for (i, mapped) in mapped.iter().enumerate() {
            let column: Vec<Tensor> = slices.iter().map(|slice| slice[i].clone()).collect();
            let expected = aten::stack(&column, 0).unwrap();
            assert_eq!((mapped.sizes(), mapped.dtype()), (expected.sizes(), expected.dtype()), "{what}");
            let close = mapped.is_close_to(&expected);
            assert!(close, "{what}: {mapped} and not {expected}");
        }
    }
}

trait AllClose {
    fn is_close_to(&self, other: &Tensor) -> bool;
}

impl AllClose for Tensor {
    fn is_close_to(&self, other: &Tensor) -> bool {
        let both = [self, other]
            .map(|tensor| aten::to_dtype(tensor, DType::F64, false, false, None).unwrap().to_vec::<f64>().unwrap());
        both[0].iter().zip(&both[1]).all(|(a, b)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
    }
}

/// Checks an operator with every subset of its tensors batched at dimension 0, and with all batched at other dimensions.
fn check_batched_calls(operator: &'static Operator, given: impl Into<Vec<TestArgument>>) {
    let call = OperatorCall { operator, given: given.into() };
    let count = call.tensor_count();
    for choice in 1..1_usize << count {
        let dims: Vec<Option<usize>> = (0..count).map(|i| (choice >> i & 1 == 1).then_some(0)).collect();
        call.check_against_slices(&dims);
    }
    call.check_against_slices(&vec![Some(1); count]);
    call.check_against_slices(&vec![Some(9); count]);
}

#[test]
fn mapped_elementwise_operators_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for unary in [aten::exp::operator(), aten::neg::operator(), aten::relu::operator(), aten::sigmoid::operator()] {
        check_batched_calls(unary, [tensor_arg(&[2, 4])]);
        check_batched_calls(unary, [tensor_arg(&[])]);
    }
    for binary in
        [aten::mul::operator(), aten::div::operator(), aten::pow_tensor_tensor::operator(), aten::lt::operator()]
    {
        check_batched_calls(binary, [tensor_arg(&[2, 4]), tensor_arg(&[2, 4])]);
        check_batched_calls(binary, [tensor_arg(&[4]), tensor_arg(&[2, 4])]);
        check_batched_calls(binary, [tensor_arg(&[2, 1]), tensor_arg(&[])]);
        check_batched_calls(binary, [tensor_arg(&[2]), index_arg(&[], 4)]);
        check_batched_calls(binary, [index_arg(&[2], 4), tensor_arg(&[])]);
    }
    check_batched_calls(aten::add::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[4]), value_arg(2_i64)]);
    check_batched_calls(aten::clamp::operator(), [tensor_arg(&[2, 4]), value_arg(0.5), value_arg(1.5)]);
    check_batched_calls(aten::lerp::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[4]), tensor_arg(&[])]);
    check_batched_calls(
        aten::addcmul::operator(),
        [tensor_arg(&[2, 4]), tensor_arg(&[4]), tensor_arg(&[2, 1]), value_arg(2_i64)],
    );
    check_batched_calls(aten::gelu::operator(), [tensor_arg(&[2, 4]), value_arg("none")]);
}

#[test]
fn mapped_reductions_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    for whole in [aten::sum::operator(), aten::mean::operator(), aten::prod::operator()] {
        check_batched_calls(whole, [tensor_arg(&[2, 4]), none_arg()]);
        check_batched_calls(whole, [tensor_arg(&[]), none_arg()]);
    }
    for whole in [aten::max::operator(), aten::min::operator(), aten::all::operator(), aten::median::operator()] {
        check_batched_calls(whole, [tensor_arg(&[2, 4])]);
    }
    check_batched_calls(
        aten::sum_dim_intlist::operator(),
        [tensor_arg(&[2, 4]), value_arg(vec![-1_i64]), value_arg(true), none_arg()],
    );
    check_batched_calls(
        aten::sum_dim_intlist::operator(),
        [tensor_arg(&[2, 4]), none_arg(), value_arg(false), none_arg()],
    );
    check_batched_calls(
        aten::logsumexp::operator(),
        [tensor_arg(&[2, 4]), value_arg(vec![0_i64, 1]), value_arg(false)],
    );
    check_batched_calls(aten::amax::operator(), [tensor_arg(&[2, 4, 2]), value_arg(vec![1_i64]), value_arg(false)]);
    check_batched_calls(aten::argmax::operator(), [tensor_arg(&[2, 4]), value_arg(1_i64), value_arg(false)]);
    check_batched_calls(aten::mean_dim::operator(), [tensor_arg(&[2, 4]), none_arg(), value_arg(true), none_arg()]);
    check_batched_calls(
        aten::var_correction::operator(),
        [tensor_arg(&[2, 4]), value_arg(Vec::<i64>::new()), none_arg(), value_arg(false)],
    );
    check_batched_calls(aten::max_dim::operator(), [tensor_arg(&[2, 4]), value_arg(-2_i64), value_arg(false)]);
}

#[test]
fn mapped_products_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(aten::mm::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[4, 5])]);
    check_batched_calls(aten::bmm::operator(), [tensor_arg(&[2, 3, 4]), tensor_arg(&[2, 4, 5])]);
    check_batched_calls(aten::mv::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[4])]);
    check_batched_calls(aten::dot::operator(), [tensor_arg(&[4]), tensor_arg(&[4])]);
    check_batched_calls(
        aten::addmm::operator(),
        [tensor_arg(&[5]), tensor_arg(&[2, 4]), tensor_arg(&[4, 5]), value_arg(2_i64), value_arg(1_i64)],
    );
    check_batched_calls(aten::matmul::operator(), [tensor_arg(&[2, 3, 4]), tensor_arg(&[4, 5])]);
    check_batched_calls(aten::linear::operator(), [tensor_arg(&[2, 4]), tensor_arg(&[5, 4]), tensor_arg(&[5])]);
}

#[test]
fn mapped_views_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Refuse);
    check_batched_calls(aten::view::operator(), [tensor_arg(&[2, 4]), value_arg(vec![2_i64, 2, 2])]);
    check_batched_calls(aten::permute::operator(), [tensor_arg(&[2, 4, 3]), value_arg(vec![2_i64, 0, 1])]);
    check_batched_calls(aten::transpose_int::operator(), [tensor_arg(&[2, 4]), value_arg(0_i64), value_arg(-1_i64)]);
    check_batched_calls(
        aten::expand::operator(),
        [tensor_arg(&[2, 1]), value_arg(vec![5_i64, 2, 3]), value_arg(false)],
    );
    check_batched_calls(aten::select_int::operator(), [tensor_arg(&[2, 4]), value_arg(1_i64), value_arg(-1_i64)]);
    check_batched_calls(
        aten::slice::operator(),
        [tensor_arg(&[2, 4]), value_arg(1_i64), value_arg(1_i64), none_arg(), value_arg(2_i64)],
    );
    check_batched_calls(
        aten::narrow::operator(),
        [tensor_arg(&[2, 4]), value_arg(1_i64), value_arg(1_i64), value_arg(2_i64)],
    );
    check_batched_calls(aten::unsqueeze::operator(), [tensor_arg(&[2, 4]), value_arg(-1_i64)]);
    check_batched_calls(aten::unsqueeze::operator(), [tensor_arg(&[]), value_arg(0_i64)]);
    check_batched_calls(aten::squeeze::operator(), [tensor_arg(&[2, 1])]);
    check_batched_calls(
        aten::diagonal::operator(),
        [tensor_arg(&[3, 4]), value_arg(1_i64), value_arg(0_i64), value_arg(1_i64)],
    );
    check_batched_calls(
        aten::unfold::operator(),
        [tensor_arg(&[2, 5]), value_arg(1_i64), value_arg(3_i64), value_arg(2_i64)],
    );
    check_batched_calls(aten::split::operator(), [tensor_arg(&[5, 2]), value_arg(2_i64), value_arg(0_i64)]);
    check_batched_calls(aten::unbind_int::operator(), [tensor_arg(&[2, 4]), value_arg(0_i64)]);
    check_batched_calls(aten::detach::operator(), [tensor_arg(&[2, 4])]);
    check_batched_calls(aten::reshape::operator(), [tensor_arg(&[2, 4]), value_arg(vec![4_i64, -1])]);
    check_batched_calls(aten::t::operator(), [tensor_arg(&[2, 4])]);
}

#[test]
fn mapped_operators_along_dimensions_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    check_batched_calls(
        aten::cat::operator(),
        [TestArgument::TensorList(vec![vec![2, 4], vec![3, 4]]), value_arg(0_i64)],
    );
    check_batched_calls(
        aten::stack::operator(),
        [TestArgument::TensorList(vec![vec![2, 4], vec![2, 4]]), value_arg(-1_i64)],
    );
    check_batched_calls(aten::cumsum::operator(), [tensor_arg(&[2, 4]), value_arg(1_i64), none_arg()]);
    check_batched_calls(aten::softmax_int::operator(), [tensor_arg(&[2, 4]), value_arg(-1_i64), none_arg()]);
    check_batched_calls(aten::softmax_int::operator(), [tensor_arg(&[]), value_arg(0_i64), none_arg()]);
    check_batched_calls(aten::log_softmax_int::operator(), [tensor_arg(&[2, 4]), value_arg(0_i64), none_arg()]);
    check_batched_calls(aten::sort::operator(), [tensor_arg(&[5, 2]), value_arg(0_i64), value_arg(true)]);
    check_batched_calls(
        aten::topk::operator(),
        [tensor_arg(&[2, 5]), value_arg(2_i64), value_arg(-1_i64), value_arg(true), value_arg(true)],
    );
    check_batched_calls(aten::flip::operator(), [tensor_arg(&[2, 4]), value_arg(vec![0_i64, -1])]);
    check_batched_calls(aten::roll::operator(), [tensor_arg(&[2, 4]), value_arg(vec![1_i64]), value_arg(vec![1_i64])]);
    check_batched_calls(
        aten::roll::operator(),
        [tensor_arg(&[2, 4]), value_arg(vec![1_i64]), value_arg(Vec::<i64>::new())],
    );
    check_batched_calls(
        aten::gather::operator(),
        [tensor_arg(&[4, 2]), value_arg(0_i64), index_arg(&[3, 2], 4), value_arg(false)],
    );
    check_batched_calls(
        aten::scatter_add::operator(),
        [tensor_arg(&[4, 2]), value_arg(0_i64), index_arg(&[3, 2], 4), tensor_arg(&[3, 2])],
    );
    check_batched_calls(aten::index_select::operator(), [tensor_arg(&[4, 2]), value_arg(0_i64), index_arg(&[3], 4)]);
    check_batched_calls(aten::triu::operator(), [tensor_arg(&[3, 4]), value_arg(1_i64)]);
    check_batched_calls(
        aten::constant_pad_nd::operator(),
        [tensor_arg(&[3, 4]), value_arg(vec![1_i64, 2]), value_arg(0.5)],
    );
    check_batched_calls(aten::clone::operator(), [tensor_arg(&[3, 4]), none_arg()]);
}

#[test]
fn mapped_neural_network_operators_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    let ones = || value_arg(vec![1_i64, 1]);
    let zeros = || value_arg(vec![0_i64, 0]);
    for bias in [tensor_arg(&[2]), none_arg()] {
        let given = [
            tensor_arg(&[2, 4, 5, 5]),
            tensor_arg(&[2, 2, 3, 3]),
            bias,
            ones(),
            ones(),
            ones(),
            value_arg(false),
            zeros(),
            value_arg(2_i64),
        ];
        check_batched_calls(aten::convolution::operator(), given);
    }
    let given = [
        tensor_arg(&[2, 4, 5, 5]),
        tensor_arg(&[4, 1, 3, 3]),
        none_arg(),
        ones(),
        ones(),
        ones(),
        value_arg(true),
        zeros(),
        value_arg(2_i64),
    ];
    check_batched_calls(aten::convolution::operator(), given);
    check_batched_calls(
        aten::native_layer_norm::operator(),
        [tensor_arg(&[2, 4]), value_arg(vec![4_i64]), tensor_arg(&[4]), tensor_arg(&[4]), value_arg(1e-5)],
    );
    check_batched_calls(
        aten::embedding::operator(),
        [tensor_arg(&[5, 2]), index_arg(&[4], 5), value_arg(-1_i64), value_arg(false), value_arg(false)],
    );
}

#[test]
fn mapped_operators_without_a_batch_rule_equal_calls_of_slices() {
    let _slow = set_slow_loops_exclusively(SlowLoops::Allow);
    check_batched_calls(aten::cross::operator(), [tensor_arg(&[2, 3]), tensor_arg(&[2, 3]), value_arg(1_i64)]);
    check_batched_calls(
        aten::searchsorted::operator(),
        [tensor_arg(&[5]), tensor_arg(&[2]), value_arg(false), value_arg(false), none_arg(), none_arg()],
    );
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
    assert!(matches!(cause, Some(VmapError::SlowLoopRefused { .. })), "{error}");
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
    let none = Tensor::zeros([many, 0], DType::F32).unwrap();
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
    let none = Tensor::zeros([many, 0], DType::F32).unwrap();
    assert!(vmap(aten::median, &none).unwrap_err().to_string().contains("bytes of memory"));
    // A random call must run for each slice, as each draws other numbers.
    let x = distinct_tensor(&[1, 2]).expand([many, 2]).unwrap();
    assert!(vmap(aten::median, &x).unwrap_err().to_string().contains("bytes of memory"));
    let few = x.i(..9).unwrap();
    let drawn = Vmap::new().randomness(Randomness::Different).call(|x| aten::rand_like!(x), &few).unwrap();
    let mut drawn = drawn.to_vec::<f64>().unwrap();
    drawn.sort_by(f64::total_cmp);
    drawn.dedup();
    assert_eq!(drawn.len(), 18);
}
