//! Tests that a mapped call equals the calls of its slices, for many operators and batch dimensions.

mod rules;

use std::sync::{Mutex, MutexGuard, PoisonError};

use aten::prelude::*;
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Randomness, Slow, Vmap, VmapError, set_slow, vmap};
use kernels_cpu as _;

/// Returns a tensor of different values.
fn numbers(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers: Vec<f64> =
        (0..count).map(|i| f64::from(i32::try_from((i * 7 + 3) % 23).unwrap()) / 8.0 + 0.1).collect();
    Tensor::from_slice(&numbers).reshape(sizes).unwrap()
}

fn places(sizes: &[i64], below: i64) -> Tensor {
    let count: i64 = sizes.iter().product();
    Tensor::from_slice(&(0..count).map(|i| i * 5 % below).collect::<Vec<_>>()).reshape(sizes).unwrap()
}

const BATCH: i64 = 3;

/// Sets the treatment of operators without a batch rule, for one test at a time.
fn slow(slow: Slow) -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_slow(slow);
    one
}

/// One argument of a slice: a tensor of these sizes, or another value.
#[derive(Clone)]
enum Given {
    Numbers(Vec<i64>),
    Places(Vec<i64>, i64),
    List(Vec<Vec<i64>>),
    Value(Value),
}

fn x(sizes: &[i64]) -> Given {
    Given::Numbers(sizes.to_vec())
}

fn at(sizes: &[i64], below: i64) -> Given {
    Given::Places(sizes.to_vec(), below)
}

fn v(value: impl Into<Value>) -> Given {
    Given::Value(value.into())
}

fn none() -> Given {
    Given::Value(Value::None)
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
    given: Vec<Given>,
}

impl Call {
    /// Returns the number of tensors among the arguments.
    fn tensors(&self) -> usize {
        self.given
            .iter()
            .map(|given| match given {
                Given::Value(_) => 0,
                Given::List(all) => all.len(),
                _ => 1,
            })
            .sum()
    }

    /// Makes all tensors, with the batch at the given dimensions.
    fn made(&self, dims: &[Option<usize>]) -> Vec<Tensor> {
        let mut dims = dims.iter().copied();
        let mut made = Vec::new();
        for given in &self.given {
            match given {
                Given::Numbers(sizes) => made.push(numbers(&with_batch(sizes, dims.next().unwrap()))),
                Given::Places(sizes, below) => made.push(places(&with_batch(sizes, dims.next().unwrap()), *below)),
                Given::List(all) => {
                    made.extend(all.iter().map(|sizes| numbers(&with_batch(sizes, dims.next().unwrap()))));
                }
                Given::Value(_) => {}
            }
        }
        made
    }

    fn call(&self, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut tensors = tensors.iter().cloned();
        let mut values = Vec::new();
        for given in &self.given {
            values.push(match given {
                Given::Value(value) => value.clone(),
                Given::List(all) => tensors.by_ref().take(all.len()).collect::<Vec<_>>().into(),
                _ => tensors.next().unwrap().into(),
            });
        }
        let mut results = Vec::new();
        for value in self.operator.call(values)? {
            match value {
                Value::Tensor(tensor) => results.push(tensor),
                Value::Tensors(tensors) => results.extend(*tensors),
                _ => panic!("{} gives no tensors", self.operator),
            }
        }
        Ok(results)
    }

