//! Tests of functions with side effects. Their graphs must have the same effects, cleaned, parsed and fused, on inputs with other strides
//! and other shared memory than those that were traced.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, grad};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, Geometry, Spec, guard};
use dispatch_trace::{Graph, TraceError, trace};
use kernels_cpu as _;

use crate::lock_random_numbers;

type TensorBits = (DType, Vec<i64>, Vec<i64>, Vec<u64>);

/// Returns the bits of every element. All NaNs are equal.
fn tensor_bits(tensors: &[Tensor]) -> Vec<TensorBits> {
    let one = |tensor: &Tensor| {
        let row = tensor.detach().unwrap().to(DType::F64).unwrap().reshape(-1).unwrap().to_vec::<f64>().unwrap();
        let row = row.into_iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect();
        (tensor.dtype(), tensor.sizes().to_vec(), tensor.strides().to_vec(), row)
    };
    tensors.iter().map(one).collect()
}

fn print_and_parse(graph: &Graph) -> Graph {
    let text = graph.to_string();
    let read = Graph::parse(&text, graph.constants()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&read, graph, "{text}");
    read
}

fn equivalent_graphs(graph: &Graph) -> Vec<Graph> {
    let clean = graph.clean();
    vec![print_and_parse(graph), print_and_parse(&clean), clean, graph.clone()]
}

/// Traces a function with the tensors `with`, and compares its graphs with the function on the tensors `on`: the results, the memory that
/// these share with the inputs, and the elements of the inputs afterwards.
fn assert_same_effects(f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>, with: &[Tensor], on: impl Fn() -> Vec<Tensor>) {
    let graph = trace(&f, with).unwrap_or_else(|error| panic!("{error}"));
    let made = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let given = on();
        let results = f(&given).unwrap_or_else(|error| panic!("{error}\n{graph}"));
        let shares = |result: &Tensor| given.iter().map(|given| given.storage().same(result.storage())).collect();
        let memory: Vec<Vec<bool>> = results.iter().map(shares).collect();
        (tensor_bits(&results), tensor_bits(&given), memory)
    };
    let expected = made(&f);
    for graph in equivalent_graphs(&graph) {
        assert_eq!(made(&|x| graph.run(x)), expected, "{graph}");
        assert_eq!(made(&|x| graph.fuse().run(x)), expected, "{graph}");
    }
}

fn tensor_of_three_elements() -> Tensor {
    Tensor::from([1.0_f64, -2.0, 3.0])
}

fn tensor_of_three_other_elements() -> Tensor {
    Tensor::from([0.5_f64, 4.0, -0.0])
}

fn number_tensor(value: impl Into<Scalar>) -> Tensor {
    Tensor::number(value.into())
}

#[test]
fn a_returned_argument_in_the_trace_can_be_a_copy_in_a_run() {
    let square = || Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let turned = || vec![square().t().unwrap()];
    // The argument and the result are the same tensor in the trace, and two tensors in the run.
    let write = |x: &[Tensor]| {
        let packed = x[0].contiguous()?;
        x[0].clone().add_(number_tensor(1))?;
        Ok(vec![packed])
    };
    assert_same_effects(write, &[square()], turned);
    assert_same_effects(|x| Ok(vec![x[0].clone(), (-x[0].contiguous()?)?, x[0].clone()]), &[square()], turned);
}

#[test]
fn a_write_to_an_input_reaches_inputs_with_the_same_memory() {
    let f = |x: &[Tensor]| {
        let before = (-&x[1])?;
        x[0].clone().mul_(number_tensor(2))?;
        Ok(vec![(&before + (&(-&x[1])?))?])
    };
    assert_same_effects(f, &[tensor_of_three_elements(), tensor_of_three_other_elements()], || {
        vec![tensor_of_three_elements(); 2]
    });
    assert_same_effects(f, &[tensor_of_three_elements(), Tensor::from([1.0, 2.0])], || {
        let x = tensor_of_three_elements();
        vec![x.clone(), aten::slice(&x, 0, Some(1), Some(3), 1).unwrap()]
    });
}

