//! Checks random operators by the distribution of their results. The same seed must give the same results.

use dispatch_checks::plumbing::{Array, CallError, Datum, arguments_by_name, call_and_check_aliasing, create_values};
use dispatch_checks::{Difference, Failure, Verdict};
use dispatch_runtime::{DType, Device, Generator, Operator, Scalar, Value};

use super::non_tensor;

const DRAW_COUNT: usize = 10_000;

/// The random operators to check: their results are compared with a distribution. Some are among PyTorch's core operators.
pub(crate) const RANDOM_OPERATORS: [&str; 40] = [
    "aten::_sample_dirichlet",
    "aten::_standard_gamma",
    "aten::bernoulli",
    "aten::bernoulli.Tensor",
    "aten::bernoulli.p",
    "aten::bernoulli_.Tensor",
    "aten::bernoulli_.float",
    "aten::binomial",
    "aten::cauchy",
    "aten::cauchy_",
    "aten::exponential",
    "aten::exponential_",
    "aten::geometric",
    "aten::geometric_",
    "aten::log_normal",
    "aten::log_normal_",
    "aten::multinomial",
    "aten::normal.Tensor_Tensor",
    "aten::normal.Tensor_float",
    "aten::normal.float_Tensor",
    "aten::normal.float_float",
    "aten::normal_",
    "aten::normal_functional",
    "aten::poisson",
    "aten::rand.generator",
    "aten::rand_like",
    "aten::randint",
    "aten::randint.generator",
    "aten::randint.low_generator",
    "aten::randint_like.low_dtype",
    "aten::randn.generator",
    "aten::randn_like",
    "aten::random",
    "aten::random.from",
    "aten::random.to",
    "aten::random_.from",
    "aten::random_.to",
    "aten::randperm.generator",
    "aten::uniform",
    "aten::uniform_",
];

/// The expected distribution of random results.
enum Distribution {
    /// Results with this mean and variance, not below `from` and below `to`.
    Moments { mean: f64, variance: f64, from: f64, to: f64 },
    /// Results with these fractions below these bounds, for a distribution without a mean.
    Fractions(FractionsBelowBounds),
    /// Results with this mean and variance, not below zero, with these fractions below these bounds.
    MomentsAndFractions { mean: f64, variance: f64, fractions: FractionsBelowBounds },
    /// Each number from 0 on, exactly once.
    Permutation,
    /// Dropout of ones: the results (zero, or scaled up), and then the mask.
    Dropout,
}

/// Bounds, and the fraction of the results below each bound.
type FractionsBelowBounds = &'static [(f64, f64)];

/// Returns an argument that is not a tensor.
fn named(name: &'static str, value: impl Into<Value>) -> (&'static str, Datum) {
    (name, non_tensor(value))
}

