//! Tests of the text of graphs, and of the errors of the parser.

use std::collections::HashSet;

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;
use dispatch_trace::{Graph, TraceError, trace};
use dispatch_vmap::vmap;
use kernels_cpu as _;
use proptest::prelude::*;

use crate::lock_random_numbers;

fn parse_error_message(text: &str) -> String {
    let error = Graph::parse(text, &[]).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<TraceError>(), "{error}");
    source.to_string()
}

#[test]
fn a_syntax_error_is_shown_at_its_position() {
    assert_eq!(
        parse_error_message("fn graph(x: f32[2]) {\n    let y: f32[2] = aten::add(&x, &z);\n    [y]\n}\n"),
        "no value is called `z` here\n  |\n2 |     let y: f32[2] = aten::add(&x, &z);\n  |                                    ^"
    );
    assert_eq!(
        parse_error_message("fn graph(x: f32[2]) {\n    let y: f32[2] = aten::relu(&x)\n    [y]\n}\n"),
        "expected `;`, found `[`\n  |\n3 |     [y]\n  |     ^"
    );
}

#[test]
fn each_mistake_has_its_message() {
    let cases = [
        ("fn graph(x: f23[2]) { [x] }", "f23"),
        ("fn graph(x: f32[2], x: f32[2]) { [x] }", "`x` is defined twice"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&y); [y] }", "no value is called `y` here"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::reluu(&x); [y] }", "no operator is called `aten::reluu`"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&x, 2); [y] }", "no positional argument is allowed here"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&x, self = &x); [y] }", "`self` is given twice"),
        (
            "fn graph(x: f32[2]) { let y: f32[2] = aten::add(&x, &x, beta = 2); [y] }",
            "the operator has no argument `beta`",
        ),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::add(&x); [y] }", "its argument `other` is missing"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&mut x); [y] }", "leave `mut` out"),
        ("fn graph(x: f32[2]) { aten::relu_(&x); [x] }", "use `&mut`"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(\"x\"); [y] }", "`self` is a Tensor, not as_string"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(None); [y] }", "cannot be none"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(x); [y] }", "write a value as `&x`"),
        (
            "fn graph(x: f32[2]) { let (y: f32[2], z: f32[2]) = aten::relu(&x); [y] }",
            "the operator returns 1 results, not 2",
        ),
        (
            "fn graph(x: f32[2]) { let y: f64[2] = aten::relu(&x); [y] }",
            "returned f32[2] for v1, which is f64[2] in the graph",
        ),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&x); [y] } x", "expected the end"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&x); [y", "expected `]`, found the end"),
        ("fn graph(x: f32[2]) { const c: f32[2]; [c] }", "1 constants"),
        ("fn graph(x: f32[-2]) { [x] }", "not sizes and strides"),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::mul(&x, 2.0.0); [y] }", "`2.0.0` is not a number"),
        ("fn graph(x: f32[2]) { § }", "`§` is not a valid character here"),
        ("fn graph(x: f32[2]) { let x = aten::neg(&x); [x] }", "it returns v0, which is already defined"),
        (
            "fn graph(x: f32[2]) { let y: f32[2] = aten::neg(&x); let y = aten::exp_(&mut x); [y] }",
            "it returns v1, which is already defined, and does not write to it",
        ),
        (
            "fn graph(x: f32[2]) { let y: f32[2] = aten::relu(&x); let y: f32[2] = aten::relu(&x); [y] }",
            "defined twice",
        ),
        ("fn graph(x: f32[2]) { let y: f32[2] = aten::div(&x, &x, rounding_mode = \"fl", "has no closing quote"),
    ];
    for (text, expected) in cases {
        let found = parse_error_message(text);
        assert!(found.contains(expected), "{text}\n{found}");
    }
}

#[test]
fn undeclared_shared_memory_is_an_error() {
    // Two equal calls with a write between them to memory that they read. The text does not say that `y` shares the memory of `x`.
    let text = |kind: &str| {
        format!(
            "fn graph(x: f32[2]) {{
                let y: {kind} = aten::select_int(&x, 0, 0); let a: f32[] = aten::exp(&y);
                aten::neg_(&mut x); let b: f32[] = aten::exp(&y); [a, b]
            }}"
        )
    };
    let problem = parse_error_message(&text("f32[]"));
    assert!(
        problem.ends_with("v1 shares the memory of v0, but the graph does not say so: write `v1: &'v0 ..`"),
        "{problem}"
    );
    assert_eq!(Graph::parse(&text("&'x f32[]"), &[]).unwrap().clean().nodes().len(), 4);
}

