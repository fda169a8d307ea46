//! The measured lines. `pytorch.py` has the same lines with the same names.

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{MemoryFormat, guard};
use kernels_cuda::{Graph, allow_tf32};

use crate::network::Network;

/// The unit of a line's amount.
pub(crate) enum Kind {
    /// Bytes of the copy that other lines are compared with.
    Copied,
    /// Bytes that are read and written.
    Moved,
    /// Arithmetic operations.
    Computed,
    /// No amount: only the time on the device is shown.
    Timed,
    /// No amount: only the time of the calls on the host is shown.
    Asked,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) amount: f64,
    /// The number of calls that the measured work makes.
    pub(crate) calls: f64,
    pub(crate) work: Box<dyn Fn() -> Result<()>>,
}

fn line(name: impl Into<String>, kind: Kind, amount: f64, work: impl Fn() -> Result<()> + 'static) -> Line {
    Line { name: name.into(), kind, amount, calls: 1.0, work: Box::new(work) }
}

/// Drops the result of a call.
fn done<T>(result: Result<T>) -> Result<()> {
    result.map(drop)
}

/// Creates the inputs of the lines and measures them.
pub(crate) struct Maker {
    pub(crate) device: Device,
    /// Whether inputs are small, to try the program.
    pub(crate) small: bool,
}

/// A function that measures a line, called while the line's tensors exist.
pub(crate) type Measure<'a> = &'a mut dyn FnMut(&Line) -> Result<()>;

const DTYPES: [(DType, &str); 2] = [(DType::F32, "f32"), (DType::BF16, "bf16")];

#[expect(clippy::cast_precision_loss, reason = "an amount")]
fn amount(number: i64) -> f64 {
    number as f64
}

impl Maker {
    pub(crate) fn all(&self, measure: Measure<'_>) -> Result<()> {
        self.pointwise(measure)?;
        self.reductions(measure)?;
        self.products(measure)?;
        self.attentions(measure)?;
        self.convolutions(measure)?;
        self.picks(measure)?;
        self.small_calls(measure)
    }

    fn random(&self, sizes: &[i64], dtype: DType) -> Result<Tensor> {
        let mut made = aten::full(sizes, 0.into(), Some(dtype), None, Some(self.device), None)?;
        aten::normal_(&mut made, 0.0, 1.0, None)?;
        Ok(made)
    }

    fn whole(&self, sizes: &[i64], below: i64) -> Result<Tensor> {
        let mut made = aten::full(sizes, 0.into(), Some(DType::I64), None, Some(self.device), None)?;
        aten::random__to(&mut made, below, None)?;
        Ok(made)
    }

    fn shrunk(&self, large: i64, small: i64) -> i64 {
        if self.small { small } else { large }
    }

    fn pointwise(&self, measure: Measure<'_>) -> Result<()> {
        let bytes = self.shrunk(256 << 20, 1 << 20);
        let moved = |tensors: i64| amount(tensors * bytes);
        for (dtype, name) in DTYPES {
            let count = bytes / i64::try_from(dtype.size()).unwrap_or(4);
            let x = self.random(&[count / 8192, 8192], dtype)?;
            let y = self.random(&[count / 8192, 8192], dtype)?;
            let (row, square) = (self.random(&[8192], dtype)?, self.random(&[count / 4096, 4096], dtype)?);
            let kind = if dtype == DType::F32 { Kind::Copied } else { Kind::Moved };
            let this = x.clone();
            measure(&line(format!("clone {name}"), kind, moved(2), move || done(aten::clone(&this, None))))?;
            let (this, other) = (x.clone(), y.clone());
            measure(&line(format!("add {name}"), Kind::Moved, moved(3), move || {
                done(aten::add(&this, &other, 1.into()))
            }))?;
            let this = x.clone();
            measure(&line(format!("relu {name}"), Kind::Moved, moved(2), move || done(aten::relu(&this))))?;
            let this = x.clone();
            measure(&line(format!("gelu {name}"), Kind::Moved, moved(2), move || done(aten::gelu(&this, "none"))))?;
            let this = x.clone();
            measure(&line(format!("exp {name}"), Kind::Moved, moved(2), move || done(aten::exp(&this))))?;
            let this = x.clone();
            measure(&line(format!("add a row {name}"), Kind::Moved, moved(2), move || {
                done(aten::add(&this, &row, 1.into()))
            }))?;
            measure(&line(format!("transposed copy {name}"), Kind::Moved, moved(2), move || {
                done(aten::contiguous(&aten::t(&square)?, MemoryFormat::Contiguous))
            }))?;
            let image = aten::view(&x, &[-1, 64, 32, 32])?;
            measure(&line(format!("channels first to last {name}"), Kind::Moved, moved(2), move || {
                done(aten::contiguous(&image, MemoryFormat::ChannelsLast))
            }))?;
        }
        Ok(())
    }

