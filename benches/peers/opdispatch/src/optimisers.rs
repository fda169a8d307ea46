//! Steps of `AdamW` on 48 parameters, and a copy of as much memory, as in `../../pytorch/optimisers.py`.
//!
//! A step reads four floats of each element and writes three: 28 bytes. A copy reads one and writes one: 8 bytes.

use opdispatch::prelude::*;
use peer::{Job, new_job};

use crate::train::random_tensor;

const PARAMETER_COUNT: i64 = 48;
const ONE_MILLION: i64 = 1_000_000;

/// Returns the job for the workload with this name.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    match name {
        "AdamW 48 x 1M" | "AdamW 48 x 1M, fused" => adamw_job(ONE_MILLION),
        "AdamW 48 x 1k" | "AdamW 48 x 1k, fused" => adamw_job(1000),
        "copy of 48M" => {
            let [source, mut target] =
                [(); 2].map(|()| random_tensor(&[PARAMETER_COUNT * ONE_MILLION], 1.0).expect("there is memory"));
            new_job(move || target.copy_(&source, false))
        }
        _ => None,
    }
}

fn adamw_job(size: i64) -> Option<Job> {
    let list = || (0..PARAMETER_COUNT).map(|_| random_tensor(&[size], 1.0)).collect::<Result<Vec<_>>>();
    let [mut params, mut grads, mut means] = [(); 3].map(|()| list().expect("there is memory"));
    let mut squares = list().and_then(|list| list.iter().map(|x| x.abs()).collect::<Result<Vec<_>>>()).ok()?;
    let steps = vec![Tensor::from(1.0_f32); params.len()];
    new_job(move || {
        aten::_fused_adamw_(
            &mut params,
            &mut grads,
            &mut means,
            &mut squares,
            &mut [],
            &steps,
            1e-3,
            0.9,
            0.999,
            0.01,
            1e-8,
            false,
            false,
            None,
            None,
        )
    })
}
