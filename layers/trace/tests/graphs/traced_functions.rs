//! Tests that trace functions and run their graphs.

use std::sync::Mutex;

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_autograd::{Differentiable, grad};
use dispatch_runtime::manual_seed;
use dispatch_runtime::prelude::*;
use dispatch_trace::{Graph, TraceError, trace};
use kernels_cpu as _;

use crate::lock_random_numbers;

/// An operator of a user's crate with a kernel for the CPU only.
#[op_def("shop::discount(Tensor self, *, float part=0.5) -> Tensor")]
fn discount(this: &Tensor, part: f64) -> Result<Tensor>;

#[op_impl(discount, CPU)]
fn discount_cpu(this: &Tensor, part: f64) -> Result<Tensor> {
    // The kernel calls operators, which are part of the recorded call.
    aten::mul(this, &Tensor::number((1.0 - part).into()))
}

/// An operator that reads elements.
#[op_def("shop::sum_to_float(Tensor self) -> float")]
fn sum_to_float(this: &Tensor) -> Result<f64>;

#[op_impl(sum_to_float, CPU)]
fn sum_to_float_cpu(this: &Tensor) -> Result<f64> {
    Ok(this.read::<f64>()?.iter().sum())
}

/// An operator that writes to its argument without saying so in the schema.
#[op_def("shop::undeclared_write(Tensor self) -> Tensor")]
fn undeclared_write(this: &Tensor) -> Result<Tensor>;

#[op_impl(undeclared_write, CPU)]
fn undeclared_write_cpu(this: &Tensor) -> Result<Tensor> {
    let mut handle = this.clone();
    aten::add_(&mut handle, &Tensor::number(1.into()), 1.into())?;
    aten::neg(this)
}

/// An operator during which another thread draws random numbers.
#[op_def("shop::draw_on_other_thread(Tensor self) -> Tensor")]
fn draw_on_other_thread(this: &Tensor) -> Result<Tensor>;

#[op_impl(draw_on_other_thread, CPU)]
fn draw_on_other_thread_cpu(this: &Tensor) -> Result<Tensor> {
    std::thread::spawn(|| aten::rand!(&[8]).unwrap()).join().unwrap();
    aten::neg(this)
}

/// An operator whose result has as many elements as the argument has positive ones.
#[op_def("shop::select_positive(Tensor self) -> Tensor")]
fn select_positive(this: &Tensor) -> Result<Tensor>;

#[op_impl(select_positive, CPU)]
fn select_positive_cpu(this: &Tensor) -> Result<Tensor> {
    let kept: Vec<f64> = this.read::<f64>()?.iter().copied().filter(|&x| x > 0.0).collect();
    Ok(Tensor::from_slice(&kept))
}

/// An operator whose kernel does not return the sizes of its shape word.
#[op_def("shop::half_of_elements(Tensor self) -> Tensor", shape = pointwise)]
fn half_of_elements(this: &Tensor) -> Result<Tensor>;

#[op_impl(half_of_elements, CPU)]
fn half_of_elements_cpu(this: &Tensor) -> Result<Tensor> {
    aten::narrow(this, 0, 0, this.sizes()[0] / 2)
}

/// An operator that keeps a tensor that it made inside of the call.
#[op_def("shop::keep_intermediate(Tensor self) -> Tensor")]
fn keep_intermediate(this: &Tensor) -> Result<Tensor>;

static KEPT_INTERMEDIATE: Mutex<Option<Tensor>> = Mutex::new(None);

#[op_impl(keep_intermediate, CPU)]
fn keep_intermediate_cpu(this: &Tensor) -> Result<Tensor> {
    let made = aten::exp(this)?;
    *KEPT_INTERMEDIATE.lock().unwrap() = Some(made.clone());
    aten::neg(&made)
}

fn element_values(tensor: &Tensor) -> Vec<f64> {
    let row = aten::reshape(&tensor.detach().unwrap(), &[-1]).unwrap();
    row.to_vec::<f64>().unwrap()
}

fn trace_error(error: &Error) -> &TraceError {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap_or_else(|| panic!("{error}"))
}

fn operator_names(graph: &Graph) -> Vec<String> {
    graph.nodes().iter().map(|node| node.operator.name().to_string()).collect()
}

