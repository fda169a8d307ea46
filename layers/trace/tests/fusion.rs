//! Tests that fused elementwise calls return the same results as single calls, bit by bit.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_autograd::Differentiable;
use dispatch_runtime::prelude::*;
use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Bool, Complex32, Complex64, Geometry, Registrar, ShapeWord, Spec, guard, keys};
use dispatch_trace::{FusedGraph, Graph, trace};
use dispatch_vmap::vmap;
use kernels_cpu as _;
use proptest::prelude::*;

const ELEMENT_COUNTS: [i64; 8] = [1, 7, 511, 512, 513, 1025, 10_000, 70_001];

/// Returns the bits of every element. All NaNs are equal.
fn element_bits(tensor: &Tensor) -> Vec<[u64; 2]> {
    let float = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let row = tensor.detach().unwrap().reshape(-1).unwrap();
    match row.dtype() {
        DType::C64 => {
            row.to_vec::<Complex32>().unwrap().iter().map(|z| [float(z.re.into()), float(z.im.into())]).collect()
        }
        DType::C128 => row.to_vec::<Complex64>().unwrap().iter().map(|z| [float(z.re), float(z.im)]).collect(),
        DType::I64 => row.to_vec::<i64>().unwrap().iter().map(|x| [x.cast_unsigned(), 0]).collect(),
        DType::Bool => row.to_vec::<Bool>().unwrap().iter().map(|x| [x.0.into(), 0]).collect(),
        // All other dtypes convert to `f64` without loss.
        _ => row.to(DType::F64).unwrap().to_vec::<f64>().unwrap().iter().map(|x| [float(*x), 0]).collect(),
    }
}

fn assert_same_bits(found: &[Tensor], expected: &[Tensor], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.dtype(), found.geometry()), (expected.dtype(), expected.geometry()), "{what}");
        assert_eq!((found.keys(), found.requires_grad()), (expected.keys(), expected.requires_grad()), "{what}");
        assert!(element_bits(found) == element_bits(expected), "{what}\n{found}\n{expected}");
    }
}

