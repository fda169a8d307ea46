//! Steps of `AdamW`, and a copy of as many elements, as in `../../pytorch/optimisers.py`.

use opdispatch::prelude::*;
use peer::{Job, new_job};

use crate::train::random_tensor;

const ONE_MILLION: i64 = 1_000_000;

/// Returns the job for the workload with this name.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    match name.trim_end_matches(", fused") {
        "AdamW 48 x 1M" => adamw_job(48, ONE_MILLION),
        "AdamW 48 x 1k" => adamw_job(48, 1000),
        "AdamW 1 x 48M" => adamw_job(1, 48 * ONE_MILLION),
        "copy of 48M" => {
            let [source, mut target] =
                [(); 2].map(|()| random_tensor(&[48 * ONE_MILLION], 1.0).expect("there is memory"));
            new_job(move || aten::copy_(&mut target, &source, false))
        }
        _ => None,
    }
}

fn adamw_job(parameter_count: i64, size: i64) -> Option<Job> {
    let list = || (0..parameter_count).map(|_| random_tensor(&[size], 1.0)).collect::<Result<Vec<_>>>();
    let [mut params, mut grads, mut means] = [(); 3].map(|()| list().expect("there is memory"));
    let mut squares = list().and_then(|list| list.iter().map(|x| x.abs()).collect::<Result<Vec<_>>>()).ok()?;
    let mut steps: Vec<Tensor> = params.iter().map(|_| Tensor::from(0.0_f32)).collect();
    let mut step = move || {
        aten::_foreach_add__scalar(&mut steps, 1.into())?;
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
    };
    new_job(move || step().expect("the step succeeds"))
}