/// Returns the arguments of a random operator's call, and the expected distribution.
fn arguments_and_distribution(name: &str, dtype: DType) -> Option<(Vec<(&'static str, Datum)>, Distribution)> {
    let count = 10_000_i64;
    let all = |value: f64| Datum::Array(Array::new(dtype, &[count], vec![Scalar::Float(value); DRAW_COUNT]));
    // Alternates two parameters, because some kernels sample differently for small and large ones.
    let halves = |values: [f64; 2]| {
        let elements = values.iter().cycle().take(DRAW_COUNT).map(|&value| Scalar::Float(value));
        Datum::Array(Array::new(dtype, &[count], elements.collect()))
    };
    let ascending = || Datum::Array(Array::new(dtype, &[4], (1..5).map(|i| Scalar::Float(f64::from(i))).collect()));
    let ignored_self = || ("self", all(9.0));
    let moments = |mean, variance, from, to| Distribution::Moments { mean, variance, from, to };
    let with_fractions = |mean, variance, fractions| Distribution::MomentsAndFractions { mean, variance, fractions };
    let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
    let (size, kind) = (|| named("size", vec![count]), || named("dtype", dtype));
    Some(match name {
        "aten::rand" | "aten::rand.generator" => (vec![size(), kind()], moments(0.5, 1.0 / 12.0, 0.0, 1.0)),
        "aten::rand_like" => (vec![ignored_self()], moments(0.5, 1.0 / 12.0, 0.0, 1.0)),
        "aten::uniform" | "aten::uniform_" => {
            (vec![ignored_self(), named("from", -3.0), named("to", 5.0)], moments(1.0, 64.0 / 12.0, -3.0, 5.0))
        }
        "aten::randn" | "aten::randn.generator" => (vec![size(), kind()], moments(0.0, 1.0, least, most)),
        "aten::randn_like" => (vec![ignored_self()], moments(0.0, 1.0, least, most)),
        "aten::normal_" | "aten::normal_functional" => {
            (vec![ignored_self(), named("mean", 2.0), named("std", 3.0)], moments(2.0, 9.0, least, most))
        }
        "aten::normal.Tensor_float" => (vec![("mean", all(2.0)), named("std", 3.0)], moments(2.0, 9.0, least, most)),
        "aten::normal.float_Tensor" => (vec![named("mean", 2.0), ("std", all(3.0))], moments(2.0, 9.0, least, most)),
        "aten::normal.Tensor_Tensor" => (vec![("mean", all(2.0)), ("std", all(3.0))], moments(2.0, 9.0, least, most)),
        "aten::normal.float_float" => {
            (vec![named("mean", 2.0), named("std", 3.0), size(), kind()], moments(2.0, 9.0, least, most))
        }
        "aten::exponential" | "aten::exponential_" => {
            (vec![ignored_self(), named("lambd", 2.0)], moments(0.5, 0.25, f64::MIN_POSITIVE, most))
        }
        "aten::log_normal" | "aten::log_normal_" => {
            let (mean, variance) = ((1.0_f64 / 32.0).exp(), (1.0_f64 / 16.0).exp() * (1.0_f64 / 16.0).exp_m1());
            (vec![ignored_self(), named("mean", 0.0), named("std", 0.25)], moments(mean, variance, 0.0, most))
        }
        "aten::cauchy" | "aten::cauchy_" => {
            let quarters = &[(-1.0, 0.25), (1.0, 0.5), (3.0, 0.75)];
            (vec![ignored_self(), named("median", 1.0), named("sigma", 2.0)], Distribution::Fractions(quarters))
        }
        "aten::poisson" => {
            let fractions =
                &[(1.0, 0.04104), (2.0, 0.14364), (6.0, 0.47899), (32.0, 0.54276), (40.0, 0.73949), (52.0, 0.98063)];
            (vec![("self", halves([2.5, 40.0]))], with_fractions(21.25, 372.8125, fractions))
        }
        "aten::binomial" => {
            let fractions =
                &[(1.0, 0.01584), (2.0, 0.07919), (6.0, 0.4728), (39.0, 0.5149), (45.0, 0.7156), (52.0, 0.98939)];
            let given = vec![("count", halves([12.0, 60.0])), ("prob", halves([0.25, 0.75]))];
            (given, with_fractions(24.0, 447.75, fractions))
        }
        "aten::_standard_gamma" => {
            let fractions = &[(0.01, 0.05623), (0.1, 0.17264), (1.0, 0.43084), (4.0, 0.78093), (8.0, 0.97878)];
            (vec![("self", halves([0.5, 4.0]))], with_fractions(2.25, 5.3125, fractions))
        }
        "aten::_sample_dirichlet" => {
            let concentration = [0.5, 1.0, 2.0, 4.5].iter().cycle().take(DRAW_COUNT).map(|&x| Scalar::Float(x));
            let rows = Datum::Array(Array::new(dtype, &[count / 4, 4], concentration.collect()));
            let fractions = &[(0.001, 0.02572), (0.01, 0.09185), (0.2, 0.53875), (0.5, 0.82067), (0.8, 0.98132)];
            (vec![("self", rows)], with_fractions(0.25, 0.053_819, fractions))
        }
        "aten::geometric" | "aten::geometric_" => {
            (vec![ignored_self(), named("p", 0.25)], moments(4.0, 12.0, 1.0, most))
        }
        "aten::bernoulli" => (vec![("self", all(0.25))], moments(0.25, 0.1875, 0.0, 1.5)),
        "aten::bernoulli.Tensor" | "aten::bernoulli_.Tensor" => {
            (vec![ignored_self(), ("p", all(0.25))], moments(0.25, 0.1875, 0.0, 1.5))
        }
        "aten::bernoulli.p" | "aten::bernoulli_.float" => {
            (vec![ignored_self(), named("p", 0.25)], moments(0.25, 0.1875, 0.0, 1.5))
        }
        "aten::random" => {
            let end = 2.0_f64.powi(if dtype == DType::F64 { 53 } else { 24 });
            (vec![ignored_self()], moments(end / 2.0, end * end / 12.0, 0.0, end + 1.0))
        }
        "aten::random.from" | "aten::random_.from" => {
            (vec![ignored_self(), named("from", -5_i64), named("to", 5_i64)], moments(-0.5, 8.25, -5.0, 5.0))
        }
        "aten::random.to" | "aten::random_.to" => {
            (vec![ignored_self(), named("to", 10_i64)], moments(4.5, 8.25, 0.0, 10.0))
        }
        "aten::randint" | "aten::randint.generator" => {
            (vec![named("high", 10_i64), size(), kind()], moments(4.5, 8.25, 0.0, 10.0))
        }
        "aten::randint.low_generator" => {
            (vec![named("low", -5_i64), named("high", 5_i64), size(), kind()], moments(-0.5, 8.25, -5.0, 5.0))
        }
        "aten::randint_like.low_dtype" => {
            (vec![ignored_self(), named("low", -5_i64), named("high", 5_i64)], moments(-0.5, 8.25, -5.0, 5.0))
        }
        "aten::multinomial" => {
            let given = vec![("self", ascending()), named("num_samples", count), named("replacement", true)];
            (given, moments(2.0, 1.0, 0.0, 4.0))
        }
        "aten::randperm" | "aten::randperm.generator" => (vec![named("n", count)], Distribution::Permutation),
        "aten::native_dropout" => {
            (vec![("input", all(1.0)), named("p", 0.25), named("train", true)], Distribution::Dropout)
        }
        _ => return None,
    })
}

/// Returns the arguments of a random operator's call, or `None` for other operators.
pub(crate) fn random_operator_arguments(
    operator: &Operator,
    device: Device,
) -> Option<dispatch_checks::Result<Vec<Datum>>> {
    let (given, _) = arguments_and_distribution(&operator.name().to_string(), DType::F32)?;
    Some(create_arguments(operator, &given, &Datum::NonTensor(Value::None), device))
}

/// Checks the distribution of a random operator. Returns `None` for other operators.
pub(super) fn check(operator: &'static Operator, device: Device) -> Option<Verdict> {
    let name = operator.name().to_string();
    arguments_and_distribution(&name, DType::F32)?;
    let wrong = [DType::F32, DType::F64].into_iter().find_map(|dtype| {
        let (given, distribution) = arguments_and_distribution(&name, dtype)?;
        match find_distribution_mistake(operator, &given, &distribution, device) {
            Ok(wrong) => wrong.map(Ok),
            Err(error) => Some(Err(error)),
        }
    });
    Some(match wrong {
        None => Verdict::Passed,
        Some(Err(error)) => error.into(),
        Some(Ok(actual)) => {
            let difference = Difference::Value { actual, expected: "the distribution that its name says".to_owned() };
            Verdict::Failed(Failure::WrongResult { index: 0, difference })
        }
    })
}

fn find_distribution_mistake(
    operator: &'static Operator,
    given: &[(&'static str, Datum)],
    distribution: &Distribution,
    device: Device,
) -> Result<Option<String>, CallError> {
    let seeded = |seed| Datum::NonTensor(Value::Generator(Generator::new(device, seed)));
    let numbers = draw_numbers(operator, given, &seeded(1), device)?;
    if operator.schema().argument("generator").is_some() {
        if draw_numbers(operator, given, &seeded(1), device)? != numbers {
            return Ok(Some("other numbers from the same seed".to_owned()));
        }
        if draw_numbers(operator, given, &seeded(2), device)? == numbers {
            return Ok(Some("the same numbers from another seed".to_owned()));
        }
    }
    Ok(match distribution {
        Distribution::Moments { mean, variance, from, to } => {
            find_moments_mistake(&numbers, DRAW_COUNT, *mean, *variance).or_else(|| {
                let outside = numbers.iter().find(|x| !(from..to).contains(x));
                outside.map(|x| format!("{x}, which is not in [{from}, {to})"))
            })
        }
        Distribution::Fractions(fractions) => find_fractions_mistake(&numbers, fractions),
        Distribution::MomentsAndFractions { mean, variance, fractions } => {
            find_moments_mistake(&numbers, DRAW_COUNT, *mean, *variance)
                .or_else(|| numbers.iter().find(|&&x| x < 0.0).map(|x| format!("{x}, which is below zero")))
                .or_else(|| find_fractions_mistake(&numbers, fractions))
        }
        Distribution::Permutation => find_permutation_mistake(&numbers),
        Distribution::Dropout => find_dropout_mistake(&numbers),
    })
}

/// Makes the call, and returns the elements of its results.
fn draw_numbers(
    operator: &'static Operator,
    given: &[(&'static str, Datum)],
    generator: &Datum,
    device: Device,
) -> Result<Vec<f64>, CallError> {
    let outcome = call_and_check_aliasing(
        operator,
        create_values(&create_arguments(operator, given, generator, device)?, device)?,
    )?;
    let read = outcome.results.iter().map(Datum::from_value).collect::<dispatch_checks::Result<Vec<Datum>>>()?;
    Ok(read.iter().flat_map(Datum::arrays).flat_map(|array| &array.elements).filter_map(|x| x.to_f64()).collect())
}

fn create_arguments(
    operator: &Operator,
    given: &[(&'static str, Datum)],
    generator: &Datum,
    device: Device,
) -> dispatch_checks::Result<Vec<Datum>> {
    arguments_by_name(operator, |name| match name {
        "generator" => Some(generator.clone()),
        "device" => Some(Datum::NonTensor(device.into())),
        _ => given.iter().find(|(given, _)| *given == name).map(|(_, datum)| datum.clone()),
    })
}

/// Describes mean and variance if they differ from the expected ones by more than random deviation explains.
fn find_moments_mistake(numbers: &[f64], count: usize, mean: f64, variance: f64) -> Option<String> {
    if numbers.len() != count {
        return Some(format!("{} numbers", numbers.len()));
    }
    #[expect(clippy::cast_precision_loss, reason = "there are at most 20,000 numbers")]
    let count = count as f64;
    let actual_mean = numbers.iter().sum::<f64>() / count;
    let actual_variance = numbers.iter().map(|x| (x - actual_mean).powi(2)).sum::<f64>() / count;
    let near = (actual_mean - mean).abs() < 6.0 * (variance / count).sqrt();
    let alike = (actual_variance / variance - 1.0).abs() < 0.1;
    (!near || !alike).then(|| format!("numbers of mean {actual_mean} and variance {actual_variance}"))
}

/// Describes the first fraction that differs from the expected one by more than random deviation explains.
fn find_fractions_mistake(numbers: &[f64], fractions: FractionsBelowBounds) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "there are at most 20,000 numbers")]
    let (count, below) = (numbers.len() as f64, |bound| numbers.iter().filter(|&&x| x < bound).count() as f64);
    let wrong = fractions.iter().find(|&&(bound, fraction)| {
        let near = (below(bound) / count - fraction).abs() < 6.0 * (fraction * (1.0 - fraction) / count).sqrt();
        !near
    });
    wrong.map(|&(bound, fraction)| {
        format!("{} of {count} numbers below {bound}, in place of {fraction} of them", below(bound))
    })
}

/// Describes the mistake in the results of a dropout of ones. Kept elements must be scaled up, and the mask must mark them.
fn find_dropout_mistake(numbers: &[f64]) -> Option<String> {
    let (results, mask) = numbers.split_at(numbers.len() / 2);
    let scaled = results.iter().zip(mask).all(|(result, kept)| (result - kept / 0.75).abs() < 1e-6);
    let wrong = find_moments_mistake(mask, DRAW_COUNT, 0.75, 0.75 * 0.25);
    wrong.or_else(|| (!scaled).then(|| "results that differ from the scaled mask".to_owned()))
}

fn find_permutation_mistake(numbers: &[f64]) -> Option<String> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "there are at most 20,000 numbers")]
    let complete = sorted.len() == DRAW_COUNT && sorted.iter().enumerate().all(|(i, &x)| (x - i as f64).abs() < 0.5);
    if !complete {
        return Some("numbers that are not a permutation".to_owned());
    }
    (sorted == numbers).then(|| "the numbers in order".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_distributions_are_found() {
        assert!(find_moments_mistake(&vec![0.5; DRAW_COUNT], DRAW_COUNT, 0.5, 1.0 / 12.0).is_some());
        assert!(find_moments_mistake(&[], DRAW_COUNT, 0.5, 1.0 / 12.0).is_some());
        #[expect(clippy::cast_precision_loss, reason = "there are at most 20,000 numbers")]
        let ramp: Vec<f64> = (0..DRAW_COUNT).map(|i| (i as f64 + 0.5) / DRAW_COUNT as f64).collect();
        assert!(find_moments_mistake(&ramp, DRAW_COUNT, 0.5, 1.0 / 12.0).is_none());
        assert!(find_permutation_mistake(&ramp).is_some());
        #[expect(clippy::cast_precision_loss, reason = "there are at most 20,000 numbers")]
        let mut order: Vec<f64> = (0..DRAW_COUNT).map(|i| i as f64).collect();
        assert!(find_permutation_mistake(&order).is_some());
        order.swap(0, 1);
        assert!(find_permutation_mistake(&order).is_none());
        assert!(find_dropout_mistake(&vec![1.0; 2 * DRAW_COUNT]).is_some());
        assert!(find_fractions_mistake(&ramp, &[(0.25, 0.25), (0.5, 0.5), (0.99, 0.99)]).is_none());
        assert!(find_fractions_mistake(&ramp, &[(0.25, 0.25), (0.6, 0.5)]).is_some());
        assert!(find_fractions_mistake(&ramp, &[(0.98, 0.99)]).is_some());
    }
}