    fn reductions(&self, measure: Measure<'_>) -> Result<()> {
        let bytes = self.shrunk(256 << 20, 1 << 20);
        for (dtype, name) in DTYPES {
            let count = bytes / i64::try_from(dtype.size()).unwrap_or(4);
            let x = self.random(&[count / 4096, 4096], dtype)?;
            let (weight, bias) = (self.random(&[4096], dtype)?, self.random(&[4096], dtype)?);
            let once = amount(bytes);
            let this = x.clone();
            measure(&line(format!("sum {name}"), Kind::Moved, once, move || done(aten::sum(&this, None))))?;
            for (what, dim) in [("rows", 1), ("columns", 0)] {
                let this = x.clone();
                measure(&line(format!("sum of {what} {name}"), Kind::Moved, once, move || {
                    done(aten::sum_dim_intlist(&this, Some(&[dim]), false, None))
                }))?;
                let this = x.clone();
                measure(&line(format!("largest of {what} {name}"), Kind::Moved, once, move || {
                    done(aten::amax(&this, &[dim], false))
                }))?;
            }
            let this = x.clone();
            measure(&line(format!("softmax {name}"), Kind::Moved, 2.0 * once, move || {
                done(aten::_softmax(&this, -1, false))
            }))?;
            measure(&line(format!("layer_norm {name}"), Kind::Moved, 2.0 * once, move || {
                done(aten::native_layer_norm(&x, &[4096], Some(&weight), Some(&bias), 1e-5))
            }))?;
        }
        Ok(())
    }

    fn products(&self, measure: Measure<'_>) -> Result<()> {
        for side in [512, 1024, 2048, 4096, 8192] {
            for (name, dtype, tf32) in
                [("bf16", DType::BF16, false), ("f32", DType::F32, false), ("TF32", DType::F32, true)]
            {
                let small = self.shrunk(side, side / 64);
                let (a, b) = (self.random(&[small, small], dtype)?, self.random(&[small, small], dtype)?);
                allow_tf32(tf32);
                let operations = 2.0 * amount(small).powi(3);
                let work = move || done(aten::mm(&a, &b));
                measure(&line(format!("matmul {name} {side}"), Kind::Computed, operations, work))?;
                allow_tf32(false);
            }
        }
        Ok(())
    }

    fn attentions(&self, measure: Measure<'_>) -> Result<()> {
        const HEADS: i64 = 16;
        for width in [64, 128] {
            for length in [1024, 4096, 16_384] {
                let (items, small) = (16_384 / length, self.shrunk(length, 64));
                let sizes = [items, HEADS, small, width];
                let part = || self.random(&sizes, DType::BF16);
                let (q, k, v, slopes) = (part()?, part()?, part()?, part()?);
                for causal in [false, true] {
                    let name = format!("{width} x {length}{}", if causal { " causal" } else { "" });
                    let all = 4.0 * amount(items * HEADS * width) * amount(small).powi(2);
                    let operations = if causal { all / 2.0 } else { all };
                    let attended = move |q: &Tensor, k: &Tensor, v: &Tensor| {
                        aten::scaled_dot_product_attention!(q, k, v, is_causal = causal)
                    };
                    let [this, keys, values] = [&q, &k, &v].map(Tensor::clone);
                    measure(&line(format!("attention {name}"), Kind::Computed, operations, move || {
                        done(attended(&this, &keys, &values))
                    }))?;
                    let leaf = |of: &Tensor| aten::detach(of)?.requires_grad_(true);
                    let (this, keys, values) = (leaf(&q)?, leaf(&k)?, leaf(&v)?);
                    let slopes = slopes.clone();
                    let name = format!("attention and its gradients {name}");
                    measure(&line(name, Kind::Computed, 3.5 * operations, move || {
                        let out = attended(&this, &keys, &values)?;
                        done(Differentiation::of(&[&out]).seeded(&[&slopes]).grad(&[&this, &keys, &values]))
                    }))?;
                }
            }
        }
        Ok(())
    }

    fn convolutions(&self, measure: Measure<'_>) -> Result<()> {
        for (dtype, name) in DTYPES {
            for (layout, format) in [("first", MemoryFormat::Contiguous), ("last", MemoryFormat::ChannelsLast)] {
                for [from, to, image, window, stride] in IMAGES {
                    let items = self.shrunk(64, 1);
                    let side = self.shrunk(image, window.max(7));
                    let x = aten::contiguous(&self.random(&[items, from, side, side], dtype)?, format)?;
                    let w = aten::contiguous(&self.random(&[to, from, window, window], dtype)?, format)?;
                    let (out, padding) = ((side - 1) / stride + 1, window / 2);
                    let operations = 2.0 * amount(items * to * out * out) * amount(from * window * window);
                    let name = format!("conv {name} {layout} {from} to {to} of {image} by {window} step {stride}");
                    measure(&line(name, Kind::Computed, operations, move || {
                        done(aten::conv2d(&x, &w, None, &[stride], &[padding], &[1], 1))
                    }))?;
                }
            }
        }
        Ok(())
    }

