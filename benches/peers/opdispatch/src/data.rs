//! Gather, scatter, sort, reductions and scans on a million elements and more, as in `../../pytorch/data.py`.

use opdispatch::prelude::*;
use peer::{Job, job};

use crate::train::random_tensor;

const MILLION: i64 = 1_000_000;
/// The sizes of the tables for gather and scatter.
const TABLE_SIZES: [i64; 2] = [100_000, 64];

/// Returns the job for the workload with this name.
pub(crate) fn job_for(name: &str) -> Option<Job> {
    prepare(name).expect("the CPU has memory for these tensors")
}

fn prepare(name: &str) -> Result<Option<Job>> {
    Ok(match name {
        "mean over rows" => call_on_random([4096, 4096], |x| x.mean_dim(Some(&[0]), false))?,
        "mean over columns" => call_on_random([4096, 4096], |x| x.mean_dim(Some(&[1]), false))?,
        "var over rows" => call_on_random([4096, 4096], |x| x.var_dim(Some(&[0]), true, false))?,
        "var over columns" => call_on_random([4096, 4096], |x| x.var_dim(Some(&[1]), true, false))?,
        "copy of a transpose" => call_on_random([4096, 4096], |x| x.t()?.contiguous())?,
        "sort 1M" => call_on_random([1, MILLION], |x| x.sort(-1, false))?,
        "topk 100 of 1M" => call_on_random([1, MILLION], |x| x.topk(100, -1, true, true))?,
        "cumsum 16M" => call_on_random([1, 16 * MILLION], |x| x.cumsum(-1))?,
        "index_select 1M rows" => {
            let (table, rows) = (random_tensor(&TABLE_SIZES, 1.0)?, random_rows()?);
            job(move || table.index_select(0, &rows))
        }
        "gather 1M rows" => {
            let (table, rows) =
                (random_tensor(&TABLE_SIZES, 1.0)?, random_rows()?.unsqueeze(1)?.expand(&[MILLION, TABLE_SIZES[1]])?);
            job(move || table.gather(0, &rows))
        }
        "scatter_add 1M rows" => {
            let (table, rows) =
                (random_tensor(&TABLE_SIZES, 1.0)?, random_rows()?.unsqueeze(1)?.expand(&[MILLION, TABLE_SIZES[1]])?);
            let source = random_tensor(&[MILLION, TABLE_SIZES[1]], 1.0)?;
            job(move || table.scatter_add(0, &rows, &source))
        }
        "index_add 1M rows" => {
            let (table, rows) = (random_tensor(&TABLE_SIZES, 1.0)?, random_rows()?);
            let source = random_tensor(&[MILLION, TABLE_SIZES[1]], 1.0)?;
            job(move || table.index_add(0, &rows, &source))
        }
        "cat 16 x 1M" => {
            let parts = (0..16).map(|_| random_tensor(&[MILLION], 1.0)).collect::<Result<Vec<_>>>()?;
            job(move || aten::cat(&parts, 0))
        }
        _ => return on_16_bit_floats(name),
    })
}

/// Returns the job for a workload on 16-bit floats.
fn on_16_bit_floats(name: &str) -> Result<Option<Job>> {
    let Some((operator, dtype)) = name.rsplit_once(' ') else { return Ok(None) };
    let dtype = match dtype {
        "bf16" => DType::BF16,
        "f16" => DType::F16,
        _ => return Ok(None),
    };
    let [a, b] = [(); 2].map(|()| random_tensor(&[1024, 1024], 1.0).and_then(|x| x.to(dtype)));
    let (a, b) = (a?, b?);
    Ok(match operator {
        "matmul 1024" => job(move || a.mm(&b)),
        "add 1024x1024" => job(move || &a + &b),
        "exp 1024x1024" => job(move || a.exp()),
        "gelu 1024x1024" => job(move || a.gelu()),
        _ => None,
    })
}

fn call_on_random<R>(sizes: [i64; 2], call: impl Fn(&Tensor) -> R + 'static) -> Result<Option<Job>> {
    let x = random_tensor(&sizes, 1.0)?;
    Ok(job(move || call(&x)))
}

/// Returns a million random row indices of the table.
fn random_rows() -> Result<Tensor> {
    let mut rows = Tensor::zeros(&[MILLION], DType::I64)?;
    rows.random__to(TABLE_SIZES[0])?;
    Ok(rows)
}
