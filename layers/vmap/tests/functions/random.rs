//! Tests of random operators in mapped functions: errors, same numbers, different numbers.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Generator, Scalar};
use dispatch_vmap::{Randomness, Vmap, VmapError, vmap};

use crate::{elements_as_f64, slice_elements, vmap_error};

type RandomFunction = fn(&Tensor) -> Result<Tensor>;

/// Random operators, each drawing for one slice of 8 elements.
const RANDOM_OPERATORS: [(&str, RandomFunction); 18] = [
    ("rand", |_| Tensor::rand(8, DType::F64)),
    ("randn", |_| Tensor::randn(8, DType::F64)),
    ("randint", |_| Tensor::randint(0..1_000_000, 8, DType::I64)),
    ("randperm", |_| Tensor::randperm(50, DType::I64)),
    ("rand_like", |x| x.rand_like()),
    ("randn_like", |x| x.randn_like()),
    ("randint_like", |x| aten::randint_like(x, 1_000_000, None, None, None, None, None)),
    ("bernoulli", |x| aten::bernoulli(&x.repeat(4)?, None)),
    ("bernoulli.p", |x| aten::bernoulli_p(&x.repeat(4)?, 0.5, None)),
    ("uniform", |x| aten::uniform(x, 0.0, 1.0, None)),
    ("exponential", |x| aten::exponential(x, 1.0, None)),
    ("geometric", |x| aten::geometric(&x.repeat(4)?, 0.1, None)),
    ("cauchy", |x| aten::cauchy(x, 0.0, 1.0, None)),
    ("normal", |x| aten::normal_tensor_float(x, 1.0, None)),
    ("poisson", |x| aten::poisson(&(x.repeat(4)? * 100.0)?, None)),
    ("multinomial", |x| aten::multinomial(x, 50, true, None)),
    ("dropout", |x| aten::dropout(&x.repeat(4)?, 0.5, true)),
    ("rrelu", |x| aten::rrelu(&(-x)?, Scalar::from(0.1), Scalar::from(0.9), true, None)),
];

fn tensor_of_halves() -> Tensor {
    Tensor::full([3, 8], 0.5, DType::F64).unwrap()
}

fn draw_in_vmap(randomness: Randomness, draw: RandomFunction) -> Tensor {
    Vmap::new().randomness(randomness).call(draw, tensor_of_halves()).unwrap()
}

#[test]
fn every_random_operator_is_an_error_without_randomness() {
    for (name, draw) in RANDOM_OPERATORS {
        let error = vmap(draw, tensor_of_halves()).expect_err(name);
        assert!(matches!(vmap_error(&error), VmapError::RandomnessNotChosen { .. }), "{name}: {error}");
        assert!(error.to_string().contains("randomness"), "{error}");
    }
}

#[test]
fn randomness_same_gives_all_slices_the_same_numbers() {
    for (name, draw) in RANDOM_OPERATORS {
        let found = draw_in_vmap(Randomness::Same, draw);
        assert_eq!(slice_elements(&found, 1), slice_elements(&found, 0), "{name}");
        assert_eq!(slice_elements(&found, 2), slice_elements(&found, 0), "{name}");
    }
}

#[test]
fn randomness_different_gives_each_slice_its_own_numbers() {
    for (name, draw) in RANDOM_OPERATORS {
        let found = draw_in_vmap(Randomness::Different, draw);
        assert_ne!(slice_elements(&found, 1), slice_elements(&found, 0), "{name}");
        assert_ne!(slice_elements(&found, 2), slice_elements(&found, 1), "{name}");
    }
}

#[test]
fn a_second_draw_differs_from_the_first() {
    for randomness in [Randomness::Same, Randomness::Different] {
        let f = |_: &Tensor| Ok((Tensor::rand(8, DType::F64)?, Tensor::rand(8, DType::F64)?));
        let (first, second) = Vmap::new().randomness(randomness).call(f, tensor_of_halves()).unwrap();
        assert_ne!(elements_as_f64(&first), elements_as_f64(&second), "{randomness:?}");
    }
}

#[test]
fn dropout_drops_and_scales_each_slice() {
    let found = draw_in_vmap(Randomness::Different, |x| aten::dropout(&x.repeat(4)?, 0.5, true));
    assert!(elements_as_f64(&found).iter().all(|&x| x == 0.0 || x.to_bits() == 1_f64.to_bits()));
}

#[test]
fn dropout_without_training_is_not_random() {
    let found = vmap(|x| aten::dropout(x, 0.5, false), tensor_of_halves()).unwrap();
    assert_eq!(elements_as_f64(&found), elements_as_f64(&tensor_of_halves()));
}