    fn picks(&self, measure: Measure<'_>) -> Result<()> {
        let count = self.shrunk(1 << 24, 1 << 12);
        let wide = self.shrunk(1 << 14, 1 << 4);
        let line_of = self.random(&[count], DType::F32)?;
        let rows = aten::view(&line_of, &[wide, -1])?;
        let this = line_of.clone();
        measure(&line("sort of a line", Kind::Timed, 0.0, move || done(aten::sort(&this, -1, false))))?;
        let this = rows.clone();
        measure(&line("sort of rows", Kind::Timed, 0.0, move || done(aten::sort(&this, -1, false))))?;
        let numbers = self.whole(&[count], 1 << 40)?;
        measure(&line("sort of integers", Kind::Timed, 0.0, move || done(aten::sort(&numbers, -1, false))))?;
        let this = line_of.clone();
        measure(&line("topk 100 of a line", Kind::Timed, 0.0, move || done(aten::topk(&this, 100, -1, true, true))))?;
        let this = rows.clone();
        measure(&line("topk 10 of rows", Kind::Timed, 0.0, move || done(aten::topk(&this, 10, -1, true, true))))?;
        let this = line_of.clone();
        measure(&line("cumsum of a line", Kind::Timed, 0.0, move || done(aten::cumsum(&this, 0, None))))?;
        for (what, dim) in [("rows", 1), ("columns", 0)] {
            let this = rows.clone();
            measure(&line(format!("cumsum of {what}"), Kind::Timed, 0.0, move || {
                done(aten::cumsum(&this, dim, None))
            }))?;
        }
        let numbers = self.whole(&[count], 100)?;
        measure(&line("cumsum of integers", Kind::Timed, 0.0, move || done(aten::cumsum(&numbers, 0, None))))?;
        let places = self.whole(&[count], count)?;
        let (this, at) = (line_of.clone(), places.clone());
        measure(&line("index of elements", Kind::Timed, 0.0, move || done(aten::index(&this, &[Some(at.clone())]))))?;
        let of_rows = self.whole(&[wide], wide)?;
        let (this, at) = (rows.clone(), of_rows.clone());
        measure(&line("index of rows", Kind::Timed, 0.0, move || done(aten::index(&this, &[Some(at.clone())]))))?;
        let (this, at) = (line_of.clone(), places.clone());
        measure(&line("gather", Kind::Timed, 0.0, move || done(aten::gather(&this, 0, &at, false))))?;
        let (this, at, from) = (line_of.clone(), places, line_of.clone());
        measure(&line("scatter_add", Kind::Timed, 0.0, move || done(aten::scatter_add(&this, 0, &at, &from))))?;
        let (this, at) = (rows.clone(), of_rows);
        measure(&line("index_add of rows", Kind::Timed, 0.0, move || {
            done(aten::index_add(&this, 0, &at, &this, 1.into()))
        }))?;
        let (words, width) = (self.shrunk(50_257, 100), self.shrunk(768, 8));
        let table = self.random(&[words, width], DType::F32)?;
        let text = self.whole(&[self.shrunk(8, 1), self.shrunk(1024, 16)], words)?;
        let slopes = aten::embedding(&table, &text, -1, false, false)?;
        let list = text.clone();
        measure(&line("embedding", Kind::Timed, 0.0, move || done(aten::embedding(&table, &list, -1, false, false))))?;
        measure(&line("gradient of embedding", Kind::Timed, 0.0, move || {
            done(aten::embedding_dense_backward(&slopes, &text, words, -1, false))
        }))
    }

    fn small_calls(&self, measure: Measure<'_>) -> Result<()> {
        const CALLS: u32 = 500;
        let x = self.random(&[1], DType::F32)?;
        let work = move || (0..CALLS).try_fold(x.clone(), |y, _| aten::add(&y, &x, 1.into())).map(drop);
        let chain = line("add of one element, in a chain", Kind::Asked, 0.0, work);
        measure(&Line { calls: f64::from(CALLS), ..chain })?;
        let width = self.shrunk(1024, 32);
        for (name, sizes, batch) in [
            ("training step of digits", vec![64, 128, 10], 64),
            ("training step of 784-1024-1024-10", vec![784, width, width, 10], 256),
        ] {
            let network = Network::new(&sizes, batch, self.device)?;
            measure(&line(name, Kind::Timed, 0.0, move || network.step()))?;
        }
        let network = Network::new(&[784, width, width, 10], 256, self.device)?;
        let no_grad = guard::no_grad();
        let graph = Graph::record(self.device, || network.forward())?;
        drop(no_grad);
        measure(&line("replayed forward of 784-1024-1024-10", Kind::Timed, 0.0, move || {
            // The inputs of a recording must exist before it.
            let _kept = &network;
            graph.replay()
        }))
    }
}

/// Convolutions of ResNet-50: input and output channels, the size of the image and of the window, and the stride.
const IMAGES: [[i64; 5]; 9] = [
    [3, 64, 224, 7, 2],
    [64, 64, 56, 1, 1],
    [64, 64, 56, 3, 1],
    [64, 256, 56, 1, 1],
    [128, 128, 28, 3, 1],
    [256, 512, 56, 1, 2],
    [256, 256, 14, 3, 1],
    [1024, 256, 14, 1, 1],
    [512, 512, 7, 3, 1],
];