/// Parses the text of a graph, and checks that the result equals the graph.
fn print_and_parse(graph: &Graph) -> Graph {
    let text = graph.to_string();
    let read = Graph::parse(&text, graph.constants()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&read, graph, "{text}");
    assert_eq!(read.to_string(), text);
    read
}

fn three_and_four() -> Tensor {
    Tensor::from([3.0, 4.0])
}

#[test]
fn an_operator_of_another_crate_is_one_node() {
    let graph = trace(|x| Ok([discount(&x[0], 0.5)?, discount(&x[0], 0.25)?]), &[three_and_four()]).unwrap();
    assert_eq!(operator_names(&graph), ["shop::discount", "shop::discount"]);
    let text = graph.to_string();
    assert!(text.contains("shop::discount(&v0);") && text.contains("shop::discount(&v0, part = 0.25);"), "{text}");
    let results = print_and_parse(&graph).run(&[Tensor::from([8.0, 4.0])]).unwrap();
    assert_eq!((element_values(&results[0]), element_values(&results[1])), (vec![4.0, 2.0], vec![6.0, 3.0]));
}

#[test]
fn a_composite_is_one_node() {
    let (x, w) = (Tensor::from([[1.0, 2.0]]), Tensor::from([[3.0, 4.0]]));
    let graph = trace(|x| Ok([aten::linear(&x[0], &w, None)?]), &[x]).unwrap();
    assert_eq!(operator_names(&graph), ["aten::linear"]);
    assert!(graph.constants()[0].same(&w));
}

#[test]
fn reading_elements_is_an_error_even_if_the_function_continues() {
    for read in [|x: &Tensor| x.sum()?.item::<f64>(), sum_to_float] {
        let error = trace(|x| Ok([(&x[0] * &Tensor::number(read(&x[0]).unwrap_or(1.0).into()))?]), &[three_and_four()])
            .unwrap_err();
        assert!(matches!(trace_error(&error), TraceError::DataDependent { .. }), "{error}");
    }
    // A failed trace leaves no state on the thread: operators can read elements again.
    assert_eq!(element_values(&three_and_four().sum().unwrap()), [7.0]);
}

#[test]
fn data_dependent_sizes_are_an_error() {
    let error = trace(|x| Ok([aten::nonzero(&x[0])?]), &[three_and_four()]).unwrap_err();
    assert_eq!(trace_error(&error), &TraceError::DataDependent { operator: "aten::nonzero".to_owned() });
    // The operator has no Meta kernel, so only a run can find that the sizes depend on elements.
    let graph = trace(|x| Ok([select_positive(&x[0])?]), &[three_and_four()]).unwrap();
    let error = graph.run(&[Tensor::from([3.0, -4.0])]).unwrap_err();
    assert!(
        error.to_string().contains("`shop::select_positive` returned f64[1] for v1, which is f64[2] in the graph"),
        "{error}"
    );
}

#[test]
fn a_result_that_differs_from_meta_is_an_error() {
    let error = trace(|x| Ok([half_of_elements(&x[0])?]), &[three_and_four()]).unwrap_err();
    let expected = TraceError::MetaMismatch {
        operator: "shop::half_of_elements".to_owned(),
        result: 0,
        planned: "f64[2]".to_owned(),
        found: "f64[1]".to_owned(),
    };
    assert_eq!(trace_error(&error), &expected);
}

#[test]
fn a_graph_that_was_traced_on_meta_runs_on_the_cpu() {
    let shape = Tensor::empty(2, (DType::F64, Device::META)).unwrap();
    let graph = trace(
        |x| {
            let number = aten::full(&[2], 3.into(), Some(DType::F64), None, Some(Device::META), None)?;
            Ok([(&x[0] * &number)?])
        },
        &[shape],
    )
    .unwrap();
    let moved = print_and_parse(&graph.to(Device::CPU).unwrap());
    assert_eq!(element_values(&moved.run(&[three_and_four()]).unwrap()[0]), [9.0, 12.0]);
    // A factory call that names no device gets the device, too.
    let graph = trace(|_| Ok([Tensor::ones(2, DType::F64)?]), &[]).unwrap();
    let moved = graph.to(Device::META).unwrap();
    assert_eq!(moved.run(&[]).unwrap()[0].device(), Device::META);
    assert_eq!(print_and_parse(&moved), moved);
}