#[test]
fn a_constant_must_match_the_text() {
    let text = "fn graph(x: f32[2]) { const c: f32[2]; [c] }";
    assert!(Graph::parse(text, &[Tensor::from([1.0_f32, 2.0])]).is_ok());
    let error = Graph::parse(text, &[Tensor::from([1.0, 2.0, 3.0])]).unwrap_err();
    assert!(
        error.to_string().ends_with("constant 0 is f32[2] in the text, and the tensor for it is f64[3]"),
        "{error}"
    );
}

#[test]
fn every_kind_of_argument_can_be_parsed() {
    let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    let graph = trace(
        |x| {
            let x = &x[0];
            let index = Tensor::from([1_i64, 0]);
            let y = aten::div_tensor_mode(x, x, Some("floor"))?;
            let y = aten::to_dtype(&y, DType::F64, false, false, None)?;
            let y = aten::index(&y, &[None, Some(index)])?;
            let y = aten::sum_dim_intlist(&y, Some(&[-1]), true, None)?;
            let y = aten::clamp(&y, Some((-1.5).into()), None)?;
            let y = aten::clone(&y, Some(MemoryFormat::Contiguous))?;
            let z = aten::full(&[2, 1], true.into(), Some(DType::Bool), None, Some(Device::CPU), None)?;
            Ok([aten::where_self(&z, &y, &aten::mul(&y, &Tensor::number(f64::NEG_INFINITY.into()))?)?])
        },
        &[x],
    )
    .unwrap();
    let text = graph.to_string();
    for part in [
        "\"floor\"",
        "DType::F64",
        "[None, Some(v1)]",
        "[-1]",
        "-1.5",
        "MemoryFormat::Contiguous",
        "Device(\"cpu\")",
        "-inf",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let read = Graph::parse(&text, graph.constants()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, graph);
}

/// A graph with every kind of syntax, in which tests make mistakes.
const VALID_GRAPH: &str = "\
fn graph(v0: f32[2, 2]) {
    const v1: f32[2, 2];
    let v2: f32[2, 2] = aten::mm(&v0, &v1);
    let v3: &'v2 f32[2] = aten::select_int(&v2, 0, 0);
    aten::mul_(&mut v3, 0.5);
    #[random]
    let v4: f32[2, 2] = aten::rand_like(&v2);
    let [v5: &'v4 f32[1, 2], v6: &'v4 f32[1, 2]] = aten::split(&v4, 1);
    #[no_grad]
    let v7: f32[2, 2] = aten::cat(&[v5, v6]);
    let v8: f32[2, 2] = aten::div_tensor_mode(&v7, &v0, rounding_mode = \"floor\");
    let v9: f64[2, 2] = aten::_to_copy(&v8, dtype = DType::F64);
    let v10: f64[2, 2] = aten::clamp(&v9, -1.5, inf);
    let (v11: f64[2], v12: i64[2]) = aten::max_dim(&v10, 0);
    let v13: c64[2, 1] = aten::full([2, 1], Complex(0.5, -1.0), dtype = DType::C64, device = Device(\"cpu\"));
    [v11, v12, v13, v0]
}
";

const UNUSUAL_TOKENS: [&str; 24] = [
    "-9223372036854775808",
    "9223372036854775807, ",
    "99999999999999999999",
    "None",
    "&v0",
    "&mut ",
    "[",
    "]",
    "-1",
    "NaN",
    "\"x",
    "DType::F8",
    "Complex(1.0, 2.0)",
    "Device(\"cuda:7\")",
    "#[random]",
    "#[writes(v0)]",
    "#[no_grad]",
    "aten::relu_",
    "aten::as_strided",
    "[[1]]",
    "Some(v0)",
    "'",
    "let é",
    "1e999",
];

#[test]
fn the_unmodified_graph_is_valid() {
    let graph = Graph::parse(VALID_GRAPH, &[Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]])]).unwrap();
    assert_eq!(graph.to_string(), VALID_GRAPH);
}