#[test]
fn a_copy_in_the_trace_can_be_a_view_in_a_run() {
    let square = || Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let between: fn(&Tensor, &Tensor, &Tensor) -> Result<Vec<Tensor>> = |read, written, add| {
        let before = (-read)?;
        aten::add_(&mut written.clone(), add, 1.into())?;
        Ok(vec![(&before + (&(-read)?))?])
    };
    let reshaped = move |x: &[Tensor]| between(&x[0], &x[0].reshape(4)?, &number_tensor(1));
    let packed = move |x: &[Tensor]| {
        let made = x[0].exp()?;
        between(&made.contiguous()?, &made, &number_tensor(1))
    };
    for f in [&reshaped as &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>, &packed] {
        assert_same_effects(f, &[square().t().unwrap()], || vec![square()]);
        assert_same_effects(f, &[square()], || vec![square().t().unwrap()]);
    }
}

#[test]
fn no_grad_sections_are_replayed() {
    type TracedFunction = fn(&[Tensor]) -> Result<Vec<Tensor>>;
    let constant: TracedFunction = |x| {
        let kept = {
            let _no_grad = guard::no_grad();
            x[0].exp()?
        };
        Ok(vec![(&kept * (&x[0]))?])
    };
    // The backward pass is not differentiated itself.
    let backward: TracedFunction = |x| {
        let leaf = x[0].detach()?.requires_grad_(true)?;
        let slope = grad(&[&(&leaf * (&x[1]))?.exp()?.sum()?], &[&leaf])?.remove(0).unwrap();
        Ok(vec![(&slope * (&x[0]))?])
    };
    for f in [constant, backward] {
        let slopes = |run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
            let leaves =
                [tensor_of_three_other_elements(), tensor_of_three_elements()].map(|x| x.requires_grad_(true).unwrap());
            run(&leaves).unwrap()[0].sum().unwrap().backward().unwrap();
            leaves.map(|leaf| leaf.grad().map(|slope| tensor_bits(&[slope])))
        };
        for graph in
            equivalent_graphs(&trace(f, &[tensor_of_three_elements(), tensor_of_three_other_elements()]).unwrap())
        {
            assert_eq!(slopes(&|x| graph.run(x)), slopes(&f), "{graph}");
            assert_eq!(slopes(&|x| graph.fuse().run(x)), slopes(&f), "{graph}");
        }
    }
}

#[test]
fn an_optimizer_step_writes_to_leaves_in_a_run() {
    let step = |x: &[Tensor]| {
        let slope = (&x[0] * (&x[1]))?.sin()?;
        let _no_grad = guard::no_grad();
        aten::sub_(&mut x[0].clone(), &slope, 1.into())?;
        Ok(vec![x[0].clone()])
    };
    assert_same_effects(step, &[tensor_of_three_elements(), tensor_of_three_other_elements()], || {
        vec![tensor_of_three_elements().requires_grad_(true).unwrap(), tensor_of_three_other_elements()]
    });
}

#[test]
fn enable_grad_sections_are_replayed() {
    let _no_grad = guard::no_grad();
    let shown = trace(
        |x| {
            let _but_here = guard::enable_grad();
            Ok([(-x[0].exp()?)?])
        },
        &[tensor_of_three_elements()],
    )
    .unwrap();
    let not = trace(|x| Ok([(-x[0].exp()?)?]), &[tensor_of_three_elements()]).unwrap();
    let leaf = [tensor_of_three_elements().requires_grad_(true).unwrap()];
    for (graph, records) in [(print_and_parse(&shown), true), (not, false)] {
        assert_eq!(graph.run(&leaf).unwrap()[0].requires_grad(), records, "{graph}");
        assert_eq!(graph.fuse().run(&leaf).unwrap()[0].requires_grad(), records, "{graph}");
    }
}