#[test]
fn calls_that_need_only_sizes_are_not_recorded() {
    let ask = Operator::find("aten::is_floating_point").unwrap();
    let graph = trace(
        |x| {
            let Some(Value::Bool(true)) = ask.call([x[0].clone().into()])?.pop() else { panic!("it is floating") };
            Ok([(-&x[0])?])
        },
        &[three_and_four()],
    )
    .unwrap();
    assert_eq!(operator_names(&graph), ["aten::neg"]);
}

#[test]
fn a_write_through_a_view_is_seen_in_its_base_at_replay() {
    let graph = trace(
        |x| {
            let base = (&x[0] * &Tensor::number(2.into()))?;
            let mut first = aten::select_int(&base, 0, 0)?;
            let before = base.exp()?;
            aten::fill__scalar(&mut first, 0.into())?;
            let after = base.exp()?;
            Ok([base, before, after])
        },
        &[three_and_four()],
    )
    .unwrap();
    for graph in [graph.clean(), print_and_parse(&graph).clean(), print_and_parse(&graph.clean()), graph] {
        let results = graph.run(&[Tensor::from([1.0, 5.0])]).unwrap();
        assert_eq!(element_values(&results[0]), [0.0, 10.0]);
        // Two equal calls with a write between them are not merged.
        assert!((element_values(&results[1])[0] - 2.0_f64.exp()).abs() < 1e-12);
        assert_eq!(element_values(&results[2])[..1], [1.0]);
    }
}

#[test]
fn an_input_that_is_written_is_written_at_replay() {
    let graph = trace(
        |x| {
            let state = x[0].clone();
            state.add_(&x[1])?;
            Ok([])
        },
        &[three_and_four(), three_and_four()],
    )
    .unwrap();
    let state = Tensor::from([1.0, 1.0]);
    let results = graph.clean().run(&[state.clone(), Tensor::from([10.0, 20.0])]).unwrap();
    assert!(results.is_empty());
    assert_eq!(element_values(&state), [11.0, 21.0]);
}

#[test]
fn a_rebound_handle_is_a_new_value_with_the_same_memory() {
    let graph = trace(
        |x| {
            let mut turned = x[0].exp()?;
            aten::t_(&mut turned)?;
            turned.neg_()?;
            Ok([turned])
        },
        &[Tensor::from([[1.0, 2.0, 3.0]])],
    )
    .unwrap();
    let result = print_and_parse(&graph).clean().run(&[Tensor::from([[0.0, 0.0, 0.0]])]).unwrap();
    assert_eq!((result[0].sizes(), element_values(&result[0])), (&[3, 1][..], vec![-1.0; 3]));
}

#[test]
fn a_write_that_the_schema_does_not_declare_is_an_effect() {
    let graph = trace(
        |x| {
            let stock = x[0].exp()?;
            let (before, _, after) = ((-&stock)?, undeclared_write(&stock)?, (-&stock)?);
            Ok([(&before - &after)?])
        },
        &[three_and_four()],
    )
    .unwrap();
    assert!(graph.to_string().contains("#[writes(v1)]"), "{graph}");
    let clean = print_and_parse(&graph).clean();
    assert_eq!(operator_names(&clean), operator_names(&graph));
    assert_eq!(
        element_values(&clean.run(&[three_and_four()]).unwrap()[0]).iter().map(|x| x.round()).collect::<Vec<_>>(),
        [1.0, 1.0]
    );
}

#[test]
fn a_write_to_a_captured_tensor_is_an_error() {
    let outside = three_and_four();
    let error = trace(
        |x| {
            outside.clone().add_(&x[0])?;
            Ok([x[0].clone()])
        },
        &[three_and_four()],
    )
    .unwrap_err();
    assert!(
        matches!(trace_error(&error), TraceError::WriteToCaptured { operator, .. } if operator == "aten::add_.Tensor"),
        "{error}"
    );
}

#[test]
fn a_tensor_from_inside_of_a_recorded_call_is_an_error() {
    let error = trace(
        |x| {
            keep_intermediate(&x[0])?;
            let kept = KEPT_INTERMEDIATE.lock().unwrap().take();
            Ok([(-kept.unwrap())?])
        },
        &[three_and_four()],
    )
    .unwrap_err();
    let expected =
        TraceError::TensorFromInnerCall { operator: "aten::neg".to_owned(), made_by: "aten::exp".to_owned() };
    assert_eq!(trace_error(&error), &expected);
}

