//! Tests of trees: order and paths of leaves, and structures that differ.

use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::TensorTree;

fn tensor(value: f64) -> Tensor {
    Tensor::from_slice(&[value])
}

fn value(tensor: &Tensor) -> f64 {
    tensor.to_vec::<f64>().unwrap()[0]
}

fn values(tree: &impl TensorTree) -> Vec<f64> {
    tree.tensors().iter().map(value).collect()
}

#[derive(TensorTree)]
struct Block {
    weight: Tensor,
    parts: [Option<Tensor>; 2],
    eps: f64,
}

#[derive(TensorTree)]
struct Pair<T>(T, Vec<T>);

fn block() -> Block {
    Block { weight: tensor(1.0), parts: [None, Some(tensor(2.0))], eps: 1e-5 }
}

#[test]
fn leaves_have_the_order_of_the_fields_and_paths_as_in_rust() {
    let tree = (block(), Pair(block(), vec![]), BTreeMap::from([("b", tensor(3.0)), ("a", tensor(4.0))]));
    assert_eq!(values(&tree), [1.0, 2.0, 1.0, 2.0, 4.0, 3.0]);
    let paths = [".0.weight", ".0.parts[1]", ".1.0.weight", ".1.0.parts[1]", r#".2["a"]"#, r#".2["b"]"#];
    assert_eq!(tree.leaf_paths(), paths);
    assert_eq!(tensor(0.0).leaf_paths(), [""]);
}

#[test]
fn leaves_of_a_hash_map_have_the_order_of_the_keys() {
    let tree: HashMap<u32, Tensor> = (0..100).map(|i| (i, tensor(f64::from(i)))).collect();
    assert_eq!(values(&tree), (0..100).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn mapped_trees_keep_structure_and_numbers() {
    let doubled = Pair(block(), vec![block()])
        .map_tensors(&TreePath::ROOT, &mut |_, leaf| Ok(tensor(2.0 * value(leaf))))
        .unwrap();
    assert_eq!(values(&doubled), [2.0, 4.0, 2.0, 4.0]);
    assert!(doubled.0.parts[0].is_none() && doubled.1[0].eps.to_bits() == 1e-5_f64.to_bits());

    let tree = (tensor(1.0), [vec![tensor(2.0)], vec![]], Some(block()), 7);
    let mapped = tree.map_leaves(&TreePath::ROOT, &mut |path, leaf| Ok(format!("{path}={}", value(leaf)))).unwrap();
    let (first, [second, third], block, number) = mapped;
    assert_eq!((first.as_str(), &second[..], &third[..], number), (".0=1", &[".1[0][0]=2".to_owned()][..], &[][..], 7));
    // The paths in `Leaves` start at the struct.
    assert_eq!(block.unwrap().get("parts[1]").unwrap(), ".2.parts[1]=2");
}

#[test]
fn the_first_error_ends_a_map() {
    let mut calls = 0;
    let failed = vec![tensor(1.0), tensor(2.0), tensor(3.0)].map_tensors(&TreePath::ROOT, &mut |path, leaf| {
        calls += 1;
        if value(leaf) > 1.5 { Err(path.to_string().into()) } else { Ok(leaf.clone()) }
    });
    assert_eq!((failed.unwrap_err().to_string(), calls), ("[1]".into(), 2));
}

#[test]
fn a_mismatch_names_the_first_path_of_one_tree_only() {
    let (full, empty) = (Pair(block(), vec![block()]), Pair(block(), vec![]));
    let surplus = full.check_same_structure("inputs", &empty, "tangents").unwrap_err();
    let missing = empty.check_same_structure("inputs", &full, "tangents").unwrap_err();
    assert_eq!((surplus.path.as_str(), surplus.present_in, surplus.missing_in), (".1[0].weight", "inputs", "tangents"));
    assert_eq!((missing.path.as_str(), missing.present_in, missing.missing_in), (".1[0].weight", "tangents", "inputs"));
    assert!(full.check_same_structure("inputs", &full, "tangents").is_ok());
}

#[test]
fn a_tree_is_rebuilt_from_exactly_its_number_of_tensors() {
    let tree = (tensor(1.0), tensor(2.0));
    let rebuild = |count: usize| tree.rebuild(vec![tensor(5.0); count]);
    assert_eq!(values(&rebuild(2).unwrap()), [5.0, 5.0]);
    let message = |count| rebuild(count).unwrap_err().to_string();
    assert!(message(1).starts_with("`the tree.1` is a tensor, and `the list of tensors` has none"), "{}", message(1));
    assert!(message(3).starts_with("`the list of tensors[2]` is a tensor"), "{}", message(3));
}

#[test]
fn inputs_are_structures_of_references_or_of_trees() {
    let (x, y) = (tensor(1.0), block());
    let pairs = [(&x, 1), (&x, 2)];
    let tree = (&x, [&y, &y], &pairs[..], vec![x.clone()], Some(&x)).into_tensor_tree().unwrap();
    let paths =
        [".0", ".1[0].weight", ".1[0].parts[1]", ".1[1].weight", ".1[1].parts[1]", ".2[0].0", ".2[1].0", ".3[0]", ".4"];
    assert_eq!(tree.leaf_paths(), paths);
    let maps = (BTreeMap::from([(0, &x)]), HashMap::<_, _>::from([(0, &x)]), y).into_tensor_tree().unwrap();
    assert_eq!(maps.leaf_paths(), [".0[0]", ".1[0]", ".2.weight", ".2.parts[1]"]);
}
