//! Tests of vmap over structs, maps and lists, and with gradients of these.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::functional::{grad, jvp, value_and_grad};
use dispatch_runtime::TreeMismatch;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Vmap, vmap};

use crate::{assert_close, varied_tensor};

#[derive(TensorTree)]
struct Model {
    weight: Tensor,
    offsets: Vec<Option<Tensor>>,
}

impl Model {
    fn new() -> Self {
        Self { weight: varied_tensor(&[3]), offsets: vec![None, Some(varied_tensor(&[]))] }
    }

    fn loss(&self, x: &Tensor) -> Result<Tensor> {
        let offset = self.offsets[1].as_ref().ok_or("the second offset is missing")?;
        expr!(x.dot(&self.weight) + offset)?.tanh()
    }
}

#[test]
fn gradients_of_a_struct_for_each_sample_equal_a_loop() {
    let (model, x) = (Model::new(), varied_tensor(&[5, 3]));
    let (losses, each) = vmap(|x| value_and_grad(|model: &Model| model.loss(x), &model), &x).unwrap();
    assert!(each.offsets[0].is_none());
    for i in 0..5 {
        let sample = x.i(i).unwrap();
        let alone = grad(|model: &Model| model.loss(&sample), &model).unwrap();
        assert_close(&losses.i(i).unwrap(), &model.loss(&sample).unwrap());
        assert_close(&each.weight.i(i).unwrap(), &alone.weight);
        assert_close(&each.offsets[1].as_ref().unwrap().i(i).unwrap(), alone.offsets[1].as_ref().unwrap());
    }
}

#[test]
fn an_ensemble_is_a_struct_with_a_batch() {
    let x = varied_tensor(&[3]);
    let models = Model { weight: varied_tensor(&[4, 3]), offsets: vec![None, Some(varied_tensor(&[4]))] };
    let losses = vmap(|model: &Model| model.loss(&x), &models).unwrap();
    let slopes = vmap(|model: &Model| grad(|x| model.loss(x), &x), &models).unwrap();
    for i in 0..4 {
        let offset = models.offsets[1].as_ref().unwrap().i(i).unwrap();
        let model = Model { weight: models.weight.i(i).unwrap(), offsets: vec![None, Some(offset)] };
        assert_close(&losses.i(i).unwrap(), &model.loss(&x).unwrap());
        assert_close(&slopes.i(i).unwrap(), &grad(|x| model.loss(x), &x).unwrap());
    }
}

#[test]
fn the_gradient_through_a_map_of_a_struct_equals_that_of_the_batch() {
    let (model, x) = (Model::new(), varied_tensor(&[5, 3]));
    let through = grad(|model: &Model| vmap(|x| model.loss(x), &x)?.sum(), &model).unwrap();
    let looped = |model: &Model| {
        let losses = (0..5).map(|i| model.loss(&x.i(i)?)).collect::<Result<Vec<_>>>()?;
        aten::stack(&losses, 0)?.sum()
    };
    assert_close(&through.weight, &grad(looped, &model).unwrap().weight);
}

#[test]
fn vmap_of_jvp_of_a_pair_is_a_derivative_for_each_direction() {
    let (x, y, directions) = (varied_tensor(&[]), varied_tensor(&[]), varied_tensor(&[4]));
    let along = |d: &Tensor| Ok(jvp(|(x, y)| expr!(x * y), (&x, &y), (d, &y))?.1);
    let found = vmap(along, &directions).unwrap();
    assert_close(&found, &expr!(directions * y + x * y).unwrap());
}

#[test]
fn maps_and_numbers_are_inputs_and_results() {
    let x = varied_tensor(&[4, 2]);
    let inputs = BTreeMap::from([("left", &x), ("right", &x)]);
    let f = |(map, scale): &(BTreeMap<&str, Tensor>, f64)| {
        Ok(BTreeMap::from([("sum".to_owned(), expr!((map["left"] + map["right"]) * scale)?)]))
    };
    let found = Vmap::new().in_dims([Some(0), Some(0)]).call(f, (inputs, 0.5)).unwrap();
    assert_close(&found["sum"], &x);
}

#[test]
fn chunks_with_other_structures_are_an_error() {
    let calls = std::cell::Cell::new(0);
    let f = |x: &Tensor| {
        calls.set(calls.get() + 1);
        Ok(vec![x.clone(); calls.get()])
    };
    let error = Vmap::new().chunk_size(2).call(f, varied_tensor(&[4, 2])).unwrap_err();
    let mismatch: &TreeMismatch = std::error::Error::source(&error).unwrap().downcast_ref().unwrap();
    assert_eq!(mismatch.path, "[1]");
}
