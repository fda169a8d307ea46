//! The benchmark programs in burn, with its CPU backend. burn's operators consume their operands, so reused operands are cloned.

use burn::tensor::{Device, Tensor, activation};
use peer::{Job, new_job};

fn main() {
    peer::run_command(job_for_workload);
}

fn job_for_workload(workload: &str) -> Option<Job> {
    let device = Device::flex();
    let a = Tensor::<1>::from_floats([1.5], &device);
    let b = Tensor::<1>::from_floats([2.5], &device);
    let (row, column) = (a.clone().reshape([1, 1]), b.clone().reshape([1, 1]));
    let row: Tensor<2> = row;
    let column: Tensor<2> = column;
    match workload {
        "empty function" => new_job(|| ()),
        "add" => new_job(move || a.clone() + b.clone()),
        "add_" => {
            // burn writes in place because the tensor has no other handle.
            let mut sum = Some(Tensor::<1>::from_floats([1.5], &device));
            new_job(move || sum = sum.take().map(|sum| sum + b.clone()))
        }
        "relu" => new_job(move || activation::relu(a.clone())),
        "mm 1x1" => new_job(move || row.clone().matmul(column.clone())),
        "empty({1})" => new_job(move || Tensor::<1>::empty([1], &device)),
        "view" => new_job(move || a.clone().reshape::<2, _>([1, 1])),
        _ => None,
    }
}
