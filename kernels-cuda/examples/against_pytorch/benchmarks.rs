//! The measured benchmarks, each of which prints one line. `pytorch.py` has the same benchmarks with the same names.

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{MemoryFormat, guard};
use kernels_cuda::{Graph, allow_tf32};

use crate::network::Network;

/// The quantity that is printed for a benchmark. It determines the meaning of the benchmark's amount of work.
pub(crate) enum Metric {
    /// The bandwidth of a plain copy, with which other benchmarks are compared. The amount is in bytes.
    CopyBandwidth,
    /// The memory bandwidth. The amount is the number of bytes that are read and written.
    Bandwidth,
    /// The arithmetic operations per second. The amount is the number of operations.
    ArithmeticRate,
    /// The time on the device. There is no amount.
    DeviceTime,
    /// The time of the calls on the host. There is no amount.
    HostTime,
}

pub(crate) struct Benchmark {
    pub(crate) name: String,
    pub(crate) metric: Metric,
    pub(crate) amount: f64,
    /// The number of operator calls in the measured work, by which its time is divided.
    pub(crate) calls: f64,
    pub(crate) work: Box<dyn Fn() -> Result<()>>,
}

fn new_benchmark(
    name: impl Into<String>,
    metric: Metric,
    amount: f64,
    work: impl Fn() -> Result<()> + 'static,
) -> Benchmark {
    Benchmark { name: name.into(), metric, amount, calls: 1.0, work: Box::new(work) }
}

/// Drops the result of a call.
fn drop_result<T>(result: Result<T>) -> Result<()> {
    result.map(drop)
}

/// Creates the inputs of all benchmarks and measures them.
pub(crate) struct BenchmarkSuite {
    pub(crate) device: Device,
    /// Whether inputs are small, to try the program.
    pub(crate) small: bool,
}

/// A function that measures a benchmark, called while the benchmark's tensors exist.
pub(crate) type MeasureFn<'a> = &'a mut dyn FnMut(&Benchmark) -> Result<()>;

const BENCHMARK_DTYPES: [(DType, &str); 2] = [(DType::F32, "f32"), (DType::BF16, "bf16")];

#[expect(clippy::cast_precision_loss, reason = "an amount")]
fn to_f64(number: i64) -> f64 {
    number as f64
}

impl BenchmarkSuite {
    pub(crate) fn measure_all(&self, measure: MeasureFn<'_>) -> Result<()> {
        self.measure_pointwise_operators(measure)?;
        self.measure_reductions(measure)?;
        self.measure_matrix_products(measure)?;
        self.measure_attention(measure)?;
        self.measure_convolutions(measure)?;
        self.measure_indexing(measure)?;
        self.measure_small_calls(measure)
    }

    fn random_tensor(&self, sizes: &[i64], dtype: DType) -> Result<Tensor> {
        let mut made = aten::full(sizes, 0.into(), Some(dtype), None, Some(self.device), None)?;
        aten::normal_(&mut made, 0.0, 1.0, None)?;
        Ok(made)
    }

    fn random_integers(&self, sizes: &[i64], below: i64) -> Result<Tensor> {
        let mut made = aten::full(sizes, 0.into(), Some(DType::I64), None, Some(self.device), None)?;
        aten::random__to(&mut made, below, None)?;
        Ok(made)
    }

    fn select_size(&self, large: i64, small: i64) -> i64 {
        if self.small { small } else { large }
    }