/// Returns elements of every kind (zeros, infinities, NaN, ..). Their period differs from the size of tiles.
fn special_elements(dtype: DType, sizes: &[i64], seed: i64) -> Tensor {
    const SPECIAL_NUMBERS: [f64; 13] =
        [0.0, -0.0, 1.0, -1.5, 0.3, 2.75, -7.0, 1e-3, 65504.0, -1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let count = sizes.iter().product::<i64>();
    let at = |i: i64| usize::try_from((i * 7 + seed * 5 + i / 13) % 13).unwrap();
    let made: Tensor = if dtype.is_floating() || dtype.is_complex() {
        Tensor::from_slice(&(0..count).map(|i| SPECIAL_NUMBERS[at(i)]).collect::<Vec<f64>>())
    } else {
        Tensor::from_slice(&(0..count).map(|i| i64::try_from(at(i)).unwrap() - 4).collect::<Vec<i64>>())
    };
    aten::to_dtype(&made, dtype, false, true, None).unwrap().reshape(sizes).unwrap()
}

/// Locks the other tests out: a replaced kernel is replaced for all threads.
fn lock_kernel_replacement() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fuse_and_reparse(graph: &Graph) -> FusedGraph {
    let fused = graph.fuse();
    let text = fused.to_string();
    assert_eq!(&Graph::parse(&text, graph.constants()).unwrap(), graph, "{text}");
    fused
}

/// Returns the number of calls in each pass of the fused graph. Its results and text must be those of the graph.
fn fused_pass_lengths(f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>, inputs: &[Tensor]) -> Vec<usize> {
    let graph = trace(f, inputs).unwrap();
    let fused = fuse_and_reparse(&graph);
    assert_same_bits(&fused.run(inputs).unwrap(), &graph.run(inputs).unwrap(), &fused.to_string());
    fused.passes().map(<[usize]>::len).collect()
}

/// Returns arguments for an elementwise operator, or `None` if it has an argument of another type.
fn elementwise_arguments(operator: &Operator, tensors: &[Tensor]) -> Option<Vec<Value>> {
    let mut tensors = tensors.iter();
    let argument = |argument: &dispatch_runtime::schema::Argument| {
        Some(match &argument.ty.without_optional().kind {
            TypeKind::Tensor => tensors.next()?.clone().into(),
            TypeKind::Scalar | TypeKind::Float => 0.75.into(),
            TypeKind::Int => 2.into(),
            TypeKind::Bool => false.into(),
            TypeKind::ScalarType => DType::BF16.into(),
            TypeKind::Str if argument.name == "approximate" => Str::from("tanh").into(),
            TypeKind::Str => Str::from("floor").into(),
            _ if argument.ty.accepts_none() => Value::None,
            _ => return None,
        })
    };
    operator.schema().arguments.iter().map(argument).collect()
}

#[test]
fn fused_operators_have_the_same_bits_in_every_dtype() {
    let _alone = lock_kernel_replacement();
    let composed = [
        "mul.Scalar",
        "add.Scalar",
        "sub.Scalar",
        "div.Scalar",
        "clamp",
        "clamp_min",
        "gt.Scalar",
        "pow.Tensor_Scalar",
        "to.dtype",
    ];
    let mut known: Vec<String> = Vec::new();
    let mut cases = 0;
    for operator in Operator::all() {
        let (schema, name) = (operator.schema(), operator.name().to_string());
        let pointwise = matches!(operator.shape_word(), Some(ShapeWord::Pointwise { .. }));
        let is_new =
            schema.returns.len() == 1 && !schema.arguments.iter().any(dispatch_runtime::schema::Argument::is_written);
        if !is_new || !(pointwise || composed.iter().any(|composed| name == format!("aten::{composed}"))) {
            continue;
        }
        for dtype in DType::ALL {
            let inputs: Vec<Tensor> = (0..4).map(|seed| special_elements(dtype, &[519], seed)).collect();
            let Some(given) = elementwise_arguments(operator, &inputs) else { continue };
            let given = if name == "aten::where.self" {
                let mut given = given;
                given[0] = special_elements(DType::Bool, &[519], 9).into();
                given
            } else {
                given
            };
            let inputs: Vec<Tensor> = given.iter().filter_map(|value| value.as_tensor().cloned()).collect();
            let call = |inputs: &[Tensor]| {
                let mut tensors = inputs.iter();
                let value = |value: &Value| {
                    value
                        .as_tensor()
                        .and_then(|_| tensors.next())
                        .map_or_else(|| value.clone(), |tensor| tensor.clone().into())
                };
                let results = operator.call(given.iter().map(value).collect::<Vec<_>>())?;
                Ok::<_, Error>(results.into_iter().filter_map(|value| value.as_tensor().cloned()).collect::<Vec<_>>())
            };
            // The result of the first call is a result of the graph, and an argument of the second call if the dtype is the same.
            let twice = |inputs: &[Tensor]| {
                let mut once = call(inputs)?;
                let mut next = inputs.to_vec();
                next[0] = once[0].clone();
                once.extend(if once[0].dtype() == dtype { call(&next)? } else { call(inputs)? });
                Ok(once)
            };
            let Ok(graph) = trace(twice, &inputs) else { continue };
            let fused = graph.fuse();
            if fused.passes().next().is_some() {
                cases += 1;
                known.push(name.clone());
            }
            assert_same_bits(&fused.run(&inputs).unwrap(), &graph.run(&inputs).unwrap(), &format!("{fused}"));
        }
    }
    known.dedup();
    for name in [
        "add.Tensor",
        "sub.Tensor",
        "mul.Tensor",
        "div.Tensor",
        "maximum",
        "where.self",
        "lt.Tensor",
        "bitwise_not",
        "logical_and",
        "relu",
        "gelu",
        "silu",
        "sigmoid",
        "exp",
        "log",
        "tanh",
        "sqrt",
        "abs",
        "neg",
        "pow.Tensor_Tensor",
        "clamp.Tensor",
        "nan_to_num",
        "lerp.Tensor",
        "addcmul",
    ]
    .into_iter()
    .chain(composed)
    {
        assert!(known.contains(&format!("aten::{name}")), "{name} is not fused in any dtype");
    }
    println!("{} operators, {cases} with their dtypes", known.len());
    assert!(known.len() > 120 && cases > 900, "{} operators, {cases} with their dtypes", known.len());
}

#[test]
fn a_pass_accepts_any_number_of_elements() {
    for size in ELEMENT_COUNTS {
        for dtype in [DType::F32, DType::BF16, DType::F16, DType::I32, DType::U8] {
            let inputs = [special_elements(dtype, &[size], 1), special_elements(dtype, &[size], 2)];
            let chain = |x: &[Tensor]| {
                let y = (aten::add(&(&x[0] * 3)?, &x[1], 2.into())?.relu()? - 1)?;
                Ok(vec![y.abs()?.clamp(1..=50)?.maximum(&x[1])?.neg_or_bitwise_not()?])
            };
            assert_eq!(fused_pass_lengths(chain, &inputs), [8], "{size} of {dtype}");
        }
    }
}

trait NegOrBitwiseNot {
    fn neg_or_bitwise_not(&self) -> Result<Tensor>;
}

impl NegOrBitwiseNot for Tensor {
    fn neg_or_bitwise_not(&self) -> Result<Tensor> {
        if self.dtype().is_integral() { self.bitwise_not() } else { -self }
    }
}

/// Calls the cheap operators that are fused in registers, with their operands in both orders.
fn chain_in_registers(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let [a, b] = inputs else { return Ok(Vec::new()) };
    let least = aten::sub(b, &(-a)?, 2.into())?.abs()?.sqrt()?.minimum(b)?;
    let sum = aten::add(b, &aten::add(&least, b, 3.into())?, 0.5.into())?;
    let z = aten::rsub(&aten::rsub(b, &sum, 1.into())?, b, 2.into())?;
    let z = (aten::div(b, &z)? / b)?.maximum(b)?;
    let z = aten::maximum(b, &aten::minimum(b, &z)?)?.reciprocal()?;
    let z = aten::leaky_relu(&aten::threshold(&z, (-2).into(), 0.1.into())?, 0.3.into())?;
    let squared = ((&z * &z)?.relu()? - &z)?;
    let out = aten::hardtanh(&squared, (-1).into(), 4.into())?.clamp((-0.5)..)?;
    Ok(vec![aten::clamp_tensor(&out, Some(a), Some(b))?, sum, squared])
}

#[test]
fn values_in_registers_are_rounded_as_by_the_operators() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16] {
        for size in [1, 3, 15, 16, 17, 127, 128, 129, 511, 645, 40_003] {
            let inputs = [special_elements(dtype, &[size], 1), special_elements(dtype, &[size], 2)];
            assert_eq!(fused_pass_lengths(chain_in_registers, &inputs), [23], "{size} of {dtype}");
        }
        let inputs = [special_elements(dtype, &[7, 90], 1), special_elements(dtype, &[90], 2)];
        assert_eq!(fused_pass_lengths(chain_in_registers, &inputs), [23], "a row of {dtype}");
        let inputs = [special_elements(dtype, &[7, 90], 1), special_elements(dtype, &[1], 2)];
        assert_eq!(fused_pass_lengths(chain_in_registers, &inputs), [23], "one {dtype}");
    }
}

