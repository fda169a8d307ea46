//! Tests of the loops for other crates: all layouts and dtypes, in-place writes, and refused calls.

use dispatch_runtime::{DType, Geometry, ReductionDims, Spec, Tensor, bf16, f16};
use proptest::prelude::*;

use super::*;

/// Returns a view with these sizes, whose dimensions are in another order in memory, with a step between elements.
fn strided(sizes: &[i64], rotation: usize, step: i64, first: f64) -> Tensor {
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    if !order.is_empty() {
        let by = rotation % order.len();
        order.rotate_left(by);
    }
    let (mut strides, mut stride) = (vec![0; sizes.len()], step);
    for dim in order {
        strides[dim] = stride;
        stride *= sizes[dim];
    }
    let elements: Vec<f64> = (0..stride.max(1)).map(|i| first + f64::from(i32::try_from(i % 97).unwrap())).collect();
    Tensor::from(elements).restride(Geometry::strided(sizes, &strides, 0).unwrap()).unwrap()
}

/// Returns every position of a tensor of these sizes, in row-major order.
fn positions(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |found, &size| {
        found.iter().flat_map(|at: &Vec<i64>| (0..size).map(move |i| [&at[..], &[i]].concat())).collect()
    })
}

fn to_dtype(tensor: &Tensor, dtype: DType) -> Tensor {
    aten::to_dtype(tensor, dtype, false, true, None).unwrap()
}

proptest! {
    #[test]
    fn map_computes_any_layout_and_dtype(
        sizes in prop::collection::vec(1_i64..6, 0..4), rotations in any::<[u8; 2]>(), step in 1_i64..3,
        ones in any::<u8>(), dtype in prop::sample::select(vec![DType::F64, DType::F32, DType::F16, DType::I32, DType::U8]),
    ) {
        let a = strided(&sizes, rotations[0].into(), step, 1.0);
        // Some dimensions of the second input are broadcast.
        let broadcast: Vec<i64> =
            sizes.iter().enumerate().map(|(dim, &size)| if ones >> dim & 1 == 1 { 1 } else { size }).collect();
        let b = to_dtype(&strided(&broadcast, rotations[1].into(), 1, 2.0), dtype);
        let result = map([&a, &b], |[a, b]: [f64; 2]| a * 100.0 + b).unwrap();
        prop_assert_eq!(result.dtype(), DType::F64);
        let expected = Spec::pointwise(&[&a, &b], DType::F64).unwrap();
        prop_assert_eq!(result.strides(), expected.geometry.strides());
        let b = to_dtype(&b, DType::F64);
        let (a, b, result) = (a.elements::<f64>().unwrap(), b.elements::<f64>().unwrap(), result.elements::<f64>().unwrap());
        for at in positions(&sizes) {
            let at_b: Vec<i64> = at.iter().zip(&broadcast).map(|(&at, &size)| at.min(size - 1)).collect();
            prop_assert_eq!(result.get(&at), Some(a.get(&at).unwrap() * 100.0 + b.get(&at_b).unwrap()));
        }
    }

    #[test]
    fn map_into_writes_any_layout_and_dtype(
        sizes in prop::collection::vec(0_i64..6, 0..4), rotations in any::<[u8; 2]>(), steps in [1_i64..3, 1..3],
        dtype in prop::sample::select(vec![DType::F64, DType::F32, DType::I64]),
    ) {
        let a = strided(&sizes, rotations[0].into(), steps[0], 1.0);
        let mut out = to_dtype(&strided(&sizes, rotations[1].into(), steps[1], 0.0), dtype);
        map_into(&mut out, [&a], |[x]: [f32; 1]| x + 1.0).unwrap();
        let (a, out) = (a.to_vec::<f64>().unwrap(), to_dtype(&out, DType::F64).to_vec::<f64>().unwrap());
        prop_assert!(a.iter().zip(&out).all(|(a, out)| a + 1.0 == *out), "{:?} {:?}", a, out);
    }

    #[test]
    fn rows_of_any_layout_are_the_rows(
        sizes in prop::collection::vec(1_i64..6, 1..4), rotation in any::<u8>(), step in 1_i64..3, dim in any::<prop::sample::Index>(),
    ) {
        let x = strided(&sizes, rotation.into(), step, 1.0);
        let dim = dim.index(sizes.len());
        let along = i64::try_from(dim).unwrap();
        let reversed = map_rows([&x], &[along], |[row]: [&[f64]; 1], out| {
            out.iter_mut().zip(row.iter().rev()).for_each(|(out, &x)| *out = x);
        }).unwrap();
        let (x, reversed) = (x.elements::<f64>().unwrap(), reversed.elements::<f64>().unwrap());
        for at in positions(&sizes) {
            let mut opposite = at.clone();
            opposite[dim] = sizes[dim] - 1 - at[dim];
            prop_assert_eq!(reversed.get(&at), x.get(&opposite));
        }
    }

    #[test]
    fn reductions_of_any_layout_add_each_element_once(
        sizes in prop::collection::vec(0_i64..7, 0..4), rotation in any::<u8>(), step in 1_i64..3, marks in any::<u8>(), keepdim in any::<bool>(),
    ) {
        let x = strided(&sizes, rotation.into(), step, 1.0);
        let dims: Vec<i64> = (0..i64::try_from(sizes.len()).unwrap()).filter(|dim| marks >> dim & 1 == 1).collect();
        let sums = reduce(&x, &dims, keepdim, 0.0, |sum: f64, x: f64| sum + x, |a, b| a + b).unwrap();
        let expected = aten::sum_dim_intlist(&x, Some(&dims), keepdim, None).unwrap();
        prop_assert_eq!(sums.sizes(), expected.sizes());
        prop_assert_eq!(sums.to_vec::<f64>().unwrap(), expected.to_vec::<f64>().unwrap());
    }
}

