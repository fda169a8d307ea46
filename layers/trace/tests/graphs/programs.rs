//! Tests that the graph of a whole program has the same results as the program: on other inputs, under every layer, and if it is traced
//! under a layer.

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_autograd::{Differentiable, functional, grad};
use dispatch_runtime::Generator;
use dispatch_runtime::prelude::*;
use dispatch_trace::{Graph, trace};
use dispatch_vmap::vmap;
use kernels_cpu as _;

type Program = fn(&[Tensor]) -> Result<Vec<Tensor>>;

/// Returns random inputs of these sizes, which depend on the seed.
fn random_inputs(sizes: &[&[i64]], seed: u64) -> Vec<Tensor> {
    let own = Generator::new(Device::CPU, seed);
    let random = |sizes: &&[i64]| aten::randn_generator(sizes, Some(&own), Some(DType::F32), None, None, None).unwrap();
    sizes.iter().map(random).collect()
}

/// The sizes of the network of the example `digits`: images, and two layers with a weight and a bias each.
const DIGITS_SIZES: [&[i64]; 5] = [&[16, 64], &[128, 64], &[128], &[10, 128], &[10]];

fn digits_forward(x: &[Tensor]) -> Result<Vec<Tensor>> {
    let hidden = aten::linear(&x[0], &x[1], Some(&x[2]))?.relu()?;
    Ok(vec![aten::linear(&hidden, &x[3], Some(&x[4]))?])
}

fn digits_loss(x: &[Tensor]) -> Result<Tensor> {
    let labels = aten::remainder_scalar(&aten::arange(16.into(), Some(DType::I64), None, None, None)?, 10.into())?;
    aten::cross_entropy_loss!(&digits_forward(x)?[0], &labels)
}

/// Returns the loss and its gradients. The program itself runs the backward pass.
fn digits_loss_and_gradients(x: &[Tensor]) -> Result<Vec<Tensor>> {
    let parameters: Vec<Tensor> = x[1..].iter().map(|x| x.detach()?.requires_grad_(true)).collect::<Result<_>>()?;
    let given: Vec<Tensor> = x[..1].iter().chain(&parameters).cloned().collect();
    let loss = digits_loss(&given)?;
    let of: Vec<&Tensor> = parameters.iter().collect();
    let gradients = grad(&[&loss], &of)?.into_iter().flatten();
    Ok(std::iter::once(loss.detach()?).chain(gradients).collect())
}

/// Returns the same gradients as `digits_loss_and_gradients`, by the transform `grad`.
fn gradients_by_transform(x: &[Tensor]) -> Result<Vec<Tensor>> {
    let slope = |i: usize| {
        let one = |parameter: &Tensor| digits_loss(&[&x[..i], std::slice::from_ref(parameter), &x[i + 1..5]].concat());
        functional::grad(one, &x[i])
    };
    (1..5).map(slope).collect()
}

/// Makes a step of gradient descent with momentum, which writes to parameters and momenta.
fn training_step(x: &[Tensor]) -> Result<Vec<Tensor>> {
    let gradients = gradients_by_transform(x)?;
    for (i, gradient) in gradients.iter().enumerate() {
        let (mut parameter, momentum) = (x[1 + i].clone(), x[5 + i].clone());
        momentum.mul_(Tensor::number(0.9.into()))?;
        momentum.add_(gradient)?;
        aten::add_(&mut parameter, &momentum, (-0.1).into())?;
    }
    Ok(vec![digits_loss(&x[..5])?])
}

const TRAINING_STEP_SIZES: [&[i64]; 9] =
    [&[16, 64], &[128, 64], &[128], &[10, 128], &[10], &[128, 64], &[128], &[10, 128], &[10]];

/// The sizes of a transformer block: token vectors, the projections to queries, keys and values, the output projection, and a norm.
const ATTENTION_SIZES: [&[i64]; 6] = [&[2, 5, 12], &[36, 12], &[36], &[12, 12], &[12], &[12]];

fn attention(x: &[Tensor]) -> Result<Vec<Tensor>> {
    transformer_block(x, |queries, keys, values| {
        aten::scaled_dot_product_attention!(queries, keys, values, is_causal = true)
    })
}

/// Computes `attention` with matrix products and a softmax.
fn decomposed_attention(x: &[Tensor]) -> Result<Vec<Tensor>> {
    transformer_block(x, |queries, keys, values| {
        let scores = (queries.matmul(&aten::transpose_int(keys, -2, -1)?)? * &Tensor::number(0.5.into()))?;
        aten::softmax_int!(&scores, -1)?.matmul(values)
    })
}