#[test]
fn random_nodes_are_neither_merged_nor_dropped() {
    let _alone = lock_random_numbers();
    let graph = trace(
        |x| {
            let (a, b) = (aten::dropout(&x[0], 0.5, true)?, aten::dropout(&x[0], 0.5, true)?);
            let _nobody_uses_it = aten::rand_like!(&x[0])?;
            let c = aten::dropout(&x[0], 0.5, true)?;
            Ok([a, b, c])
        },
        &[Tensor::ones(64, DType::F64).unwrap()],
    )
    .unwrap();
    let x = Tensor::ones(64, DType::F64).unwrap();
    let clean = print_and_parse(&graph).clean();
    assert_eq!(clean.nodes().len(), 4);
    manual_seed(7);
    let function = [aten::dropout(&x, 0.5, true).unwrap(), aten::dropout(&x, 0.5, true).unwrap()];
    manual_seed(7);
    let run = clean.run(std::slice::from_ref(&x)).unwrap();
    assert_eq!(element_values(&run[0]), element_values(&function[0]));
    assert_eq!(element_values(&run[1]), element_values(&function[1]));
    assert_ne!(element_values(&run[0]), element_values(&run[2]));
}

#[test]
fn random_numbers_of_other_threads_are_no_effect() {
    let _alone = lock_random_numbers();
    let graph = trace(|x| Ok([draw_on_other_thread(&x[0])?]), &[three_and_four()]).unwrap();
    assert!(!graph.nodes()[0].has_effects(), "{graph}");
}

#[test]
fn dropout_without_randomness_is_no_effect() {
    let graph = trace(|x| Ok([(-aten::dropout(&x[0], 0.5, false)?)?]), &[three_and_four()]).unwrap();
    assert!(!graph.nodes()[0].has_effects(), "{graph}");
}

#[test]
fn clean_merges_equal_nodes_and_removes_unused_ones() {
    let unused = three_and_four();
    let graph = trace(
        |x| {
            let _dead = (x[0].exp()? + &unused)?;
            let (a, b) = ((&x[0] * (&x[0]))?.cos()?, (&x[0] * (&x[0]))?.cos()?);
            Ok([(&a + &b)?])
        },
        &[three_and_four()],
    )
    .unwrap();
    let clean = graph.clean();
    assert_eq!(operator_names(&clean), ["aten::mul.Tensor", "aten::cos", "aten::add.Tensor"]);
    assert!(clean.constants().is_empty());
    assert_eq!(
        element_values(&clean.run(&[three_and_four()]).unwrap()[0]),
        element_values(&graph.run(&[three_and_four()]).unwrap()[0])
    );
}

#[test]
fn equal_factories_are_not_merged_if_their_results_are_written() {
    let graph = trace(
        |x| {
            let (a, b) = (Tensor::zeros(2, DType::F64)?, Tensor::zeros(2, DType::F64)?);
            a.add_(&x[0])?;
            Ok([(&a - &b)?])
        },
        &[three_and_four()],
    )
    .unwrap();
    assert_eq!(element_values(&graph.clean().run(&[three_and_four()]).unwrap()[0]), [3.0, 4.0]);
}

#[test]
fn a_training_step_of_the_digits_network_is_a_graph() {
    let _alone = lock_random_numbers();
    let random = |sizes: &[i64]| Tensor::randn(sizes, DType::F64).unwrap();
    let make = || [random(&[8, 6]), random(&[8]), random(&[3, 8]), random(&[3]), random(&[5, 6])];
    let step = |x: &[Tensor]| {
        let leaves: Vec<Tensor> = x[..4].iter().map(|x| x.detach()?.requires_grad_(true)).collect::<Result<_>>()?;
        let hidden = aten::linear(&x[4], &leaves[0], Some(&leaves[1]))?.relu()?;
        let scores = aten::linear(&hidden, &leaves[2], Some(&leaves[3]))?;
        let loss = aten::cross_entropy_loss!(&scores, &x[5])?;
        let of: Vec<&Tensor> = leaves.iter().collect();
        let gradients = grad(&[&loss], &of)?;
        Ok(std::iter::once(loss.detach()?).chain(gradients.into_iter().flatten()).collect::<Vec<_>>())
    };
    let labels = Tensor::from([0_i64, 2, 1, 1, 0]);
    let inputs = |made: [Tensor; 5]| made.into_iter().chain([labels.clone()]).collect::<Vec<_>>();
    let graph = trace(step, &inputs(make())).unwrap();
    assert!(graph.constants().iter().all(|tensor| tensor.sizes().is_empty()), "{graph}");
    assert!(operator_names(&graph).iter().any(|name| name.contains("backward")), "{graph}");
    let others = inputs(make());
    let expected = step(&others).unwrap();
    for graph in [print_and_parse(&graph), graph.clean(), graph] {
        let found = graph.run(&others).unwrap();
        assert_eq!(found.len(), 5);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(element_values(found), element_values(expected));
        }
    }
}