#[test]
fn large_tensors_are_divided_among_threads() {
    let count = 300_000_i32;
    let x = Tensor::from((0..count).collect::<Vec<_>>());
    let next = map([&x, &x], |[a, b]: [i32; 2]| a.wrapping_mul(b)).unwrap().to_vec::<i32>().unwrap();
    assert!((0..count).zip(&next).all(|(x, next)| x.wrapping_mul(x) == *next));
    let sum = reduce(&x, &[], false, 0, |sum: i64, x: i64| sum + x, |a, b| a + b).unwrap();
    assert_eq!(sum.to_vec::<i64>().unwrap(), [i64::from(count) * i64::from(count - 1) / 2]);
    let rows = x.restride(Geometry::contiguous(&[3000, 100])).unwrap();
    let doubled = map_rows([&rows], &[1], |[row]: [&[i32]; 1], out| {
        out.iter_mut().zip(row).for_each(|(out, &x)| *out = x.wrapping_mul(2));
    });
    assert!((0..count).zip(doubled.unwrap().to_vec::<i32>().unwrap()).all(|(x, doubled)| 2 * x == doubled));
}

#[test]
fn sixteen_bit_floats_are_computed_in_f32_and_rounded_once() {
    let x = Tensor::from([bf16::from_f32(1.007_812_5); 3]);
    let tripled = map([&x], |[x]: [f32; 1]| x + x + x).unwrap();
    assert_eq!(tripled.to_vec::<bf16>().unwrap(), [bf16::from_f32(1.007_812_5 * 3.0); 3]);
    let rows = map_rows([&x], &[], |[row]: [&[f32]; 1], out| out.copy_from_slice(row)).unwrap();
    assert_eq!(rows.to_vec::<bf16>().unwrap(), x.to_vec::<bf16>().unwrap());
    // A number does not change the dtype, and a wider tensor does.
    let (half, number) = (Tensor::from([f16::ONE]), Tensor::number(2.0.into()));
    let add = |other: &Tensor| map([&half, other], |[a, b]: [f32; 2]| a + b).unwrap();
    assert_eq!((add(&number).dtype(), add(&number).to_vec::<f16>().unwrap()), (DType::F16, vec![f16::from_f32(3.0)]));
    assert_eq!(add(&Tensor::from([1.0_f32])).dtype(), DType::F32);
}

#[test]
fn a_result_may_be_an_input_and_no_other_overlap() {
    let mut x = Tensor::from([1.0, 2.0, 3.0]);
    let (again, shifted) = (x.clone(), x.restride(Geometry::strided(&[2], &[1], 1).unwrap()).unwrap());
    map_into(&mut x, [&again, &again], |[a, b]: [f64; 2]| a * b).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 4.0, 9.0]);
    let mut first = x.restride(Geometry::contiguous(&[2])).unwrap();
    let error = map_into(&mut first, [&shifted], |[x]: [f64; 1]| x).unwrap_err().to_string();
    assert!(error.contains("operand 0") && error.contains("out"), "{error}");
    let error = map_rows_into(&mut x, [&again], &[], |[row]: [&[f64]; 1], out| out.copy_from_slice(row)).unwrap_err();
    assert!(error.to_string().contains("operand 0"), "{error}");
}

#[test]
fn wrong_sizes_and_devices_are_errors() {
    let (two, three) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0; 3]));
    let says = |error: dispatch_runtime::Error, expected: &str| {
        assert!(error.to_string().contains(expected), "{error}");
    };
    let first = |[a, _]: [f64; 2]| a;
    says(map([&two, &three], first).unwrap_err(), "argument `operand 1` has sizes [3]");
    says(
        map_into(&mut three.clone(), [&two], |[x]: [f64; 1]| x).unwrap_err(),
        "argument `out` has sizes [3], but must have [2]",
    );
    let meta = Spec::contiguous(DType::F64, &[2]).on(dispatch_runtime::Device::META).unwrap();
    says(map([&meta], |[x]: [f64; 1]| x).unwrap_err(), "operand 0");
    let rows = |inputs: [&Tensor; 2], dims: &[i64]| map_rows(inputs, dims, |_: [&[f64]; 2], _| ());
    says(rows([&two, &three], &[2]).unwrap_err(), "argument `dim` is 2");
    let (column, wide) = (Tensor::from([[1.0], [2.0]]), Tensor::from([[1.0; 4]; 3]));
    says(
        rows([&column, &wide], &[1]).unwrap_err(),
        "argument `operand 1` has sizes [3, 4], but must have 2 in dimension 0",
    );
    says(rows([&column, &two], &[1]).unwrap_err(), "argument `operand 1` has 1 dimension");
    let sum = |out: &mut Tensor, dims: &[i64]| {
        let plan = ReductionDims::plan(&wide, dims, false, DType::F64).unwrap();
        reduce_into(out, &wide, &plan.value, 0.0, |sum: f64, x: f64| sum + x, |a, b| a + b)
    };
    says(sum(&mut two.clone(), &[1]).unwrap_err(), "argument `out` has sizes [2], but must have [3]");
    sum(&mut three.clone(), &[1]).unwrap();
    sum(&mut Tensor::from([[0.0_f32]; 3]), &[1]).unwrap();
}

#[test]
fn chunks_cover_a_slice_whose_length_they_do_not_divide() {
    parallel_chunks(&mut [0; 3], 0, 1, |_, _| unreachable!());
    for length in 1..12 {
        let mut elements = vec![0; 10];
        parallel_chunks(&mut elements, length, 1, |chunk, part| part.fill(chunk + 1));
        let expected: Vec<usize> = (0..10).map(|i| i / length + 1).collect();
        assert_eq!(elements, expected);
    }
}
