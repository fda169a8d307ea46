//! Tests of drawings of graphs. `UPDATE=1` rewrites the golden files.

use dispatch_runtime::prelude::*;
use dispatch_trace::{Graph, trace};
use kernels_cpu as _;

use crate::lock_random_numbers;

/// Returns a graph with every kind of box and arrow: an input, a constant, calls, a write through a view, a random call, and results.
fn graph_with_every_box() -> Graph {
    let _alone = lock_random_numbers();
    let weight = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    trace(
        |x| {
            let product = aten::mm(&x[0], &weight)?;
            let mut row = aten::select_int(&product, 0, 0)?;
            aten::mul__scalar(&mut row, 0.5.into())?;
            let kept = aten::dropout(&product, 0.25, true)?;
            Ok([aten::add(&kept, &x[0], 2.into())?, row])
        },
        &[Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]])],
    )
    .unwrap()
}

fn compare_with_golden_file(name: &str, found: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), found, "{name}; UPDATE=1 writes the file again");
}

#[test]
fn dot_text_equals_the_golden_file() {
    compare_with_golden_file("small.dot", &graph_with_every_box().to_dot());
}

#[test]
fn svg_text_equals_the_golden_file() {
    compare_with_golden_file("small.svg", &graph_with_every_box().to_svg());
}

#[test]
fn a_use_of_written_memory_has_an_arrow_from_the_write() {
    let dot = graph_with_every_box().to_dot();
    // The boxes are 0: x, 1: weight, 2: mm, 3: select, 4: mul_, 5: dropout
    assert!(dot.contains("3 -> 4 [label = \"f32[2]\"];"), "{dot}");
    assert!(dot.contains("2 -> 5 [label = \"f32[2, 2]\"];") && dot.contains("4 -> 5 [style = dashed];"), "{dot}");
}

#[test]
fn boxes_do_not_overlap_and_arrows_lead_down() {
    let deep = trace(
        |x| {
            let mut values = x.to_vec();
            for i in 0..40_usize {
                let (a, b) = (&values[i * 7 % values.len()], &values[i * 11 % values.len()]);
                values.push((a + b)?);
            }
            Ok(values.split_off(38))
        },
        &[Tensor::from([1.0_f32]), Tensor::from([2.0_f32])],
    )
    .unwrap();
    for graph in [graph_with_every_box(), deep] {
        let svg = graph.to_svg();
        let number = |text: &str, name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let boxes: Vec<[f64; 4]> = svg
            .lines()
            .filter(|line| line.starts_with("<rect class"))
            .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
            .collect();
        assert_eq!(
            boxes.len(),
            graph.values().len().min(graph.inputs().count() + graph.constants().len())
                + graph.nodes().len()
                + graph.outputs().len()
        );
        for (i, a) in boxes.iter().enumerate() {
            for b in &boxes[..i] {
                let apart = a[0] + a[2] <= b[0] || b[0] + b[2] <= a[0] || a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1];
                assert!(apart, "{a:?} {b:?}");
            }
        }
        for path in svg.lines().filter(|line| line.starts_with("<path") && line.contains("marker-end")) {
            let (_, points) = path.split_once(" d=\"M").unwrap();
            let numbers: Vec<f64> =
                points.trim_end_matches("\"/>").split([' ', 'C']).map(|number| number.parse().unwrap()).collect();
            assert!(numbers[1] < numbers[numbers.len() - 1], "{path}");
        }
    }
}

#[test]
fn special_characters_are_escaped() {
    let graph =
        trace(|x| Ok([aten::div_tensor_mode(&x[0], &x[0], Some("floor"))?]), &[Tensor::from([1.0_f32])]).unwrap();
    assert!(graph.to_dot().contains(r#"rounding_mode = \"floor\""#), "{}", graph.to_dot());
    assert!(graph.to_svg().contains(r#"rounding_mode = "floor""#));
}