#[test]
fn a_replay_of_attention_can_be_differentiated() {
    let _alone = lock_random_numbers();
    let attention = |x: &[Tensor]| {
        let heads = aten::transpose_int(&x[0].view([2, 4, 2, 3])?, 1, 2)?;
        let met = aten::scaled_dot_product_attention!(&heads, &heads, &heads, is_causal = true)?;
        Ok([aten::transpose_int(&met, 1, 2)?.reshape([2, 4, 6])?])
    };
    let random = || Tensor::randn([2, 4, 6], DType::F64).unwrap();
    let graph = print_and_parse(&trace(attention, &[random()]).unwrap()).clean();
    let x = random();
    let gradient = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let leaf = x.detach().unwrap().requires_grad_(true).unwrap();
        f(std::slice::from_ref(&leaf)).unwrap()[0].sum().unwrap().backward().unwrap();
        leaf.grad().unwrap()
    };
    let expected = gradient(&|x| Ok(attention(x)?.to_vec()));
    assert_eq!(element_values(&gradient(&|x| graph.run(x))), element_values(&expected));
}

#[test]
fn a_replay_works_under_autocast_and_on_meta() {
    let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    let graph = trace(|x| Ok([aten::mm(&x[0], &x[0])?]), std::slice::from_ref(&x)).unwrap();
    {
        let _on = autocast::enable(Device::CPU, DType::BF16).unwrap();
        assert_eq!(graph.run(std::slice::from_ref(&x)).unwrap()[0].dtype(), DType::BF16);
    }
    let shape = dispatch_runtime::Spec::contiguous(DType::F32, &[2, 2]).on(Device::META).unwrap();
    assert_eq!(graph.run(&[shape]).unwrap()[0].device(), Device::META);
}

#[test]
fn a_replay_can_be_traced() {
    let graph = trace(|x| Ok([(-x[0].exp()?)?]), &[three_and_four()]).unwrap();
    assert_eq!(trace(|x| graph.run(x), &[three_and_four()]).unwrap(), graph);
}

#[test]
fn inputs_of_a_run_must_match_the_trace() {
    let graph = trace(|x| Ok([x[0].exp()?]), &[three_and_four()]).unwrap();
    assert_eq!(trace_error(&graph.run(&[]).unwrap_err()), &TraceError::WrongInputCount { expected: 1, found: 0 });
    let error = graph.run(&[Tensor::from([1.0_f32])]).unwrap_err();
    assert!(error.to_string().contains("input 0 was traced as f64[2], and is f32[1]"), "{error}");
    let x = three_and_four();
    let error = trace(|x| Ok([x[0].clone()]), &[x.clone(), x]).unwrap_err();
    assert_eq!(trace_error(&error), &TraceError::RepeatedInput { first: 0, second: 1 });
}

#[test]
fn nothing_is_recorded_after_a_panic() {
    let panicked =
        std::panic::catch_unwind(|| trace(|_| -> Result<[Tensor; 0]> { panic!("on purpose") }, &[three_and_four()]));
    assert!(panicked.is_err());
    let graph = trace(|x| Ok([(-&x[0])?]), &[three_and_four()]).unwrap();
    assert_eq!(graph.nodes().len(), 1);
}

#[test]
fn several_results_and_lists_are_values() {
    let graph = trace(
        |x| {
            let (values, places) = aten::max_dim(&x[0], 0, false)?;
            let parts = aten::split(&x[0], 1, 0)?;
            Ok([values, places, aten::cat(&[parts[1].clone(), parts[0].clone()], 0)?])
        },
        &[three_and_four()],
    )
    .unwrap();
    let results = print_and_parse(&graph).clean().run(&[Tensor::from([7.0, 2.0])]).unwrap();
    assert_eq!(element_values(&results[2]), [2.0, 7.0]);
    assert_eq!(results[1].item::<i64>().unwrap(), 0);
}