#[test]
fn random_operators_traced_on_meta_are_not_merged() {
    let _alone = lock_random_numbers();
    let shape = Spec::contiguous(DType::F64, &[64]).on(Device::META).unwrap();
    let f = |x: &[Tensor]| {
        let noise = (aten::rand_like!(&x[0])? - (&aten::rand_like!(&x[0])?))?;
        let dropped = (aten::dropout(&x[0], 0.5, true)? - &aten::dropout(&x[0], 0.5, true)?)?;
        Ok([noise, dropped])
    };
    let graph = trace(f, &[shape]).unwrap().to(Device::CPU).unwrap();
    let text = "fn graph(x: f64[64]) {
        let a: f64[64] = aten::rand_like(&x); let b: f64[64] = aten::rand_like(&x);
        let c: f64[64] = aten::sub(&a, &b); [c]
    }";
    for graph in [graph, Graph::parse(text, &[]).unwrap()] {
        for result in graph.clean().run(&[Tensor::ones(64, DType::F64).unwrap()]).unwrap() {
            assert!(result.abs().unwrap().sum().unwrap().item::<f64>().unwrap() > 0.0, "{graph}");
        }
    }
}

#[test]
fn number_tensors_promote_as_without_a_trace() {
    let whole = || vec![Tensor::from([4_i64, -2])];
    assert_same_effects(
        |x| Ok(vec![(&x[0] * &number_tensor(1.5))?, (&x[0] + &number_tensor(2))?, (&x[0] / &number_tensor(2))?]),
        &whole(),
        whole,
    );
    assert_same_effects(|x| Ok(vec![((number_tensor(2) + &number_tensor(3.5))? * (&x[0]))?]), &whole(), whole);
    let single = || vec![Tensor::from([4.0_f32, -2.0])];
    assert_same_effects(
        |x| Ok(vec![(x[0].gt(number_tensor(1))? * &number_tensor(2))?, (&x[0] * &number_tensor(1.5))?]),
        &single(),
        single,
    );
    let turned = |x: &[Tensor]| Ok(vec![(&x[0] * &number_tensor(Complex64::new(0.0, 1.0)))?.view_as_real()?]);
    assert_same_effects(turned, &single(), single);
    // In another run, the input may be any number.
    let error = trace(|x| Ok([(&x[0] * (x[0].item::<f64>()?))?]), &[number_tensor(2.0)]).unwrap_err();
    assert!(error.to_string().contains("reads elements"), "{error}");
}

#[test]
fn number_tensors_of_every_dtype_can_be_parsed() {
    for value in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-320, 5e-324, f64::MAX, 1e16] {
        let f = |x: &[Tensor]| Ok(vec![(&x[0] * &number_tensor(value))?, (&x[0] * value)?]);
        assert_same_effects(f, &[tensor_of_three_elements()], || vec![tensor_of_three_other_elements()]);
    }
    for value in [i64::MIN, i64::MAX] {
        assert_same_effects(
            |x| Ok(vec![(&x[0] * &number_tensor(value))?]),
            &[Tensor::from([1_i64, 2])],
            || vec![Tensor::from([3_i64, -2])],
        );
    }
    let zero = |zero: f64| trace(|x| Ok([(&x[0] * zero)?]), &[tensor_of_three_elements()]).unwrap();
    assert_ne!(zero(0.0), zero(-0.0));
}