    fn measure_pointwise_operators(&self, measure: MeasureFn<'_>) -> Result<()> {
        let bytes = self.select_size(256 << 20, 1 << 20);
        let moved = |tensors: i64| to_f64(tensors * bytes);
        for (dtype, name) in BENCHMARK_DTYPES {
            let count = bytes / i64::try_from(dtype.size()).unwrap_or(4);
            let x = self.random_tensor(&[count / 8192, 8192], dtype)?;
            let y = self.random_tensor(&[count / 8192, 8192], dtype)?;
            let (row, square) =
                (self.random_tensor(&[8192], dtype)?, self.random_tensor(&[count / 4096, 4096], dtype)?);
            let metric = if dtype == DType::F32 { Metric::CopyBandwidth } else { Metric::Bandwidth };
            let this = x.clone();
            measure(&new_benchmark(format!("clone {name}"), metric, moved(2), move || {
                drop_result(aten::clone(&this, None))
            }))?;
            let (this, other) = (x.clone(), y.clone());
            measure(&new_benchmark(format!("add {name}"), Metric::Bandwidth, moved(3), move || {
                drop_result(aten::add(&this, &other, 1.into()))
            }))?;
            let this = x.clone();
            measure(&new_benchmark(format!("relu {name}"), Metric::Bandwidth, moved(2), move || {
                drop_result(aten::relu(&this))
            }))?;
            let this = x.clone();
            measure(&new_benchmark(format!("gelu {name}"), Metric::Bandwidth, moved(2), move || {
                drop_result(aten::gelu(&this, "none"))
            }))?;
            let this = x.clone();
            measure(&new_benchmark(format!("exp {name}"), Metric::Bandwidth, moved(2), move || {
                drop_result(aten::exp(&this))
            }))?;
            let this = x.clone();
            measure(&new_benchmark(format!("add a row {name}"), Metric::Bandwidth, moved(2), move || {
                drop_result(aten::add(&this, &row, 1.into()))
            }))?;
            measure(&new_benchmark(format!("transposed copy {name}"), Metric::Bandwidth, moved(2), move || {
                drop_result(aten::contiguous(&aten::t(&square)?, MemoryFormat::Contiguous))
            }))?;
            let image = aten::view(&x, &[-1, 64, 32, 32])?;
            measure(&new_benchmark(
                format!("channels first to last {name}"),
                Metric::Bandwidth,
                moved(2),
                move || drop_result(aten::contiguous(&image, MemoryFormat::ChannelsLast)),
            ))?;
        }
        Ok(())
    }

    fn measure_reductions(&self, measure: MeasureFn<'_>) -> Result<()> {
        let bytes = self.select_size(256 << 20, 1 << 20);
        for (dtype, name) in BENCHMARK_DTYPES {
            let count = bytes / i64::try_from(dtype.size()).unwrap_or(4);
            let x = self.random_tensor(&[count / 4096, 4096], dtype)?;
            let (weight, bias) = (self.random_tensor(&[4096], dtype)?, self.random_tensor(&[4096], dtype)?);
            let once = to_f64(bytes);
            let this = x.clone();
            measure(&new_benchmark(format!("sum {name}"), Metric::Bandwidth, once, move || {
                drop_result(aten::sum(&this, None))
            }))?;
            for (what, dim) in [("rows", 1), ("columns", 0)] {
                let this = x.clone();
                measure(&new_benchmark(format!("sum of {what} {name}"), Metric::Bandwidth, once, move || {
                    drop_result(aten::sum_dim_intlist(&this, Some(&[dim]), false, None))
                }))?;
                let this = x.clone();
                measure(&new_benchmark(format!("largest of {what} {name}"), Metric::Bandwidth, once, move || {
                    drop_result(aten::amax(&this, &[dim], false))
                }))?;
            }
            let this = x.clone();
            measure(&new_benchmark(format!("softmax {name}"), Metric::Bandwidth, 2.0 * once, move || {
                drop_result(aten::_softmax(&this, -1, false))
            }))?;
            measure(&new_benchmark(format!("layer_norm {name}"), Metric::Bandwidth, 2.0 * once, move || {
                drop_result(aten::native_layer_norm(&x, &[4096], Some(&weight), Some(&bias), 1e-5))
            }))?;
        }
        Ok(())
    }

    fn measure_matrix_products(&self, measure: MeasureFn<'_>) -> Result<()> {
        for side in [512, 1024, 2048, 4096, 8192] {
            for (name, dtype, tf32) in
                [("bf16", DType::BF16, false), ("f32", DType::F32, false), ("TF32", DType::F32, true)]
            {
                let small = self.select_size(side, side / 64);
                let (a, b) = (self.random_tensor(&[small, small], dtype)?, self.random_tensor(&[small, small], dtype)?);
                allow_tf32(tf32);
                let operations = 2.0 * to_f64(small).powi(3);
                let work = move || drop_result(aten::mm(&a, &b));
                measure(&new_benchmark(format!("matmul {name} {side}"), Metric::ArithmeticRate, operations, work))?;
                allow_tf32(false);
            }
        }
        Ok(())
    }

