//! Measures kernels that are written as a user's crate writes them: with the loops of `opdispatch::backend::cpu`, and with copies of all
//! elements (`to_vec`), against operators of `aten` that compute the same. All run in turns, in one process, and the fastest run of each
//! counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use opdispatch::backend::cpu::{self, Real};
use opdispatch::prelude::*;

#[op_def("own::rms_norm(Tensor self, Tensor weight, float eps) -> Tensor")]
fn rms_norm(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor>;

#[op_impl(rms_norm, CPU, dtypes(floating))]
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn rms_norm_cpu<T: cpu::Float>(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    let weight = cpu::elements::<T::Compute>(weight)?;
    cpu::map_rows([this], &[-1], |[row]: [&[T::Compute]; 1], out| {
        let mean_square = cpu::sum(row, |x| x * x) / row.len() as f64;
        let scale = T::Compute::from_f64((mean_square + eps).sqrt().recip());
        for ((out, &x), &weight) in out.iter_mut().zip(row).zip(&*weight) {
            *out = x * scale * weight;
        }
    })
}

#[op_def("own::rms_norm_of_copies(Tensor self, Tensor weight, float eps) -> Tensor")]
fn rms_norm_of_copies(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor>;

#[op_impl(rms_norm_of_copies, CPU, dtypes(floating))]
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn rms_norm_of_copies_cpu<T: Floating>(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    let (mut elements, weight) = (this.to_vec::<T>()?, weight.to_vec::<T>()?);
    for row in elements.chunks_mut(weight.len()) {
        let mean_square = row.iter().fold(0.0, |sum, &x| sum + (x * x).to_f64()) / row.len() as f64;
        let scale = T::from_f64((mean_square + eps).sqrt().recip());
        row.iter_mut().zip(&weight).for_each(|(x, &weight)| *x = *x * scale * weight);
    }
    Ok(Tensor::from_vec(elements, this.sizes())?)
}

#[op_def("own::swish(Tensor self) -> Tensor", shape = pointwise)]
fn swish(this: &Tensor) -> Result<Tensor>;

#[op_impl(swish, CPU, dtypes(floating))]
fn swish_cpu<T: cpu::Float>(this: &Tensor) -> Result<Tensor> {
    cpu::map([this], |[x]: [T::Compute; 1]| x / (T::Compute::ONE + (-x).exp()))
}

#[op_def("own::swish_of_copies(Tensor self) -> Tensor", shape = pointwise)]
fn swish_of_copies(this: &Tensor) -> Result<Tensor>;

#[op_impl(swish_of_copies, CPU, dtypes(floating))]
fn swish_of_copies_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    let swish = |x: T| x / (T::ONE + T::from_f64((-x).to_f64().exp()));
    Ok(Tensor::from_vec(this.to_vec::<T>()?.into_iter().map(swish).collect(), this.sizes())?)
}

#[op_def("own::norms(Tensor self) -> Tensor")]
fn norms(this: &Tensor) -> Result<Tensor>;

#[op_impl(norms, CPU, dtypes(floating))]
fn norms_cpu<T: cpu::Float>(this: &Tensor) -> Result<Tensor> {
    let squares = cpu::reduce(this, &[-1], false, T::Compute::ZERO, |sum, x: T::Compute| sum + x * x, |a, b| a + b)?;
    cpu::map([&squares], |[x]: [T::Compute; 1]| x.sqrt())
}

/// A computation, with its name.
type Contender<'a> = (&'static str, &'a dyn Fn() -> Result<Tensor>);

fn main() -> Result<()> {
    let x = aten::cos(&Tensor::arange(0..768 * 128, DType::F32)?)?;
    let x = aten::reshape(&x, &[768, 128])?;
    let transposed = aten::clone(&aten::t(&x)?, Some(opdispatch::runtime::MemoryFormat::Contiguous))?;
    let transposed = aten::t(&transposed)?;
    let halves = aten::to_dtype(&x, DType::BF16, false, false, None)?;
    let weight = aten::sin(&Tensor::arange(0..128, DType::F32)?)?;
    let own = || rms_norm(&x, &weight, 1e-6);
    compare(
        "rms_norm of [768, 128]",
        &[
            ("aten", &|| aten::rms_norm(&x, &[128], Some(&weight), Some(1e-6))),
            ("own loop", &own),
            ("own loop, transposed", &|| rms_norm(&transposed, &weight, 1e-6)),
            ("copies", &|| rms_norm_of_copies(&x, &weight, 1e-6)),
        ],
    )?;
    compare(
        "swish of [768, 128]",
        &[
            ("aten", &|| aten::silu(&x)),
            ("own loop", &|| swish(&x)),
            ("own loop, transposed", &|| swish(&transposed)),
            ("copies", &|| swish_of_copies(&x)),
        ],
    )?;
    compare("swish of [768, 128], bfloat16", &[("aten", &|| aten::silu(&halves)), ("own loop", &|| swish(&halves))])?;
    let aten_norms = || aten::linalg_vector_norm(&x, 2.into(), Some(&[-1]), false, None);
    compare("norms of [768, 128]", &[("aten", &aten_norms), ("own loop", &|| norms(&x))])
}

/// Checks that all results are equal, and prints the time of each computation, and its ratio to the first.
fn compare(title: &str, contenders: &[Contender<'_>]) -> Result<()> {
    const ROUNDS: usize = 200;
    const CALLS: u32 = 20;
    let expected = contenders[0].1()?;
    let mut fastest = vec![Duration::MAX; contenders.len()];
    for (name, run) in contenders {
        assert!(aten::allclose(&run()?, &expected, 1e-2, 1e-5, false)?, "{title}: {name} computes something else");
    }
    for _ in 0..ROUNDS {
        for ((_, run), fastest) in contenders.iter().zip(&mut fastest) {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(run()?);
            }
            *fastest = start.elapsed().min(*fastest);
        }
    }
    println!("{title}");
    for ((name, _), time) in contenders.iter().zip(&fastest) {
        let ratio = time.as_secs_f64() / fastest[0].as_secs_f64();
        println!("  {name:22} {:9.1} us {ratio:6.2}", (*time / CALLS).as_secs_f64() * 1e6);
    }
    Ok(())
}
