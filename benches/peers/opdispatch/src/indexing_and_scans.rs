//! Gather, scatter, sort, reductions and scans on a million elements and more, as in `../../pytorch/data.py`.

use opdispatch::prelude::*;
use peer::{Job, new_job};

use crate::train::random_tensor;

const ONE_MILLION: i64 = 1_000_000;
/// The sizes of the tables for gather and scatter.
const GATHER_TABLE_SIZES: [i64; 2] = [100_000, 64];

/// Returns the job for the workload with this name.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    try_job_for_workload(name).expect("the CPU has memory for these tensors")
}

fn try_job_for_workload(name: &str) -> Result<Option<Job>> {
    Ok(match name {
        "mean over rows" => job_on_random_tensor([4096, 4096], |x| x.mean_dims(0))?,
        "mean over columns" => job_on_random_tensor([4096, 4096], |x| x.mean_dims(1))?,
        "var over rows" => job_on_random_tensor([4096, 4096], |x| x.var_dims(0))?,
        "var over columns" => job_on_random_tensor([4096, 4096], |x| x.var_dims(1))?,
        "copy of a transpose" => job_on_random_tensor([4096, 4096], |x| x.t()?.contiguous())?,
        "sort 1M" => job_on_random_tensor([1, ONE_MILLION], |x| x.sort())?,
        "topk 100 of 1M" => job_on_random_tensor([1, ONE_MILLION], |x| x.topk(100))?,
        "cumsum 16M" => job_on_random_tensor([1, 16 * ONE_MILLION], |x| x.cumsum(-1))?,
        "index_select 1M rows" => {
            let (table, rows) = (random_tensor(&GATHER_TABLE_SIZES, 1.0)?, random_row_indices()?);
            new_job(move || table.index_select(0, &rows))
        }
        "gather 1M rows" => {
            let (table, rows) = (
                random_tensor(&GATHER_TABLE_SIZES, 1.0)?,
                random_row_indices()?.unsqueeze(1)?.expand([ONE_MILLION, GATHER_TABLE_SIZES[1]])?,
            );
            new_job(move || table.gather(0, &rows))
        }
        "scatter_add 1M rows" => {
            let (table, rows) = (
                random_tensor(&GATHER_TABLE_SIZES, 1.0)?,
                random_row_indices()?.unsqueeze(1)?.expand([ONE_MILLION, GATHER_TABLE_SIZES[1]])?,
            );
            let source = random_tensor(&[ONE_MILLION, GATHER_TABLE_SIZES[1]], 1.0)?;
            new_job(move || table.scatter_add(0, &rows, &source))
        }
        "index_add 1M rows" => {
            let (table, rows) = (random_tensor(&GATHER_TABLE_SIZES, 1.0)?, random_row_indices()?);
            let source = random_tensor(&[ONE_MILLION, GATHER_TABLE_SIZES[1]], 1.0)?;
            new_job(move || table.index_add(0, &rows, &source))
        }
        "cat 16 x 1M" => {
            let parts = (0..16).map(|_| random_tensor(&[ONE_MILLION], 1.0)).collect::<Result<Vec<_>>>()?;
            new_job(move || aten::cat(&parts, 0))
        }
        _ => return job_on_16_bit_floats(name),
    })
}

/// Returns the job for a workload on 16-bit floats.
fn job_on_16_bit_floats(name: &str) -> Result<Option<Job>> {
    let Some((operator, dtype)) = name.rsplit_once(' ') else { return Ok(None) };
    let dtype = match dtype {
        "bf16" => DType::BF16,
        "f16" => DType::F16,
        _ => return Ok(None),
    };
    let [a, b] = [(); 2].map(|()| random_tensor(&[1024, 1024], 1.0).and_then(|x| x.to(dtype)));
    let (a, b) = (a?, b?);
    Ok(match operator {
        "matmul 1024" => new_job(move || a.mm(&b)),
        "add 1024x1024" => new_job(move || &a + &b),
        "exp 1024x1024" => new_job(move || a.exp()),
        "gelu 1024x1024" => new_job(move || a.gelu()),
        _ => None,
    })
}

fn job_on_random_tensor<R>(sizes: [i64; 2], call: impl Fn(&Tensor) -> R + 'static) -> Result<Option<Job>> {
    let x = random_tensor(&sizes, 1.0)?;
    Ok(new_job(move || call(&x)))
}

/// Returns a million random row indices of the table.
fn random_row_indices() -> Result<Tensor> {
    let rows = Tensor::zeros(ONE_MILLION, DType::I64)?;
    rows.random_(0..GATHER_TABLE_SIZES[0])?;
    Ok(rows)
}
