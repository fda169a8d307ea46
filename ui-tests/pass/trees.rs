//! Tests of `#[derive(TensorTree)]` on all kinds of structs, and of `expr!`, without a warning.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use std::collections::HashMap;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, TensorTree as _};

#[derive(TensorTree)]
struct Model<N, const COUNT: usize>
where
    N: Clone,
{
    norm: N,
    r#type: [Option<Tensor>; COUNT],
    by_name: HashMap<String, Vec<(Tensor, Tensor)>>,
    inner: Pair,
    eps: f64,
    none: Nothing,
}

#[derive(TensorTree)]
struct Pair(Tensor, Tensor);

#[derive(TensorTree)]
struct Nothing;

fn tensor() -> Tensor {
    Tensor::from(1.0)
}

#[test]
fn all_kinds_of_fields_are_trees() {
    let model = Model {
        norm: tensor(),
        r#type: [None, Some(tensor())],
        by_name: HashMap::from([("a".to_owned(), vec![(tensor(), tensor())])]),
        inner: Pair(tensor(), tensor()),
        eps: 1e-5,
        none: Nothing,
    };
    let paths = [".norm", ".type[1]", ".by_name[\"a\"][0].0", ".by_name[\"a\"][0].1", ".inner.0", ".inner.1"];
    assert_eq!(model.leaf_paths(), paths);
    let rebuilt = model.rebuild(model.tensors()).unwrap();
    assert!(rebuilt.norm.same(&model.norm) && rebuilt.r#type[0].is_none() && rebuilt.eps > 0.0);
    let (Pair(first, _), Nothing, by_name) = (rebuilt.inner, rebuilt.none, rebuilt.by_name);
    assert!(first.same(&model.inner.0) && by_name.len() == 1);
}

#[test]
fn the_macro_has_no_warning() {
    let (a, b) = (&tensor(), tensor());
    let error = expr!((a * b) + 2.0 * -(a - b) / (1.0 + 2.0)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoRustOperatorImpl { .. }), "{error}");
}