/// One step of a generated function, on the values so far.
#[derive(Clone, Debug)]
enum RandomStep {
    Unary(usize, usize),
    Binary(usize, usize, usize, f64),
    Power(usize, f64),
    Transpose(usize),
    Write(usize, usize),
    Cat(Vec<usize>),
    Fill(i64),
}

fn random_step() -> impl Strategy<Value = RandomStep> {
    let at = 0..64_usize;
    prop_oneof![
        (0..4_usize, at.clone()).prop_map(|(which, x)| RandomStep::Unary(which, x)),
        (0..3_usize, at.clone(), at.clone(), any::<f64>().prop_filter("finite", |x| x.is_finite()))
            .prop_map(|(which, x, y, alpha)| RandomStep::Binary(which, x, y, alpha)),
        (at.clone(), -2.0..2.0_f64).prop_map(|(x, power)| RandomStep::Power(x, power)),
        at.clone().prop_map(RandomStep::Transpose),
        (at.clone(), at.clone()).prop_map(|(x, y)| RandomStep::Write(x, y)),
        proptest::collection::vec(at, 1..4).prop_map(RandomStep::Cat),
        any::<i64>().prop_map(RandomStep::Fill),
    ]
}

fn run_random_steps(steps: &[RandomStep], inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut values: Vec<Tensor> = vec![inputs[0].clone(), inputs[1].clone()];
    for step in steps {
        let value = |at: &usize| values[at % values.len()].clone();
        let made = match step {
            RandomStep::Unary(which, x) => [aten::sin, aten::cos, aten::neg, aten::tanh][*which](&value(x))?,
            RandomStep::Binary(0, x, y, alpha) => aten::add(&value(x), &value(y), (*alpha).into())?,
            RandomStep::Binary(1, x, y, _) => aten::mul(&value(x), &value(y))?,
            RandomStep::Binary(_, x, _, number) => aten::mul(&value(x), &Tensor::number((*number).into()))?,
            RandomStep::Power(x, power) => aten::pow_tensor_scalar(&value(x), (*power).into())?,
            RandomStep::Transpose(x) => aten::t(&value(x))?,
            RandomStep::Write(x, y) => {
                let (mut written, read) = (aten::select_int(&value(x), 0, 0)?, aten::select_int(&value(y), 1, 1)?);
                aten::copy_(&mut written, &aten::sin(&read)?, false)?;
                continue;
            }
            RandomStep::Cat(of) => {
                let of: Vec<Tensor> = of.iter().map(value).collect();
                aten::narrow(&aten::cat(&of, 0)?, 0, 0, 2)?
            }
            RandomStep::Fill(number) => aten::full(&[2, 2], (*number).into(), Some(DType::F64), None, None, None)?,
        };
        values.push(made);
    }
    values.drain(..values.len() / 2);
    Ok(values)
}

fn element_bits(tensors: &[Tensor]) -> Vec<Vec<u64>> {
    let one = |tensor: &Tensor| aten::contiguous(tensor, MemoryFormat::Contiguous).unwrap();
    // NaNs with different bits are equal.
    let bits = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    tensors.iter().map(|tensor| one(tensor).read::<f64>().unwrap().iter().map(bits).collect()).collect()
}

/// The bits of two gradients, each of which may be missing, or an error.
type GradientBits = std::result::Result<Vec<Option<Vec<Vec<u64>>>>, String>;