#[test]
fn chains_of_any_length_have_the_right_operands() {
    let inputs: Vec<Tensor> = (0..3).map(|seed| special_elements(DType::F32, &[700], seed)).collect();
    let f = |x: &[Tensor]| {
        let mut y = x[0].clone();
        for i in 0..40 {
            y = if i % 3 == 0 { (&x[1] - &y)? } else { (&y + i)?.maximum(&x[2])? };
        }
        Ok(vec![y])
    };
    assert_eq!(fused_pass_lengths(f, &inputs), [66]);
}

#[test]
fn one_pass_can_have_several_dtypes() {
    let inputs = [
        special_elements(DType::F32, &[600], 1),
        special_elements(DType::I16, &[600], 2),
        special_elements(DType::F16, &[600], 3),
    ];
    let chain = |x: &[Tensor]| {
        let mask = x[0].gt(&x[1])?;
        let mixed = aten::where_self(&mask, &x[0], &x[2])?;
        let narrow = mixed.to(DType::BF16)?;
        Ok(vec![mask.logical_not()?, ((&narrow * &narrow)? + (&x[2]))?, (&x[1] / (&x[1]))?])
    };
    assert_eq!(fused_pass_lengths(chain, &inputs), [7]);
}

#[test]
fn half_precision_promotes_as_in_separate_calls() {
    let number = |dtype, sizes: &[i64]| special_elements(dtype, sizes, 3);
    for half in [DType::F16, DType::BF16] {
        for wide in
            [number(DType::F32, &[]), number(DType::F64, &[]), number(DType::I64, &[]), number(DType::I64, &[1])]
        {
            let wide = (&wide * 2049.3).unwrap().to(wide.dtype()).unwrap();
            let calls = |x: &[Tensor]| {
                let product = (&x[0] * &x[1])?;
                let sum = (&(&product + &x[1])? / &x[1])?;
                Ok(vec![sum.eq(&x[1])?, (&x[1] * &sum)?, product])
            };
            assert_eq!(fused_pass_lengths(calls, &[special_elements(half, &[700], 1), wide]), [5]);
        }
    }
}