fn transformer_block(
    x: &[Tensor],
    attend: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Vec<Tensor>> {
    let normed = aten::layer_norm!(&x[0], &[12], weight = Some(&x[5]))?;
    let projected = aten::linear(&normed, &x[1], Some(&x[2]))?;
    let heads = |part: &Tensor| aten::transpose_int(&part.reshape([2, 5, 3, 4])?, 1, 2);
    let [queries, keys, values] = &aten::split(&projected, 12, -1)?[..] else { unreachable!() };
    let met = attend(&heads(queries)?, &heads(keys)?, &heads(values)?)?;
    let together = aten::transpose_int(&met, 1, 2)?.reshape([2, 5, 12])?;
    Ok(vec![(&x[0] + &aten::linear(&together, &x[3], Some(&x[4]))?)?])
}

const PROGRAMS_WITH_SIZES: [(Program, &[&[i64]]); 6] = [
    (digits_forward, &DIGITS_SIZES),
    (digits_loss_and_gradients, &DIGITS_SIZES),
    (gradients_by_transform, &DIGITS_SIZES),
    (training_step, &TRAINING_STEP_SIZES),
    (attention, &ATTENTION_SIZES),
    (decomposed_attention, &ATTENTION_SIZES),
];

/// The programs that can run under `vmap`. Those with state of their own, such as `requires_grad_`, cannot.
const PROGRAMS_FOR_VMAP_WITH_SIZES: [(Program, &[&[i64]]); 5] = [
    (digits_forward, &DIGITS_SIZES),
    (gradients_by_transform, &DIGITS_SIZES),
    (training_step, &TRAINING_STEP_SIZES),
    (attention, &ATTENTION_SIZES),
    (decomposed_attention, &ATTENTION_SIZES),
];

/// Returns the graph, the clean graph, and the graphs parsed from their texts.
fn equivalent_graphs(graph: &Graph) -> Vec<Graph> {
    let print_and_parse = |graph: &Graph| {
        let text = graph.to_string();
        Graph::parse(&text, graph.constants()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let clean = graph.clean();
    vec![print_and_parse(graph), print_and_parse(&clean), clean, graph.clone()]
}

fn element_bits(tensors: &[Tensor]) -> Vec<(Vec<i64>, Vec<u64>)> {
    let one = |tensor: &Tensor| {
        let row = tensor.detach().unwrap().to(DType::F64).unwrap().reshape(-1).unwrap();
        (tensor.sizes().to_vec(), row.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect())
    };
    tensors.iter().map(one).collect()
}

/// Checks that both functions return the same results and leave the same elements in their inputs.
fn assert_same_results(
    one: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    other: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    sizes: &[&[i64]],
) {
    let (a, b) = (random_inputs(sizes, 2), random_inputs(sizes, 2));
    assert_eq!(element_bits(&one(&a).unwrap()), element_bits(&other(&b).unwrap()));
    assert_eq!(element_bits(&a), element_bits(&b));
}

fn add_batch_dim_to_sizes(sizes: &[&[i64]]) -> Vec<Vec<i64>> {
    sizes.iter().map(|sizes| std::iter::once(3).chain(sizes.iter().copied()).collect()).collect()
}

fn run_with_vmap(f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>, x: &[Tensor]) -> Result<Vec<Tensor>> {
    vmap(|x: &Vec<Tensor>| f(x), x)
}

fn run_with_autocast<R>(f: impl FnOnce() -> R) -> R {
    let _on = autocast::enable(Device::CPU, DType::BF16).unwrap();
    f()
}

#[test]
fn a_program_and_its_graphs_have_the_same_results() {
    for (program, sizes) in PROGRAMS_WITH_SIZES {
        let graph = trace(program, &random_inputs(sizes, 1)).unwrap();
        for graph in equivalent_graphs(&graph) {
            assert_same_results(program, |x| graph.run(x), sizes);
        }
    }
}

#[test]
fn the_backward_of_a_program_is_in_its_graph() {
    let graph = trace(digits_loss_and_gradients, &random_inputs(&DIGITS_SIZES, 1)).unwrap().clean();
    let names: Vec<&str> = graph.nodes().iter().map(|node| node.operator.name().base).collect();
    assert!(names.contains(&"threshold_backward") && names.contains(&"nll_loss_backward"), "{names:?}");
}

#[test]
fn a_graph_can_be_mapped_over_batches() {
    for (program, sizes) in PROGRAMS_FOR_VMAP_WITH_SIZES {
        let batch = add_batch_dim_to_sizes(sizes);
        let batch: Vec<&[i64]> = batch.iter().map(Vec::as_slice).collect();
        let graph = trace(program, &random_inputs(sizes, 1)).unwrap();
        for graph in equivalent_graphs(&graph) {
            assert_same_results(|x| run_with_vmap(program, x), |x| run_with_vmap(|x| graph.run(x), x), &batch);
        }
    }
}

#[test]
fn a_graph_can_be_differentiated() {
    let gradients = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>, x: &[Tensor]| {
        let leaves: Vec<Tensor> = x.iter().map(|x| x.detach()?.requires_grad_(true)).collect::<Result<_>>()?;
        f(&leaves)?[0].square()?.sum()?.backward()?;
        Ok(leaves.iter().map(|leaf| leaf.grad().unwrap()).collect())
    };
    for (program, sizes) in [(digits_forward as Program, &DIGITS_SIZES[..]), (attention, &ATTENTION_SIZES)] {
        let graph = trace(program, &random_inputs(sizes, 1)).unwrap();
        for graph in equivalent_graphs(&graph) {
            assert_same_results(|x| gradients(&program, x), |x| gradients(&|x| graph.run(x), x), sizes);
        }
    }
}

#[test]
fn a_graph_can_run_under_autocast() {
    // Programs with a backward pass are excluded. Their graphs recorded the backward pass in single precision, but under autocast it runs
    // in the dtype of the forward pass.
    let forward = [
        (digits_forward as Program, &DIGITS_SIZES[..]),
        (attention, &ATTENTION_SIZES),
        (decomposed_attention, &ATTENTION_SIZES),
    ];
    for (program, sizes) in forward {
        let graph = trace(program, &random_inputs(sizes, 1)).unwrap();
        for graph in equivalent_graphs(&graph) {
            assert_same_results(|x| run_with_autocast(|| program(x)), |x| run_with_autocast(|| graph.run(x)), sizes);
        }
    }
}

#[test]
fn casts_of_autocast_are_recorded_in_the_graph() {
    for (program, sizes) in PROGRAMS_WITH_SIZES {
        let graph = run_with_autocast(|| trace(program, &random_inputs(sizes, 1))).unwrap();
        for graph in equivalent_graphs(&graph) {
            assert_same_results(|x| run_with_autocast(|| program(x)), |x| graph.run(x), sizes);
        }
    }
}

#[test]
fn a_program_can_be_traced_inside_of_a_mapped_function() {
    for (program, sizes) in PROGRAMS_FOR_VMAP_WITH_SIZES {
        let batch = add_batch_dim_to_sizes(sizes);
        let batch: Vec<&[i64]> = batch.iter().map(Vec::as_slice).collect();
        // The traced function sees one slice of the batch.
        let traced = |x: &[Tensor]| {
            let copies: Vec<Tensor> = x.iter().map(|x| aten::clone(x, None)).collect::<Result<_>>()?;
            trace(program, &copies)
        };
        let slice = trace(program, &random_inputs(sizes, 1)).unwrap();
        assert_same_results(
            |x| run_with_vmap(program, x),
            |x| {
                run_with_vmap(
                    |x| {
                        let graph = traced(x)?;
                        assert_eq!(graph.to_string(), slice.to_string());
                        graph.run(x)
                    },
                    x,
                )
            },
            &batch,
        );
    }
}

#[test]
fn a_program_can_be_traced_inside_of_a_differentiated_function() {
    let energy = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>, x: &[Tensor]| {
        let rest = x[1..].to_vec();
        let one = |first: &Tensor| f(&[std::slice::from_ref(first), &rest[..]].concat())?[0].square()?.sum();
        Ok(vec![functional::grad(one, &x[0])?])
    };
    for (program, sizes) in [(digits_forward as Program, &DIGITS_SIZES[..]), (attention, &ATTENTION_SIZES)] {
        assert_same_results(|x| energy(&program, x), |x| energy(&|x| trace(program, x)?.run(x), x), sizes);
    }
}

#[test]
fn the_calls_of_a_transform_are_in_the_graph() {
    let gradients_by_transform: Program = |x| {
        let cubes = |row: &Tensor| functional::grad(|row| ((row * row)? * row)?.sum(), row);
        Ok(vec![vmap(cubes, &x[0])?])
    };
    let sizes: [&[i64]; 1] = [&[4, 3]];
    let graph = trace(gradients_by_transform, &random_inputs(&sizes, 1)).unwrap();
    assert!(graph.constants().iter().all(|tensor| tensor.sizes().is_empty()), "{graph}");
    for graph in equivalent_graphs(&graph) {
        assert_same_results(gradients_by_transform, |x| graph.run(x), &sizes);
    }
}

#[test]
fn nested_traces_record_the_same_calls() {
    for (program, sizes) in PROGRAMS_WITH_SIZES {
        let inner = std::cell::RefCell::new(None);
        let outer = trace(
            |x| {
                let copies: Vec<Tensor> = x.iter().map(|x| aten::clone(x, None)).collect::<Result<_>>()?;
                *inner.borrow_mut() = Some(trace(program, &copies)?);
                program(x)
            },
            &random_inputs(sizes, 1),
        )
        .unwrap();
        let (inner, alone) = (inner.into_inner().unwrap(), trace(program, &random_inputs(sizes, 1)).unwrap());
        assert_eq!(inner.to_string(), alone.to_string());
        assert_same_results(program, |x| outer.run(x), sizes);
    }
}
