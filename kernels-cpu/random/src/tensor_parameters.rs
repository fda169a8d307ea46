//! Kernels of distributions whose parameters are tensors.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, philox};

use super::{GroupWords, fill_from_words};
use engine::data_movement::broadcast_to_contiguous;
use engine::elementwise::elementwise;
use engine::math::special::{beta_distribution, gamma_distribution};
use kernels_cpu_elementwise::special::{compute_binary_in_f64, compute_ternary_in_f64};

#[op_impl(aten::poisson, CPU, strided)]
fn poisson(_plan: &(), out: &mut Tensor, this: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let rates = parameter_values("self", this, out.sizes())?;
    if let Some(bad) = rates.iter().find(|rate| rate.is_nan() || **rate < 0.0) {
        return Err(BadArgument::number("self", *bad, 0..).into());
    }
    fill_from_streams(out, generator, |stream, i| stream.draw_poisson(rates[i]))
}

#[op_impl(aten::binomial, CPU, strided)]
fn binomial(_plan: &(), out: &mut Tensor, count: &Tensor, prob: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (counts, probabilities) =
        (parameter_values("count", count, out.sizes())?, parameter_values("prob", prob, out.sizes())?);
    fill_from_streams(out, generator, |stream, i| stream.draw_binomial(counts[i].floor(), probabilities[i]))
}

#[op_impl(aten::_standard_gamma, CPU, strided)]
fn standard_gamma(_plan: &(), out: &mut Tensor, this: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let shapes = parameter_values("self", this, out.sizes())?;
    // Numbers that would round to zero become the smallest positive normal number.
    let least = if this.dtype() == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    fill_from_streams(out, generator, |stream, i| {
        if shapes[i] == 0.0 {
            return 0.0;
        }
        let number = stream.draw_gamma(shapes[i]);
        if number < least { least } else { number }
    })
}

elementwise! {
    _standard_gamma_grad => |[shape, x]| compute_binary_in_f64(shape, x, gamma_distribution::implicit_gradient);
    _dirichlet_grad => |[x, alpha, total]| compute_ternary_in_f64(x, alpha, total, beta_distribution::implicit_gradient);
}

/// Broadcasts a parameter to one value for each element of the result.
fn parameter_values(name: &'static str, tensor: &Tensor, sizes: &[i64]) -> Result<Vec<f64>> {
    broadcast_to_contiguous(name, tensor, DType::F64, sizes)?.to_vec()
}

fn fill_from_streams(
    this: &mut Tensor,
    generator: Option<&Generator>,
    draw: impl Fn(&mut WordStream, usize) -> f64 + Sync,
) -> Result<()> {
    let count = usize::try_from(this.geometry().count()).unwrap_or(0);
    fill_from_words::<f64, 1>(this, generator, |words, first| {
        // The last group may have more elements than the tensor.
        [std::array::from_fn(|i| {
            if first + i < count { draw(&mut WordStream::from_words(words, i), first + i) } else { 0.0 }
        })]
    })
}

/// A stream of random words, seeded by the four words of a block.
struct WordStream {
    key: u64,
    counter_start: [u32; 2],
    blocks: u32,
    words: [u32; 4],
    used: usize,
}

/// The maximum number of tries of a rejection method. The probability that all fail is negligible.
const MAX_TRIES: u32 = 1000;

impl WordStream {
    fn from_words(words: &GroupWords, at: usize) -> Self {
        let [low, high, counter_start @ ..] = words.map(|words| words[at]);
        Self { key: u64::from(high) << 32 | u64::from(low), counter_start, blocks: 0, words: [0; 4], used: 4 }
    }

    /// Returns a uniform number above zero and below one.
    fn draw_uniform(&mut self) -> f64 {
        if self.used == 4 {
            self.words = philox(self.key, [self.counter_start[0], self.counter_start[1], self.blocks, 0]);
            (self.blocks, self.used) = (self.blocks.wrapping_add(1), 0);
        }
        let word = u64::from(self.words[self.used + 1]) << 32 | u64::from(self.words[self.used]);
        self.used += 2;
        f64::from_bits(word >> 12 | 0x3ff << 52) - 1.0 + f64::EPSILON / 4.0
    }

    fn draw_normal(&mut self) -> f64 {
        let radius = (-2.0 * self.draw_uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.draw_uniform()).cos()
    }

    /// Draws a gamma number by the method of Marsaglia and Tsang. For a shape below 1, draws one of shape + 1 and multiplies it by a power
    /// of a uniform number.
    fn draw_gamma(&mut self, shape: f64) -> f64 {
        if shape.is_nan() || shape <= 0.0 {
            return f64::NAN;
        }
        if shape < 1.0 {
            return self.draw_gamma(shape + 1.0) * self.draw_uniform().powf(shape.recip());
        }
        let d = shape - 1.0 / 3.0;
        let c = (9.0 * d).sqrt().recip();
        for _ in 0..MAX_TRIES {
            let x = self.draw_normal();
            let root = 1.0 + c * x;
            if root > 0.0 {
                let cube = root * root * root;
                if self.draw_uniform().ln() < 0.5 * x * x + d - d * cube + d * cube.ln() {
                    return d * cube;
                }
            }
        }
        d
    }

    /// Draws a Poisson number: the number of events in a time `rate`. For a high rate, it draws the time of a far event, a gamma number. If
    /// that event is in time, counting continues after it. If it is too late, a binomial number counts the events before it.
    fn draw_poisson(&mut self, rate: f64) -> f64 {
        let (mut rest, mut sum) = (rate, 0.0);
        while rest > 12.0 {
            let ahead = (0.875 * rest).floor();
            let time = self.draw_gamma(ahead);
            // With an infinite rate, the loop would never end.
            if time.is_nan() || time > rest || rest.is_infinite() {
                return sum + self.draw_binomial(ahead - 1.0, rest / time);
            }
            (rest, sum) = (rest - time, sum + ahead);
        }
        let (least, mut product) = ((-rest).exp(), self.draw_uniform());
        while product > least {
            product *= self.draw_uniform();
            sum += 1.0;
        }
        sum
    }

    /// Draws a binomial number. The tries are uniform numbers, and those below the probability are successes. The sorted tries are split at
    /// the middle one until few successes or failures are left. These are counted by the gaps between them.
    fn draw_binomial(&mut self, count: f64, probability: f64) -> f64 {
        if count.is_nan() || probability.is_nan() {
            return f64::NAN;
        }
        let (mut n, mut p, mut sum) = (count, probability, 0.0);
        while n * p.min(1.0 - p) > 12.0 && n.is_finite() {
            let middle = (0.5 * n).floor() + 1.0;
            let (below, above) = (self.draw_gamma(middle), self.draw_gamma(n + 1.0 - middle));
            let place = below / (below + above);
            if place >= p {
                (n, p) = (middle - 1.0, p / place);
            } else {
                (n, p, sum) = (n - middle, (p - place) / (1.0 - place), sum + middle);
            }
        }
        if n <= 0.0 || p <= 0.0 {
            return sum;
        }
        if p > 0.5 { sum + n - self.count_successes(n, 1.0 - p) } else { sum + self.count_successes(n, p) }
    }

    fn count_successes(&mut self, n: f64, p: f64) -> f64 {
        if p <= 0.0 {
            return 0.0;
        }
        let (scale, mut tries, mut sum) = ((-p).ln_1p().recip(), 0.0, 0.0);
        for _ in 0..MAX_TRIES {
            tries += (self.draw_uniform().ln() * scale).floor() + 1.0;
            if tries > n {
                break;
            }
            sum += 1.0;
        }
        sum
    }
}
