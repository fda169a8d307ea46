//! What is measured. `pytorch.py` has the same lines by the same names.

use dispatch_runtime::prelude::*;
use kernels_cuda::Graph;

use crate::network::Network;

/// What a line's amount is.
pub(crate) enum Kind {
    /// Bytes, of the copy that others are held to.
    Copied,
    /// Bytes.
    Moved,
    /// Operations.
    Computed,
    /// Nothing: the time says it.
    Timed,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) amount: f64,
    /// How often in a round, and how many calls each time makes.
    pub(crate) times: u32,
    pub(crate) calls: f64,
    pub(crate) work: Box<dyn Fn() -> Result<()>>,
}

type Made = Result<Line>;

fn line(name: &str, kind: Kind, amount: f64, times: u32, work: impl Fn() -> Result<()> + 'static) -> Line {
    Line { name: name.to_owned(), kind, amount, times, calls: 1.0, work: Box::new(work) }
}

/// Drops what a call gives.
fn done<T>(result: Result<T>) -> Result<()> {
    result.map(drop)
}

pub(crate) fn all(device: Device, small: bool) -> Result<Vec<Line>> {
    let shrink = if small { 256 } else { 1 };
    let random = |sizes: &[i64], dtype: DType| -> Result<Tensor> {
        let mut made = aten::full(sizes, 0.into(), Some(dtype), None, Some(device), None)?;
        aten::normal_(&mut made, 0.0, 1.0, None)?;
        Ok(made)
    };
    let count = (64 << 20) / shrink;
    #[expect(clippy::cast_precision_loss, reason = "a number of bytes")]
    let bytes = (count * 4) as f64;
    let mut lines = Vec::new();

    let large = random(&[count], DType::F32)?;
    let this = large.clone();
    lines.push(line("clone 256 MiB", Kind::Copied, 2.0 * bytes, 20, move || done(aten::clone(&this, None))));
    let (this, other) = (large.clone(), random(&[count], DType::F32)?);
    lines.push(line("add f32 256 MiB", Kind::Moved, 3.0 * bytes, 20, move || done(aten::add(&this, &other, 1.into()))));
    let this = large.clone();
    lines.push(line("relu f32 256 MiB", Kind::Moved, 2.0 * bytes, 20, move || done(aten::relu(&this))));
    let half = random(&[2 * count], DType::BF16)?;
    lines.push(line("gelu bf16 256 MiB", Kind::Moved, 2.0 * bytes, 20, move || done(aten::gelu(&half, "none"))));
    let (wide, bias) = (aten::view(&large, &[-1, 8192])?, random(&[8192], DType::F32)?);
    lines.push(line("add a row f32 256 MiB", Kind::Moved, 2.0 * bytes, 20, move || {
        done(aten::add(&wide, &bias, 1.into()))
    }));
    let this = large.clone();
    lines.push(line("sum f32 256 MiB", Kind::Moved, bytes, 20, move || done(aten::sum(&this, None))));
    for (name, dim) in [("sum of rows f32 256 MiB", 1), ("sum of columns f32 256 MiB", 0)] {
        let wide = aten::view(&large, &[-1, 8192])?;
        lines.push(line(name, Kind::Moved, bytes, 20, move || {
            done(aten::sum_dim_intlist(&wide, Some(&[dim]), false, None))
        }));
    }

    let side = if small { 64 } else { 8192 };
    #[expect(clippy::cast_precision_loss, reason = "a number of operations")]
    let operations = 2.0 * (side as f64).powi(3);
    for (name, dtype) in [("matmul bf16 8192", DType::BF16), ("matmul f32 8192", DType::F32)] {
        let (a, b) = (random(&[side, side], dtype)?, random(&[side, side], dtype)?);
        lines.push(line(name, Kind::Computed, operations, 5, move || done(aten::mm(&a, &b))));
    }
    let rows = if small { 16 } else { 16_384 };
    let width = if small { 256 } else { 4096 };
    #[expect(clippy::cast_precision_loss, reason = "a number of bytes")]
    let moved = 2.0 * (rows * width * 2) as f64;
    let scores = random(&[rows, width], DType::BF16)?;
    let normed = scores.clone();
    lines.push(line("softmax bf16 16384 x 4096", Kind::Moved, moved, 20, move || {
        done(aten::_softmax(&scores, -1, false))
    }));
    let (weight, bias) = (random(&[width], DType::BF16)?, random(&[width], DType::BF16)?);
    lines.push(line("layer_norm bf16 16384 x 4096", Kind::Moved, moved, 20, move || {
        done(aten::native_layer_norm(&normed, &[width], Some(&weight), Some(&bias), 1e-5))
    }));
    lines.push(attention(&random, small)?);
    lines.push(chain(&random)?);
    lines.extend(networks(device, small)?);
    Ok(lines)
}

fn attention(random: &dyn Fn(&[i64], DType) -> Result<Tensor>, small: bool) -> Made {
    let length = if small { 64 } else { 4096 };
    let sizes = [4, 16, length, 64];
    let (q, k, v) = (random(&sizes, DType::BF16)?, random(&sizes, DType::BF16)?, random(&sizes, DType::BF16)?);
    #[expect(clippy::cast_precision_loss, reason = "a number of operations")]
    let operations = 4.0 * (4 * 16 * length * length * 64) as f64;
    Ok(line("attention bf16 4 x 16 x 4096 x 64", Kind::Computed, operations, 5, move || {
        done(aten::scaled_dot_product_attention!(&q, &k, &v))
    }))
}

/// What the host pays for a launch: the device has nothing to do.
fn chain(random: &dyn Fn(&[i64], DType) -> Result<Tensor>) -> Made {
    const CALLS: u32 = 1000;
    let x = random(&[1], DType::F32)?;
    let work = move || (0..CALLS).try_fold(x.clone(), |y, _| aten::add(&y, &x, 1.into())).map(drop);
    Ok(Line { calls: f64::from(CALLS), ..line("add of one element, in a chain", Kind::Timed, 0.0, 3, work) })
}

fn networks(device: Device, small: bool) -> Result<Vec<Line>> {
    let width = if small { 32 } else { 1024 };
    let mut lines = Vec::new();
    for (name, sizes, batch) in [
        ("training step of digits", vec![64, 128, 10], 64),
        ("training step of 784-1024-1024-10", vec![784, width, width, 10], 256),
    ] {
        let network = Network::new(&sizes, batch, device)?;
        lines.push(line(name, Kind::Timed, 0.0, 20, move || network.step()));
    }
    let network = Network::new(&[784, width, width, 10], 256, device)?;
    let graph = Graph::record(device, || network.forward())?;
    lines.push(line("replayed forward of 784-1024-1024-10", Kind::Timed, 0.0, 100, move || {
        // What a recording reads has to be there.
        let _kept = &network;
        graph.replay()
    }));
    Ok(lines)
}