    fn measure_attention(&self, measure: MeasureFn<'_>) -> Result<()> {
        const HEAD_COUNT: i64 = 16;
        for width in [64, 128] {
            for length in [1024, 4096, 16_384] {
                let (items, small) = (16_384 / length, self.select_size(length, 64));
                let sizes = [items, HEAD_COUNT, small, width];
                let part = || self.random_tensor(&sizes, DType::BF16);
                let (q, k, v, grads) = (part()?, part()?, part()?, part()?);
                for causal in [false, true] {
                    let name = format!("{width} x {length}{}", if causal { " causal" } else { "" });
                    let all = 4.0 * to_f64(items * HEAD_COUNT * width) * to_f64(small).powi(2);
                    let operations = if causal { all / 2.0 } else { all };
                    let attended = move |q: &Tensor, k: &Tensor, v: &Tensor| {
                        aten::scaled_dot_product_attention!(q, k, v, is_causal = causal)
                    };
                    let [this, keys, values] = [&q, &k, &v].map(Tensor::clone);
                    measure(&new_benchmark(
                        format!("attention {name}"),
                        Metric::ArithmeticRate,
                        operations,
                        move || drop_result(attended(&this, &keys, &values)),
                    ))?;
                    let leaf = |of: &Tensor| aten::detach(of)?.requires_grad_(true);
                    let (this, keys, values) = (leaf(&q)?, leaf(&k)?, leaf(&v)?);
                    let grads = grads.clone();
                    let name = format!("attention and its gradients {name}");
                    measure(&new_benchmark(name, Metric::ArithmeticRate, 3.5 * operations, move || {
                        let out = attended(&this, &keys, &values)?;
                        drop_result(
                            Differentiation::of_outputs(&[&out]).with_seeds(&[&grads]).grad(&[&this, &keys, &values]),
                        )
                    }))?;
                }
            }
        }
        Ok(())
    }

    fn measure_convolutions(&self, measure: MeasureFn<'_>) -> Result<()> {
        for (dtype, name) in BENCHMARK_DTYPES {
            for (layout, format) in [("first", MemoryFormat::Contiguous), ("last", MemoryFormat::ChannelsLast)] {
                for [from, to, image, window, stride] in RESNET50_CONVOLUTIONS {
                    let items = self.select_size(64, 1);
                    let side = self.select_size(image, window.max(7));
                    let x = aten::contiguous(&self.random_tensor(&[items, from, side, side], dtype)?, format)?;
                    let w = aten::contiguous(&self.random_tensor(&[to, from, window, window], dtype)?, format)?;
                    let (out, padding) = ((side - 1) / stride + 1, window / 2);
                    let operations = 2.0 * to_f64(items * to * out * out) * to_f64(from * window * window);
                    let name = format!("conv {name} {layout} {from} to {to} of {image} by {window} step {stride}");
                    measure(&new_benchmark(name, Metric::ArithmeticRate, operations, move || {
                        drop_result(aten::conv2d(&x, &w, None, &[stride], &[padding], &[1], 1))
                    }))?;
                }
            }
        }
        Ok(())
    }

