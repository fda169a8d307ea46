//! The benchmark programs in candle. Each call uses the shortest code of candle's API.

mod train;

use candle_core::{DType, Device, Tensor, Var};
use peer::{Job, new_job};

fn main() {
    peer::run_command(|workload| job_for_workload(workload).expect("candle creates the tensors"));
}

fn job_for_workload(workload: &str) -> candle_core::Result<Option<Job>> {
    let device = Device::Cpu;
    let (a, b) = (Tensor::new(&[1.5_f32], &device)?, Tensor::new(&[2.5_f32], &device)?);
    let (row, column) = (a.reshape((1, 1))?, b.reshape((1, 1))?);
    Ok(match workload {
        "empty function" => new_job(|| ()),
        "add" => new_job(move || &a + &b),
        "add, recorded" => {
            let a = Var::from_tensor(&a)?;
            new_job(move || a.as_tensor() + &b)
        }
        "relu" => new_job(move || a.relu()),
        "mm 1x1" => new_job(move || row.matmul(&column)),
        // SAFETY: the uninitialised element is never read.
        "empty({1})" => new_job(move || unsafe { Tensor::empty(1, DType::F32, &device) }),
        "view" => new_job(move || a.reshape((1, 1))),
        // candle has no operators that write into an existing tensor.
        _ => train::training_job(workload)?,
    })
}
