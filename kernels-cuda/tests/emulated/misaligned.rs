//! Tests of tensors whose addresses are not aligned for vector loads: each engine must then load single elements.
//!
//! The emulator ends the program at a misaligned load, as a device would. With aligned addresses, these sizes use vector loads.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, MemoryFormat};

use crate::attention::assert_attention_is_accurate;
use crate::error_bound::NudgedArguments::All;
use crate::error_bound::{assert_within_error_bound, elements_as_f64};
use crate::{copy_to_device, lock_free_device};

/// Returns small integers other than zero, whose sums are exact in any order.
fn nonzero_integers(count: i64, dtype: DType) -> Tensor {
    let line: Vec<i64> = (0..count).map(|i| (i * i * 7 + i * 3 + i / 11) % 5 + 1).collect();
    aten::to_dtype(&Tensor::from(line), dtype, false, true, None).unwrap()
}

/// Returns some of these numbers on a device, with a storage offset of `start` elements.
fn tensor_at_offset(device: Device, dtype: DType, sizes: &[i64], start: i64) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let memory = copy_to_device(&nonzero_integers(start + count, dtype), device);
    memory.restride(Geometry::contiguous(sizes).with_offset(start)).unwrap()
}

/// The storage offsets of three operands. First a single operand is misaligned, then all are, and then all are aligned for shorter vectors
/// only.
const STORAGE_OFFSETS: [[i64; 3]; 6] = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 3, 5], [2, 6, 2], [4, 8, 4]];

type ThreeOperands = [Tensor; 3];

/// Checks that calls with operands of these sizes have the CPU's results, for all storage offsets. The results of these calls are exact.
#[track_caller]
fn assert_same_as_cpu_at_each_offset(
    case: &str,
    dtypes: &[DType],
    sizes: [&[i64]; 3],
    f: impl Fn(&mut ThreeOperands) -> Result<Vec<Tensor>>,
) {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for &dtype in dtypes {
        for starts in STORAGE_OFFSETS {
            let [found, expected] = [cuda, Device::CPU].map(|device| {
                let mut operands = [0, 1, 2].map(|k| tensor_at_offset(device, dtype, sizes[k], starts[k]));
                let mut results = f(&mut operands).unwrap();
                // An operand that was written counts as a result.
                results.extend(operands);
                results.iter().map(elements_as_f64).collect::<Vec<_>>()
            });
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{case} of {dtype} from {starts:?}, result {k}");
            }
        }
    }
}

/// Calls `f`, which checks calls against double precision, with operands of these sizes on a device, for all storage offsets.
fn for_each_offset(case: &str, dtypes: &[DType], sizes: [&[i64]; 3], f: impl Fn(&str, [&Tensor; 3])) {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for &dtype in dtypes {
        for starts in STORAGE_OFFSETS {
            let operands = [0, 1, 2].map(|k| tensor_at_offset(cuda, dtype, sizes[k], starts[k]));
            f(&format!("{case} from {starts:?}"), operands.each_ref());
        }
    }
}

const FLOATING_DTYPES: &[DType] = &[DType::F32, DType::F64, DType::BF16];
const MIXED_DTYPES: &[DType] = &[DType::F32, DType::F16, DType::I64, DType::U8, DType::Bool];
const MATRIX_SIZES: [&[i64]; 3] = [&[8, 64], &[8, 64], &[8, 64]];

#[test]
fn elementwise_operators_accept_misaligned_operands() {
    assert_same_as_cpu_at_each_offset(
        "add",
        &[DType::F32, DType::BF16, DType::U8, DType::I64],
        MATRIX_SIZES,
        |[x, y, to]| {
            aten::add_out(x, y, 1.into(), to)?;
            aten::mul_(x, y)?;
            Ok(vec![aten::add(x, y, 2.into())?, aten::gt(x, y)?])
        },
    );
    assert_same_as_cpu_at_each_offset("choices", FLOATING_DTYPES, MATRIX_SIZES, |[x, y, to]| {
        aten::relu_(to)?;
        Ok(vec![aten::where_self(&aten::gt(x, y)?, x, to)?])
    });
    for_each_offset("activations", FLOATING_DTYPES, MATRIX_SIZES, |case, [x, y, _]| {
        assert_within_error_bound(case, &[x, y], All, |x| {
            Ok(vec![aten::gelu(&x[0], "none")?, aten::silu_backward(&x[0], &x[1])?])
        });
    });
}