    fn measure_indexing(&self, measure: MeasureFn<'_>) -> Result<()> {
        let count = self.select_size(1 << 24, 1 << 12);
        let wide = self.select_size(1 << 14, 1 << 4);
        let line_of = self.random_tensor(&[count], DType::F32)?;
        let rows = aten::view(&line_of, &[wide, -1])?;
        let this = line_of.clone();
        measure(&new_benchmark("sort of a line", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::sort(&this, -1, false))
        }))?;
        let this = rows.clone();
        measure(&new_benchmark("sort of rows", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::sort(&this, -1, false))
        }))?;
        let numbers = self.random_integers(&[count], 1 << 40)?;
        measure(&new_benchmark("sort of integers", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::sort(&numbers, -1, false))
        }))?;
        let this = line_of.clone();
        measure(&new_benchmark("topk 100 of a line", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::topk(&this, 100, -1, true, true))
        }))?;
        let this = rows.clone();
        measure(&new_benchmark("topk 10 of rows", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::topk(&this, 10, -1, true, true))
        }))?;
        let this = line_of.clone();
        measure(&new_benchmark("cumsum of a line", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::cumsum(&this, 0, None))
        }))?;
        for (what, dim) in [("rows", 1), ("columns", 0)] {
            let this = rows.clone();
            measure(&new_benchmark(format!("cumsum of {what}"), Metric::DeviceTime, 0.0, move || {
                drop_result(aten::cumsum(&this, dim, None))
            }))?;
        }
        let numbers = self.random_integers(&[count], 100)?;
        measure(&new_benchmark("cumsum of integers", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::cumsum(&numbers, 0, None))
        }))?;
        let places = self.random_integers(&[count], count)?;
        let (this, at) = (line_of.clone(), places.clone());
        measure(&new_benchmark("index of elements", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::index(&this, &[Some(at.clone())]))
        }))?;
        let of_rows = self.random_integers(&[wide], wide)?;
        let (this, at) = (rows.clone(), of_rows.clone());
        measure(&new_benchmark("index of rows", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::index(&this, &[Some(at.clone())]))
        }))?;
        let (this, at) = (line_of.clone(), places.clone());
        measure(&new_benchmark("gather", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::gather(&this, 0, &at, false))
        }))?;
        let (this, at, from) = (line_of.clone(), places, line_of.clone());
        measure(&new_benchmark("scatter_add", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::scatter_add(&this, 0, &at, &from))
        }))?;
        let (this, at) = (rows.clone(), of_rows);
        measure(&new_benchmark("index_add of rows", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::index_add(&this, 0, &at, &this, 1.into()))
        }))?;
        let (words, width) = (self.select_size(50_257, 100), self.select_size(768, 8));
        let table = self.random_tensor(&[words, width], DType::F32)?;
        let text = self.random_integers(&[self.select_size(8, 1), self.select_size(1024, 16)], words)?;
        let grads = aten::embedding(&table, &text, -1, false, false)?;
        let list = text.clone();
        measure(&new_benchmark("embedding", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::embedding(&table, &list, -1, false, false))
        }))?;
        measure(&new_benchmark("gradient of embedding", Metric::DeviceTime, 0.0, move || {
            drop_result(aten::embedding_dense_backward(&grads, &text, words, -1, false))
        }))
    }

    fn measure_small_calls(&self, measure: MeasureFn<'_>) -> Result<()> {
        const CHAIN_LENGTH: u32 = 500;
        let x = self.random_tensor(&[1], DType::F32)?;
        let work = move || (0..CHAIN_LENGTH).try_fold(x.clone(), |y, _| aten::add(&y, &x, 1.into())).map(drop);
        let chain = new_benchmark("add of one element, in a chain", Metric::HostTime, 0.0, work);
        measure(&Benchmark { calls: f64::from(CHAIN_LENGTH), ..chain })?;
        let width = self.select_size(1024, 32);
        for (name, sizes, batch) in [
            ("training step of digits", vec![64, 128, 10], 64),
            ("training step of 784-1024-1024-10", vec![784, width, width, 10], 256),
        ] {
            let network = Network::new(&sizes, batch, self.device)?;
            measure(&new_benchmark(name, Metric::DeviceTime, 0.0, move || network.training_step()))?;
        }
        let network = Network::new(&[784, width, width, 10], 256, self.device)?;
        let no_grad = guard::no_grad();
        let graph = Graph::record(self.device, || network.forward())?;
        drop(no_grad);
        measure(&new_benchmark("replayed forward of 784-1024-1024-10", Metric::DeviceTime, 0.0, move || {
            // The graph reads the network's tensors, so the network must live as long as the graph.
            let _kept = &network;
            graph.replay()
        }))
    }
}

/// Convolutions of ResNet-50: input and output channels, the size of the image and of the window, and the stride.
const RESNET50_CONVOLUTIONS: [[i64; 5]; 9] = [
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