#[test]
fn a_graph_can_be_parsed_with_copies_of_constants_that_share_memory() {
    let memory = Tensor::from([1.0_f64, 2.0, 3.0, 4.0]);
    let part = |start| aten::slice(&memory, 0, Some(start), Some(start + 2), 1).unwrap();
    let (high, low) = (part(2), part(0));
    let f = |x: &[Tensor]| Ok(vec![((&x[0] + &high)? * &low)?]);
    let x = [Tensor::from([5.0, 6.0])];
    let graph = trace(f, &x).unwrap();
    let copies: Vec<Tensor> = graph.constants().iter().map(|constant| aten::clone(constant, None).unwrap()).collect();
    let again = Graph::parse(&graph.to_string(), &copies).unwrap();
    assert_eq!(tensor_bits(&again.run(&x).unwrap()), tensor_bits(&f(&x).unwrap()));
}

#[test]
fn a_captured_view_of_an_input_follows_the_input() {
    let memory = Tensor::from_slice(&[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let input = |memory: &Tensor, start| aten::slice(memory, 0, Some(start), Some(start + 4), 1).unwrap();
    let view = |memory: &Tensor, sizes: &[i64], strides: &[i64], offset| {
        memory.restride(Geometry::strided(sizes, strides, offset).unwrap()).unwrap()
    };
    for (sizes, strides, offset) in [(&[2_i64][..], &[2_i64][..], 1), (&[2, 2], &[1, 1], 2), (&[], &[], 4)] {
        let outside = view(&memory, sizes, strides, offset);
        let graph = print_and_parse(&trace(|x| Ok([(x[0].sum()? * &outside)?]), &[input(&memory, 1)]).unwrap());
        let elsewhere = Tensor::from_slice(&[7.0_f64, 8.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        let x = input(&elsewhere, 3);
        let expected = (x.sum().unwrap() * &view(&elsewhere, sizes, strides, offset + 2)).unwrap();
        assert_eq!(tensor_bits(&graph.run(&[x]).unwrap()), tensor_bits(&[expected]), "{graph}");
    }
}

#[test]
fn a_view_of_a_merged_value_shares_the_remaining_memory() {
    let f = |x: &[Tensor]| {
        let (a, b) = (x[0].exp()?, x[0].exp()?);
        Ok([(a.view([3, 1])? + &b.view([1, 3])?)?])
    };
    let clean = trace(f, &[tensor_of_three_elements()]).unwrap().clean();
    let (first, view) = (clean.outputs()[0], clean.nodes()[2].outputs[0].value_ids()[0]);
    assert!(
        first != view && clean.value(view).shares_memory_with == Some(clean.nodes()[0].outputs[0].value_ids()[0]),
        "{clean}"
    );
}

#[test]
fn a_large_graph_is_parsed_cleaned_and_run() {
    let deep =
        trace(|x| (0..10_000).try_fold(x[0].clone(), |y, _| -&y).map(|y| [y]), &[tensor_of_three_elements()]).unwrap();
    assert_eq!(
        tensor_bits(&print_and_parse(&deep).clean().run(&[tensor_of_three_other_elements()]).unwrap()),
        tensor_bits(&[tensor_of_three_other_elements()])
    );
    let passes = |x: &[Tensor]| {
        let step = |y: Tensor, _| aten::cumsum(&(-&y)?.abs()?, 0, None);
        (0..300).try_fold(x[0].clone(), step).map(|y| [y])
    };
    assert_eq!(trace(passes, &[tensor_of_three_elements()]).unwrap().fuse().passes().count(), 300);
}

#[test]
fn calls_on_a_started_thread_are_an_error() {
    let error = trace(
        |x| {
            let x = x[0].clone();
            let y = guard::spawn(move || x.exp().unwrap()).join().unwrap();
            Ok([(-&y)?])
        },
        &[tensor_of_three_elements()],
    )
    .unwrap_err();
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    assert_eq!(cause, Some(&TraceError::CallOnOtherThread { operator: "aten::exp".to_owned() }));
    // Calls on such a thread after the trace are not reported.
    let later = guard::spawn(|| trace(|x| Ok([(-&x[0])?]), &[tensor_of_three_elements()]).unwrap()).join().unwrap();
    assert_eq!(later.nodes().len(), 1);
}