#[test]
fn copies_and_conversions_accept_misaligned_operands() {
    assert_same_as_cpu_at_each_offset("copy", MIXED_DTYPES, MATRIX_SIZES, |[x, y, to]| {
        aten::copy_(to, x, false)?;
        let converted = aten::to_dtype(y, DType::F32, false, true, None)?;
        let halved = aten::to_dtype(&converted, DType::BF16, false, true, None)?;
        aten::copy_(y, &aten::t(&aten::contiguous(&aten::t(x)?, MemoryFormat::Contiguous)?)?, false)?;
        Ok(vec![converted, halved, aten::flip(x, &[1])?, aten::repeat(x, &[2, 2])?, aten::roll(x, &[16], &[1])?])
    });
    assert_same_as_cpu_at_each_offset("cat", MIXED_DTYPES, [&[8, 64], &[8, 16], &[8, 4]], |[x, y, z]| {
        let rows = [x.clone(), y.clone(), z.clone()];
        let narrowed = rows.clone().map(|row| aten::narrow(&row, 1, 0, 4).unwrap());
        Ok(vec![aten::cat(&rows, 1)?, aten::cat(&narrowed, 0)?, aten::tril(x, 1)?])
    });
}

#[test]
fn reductions_accept_misaligned_operands() {
    for_each_offset("sums", FLOATING_DTYPES, [&[32, 640], &[640, 32], &[6, 40, 36]], |case, operands| {
        for x in operands {
            assert_within_error_bound(case, &[x], All, |x| {
                let x = &x[0];
                let mut results = vec![aten::mean(x, None)?];
                for dim in [0, 1] {
                    results.push(aten::sum_dim_intlist(x, Some(&[dim]), false, None)?);
                    results.push(aten::amax(x, &[dim], false)?);
                    results.push(aten::var_correction(x, Some(&[dim]), None, false)?);
                    results.push(aten::cumsum(x, dim, None)?);
                }
                Ok(results)
            });
        }
    });
}

#[test]
fn softmax_and_layer_norm_accept_misaligned_operands() {
    for_each_offset("softmax", FLOATING_DTYPES, MATRIX_SIZES, |case, [x, y, _]| {
        assert_within_error_bound(case, &[x, y], All, |x| {
            Ok(vec![
                aten::_softmax(&x[0], 1, false)?,
                aten::_log_softmax(&x[0], 0, false)?,
                aten::_softmax_backward_data(&x[0], &x[1], 1, x[0].dtype())?,
            ])
        });
    });
    for_each_offset("layer_norm", FLOATING_DTYPES, [&[70, 64], &[64], &[70, 64]], |case, [x, weight, grad]| {
        let found = assert_within_error_bound(case, &[x, weight], All, |x| {
            let (y, mean, rstd) = aten::native_layer_norm(&x[0], &[64], Some(&x[1]), Some(&x[1]), 1e-5)?;
            Ok(vec![y, mean, rstd])
        });
        let arguments = [grad, x, &found[1], &found[2], weight];
        assert_within_error_bound(&format!("gradients of {case}"), &arguments, All, |x| {
            let (w, b) = (Some(&x[4]), Some(&x[4]));
            let (of_x, of_w, of_b) =
                aten::native_layer_norm_backward(&x[0], &x[1], &[64], &x[2], &x[3], w, b, &[true; 3])?;
            Ok(vec![of_x, of_w, of_b])
        });
    });
}

#[test]
fn batch_and_group_norm_accept_misaligned_operands() {
    let laid = |tensor: &Tensor, format: MemoryFormat| match format {
        MemoryFormat::Contiguous => tensor.clone(),
        _ => aten::permute(&aten::view(tensor, &[3, 8, 8, 8]).unwrap(), &[0, 3, 1, 2]).unwrap(),
    };
    for_each_offset("batch_norm", FLOATING_DTYPES, [&[3, 8, 8, 8], &[8], &[3, 8, 8, 8]], |case, [x, weight, grad]| {
        for format in [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast] {
            let (x, grad) = (laid(x, format), laid(grad, format));
            let found = assert_within_error_bound(case, &[&x, weight], All, |x| {
                let w = Some(&x[1]);
                let (y, mean, rstd) = aten::native_batch_norm(&x[0], w, w, None, None, true, 0.1, 1e-5)?;
                Ok(vec![y, mean, rstd])
            });
            let arguments = [&grad, &x, weight, &found[1], &found[2]];
            assert_within_error_bound(&format!("gradients of {case}"), &arguments, All, |x| {
                let (w, mean, rstd) = (Some(&x[2]), Some(&x[3]), Some(&x[4]));
                let (of_x, of_w, of_b) =
                    aten::native_batch_norm_backward(&x[0], &x[1], w, None, None, mean, rstd, true, 1e-5, &[true; 3])?;
                Ok(vec![of_x, of_w, of_b])
            });
        }
    });
    for_each_offset("group_norm", FLOATING_DTYPES, [&[3, 8, 8, 8], &[8], &[3, 8, 8, 8]], |case, [x, weight, grad]| {
        let found = assert_within_error_bound(case, &[x, weight], All, |x| {
            let w = Some(&x[1]);
            let (y, mean, rstd) = aten::native_group_norm(&x[0], w, w, 3, 8, 64, 2, 1e-5)?;
            Ok(vec![y, mean, rstd])
        });
        let arguments = [grad, x, &found[1], &found[2], weight];
        assert_within_error_bound(&format!("gradients of {case}"), &arguments, All, |x| {
            let (of_x, of_w, of_b) =
                aten::native_group_norm_backward(&x[0], &x[1], &x[2], &x[3], Some(&x[4]), 3, 8, 64, 2, &[true; 3])?;
            Ok(vec![of_x, of_w, of_b])
        });
    });
}