fn two_matrices(start: f64) -> [Tensor; 2] {
    [Tensor::from([[start, 0.5], [1.5, -2.0]]), Tensor::from([[0.25, start], [-0.125, 3.0]])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_graph_its_text_and_its_clean_form_equal_the_function(
        steps in proptest::collection::vec(random_step(), 1..24),
        start in -3.0..3.0_f64,
    ) {
        let graph = trace(|x| run_random_steps(&steps, x), &two_matrices(1.0)).unwrap();
        let text = graph.to_string();
        let read = Graph::parse(&text, graph.constants()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(&read, &graph);
        prop_assert_eq!(&read.to_string(), &text);
        let clean = graph.clean();
        prop_assert!(clean.nodes().len() <= graph.nodes().len());
        prop_assert_eq!(&clean.clean(), &clean);
        let inputs = two_matrices(start);
        let expected = element_bits(&run_random_steps(&steps, &inputs).unwrap());
        let written = element_bits(&inputs);
        for graph in [&graph, &clean] {
            let inputs = two_matrices(start);
            prop_assert_eq!(&element_bits(&graph.run(&inputs).unwrap()), &expected, "{}", graph);
            prop_assert_eq!(&element_bits(&inputs), &written, "{}", graph);
        }
        let batch = || two_matrices(start).map(|x| aten::stack(&[x.clone(), aten::neg(&x).unwrap()], 0).unwrap());
        let mapped = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
            let inputs = batch();
            let made = vmap(|x: &Vec<Tensor>| f(x), &inputs[..]).map_err(|error| error.to_string());
            (made.map(|made| element_bits(&made)), element_bits(&inputs))
        };
        let expected = mapped(&|x| run_random_steps(&steps, x));
        let slopes = |f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| -> GradientBits {
            let leaves = two_matrices(start).map(|x| x.requires_grad_(true).unwrap());
            let copies = leaves.each_ref().map(|x| aten::clone(x, None).unwrap());
            let made = f(&copies).and_then(|made| {
                let of: Vec<&Tensor> = made.iter().filter(|x| x.requires_grad()).collect();
                let seeds = of.iter().map(|x| x.detach()).collect::<Result<Vec<_>>>()?;
                if of.is_empty() {
                    return Ok(Vec::new());
                }
                let seeds: Vec<&Tensor> = seeds.iter().collect();
                Differentiation::of_outputs(&of).with_seeds(&seeds).allow_unused().grad(&[&leaves[0], &leaves[1]])
            });
            made.map(|made| made.iter().map(|x| x.as_ref().map(|x| element_bits(std::slice::from_ref(x)))).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        let expected_slopes = slopes(&|x| run_random_steps(&steps, x));
        for graph in [&graph, &clean] {
            prop_assert_eq!(&mapped(&|x| graph.run(x)), &expected, "{}", graph);
        }
        prop_assert_eq!(&slopes(&|x| graph.run(x)), &expected_slopes, "{}", graph);
        // Merging equal calls changes the order in which their gradients are added, so huge gradients may differ. Another call may also be
        // the first that fails because a saved tensor was overwritten.
        let which = |slopes: &GradientBits| slopes.as_ref().ok().map(|all| all.iter().map(Option::is_some).collect::<Vec<_>>());
        let of_clean = slopes(&|x| clean.run(x));
        prop_assert_eq!(which(&of_clean), which(&expected_slopes), "{}", clean);
        let calls: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(" = ")?.1)).collect();
        if calls.iter().collect::<HashSet<_>>().len() == calls.len() {
            prop_assert_eq!(&of_clean, &expected_slopes, "{}", clean);
        }
        let read = Graph::parse(&clean.to_string(), clean.constants()).unwrap();
        prop_assert_eq!(&slopes(&|x| read.run(x)), &of_clean, "{}", clean);
    }

    #[test]
    fn a_modified_graph_does_not_panic(breaks in proptest::collection::vec((0..4_usize, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let mut pieces: Vec<&str> = VALID_GRAPH.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for (kind, at, other) in breaks {
            let (at, to) = (at.index(pieces.len()), other.index(pieces.len()));
            match kind {
                0 => _ = pieces.remove(at),
                1 => pieces[at] = pieces[to],
                2 => pieces.insert(at, *other.get(&UNUSUAL_TOKENS[..])),
                _ => pieces.swap(at, to),
            }
        }
        let constants = [Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]])];
        if let Ok(graph) = Graph::parse(&pieces.concat(), &constants) {
            prop_assert_eq!(&Graph::parse(&graph.to_string(), &constants).unwrap(), &graph, "{}", graph);
            let clean = graph.clean();
            if graph.values().iter().all(|value| value.geometry.sizes().iter().product::<i64>() < 1000) {
                let _alone = lock_random_numbers();
                let _ = (graph.run(&constants), clean.fuse().run(&constants));
            }
        }
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "(fn graph|[a-z_:&'(){}\\[\\],;=0-9.\"# \\-])*") {
        let _ = Graph::parse(&text, &[]);
        let _ = Graph::parse(&format!("fn graph(x: f32[2]) {{ let y: f32[2] = {text}; [y] }}"), &[]);
    }
}
