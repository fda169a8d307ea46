//! Tests of views of batched tensors, and of writes to them.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Vmap, VmapError, vmap};

use crate::{assert_close, check_against_loop, elements_as_f64, varied_tensor, vmap_error};

#[test]
fn views_of_a_slice_are_views_of_the_batch() {
    let x = varied_tensor(&[4, 2, 3]);
    let seen = vmap(|x| x.t()?.select(0, 1), &x).unwrap();
    assert!(seen.storage().same(x.storage()), "nothing was copied");
    assert_close(&seen, &x.select(2, 1).unwrap());
}

#[test]
fn a_chain_of_views_is_the_chain_of_each_slice() {
    check_against_loop([(&varied_tensor(&[2, 6, 4]), Some(1))], |x| {
        x[0].unsqueeze(0)?.transpose(0, 2)?.reshape([2, 4])?.narrow(1, 1, 2)
    });
    check_against_loop([(&varied_tensor(&[3, 4, 5]), Some(2))], |x| x[0].flatten()?.unfold(0, 4, 3)?.diagonal());
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| x[0].expand([2, 5, 4])?.sum_dims(1));
}

#[test]
fn several_views_of_a_slice_can_be_combined() {
    check_against_loop([(&varied_tensor(&[3, 6, 2]), Some(0))], |x| {
        let parts = x[0].chunk(3, 0)?;
        (&parts[0] * &parts[1])? + &parts[2]
    });
    check_against_loop([(&varied_tensor(&[3, 6]), Some(0))], |x| {
        let parts = x[0].unbind(0)?;
        &parts[5] - &parts[0]
    });
}

#[test]
fn a_slice_can_be_indexed() {
    check_against_loop([(&varied_tensor(&[3, 4, 5]), Some(0))], |x| x[0].i((1.., ..3)));
    check_against_loop([(&varied_tensor(&[3, 4, 5]), Some(1))], |x| x[0].i((.., -1)));
    check_against_loop([(&varied_tensor(&[3, 4, 5]), Some(0))], |x| x[0].i([3, 0, 0]));
}

#[test]
fn a_view_of_a_view_is_written_through_to_the_batch() {
    let x = varied_tensor(&[3, 2, 2]);
    vmap(
        |x| {
            x.t()?.select(0, 0)?.narrow(0, 1, 1)?.fill_(100)?;
            Ok(x.clone())
        },
        &x,
    )
    .unwrap();
    for i in 0..3 {
        assert_eq!(elements_as_f64(&x.i((i, 1, 0)).unwrap()), [100.0]);
        assert!(elements_as_f64(&x.i((i, 0)).unwrap()).iter().all(|&x| x < 100.0));
    }
}

#[test]
fn a_write_is_seen_through_all_views_made_before_it() {
    check_against_loop([(&varied_tensor(&[3, 4]), Some(0))], |x| {
        let copy = aten::clone(&x[0], None)?;
        let (front, whole) = (copy.narrow(0, 0, 2)?, copy.flip(0)?);
        copy.mul_(10)?;
        front.sum()? + whole.sum()?
    });
}

#[test]
fn unmapped_tensors_can_be_written_to_unmapped_tensors() {
    let (x, y) = (varied_tensor(&[3, 2]), varied_tensor(&[2]));
    let expected = (&y + 1.0).unwrap();
    let found = vmap(
        |x| {
            y.clone().add_(1)?;
            x + &y
        },
        &x,
    )
    .unwrap();
    assert_close(&y, &expected);
    assert_close(&found, &(&x + &expected).unwrap());
}

#[test]
fn every_writing_form_rejects_an_unmapped_target() {
    let x = varied_tensor(&[3, 2]);
    let refused: [fn(&mut Tensor, &Tensor) -> Result<()>; 5] = [
        |shared, x| shared.copy_(x),
        |shared, x| shared.mul_(x),
        |shared, x| aten::exp_out(x, shared),
        |shared, x| shared.masked_fill_(&x.gt(0)?, 1),
        |shared, x| shared.index_put_(&[Some(Tensor::from([0_i64, 1]))], x, false),
    ];
    for write in refused {
        let shared = varied_tensor(&[2]);
        let f = |x: &Tensor| write(&mut shared.clone(), x).map(|()| shared.clone());
        let error = vmap(f, &x).unwrap_err();
        assert!(matches!(vmap_error(&error), VmapError::WriteToUnbatched { .. }), "{error}");
        assert_eq!(elements_as_f64(&shared), elements_as_f64(&varied_tensor(&[2])), "nothing was written");
    }
}

#[test]
fn a_tensor_computed_from_a_slice_can_be_written_to() {
    check_against_loop([(&varied_tensor(&[3, 2]), Some(0))], |x| {
        let own = x[0].zeros_like()?;
        own.copy_(&x[0])?;
        own.select(0, 0)?.add_(&x[0].select(0, 1)?)?;
        Ok(own)
    });
    check_against_loop([(&varied_tensor(&[3, 2]), Some(0))], |x| {
        let own = aten::new_zeros(&x[0], &[2, 2], None, None, None, None)?;
        own.select(0, 1)?.copy_(&x[0])?;
        own.mul_(2)?;
        Ok(own)
    });
}

#[test]
fn a_write_broadcasts_an_unmapped_source() {
    let (x, y) = (varied_tensor(&[3, 2]), varied_tensor(&[2]));
    let expected = (&x * &y).unwrap();
    vmap(|x| x.clone().mul_(&y).map(|()| x.clone()), &x).unwrap();
    assert_close(&x, &expected);
}

#[test]
fn a_write_of_other_sizes_is_an_error() {
    let x = varied_tensor(&[3, 2]);
    let error = vmap(|x| x.clone().add_(varied_tensor(&[4, 2])).map(|()| x.clone()), &x).unwrap_err();
    assert!(!error.to_string().is_empty());
    assert_eq!(elements_as_f64(&x), elements_as_f64(&varied_tensor(&[3, 2])));
}

#[test]
fn a_write_to_a_strided_input_keeps_its_strides() {
    let whole = varied_tensor(&[3, 4]);
    let column = whole.select(1, 2).unwrap();
    vmap(|x| x.clone().fill_(9).map(|()| x.clone()), &column).unwrap();
    assert_eq!(elements_as_f64(&whole.select(1, 2).unwrap()), [9.0; 3]);
    assert_eq!(
        elements_as_f64(&whole.select(1, 1).unwrap()),
        elements_as_f64(&varied_tensor(&[3, 4]).select(1, 1).unwrap())
    );
}

#[test]
fn index_put_uses_the_indices_of_each_slice() {
    let at = Tensor::from([[0_i64, 2], [1, 1], [2, 0]]);
    check_against_loop([(&varied_tensor(&[3, 3]), Some(0)), (&at, Some(0)), (&varied_tensor(&[3, 2]), Some(0))], |x| {
        x[0].scatter(0, &x[1], &x[2])
    });
}

#[test]
fn an_out_tensor_is_filled_for_all_slices() {
    let (x, out) = (varied_tensor(&[3, 2]), varied_tensor(&[2, 3]));
    let write = |(x, out): &(Tensor, Tensor)| aten::sin_out(x, &mut out.clone()).map(|()| out.clone());
    Vmap::new().in_dims([Some(0), Some(1)]).call(write, (&x, &out)).unwrap();
    assert_close(&out, &x.sin().unwrap().t().unwrap().contiguous().unwrap());
}