#[test]
fn matrix_products_and_convolutions_accept_misaligned_operands() {
    let dtypes = [DType::F32, DType::F64, DType::BF16, DType::U8];
    for_each_offset("mm", &dtypes, [&[70, 64], &[64, 72], &[64]], |case, operands| {
        assert_within_error_bound(case, &operands, All, |x| {
            let [x, y, row] = x else { unreachable!() };
            Ok(vec![aten::mm(x, y)?, aten::mv(&aten::t(y)?, row)?, aten::dot(row, row)?, aten::mv(x, row)?])
        });
    });
    let (one, none) = ([1, 1], [0, 0]);
    for_each_offset("convolution", FLOATING_DTYPES, [&[2, 16, 12, 12], &[32, 16, 3, 3], &[32]], |case, operands| {
        let found = assert_within_error_bound(case, &operands, All, |x| {
            Ok(vec![aten::convolution(&x[0], &x[1], Some(&x[2]), &one, &one, &one, false, &none, 1)?])
        });
        assert_within_error_bound(&format!("gradients of {case}"), &[&found[0], operands[0], operands[1]], All, |x| {
            let (of_x, of_w, of_b) = aten::convolution_backward(
                &x[0],
                &x[1],
                &x[2],
                Some(&[32]),
                &one,
                &one,
                &one,
                false,
                &none,
                1,
                &[true; 3],
            )?;
            Ok(vec![of_x, of_w, of_b])
        });
    });
}

#[test]
fn attention_accepts_misaligned_operands() {
    let sizes: &[i64] = &[1, 2, 40, 64];
    let dtypes = [DType::F32, DType::F64, DType::F16, DType::BF16];
    for_each_offset("attention", &dtypes, [sizes; 3], |case, [q, k, v]| {
        assert_attention_is_accurate(case, [q, k, v, v], None, true, Some(0.01));
    });
}

#[test]
fn indexing_and_masks_accept_misaligned_operands() {
    assert_same_as_cpu_at_each_offset("index", &[DType::F32, DType::F16, DType::U8], MATRIX_SIZES, |[x, y, to]| {
        let device = x.device();
        let list = tensor_at_offset(device, DType::I64, &[5], 1);
        let mask = aten::gt(x, y)?;
        let turned = aten::nonzero(&mask)?;
        let places = aten::remainder_scalar(&aten::to_dtype(y, DType::I64, false, false, None)?, 8.into())?;
        aten::index_fill__int_scalar(to, 0, &list, 3.into())?;
        Ok(vec![
            turned,
            aten::masked_select(x, &mask)?,
            aten::index_select(x, 0, &list)?,
            aten::gather(x, 0, &places, false)?,
            aten::scatter_add(x, 0, &places, y)?,
            aten::sort(x, 1, false)?.0,
            aten::constant_pad_nd(x, &[4, 4], 0.into())?,
        ])
    });
    assert_same_as_cpu_at_each_offset("a mask", &[DType::Bool], [&[5000], &[64], &[64]], |[mask, ..]| {
        Ok(vec![aten::nonzero(mask)?])
    });
}

#[test]
fn random_numbers_are_written_to_misaligned_tensors() {
    assert_same_as_cpu_at_each_offset("uniform", FLOATING_DTYPES, MATRIX_SIZES, |[x, y, _]| {
        let generator = Generator::new(x.device(), 5);
        aten::uniform_(x, 0.0, 1.0, Some(&generator))?;
        aten::random_(y, Some(&generator))?;
        Ok(Vec::new())
    });
}
