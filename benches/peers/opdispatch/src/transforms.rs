//! Fourier transforms of batches, of one long line, and of images, as in `../../pytorch/transforms.py`.

use opdispatch::prelude::*;
use peer::{Job, new_job};

use crate::train::random_tensor;

/// Returns the job for the workload with this name: the transform, and the sizes of the real or complex input.
pub(crate) fn job_for_workload(name: &str) -> Option<Job> {
    let (transform, sizes) = name.rsplit_once(' ')?;
    let sizes: Vec<i64> = sizes.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
    let last = *sizes.last()?;
    let real = || random_tensor(&sizes, 1.0).expect("there is memory");
    let complex = || aten::complex(&real(), &real()).expect("the parts have the same sizes");
    match transform {
        "fft" => job_on(complex(), |x| aten::fft_fft!(x)),
        "ifft" => job_on(complex(), |x| aten::fft_ifft!(x)),
        "fft of columns" => job_on(complex(), |x| aten::fft_fft!(x, dim = 0)),
        "rfft" => job_on(real(), |x| aten::fft_rfft!(x)),
        "irfft" => job_on(aten::fft_rfft!(&real()).ok()?, move |x| aten::fft_irfft!(x, n = last)),
        "fft2" => job_on(complex(), |x| aten::fft_fft2!(x)),
        "rfft2" => job_on(real(), |x| aten::fft_rfft2!(x)),
        _ => None,
    }
}

fn job_on(input: Tensor, compute: impl Fn(&Tensor) -> Result<Tensor> + 'static) -> Option<Job> {
    new_job(move || compute(&input))
}