    /// Compares a mapped call with the calls of its slices.
    fn check(&self, dims: &[Option<usize>]) {
        let what = format!("{} mapped over {dims:?}", self.operator);
        let tensors = self.made(dims);
        let clamped: Vec<Option<i64>> = tensors
            .iter()
            .zip(dims)
            .map(|(tensor, dim)| dim.map(|dim| i64::try_from(dim.min(tensor.sizes().len() - 1)).unwrap()))
            .collect();
        let slices: Vec<Vec<Tensor>> = (0..BATCH)
            .map(|i| {
                let fresh = self.made(dims);
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

trait Close {
    fn allclose_with(&self, other: &Tensor) -> bool;
}

impl Close for Tensor {
    fn allclose_with(&self, other: &Tensor) -> bool {
        let both = [self, other]
            .map(|tensor| aten::to_dtype(tensor, DType::F64, false, false, None).unwrap().to_vec::<f64>().unwrap());
        both[0].iter().zip(&both[1]).all(|(a, b)| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
    }
}

/// Checks an operator with every subset of its tensors batched at dimension 0, and with all batched at other dimensions.
fn check(operator: &'static Operator, given: impl Into<Vec<Given>>) {
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
fn operators_whose_elements_meet_one_by_one() {
    let _slow = slow(Slow::Refuse);
    for unary in [aten::exp::operator(), aten::neg::operator(), aten::relu::operator(), aten::sigmoid::operator()] {
        check(unary, [x(&[2, 4])]);
        check(unary, [x(&[])]);
    }
    for binary in
        [aten::mul::operator(), aten::div::operator(), aten::pow_tensor_tensor::operator(), aten::lt::operator()]
    {
        check(binary, [x(&[2, 4]), x(&[2, 4])]);
        check(binary, [x(&[4]), x(&[2, 4])]);
        check(binary, [x(&[2, 1]), x(&[])]);
        check(binary, [x(&[2]), at(&[], 4)]);
        check(binary, [at(&[2], 4), x(&[])]);
    }
    check(aten::add::operator(), [x(&[2, 4]), x(&[4]), v(2_i64)]);
    check(aten::clamp::operator(), [x(&[2, 4]), v(0.5), v(1.5)]);
    check(aten::lerp::operator(), [x(&[2, 4]), x(&[4]), x(&[])]);
    check(aten::addcmul::operator(), [x(&[2, 4]), x(&[4]), x(&[2, 1]), v(2_i64)]);
    check(aten::gelu::operator(), [x(&[2, 4]), v("none")]);
}

#[test]
fn reductions() {
    let _slow = slow(Slow::Refuse);
    for whole in [aten::sum::operator(), aten::mean::operator(), aten::prod::operator()] {
        check(whole, [x(&[2, 4]), none()]);
        check(whole, [x(&[]), none()]);
    }
    for whole in [aten::max::operator(), aten::min::operator(), aten::all::operator(), aten::median::operator()] {
        check(whole, [x(&[2, 4])]);
    }
    check(aten::sum_dim_intlist::operator(), [x(&[2, 4]), v(vec![-1_i64]), v(true), none()]);
    check(aten::sum_dim_intlist::operator(), [x(&[2, 4]), none(), v(false), none()]);
    check(aten::logsumexp::operator(), [x(&[2, 4]), v(vec![0_i64, 1]), v(false)]);
    check(aten::amax::operator(), [x(&[2, 4, 2]), v(vec![1_i64]), v(false)]);
    check(aten::argmax::operator(), [x(&[2, 4]), v(1_i64), v(false)]);
    check(aten::mean_dim::operator(), [x(&[2, 4]), none(), v(true), none()]);
    check(aten::var_correction::operator(), [x(&[2, 4]), v(Vec::<i64>::new()), none(), v(false)]);
    check(aten::max_dim::operator(), [x(&[2, 4]), v(-2_i64), v(false)]);
}

#[test]
fn products() {
    let _slow = slow(Slow::Refuse);
    check(aten::mm::operator(), [x(&[2, 4]), x(&[4, 5])]);
    check(aten::bmm::operator(), [x(&[2, 3, 4]), x(&[2, 4, 5])]);
    check(aten::mv::operator(), [x(&[2, 4]), x(&[4])]);
    check(aten::dot::operator(), [x(&[4]), x(&[4])]);
    check(aten::addmm::operator(), [x(&[5]), x(&[2, 4]), x(&[4, 5]), v(2_i64), v(1_i64)]);
    check(aten::matmul::operator(), [x(&[2, 3, 4]), x(&[4, 5])]);
    check(aten::linear::operator(), [x(&[2, 4]), x(&[5, 4]), x(&[5])]);
}

#[test]
fn views() {
    let _slow = slow(Slow::Refuse);
    check(aten::view::operator(), [x(&[2, 4]), v(vec![2_i64, 2, 2])]);
    check(aten::permute::operator(), [x(&[2, 4, 3]), v(vec![2_i64, 0, 1])]);
    check(aten::transpose_int::operator(), [x(&[2, 4]), v(0_i64), v(-1_i64)]);
    check(aten::expand::operator(), [x(&[2, 1]), v(vec![5_i64, 2, 3]), v(false)]);
    check(aten::select_int::operator(), [x(&[2, 4]), v(1_i64), v(-1_i64)]);
    check(aten::slice::operator(), [x(&[2, 4]), v(1_i64), v(1_i64), none(), v(2_i64)]);
    check(aten::narrow::operator(), [x(&[2, 4]), v(1_i64), v(1_i64), v(2_i64)]);
    check(aten::unsqueeze::operator(), [x(&[2, 4]), v(-1_i64)]);
    check(aten::unsqueeze::operator(), [x(&[]), v(0_i64)]);
    check(aten::squeeze::operator(), [x(&[2, 1])]);
    check(aten::diagonal::operator(), [x(&[3, 4]), v(1_i64), v(0_i64), v(1_i64)]);
    check(aten::unfold::operator(), [x(&[2, 5]), v(1_i64), v(3_i64), v(2_i64)]);
    check(aten::split::operator(), [x(&[5, 2]), v(2_i64), v(0_i64)]);
    check(aten::unbind_int::operator(), [x(&[2, 4]), v(0_i64)]);
    check(aten::detach::operator(), [x(&[2, 4])]);
    check(aten::reshape::operator(), [x(&[2, 4]), v(vec![4_i64, -1])]);
    check(aten::t::operator(), [x(&[2, 4])]);
}

#[test]
fn operators_along_dimensions() {
    let _slow = slow(Slow::Allow);
    check(aten::cat::operator(), [Given::List(vec![vec![2, 4], vec![3, 4]]), v(0_i64)]);
    check(aten::stack::operator(), [Given::List(vec![vec![2, 4], vec![2, 4]]), v(-1_i64)]);
    check(aten::cumsum::operator(), [x(&[2, 4]), v(1_i64), none()]);
    check(aten::softmax_int::operator(), [x(&[2, 4]), v(-1_i64), none()]);
    check(aten::softmax_int::operator(), [x(&[]), v(0_i64), none()]);
    check(aten::log_softmax_int::operator(), [x(&[2, 4]), v(0_i64), none()]);
    check(aten::sort::operator(), [x(&[5, 2]), v(0_i64), v(true)]);
    check(aten::topk::operator(), [x(&[2, 5]), v(2_i64), v(-1_i64), v(true), v(true)]);
    check(aten::flip::operator(), [x(&[2, 4]), v(vec![0_i64, -1])]);
    check(aten::roll::operator(), [x(&[2, 4]), v(vec![1_i64]), v(vec![1_i64])]);
    check(aten::roll::operator(), [x(&[2, 4]), v(vec![1_i64]), v(Vec::<i64>::new())]);
    check(aten::gather::operator(), [x(&[4, 2]), v(0_i64), at(&[3, 2], 4), v(false)]);
    check(aten::scatter_add::operator(), [x(&[4, 2]), v(0_i64), at(&[3, 2], 4), x(&[3, 2])]);
    check(aten::index_select::operator(), [x(&[4, 2]), v(0_i64), at(&[3], 4)]);
    check(aten::triu::operator(), [x(&[3, 4]), v(1_i64)]);
    check(aten::constant_pad_nd::operator(), [x(&[3, 4]), v(vec![1_i64, 2]), v(0.5)]);
    check(aten::clone::operator(), [x(&[3, 4]), none()]);
}

#[test]
fn operators_of_networks() {
    let _slow = slow(Slow::Allow);
    let ones = || v(vec![1_i64, 1]);
    let zeros = || v(vec![0_i64, 0]);
    for bias in [x(&[2]), none()] {
        let given = [x(&[2, 4, 5, 5]), x(&[2, 2, 3, 3]), bias, ones(), ones(), ones(), v(false), zeros(), v(2_i64)];
        check(aten::convolution::operator(), given);
    }
    let given = [x(&[2, 4, 5, 5]), x(&[4, 1, 3, 3]), none(), ones(), ones(), ones(), v(true), zeros(), v(2_i64)];
    check(aten::convolution::operator(), given);
    check(aten::native_layer_norm::operator(), [x(&[2, 4]), v(vec![4_i64]), x(&[4]), x(&[4]), v(1e-5)]);
    check(aten::embedding::operator(), [x(&[5, 2]), at(&[4], 5), v(-1_i64), v(false), v(false)]);
}

#[test]
fn operators_that_nobody_gave_a_rule() {
    let _slow = slow(Slow::Allow);
    check(aten::cross::operator(), [x(&[2, 3]), x(&[2, 3]), v(1_i64)]);
    check(aten::searchsorted::operator(), [x(&[5]), x(&[2]), v(false), v(false), none(), none()]);
}

#[test]
fn what_nobody_gave_a_rule_is_called_for_each_slice_unless_that_is_refused() {
    let x = numbers(&[4, 1, 3]);
    let distances = |x: &Tensor| aten::_cdist_forward(x, x, 2.0, None);
    let allowed = slow(Slow::Allow);
    assert_eq!(vmap(distances, &x).unwrap().sizes(), [4, 1, 1]);
    drop(allowed);
    let _slow = slow(Slow::Refuse);
    let error = vmap(distances, &x).unwrap_err();
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    assert!(matches!(cause, Some(VmapError::Slow { .. })), "{error}");
}

#[test]
fn one_slice_is_enough_without_elements_however_many_there_are() {
    let _slow = slow(Slow::Allow);
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
fn one_slice_is_enough_if_all_are_the_same() {
    let _slow = slow(Slow::Allow);
    let many = 1_i64 << 40;
    // A scalar is on the CPU, also if the other arguments are on another device.
    let meta = Spec::contiguous(DType::I32, &[many]).on(Device::META).unwrap();
    let found = vmap(|x| aten::isin_scalar_tensor(2.into(), x, false, false), &meta).unwrap();
    assert_eq!((found.sizes(), found.device()), (&[many][..], Device::META));
    // Results that do not fit in memory are an error before any slice is computed.
    let none = Tensor::zeros(&[many, 0], DType::F32).unwrap();
    assert!(vmap(aten::median, &none).unwrap_err().to_string().contains("bytes of memory"));
    // A random call must run for each slice, as each draws other numbers.
    let x = numbers(&[1, 2]).expand(&[many, 2]).unwrap();
    assert!(vmap(aten::median, &x).unwrap_err().to_string().contains("bytes of memory"));
    let few = x.i(..9).unwrap();
    let drawn = Vmap::new().randomness(Randomness::Different).call(|x| aten::rand_like!(x), &few).unwrap();
    let mut drawn = drawn.to_vec::<f64>().unwrap();
    drawn.sort_by(f64::total_cmp);
    drawn.dedup();
    assert_eq!(drawn.len(), 18);
}