#[test]
fn smaller_inputs_are_broadcast() {
    for (a, b) in [
        (&[5_i64, 300][..], &[300_i64][..]),
        (&[5, 300], &[5, 1]),
        (&[5, 300], &[1]),
        (&[5, 300], &[]),
        (&[7, 1], &[1, 90]),
        (&[3, 1, 200], &[4, 1]),
    ] {
        for dtype in [DType::F32, DType::BF16, DType::I8] {
            let inputs = [special_elements(dtype, a, 1), special_elements(dtype, b, 2)];
            let chain = |x: &[Tensor]| Ok(vec![((&x[0] + (&x[1]))? * (&x[1]))?.maximum(&x[0])?]);
            assert_eq!(fused_pass_lengths(chain, &inputs), [3], "{a:?} {b:?} {dtype}");
        }
    }
}

#[test]
fn only_results_that_are_used_outside_are_written() {
    let inputs = [special_elements(DType::F32, &[40, 30], 1)];
    let f = |x: &[Tensor]| {
        let a = (&x[0] * 2)?;
        let b = a.abs()?;
        let total = b.sum_keepdim(1)?;
        let c = (&b / &total)?;
        c.exp()?;
        Ok(vec![(-&c)?, a])
    };
    assert_eq!(fused_pass_lengths(f, &inputs), [2, 3]);
    let graph = trace(f, &inputs).unwrap().clean();
    assert_eq!(fuse_and_reparse(&graph).passes().map(<[usize]>::len).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn writing_calls_are_not_fused() {
    let inputs = [special_elements(DType::F64, &[50], 1), special_elements(DType::F64, &[50], 2)];
    let f = |x: &[Tensor]| {
        let a = (&x[0] * (&x[1]))?;
        let mut b = (-&a)?;
        let view = aten::slice(&b, 0, Some(0), Some(20), 1)?;
        aten::fill__scalar(&mut view.clone(), 3.into())?;
        let c = (&b + &a)?;
        aten::add_(&mut b, &c, 1.into())?;
        let d = (-(&b * &c)?)?;
        Ok(vec![d, view, a])
    };
    let graph = trace(f, &inputs).unwrap();
    let fused = fuse_and_reparse(&graph);
    assert_eq!(fused.passes().map(<[usize]>::len).collect::<Vec<_>>(), [2, 2]);
    assert_same_bits(&fused.run(&inputs).unwrap(), &graph.run(&inputs).unwrap(), "writes");
    // Writes to an input that shares memory with another input.
    let f = |x: &[Tensor]| {
        let read = (-&x[1])?.abs()?;
        aten::mul_(&mut x[0].clone(), &Tensor::number(2.into()))?;
        Ok(vec![(&read + (&(-&x[1])?.abs()?))?])
    };
    let base = || Tensor::from([1.0, 2.0, 3.0]);
    let graph = trace(f, &[base(), Tensor::from([0.0, 0.0])]).unwrap();
    let results = [
        &graph.fuse().run(&base_and_overlapping_view(&base())).unwrap(),
        &graph.run(&base_and_overlapping_view(&base())).unwrap(),
    ]
    .map(|r| element_bits(&r[0]));
    assert_eq!(results[0], results[1]);
}

fn base_and_overlapping_view(base: &Tensor) -> [Tensor; 2] {
    [base.clone(), aten::slice(base, 0, Some(0), Some(2), 1).unwrap()]
}

#[test]
fn inputs_can_be_the_same_tensor() {
    let graph =
        trace(|x| Ok([((&x[0] + (&x[1]))? * (&x[1]))?]), &[Tensor::from([0.0; 3]), Tensor::from([0.0; 3])]).unwrap();
    let x = special_elements(DType::F64, &[3], 1);
    assert_same_bits(
        &graph.fuse().run(&[x.clone(), x.clone()]).unwrap(),
        &graph.run(&[x.clone(), x]).unwrap(),
        "twice",
    );
}

fn fusible_chain(x: &[Tensor]) -> Result<Vec<Tensor>> {
    Ok(vec![((&x[0] * (&x[1]))?.sigmoid()? + (&x[0]))?])
}

fn two_inputs() -> [Tensor; 2] {
    [Tensor::from([[0.5_f32, -1.0], [2.0, 3.0]]), Tensor::from([[1.5_f32, 1.0], [-2.0, 0.25]])]
}

#[test]
fn gradients_equal_those_of_separate_calls() {
    let graph = trace(fusible_chain, &two_inputs()).unwrap();
    let fused = fuse_and_reparse(&graph);
    let slopes = |run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let inputs = two_inputs().map(|x| x.requires_grad_(true).unwrap());
        run(&inputs).unwrap()[0].sum().unwrap().backward().unwrap();
        inputs.map(|x| element_bits(&x.grad().unwrap()))
    };
    assert_eq!(slopes(&|x| fused.run(x)), slopes(&|x| graph.run(x)));
    let _no_grad = guard::no_grad();
    let inputs = two_inputs().map(|x| x.requires_grad_(true).unwrap());
    assert_same_bits(&fused.run(&inputs).unwrap(), &graph.run(&inputs).unwrap(), "without gradients");
    let _inference = guard::inference_mode();
    assert_same_bits(&fused.run(&two_inputs()).unwrap(), &graph.run(&two_inputs()).unwrap(), "in inference mode");
}

#[test]
fn active_layers_see_the_separate_calls() {
    let f = |x: &[Tensor]| Ok(vec![(&x[0] + (&x[0].mm(&x[1])?))?.exp()?.log()?.pow(2)?]);
    let graph = trace(f, &two_inputs()).unwrap();
    let fused = fuse_and_reparse(&graph);
    assert_eq!(fused.passes().count(), 1);
    {
        let _on = autocast::enable(Device::CPU, DType::BF16).unwrap();
        assert_same_bits(&fused.run(&two_inputs()).unwrap(), &graph.run(&two_inputs()).unwrap(), "autocast");
    }
    // Another trace records the calls of the graph, without their fusion.
    assert_eq!(trace(|x| fused.run(x), &two_inputs()).unwrap(), graph);
}

#[test]
fn calls_with_batched_tensors_are_separate() {
    let fused = fuse_and_reparse(&trace(fusible_chain, &two_inputs().map(|x| x.select(0, 0).unwrap())).unwrap());
    let [a, b] = two_inputs();
    let batched = vmap(|(a, b): &(Tensor, Tensor)| Ok(fused.run(&[a.clone(), b.clone()])?.remove(0)), (&a, &b));
    assert_same_bits(&[batched.unwrap()], &fusible_chain(&two_inputs()).unwrap(), "a batch");
}

#[test]
fn other_devices_and_layouts_use_separate_calls() {
    let graph = trace(fusible_chain, &two_inputs()).unwrap();
    let fused = fuse_and_reparse(&graph);
    let shapes = two_inputs().map(|x| Spec::contiguous(x.dtype(), x.sizes()).on(Device::META).unwrap());
    assert_eq!(fused.run(&shapes).unwrap()[0].device(), Device::META);
    let turned = two_inputs().map(|x| x.t().unwrap());
    assert_same_bits(&fused.run(&turned).unwrap(), &graph.run(&turned).unwrap(), "transposed");
    let wrong = fused.run(&[two_inputs()[0].clone()]).unwrap_err();
    assert_eq!(wrong.to_string(), graph.run(&[two_inputs()[0].clone()]).unwrap_err().to_string());
}

#[test]
fn an_input_that_is_locked_is_rejected_by_its_operator() {
    let fused = fuse_and_reparse(&trace(fusible_chain, &two_inputs()).unwrap());
    let mut inputs = two_inputs();
    let held = inputs[1].clone();
    let guard = inputs[1].write::<f32>().unwrap();
    let error = fused.run(&[two_inputs()[0].clone(), held]).unwrap_err();
    assert!(error.to_string().contains("aten::mul"), "{error}");
    drop(guard);
}

#[test]
fn integer_division_is_not_fused() {
    let f = |x: &[Tensor]| Ok(vec![aten::floor_divide(&(-&x[0])?.abs()?, &x[1])?]);
    let graph = trace(f, &[Tensor::from([4_i64, 5]), Tensor::from([2_i64, 2])]).unwrap();
    let fused = fuse_and_reparse(&graph);
    assert_eq!(fused.passes().collect::<Vec<_>>(), [[0, 1]]);
    assert!(fused.run(&[Tensor::from([4_i64, 5]), Tensor::from([2_i64, 0])]).is_err());
}

/// An operator of another crate without a fusible loop.
#[op_def("bakery::unknown_to_fuser(Tensor self) -> Tensor", shape = pointwise)]
fn unknown_to_fuser(this: &Tensor) -> Result<Tensor>;

#[op_impl(unknown_to_fuser, CPU)]
fn unknown_to_fuser_cpu(this: &Tensor) -> Result<Tensor> {
    aten::mul(this, this)
}

#[test]
fn operators_unknown_to_the_fuser_are_not_fused() {
    let f = |x: &[Tensor]| Ok(vec![(-unknown_to_fuser(&(-&x[0])?.exp()?)?)?.exp()?]);
    assert_eq!(fused_pass_lengths(f, &[special_elements(DType::F32, &[9], 1)]), [2, 2]);
}

#[test]
fn a_kernel_that_was_replaced_is_called() {
    let _alone = lock_kernel_replacement();
    let graph = trace(|x| Ok([x[0].erfc()?.erfinv()?]), &[Tensor::from([0.5_f32])]).unwrap();
    let fused = fuse_and_reparse(&graph);
    let before = element_bits(&fused.run(&[Tensor::from([0.5_f32])]).unwrap()[0]);
    let replaced = Registrar::new("aten")
        .override_kernel("erfc", keys::CPU, |_, _, stack| {
            stack.drop_top(1);
            stack.push(Tensor::from([0.25_f32]));
            Ok(())
        })
        .unwrap();
    let mut scope = Some(replaced.scoped());
    assert_eq!(
        element_bits(&fused.run(&[Tensor::from([0.5_f32])]).unwrap()[0]),
        element_bits(&Tensor::from([0.25_f32]).erfinv().unwrap())
    );
    assert_eq!(graph.fuse().passes().count(), 0);
    drop(scope.take());
    assert_eq!(element_bits(&fused.run(&[Tensor::from([0.5_f32])]).unwrap()[0]), before);
}

#[test]
fn a_kernel_of_autograd_that_was_replaced_is_called() {
    let _alone = lock_kernel_replacement();
    let x = [Tensor::from([0.5_f32])];
    let graph = trace(|x| Ok([x[0].erfc()?.erfinv()?]), &x).unwrap();
    let fused = fuse_and_reparse(&graph);
    let replaced = Registrar::new("aten").override_kernel("erfc", keys::AutogradCPU, |_, _, stack| {
        stack.drop_top(1);
        stack.push(Tensor::from([0.25_f32]));
        Ok(())
    });
    let _scope = replaced.unwrap().scoped();
    assert_same_bits(&fused.run(&x).unwrap(), &[Tensor::from([0.25_f32]).erfinv().unwrap()], "replaced");
}

#[test]
fn results_have_the_strides_of_separate_calls() {
    let memory = Tensor::from_slice(&(0..64).map(f64::from).collect::<Vec<_>>());
    for (sizes, strides) in [
        (&[3_i64, 1][..], &[1_i64, 7][..]),
        (&[2, 1, 3, 3], &[9, 1, 3, 1]),
        (&[2, 3, 1, 1], &[3, 1, 3, 3]),
        (&[1], &[5]),
        (&[0, 3], &[1, 1]),
        (&[3, 0], &[7, 7]),
    ] {
        let odd = memory.restride(Geometry::strided(sizes, strides, 0).unwrap()).unwrap();
        for other in [&[][..], &sizes[sizes.len() - 1..]] {
            let inputs = [odd.clone(), Tensor::ones(other, DType::F64).unwrap()];
            assert_eq!(
                fused_pass_lengths(|x| Ok(vec![(-&x[0])?.abs()?, (&x[0] * (&x[1]))?.exp()?]), &inputs),
                [4],
                "{sizes:?}"
            );
        }
    }
}

#[derive(Clone, Debug)]
struct RandomChain {
    inputs: Vec<(DType, usize)>,
    steps: Vec<(u8, prop::sample::Index, prop::sample::Index)>,
    result_steps: Vec<prop::sample::Index>,
}

fn random_chains() -> impl Strategy<Value = RandomChain> {
    let dtype = prop::sample::select(vec![
        DType::F32,
        DType::F32,
        DType::F64,
        DType::BF16,
        DType::F16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::Bool,
    ]);
    let inputs = prop::collection::vec((dtype, 0..RANDOM_CHAIN_SHAPES.len()), 1..4);
    let steps = prop::collection::vec((any::<u8>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..16);
    let result_steps = prop::collection::vec(any::<prop::sample::Index>(), 1..4);
    (inputs, steps, result_steps).prop_map(|(inputs, steps, result_steps)| RandomChain { inputs, steps, result_steps })
}

const RANDOM_CHAIN_SHAPES: [&[i64]; 5] = [&[6, 200], &[6, 1], &[200], &[1], &[]];

impl RandomChain {
    /// Removes the steps whose arguments do not match, because a function that continues after an error cannot be traced.
    fn remove_invalid_calls(mut self, inputs: &[Tensor]) -> Self {
        let mut at = 0;
        while at < self.steps.len() {
            let first = Self { steps: self.steps[..=at].to_vec(), ..self.clone() };
            if first.run(inputs).is_ok() {
                at += 1;
            } else {
                self.steps.remove(at);
            }
        }
        self
    }

    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut values = inputs.to_vec();
        for (kind, a, b) in &self.steps {
            let (a, b) = (a.get(&values).clone(), b.get(&values).clone());
            let made = match kind % 20 {
                0 => &a + &b,
                1 => aten::sub(&a, &b, 2.into()),
                2 | 3 => &a * &b,
                4 => a.maximum(&b),
                5 => &a / &b,
                6 => a.lt(&b),
                7 => aten::where_self(&a.to(DType::Bool)?, &a, &b),
                8 => &a + 1.5,
                9 => &a * 3,
                10 => a.clamp((-1)..=2),
                11 => a.relu(),
                12 => a.abs(),
                13 => a.sigmoid(),
                14 => a.exp(),
                15 => a.to(DType::F16),
                16 => a.to(DType::U8),
                17 => -&a,
                18 => a.sum(),
                _ => a.masked_fill(&b.to(DType::Bool)?, 4),
            };
            values.push(made?);
        }
        let made = &values[inputs.len()..];
        Ok(self.result_steps.iter().filter(|_| !made.is_empty()).map(|step| step.get(made).clone()).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_chains_have_the_same_bits(chain in random_chains()) {
        let inputs: Vec<Tensor> = chain.inputs.iter().zip(0..).map(|((dtype, shape), seed)| special_elements(*dtype, RANDOM_CHAIN_SHAPES[*shape], seed)).collect();
        let chain = chain.remove_invalid_calls(&inputs);
        let graph = trace(|x| chain.run(x), &inputs).unwrap();
        for graph in [graph.clean(), graph] {
            let fused = graph.fuse();
            assert_same_bits(&fused.run(&inputs).unwrap(), &graph.run(&inputs).unwrap(), &fused.to_string());
        }
    }
}