#[test]
fn an_in_place_draw_fills_each_slice_with_different_numbers() {
    let x = tensor_of_halves();
    let fill = |x: &Tensor| {
        aten::uniform_(&mut x.clone(), 0.0, 1.0, None)?;
        Ok(x.clone())
    };
    Vmap::new().randomness(Randomness::Different).call(fill, &x).unwrap();
    assert_ne!(slice_elements(&x, 1), slice_elements(&x, 0));
    Vmap::new().randomness(Randomness::Same).call(fill, &x).unwrap();
    assert_eq!(slice_elements(&x, 1), slice_elements(&x, 0));
}

#[test]
fn an_unmapped_tensor_cannot_be_filled_with_different_numbers() {
    let shared = Tensor::zeros(8, DType::F64).unwrap();
    let fill = |_: &Tensor| {
        aten::uniform_(&mut shared.clone(), 0.0, 1.0, None)?;
        Ok(shared.clone())
    };
    let error = Vmap::new().randomness(Randomness::Different).call(fill, tensor_of_halves()).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::WriteToUnbatched { .. }), "{error}");
    assert_eq!(elements_as_f64(&shared), [0.0; 8]);
}

#[test]
fn an_unmapped_tensor_can_be_filled_with_the_same_numbers() {
    let shared = Tensor::zeros(8, DType::F64).unwrap();
    let fill = |_: &Tensor| {
        aten::uniform_(&mut shared.clone(), 0.0, 1.0, None)?;
        Ok(shared.clone())
    };
    let found = Vmap::new().randomness(Randomness::Same).call(fill, tensor_of_halves()).unwrap();
    assert_eq!(
        (found.sizes(), slice_elements(&found, 0), slice_elements(&found, 2)),
        (&[3_i64, 8][..], elements_as_f64(&shared), elements_as_f64(&shared))
    );
    assert_ne!(elements_as_f64(&shared), [0.0; 8]);
}

#[test]
fn a_seed_repeats_the_numbers() {
    for randomness in [Randomness::Same, Randomness::Different] {
        let draw = || {
            let generator = Generator::new(Device::CPU, 7);
            let f = |x: &Tensor| aten::uniform(x, 0.0, 1.0, Some(&generator));
            elements_as_f64(&Vmap::new().randomness(randomness).call(f, tensor_of_halves()).unwrap())
        };
        assert_eq!(draw(), draw(), "{randomness:?}");
    }
}

#[test]
fn the_outer_level_decides_the_randomness_of_an_inner_one() {
    let table = Tensor::zeros([2, 3, 4], DType::F64).unwrap();
    let nested = |outer, inner| {
        let inner = Vmap::new().randomness(inner);
        let f = |x: &Tensor| inner.call(|x| x + &x.rand_like()?, x);
        Vmap::new().randomness(outer).call(f, &table).unwrap()
    };
    let at = |found: &Tensor, i, j| elements_as_f64(&found.select(0, i).unwrap().select(0, j).unwrap());
    let found = nested(Randomness::Same, Randomness::Different);
    assert_eq!(at(&found, 0, 1), at(&found, 1, 1));
    assert_ne!(at(&found, 0, 0), at(&found, 0, 1));
    let found = nested(Randomness::Different, Randomness::Same);
    assert_eq!(at(&found, 0, 0), at(&found, 0, 1));
    assert_ne!(at(&found, 0, 0), at(&found, 1, 0));
}

#[test]
fn rrelu_draws_different_slopes_for_each_slice() {
    let (x, shared) = (tensor_of_halves(), (tensor_of_halves() - 1.0).unwrap());
    let slopes =
        |x: &Tensor| aten::rrelu(&shared, Scalar::from(0.1), Scalar::from(0.9), true, None)? + (x * 0.0)?.sum()?;
    let drawn = Vmap::new().randomness(Randomness::Different).call(slopes, &x).unwrap();
    assert_ne!(slice_elements(&drawn, 0), slice_elements(&drawn, 1));
    let error = vmap(slopes, &x).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::RandomnessNotChosen { .. }), "{error}");
}

#[test]
fn rrelu_with_noise_writes_the_noise_of_each_slice() {
    let (x, noise) = ((tensor_of_halves() - 1.0).unwrap(), tensor_of_halves());
    let draw = |(x, noise): &(Tensor, Tensor)| {
        aten::rrelu_with_noise(x, &mut noise.clone(), Scalar::from(0.1), Scalar::from(0.9), true, None)
    };
    let drawn = Vmap::new().randomness(Randomness::Different).call(draw, (&x, &noise)).unwrap();
    assert_eq!(elements_as_f64(&drawn), elements_as_f64(&(x * noise).unwrap()));
}
