//! Tests of operators over lists of tensors with enough elements for several tasks on the thread pool.

use dispatch_runtime::{Result, Tensor};

/// Returns tensors of different sizes, the last of them for all threads.
fn list(start: f32) -> Vec<Tensor> {
    let tensor = |size: u16| Tensor::from((0..size).map(|i| start + f32::from(i) / 7.0).collect::<Vec<_>>());
    let mut list: Vec<Tensor> = [30_000, 1, 0, 40_000, 7, 65_535, 20_000, 33_000].map(tensor).into();
    list.push(aten::repeat(&list[5], &[17]).expect("the CPU has memory for these tensors"));
    list
}

fn contents(tensors: &[Tensor]) -> Result<Vec<Vec<f32>>> {
    tensors.iter().map(Tensor::to_vec).collect()
}

#[test]
fn operators_over_lists_give_the_results_of_a_loop() -> Result<()> {
    kernels_cpu::thread_pool::set_num_threads(3);
    let (a, b) = (list(1.0), list(2.0));
    let each = |call: &dyn Fn(usize) -> Result<Tensor>| contents(&(0..a.len()).map(call).collect::<Result<Vec<_>>>()?);
    assert_eq!(contents(&aten::_foreach_sqrt(&a)?)?, each(&|i| aten::sqrt(&a[i]))?);
    assert_eq!(contents(&aten::_foreach_mul_list(&a, &b)?)?, each(&|i| aten::mul(&a[i], &b[i]))?);
    assert_eq!(contents(&aten::_foreach_mul(&a, &b[1])?)?, each(&|i| aten::mul(&a[i], &b[1]))?);
    let expected = each(&|i| aten::addcdiv(&a[i], &a[i], &b[i], 0.5.into()))?;
    let mut written = list(1.0);
    aten::_foreach_addcdiv__scalar(&mut written, &a, &b, 0.5.into())?;
    assert_eq!(contents(&written)?, expected);
    Ok(())
}

#[test]
fn a_common_tensor_that_is_an_element_is_written_in_its_turn() -> Result<()> {
    kernels_cpu::thread_pool::set_num_threads(3);
    let (mut lists, mut of_loop) = (list(1.0), list(1.0));
    let (common, common_of_loop) = (lists[1].clone(), of_loop[1].clone());
    aten::_foreach_add_(&mut lists, &common, 1.into())?;
    of_loop.iter_mut().try_for_each(|tensor| aten::add_(tensor, &common_of_loop, 1.into()))?;
    assert_eq!(contents(&lists)?, contents(&of_loop)?);
    Ok(())
}
