//! Random results: nobody can say what they are, but how they are distributed.

use dispatch_runtime::{DType, Device, Operator, Scalar};

use super::plain;
use crate::array::Array;
use crate::case::call;
use crate::compare::Difference;
use crate::datum::{Datum, to_values};
use crate::decode;
use crate::error::Error;
use crate::verdict::{Failure, Stop, Verdict};

const COUNT: usize = 10_000;

/// Checks the distribution of a random operator; none for any other.
pub(super) fn check(operator: &'static Operator, device: Device) -> Option<Verdict> {
    let name = operator.name().to_string();
    let count = 10_000_i64;
    let ones = || Array::new(DType::F32, &[count], vec![Scalar::Float(1.0); COUNT]);
    let given: Vec<(&str, Datum)> = match name.as_str() {
        "aten::rand" | "aten::randn" => vec![("size", plain(vec![count]))],
        "aten::randperm" => vec![("n", plain(count))],
        "aten::native_dropout" => {
            vec![("input", Datum::Array(ones())), ("p", plain(0.25)), ("train", plain(true))]
        }
        _ => return None,
    };
    let results = match results(operator, &given, device) {
        Ok(results) => results,
        Err(stop) => return Some(stop.into()),
    };
    let numbers: Vec<f64> = results.iter().flat_map(|array| &array.elements).filter_map(|x| x.to_f64()).collect();
    let wrong = match name.as_str() {
        "aten::rand" => unlike(&numbers, COUNT, 0.5, 1.0 / 12.0).or_else(|| {
            let outside = numbers.iter().any(|x| !(0.0..1.0).contains(x));
            outside.then(|| "numbers outside of [0, 1)".to_owned())
        }),
        "aten::randn" => unlike(&numbers, COUNT, 0.0, 1.0),
        "aten::native_dropout" => dropped(&numbers),
        _ => permuted(&numbers),
    };
    Some(wrong.map_or(Verdict::Passed, |actual| {
        let difference = Difference::Value { actual, expected: "the distribution of its name".to_owned() };
        Verdict::Failed(Failure::Result { index: 0, difference })
    }))
}

fn results(operator: &'static Operator, given: &[(&str, Datum)], device: Device) -> Result<Vec<Array>, Stop> {
    let arguments = operator.schema().arguments.iter().map(|argument| {
        let given = given.iter().find(|(name, _)| *name == argument.name);
        given.map_or_else(|| decode::left_out(argument), |(_, datum)| Ok(datum.clone()))
    });
    let arguments = arguments.collect::<Result<Vec<Datum>, Error>>()?;
    let outcome = call(operator, to_values(&arguments, device)?)?;
    let read = outcome.results.iter().map(Datum::read).collect::<Result<Vec<Datum>, Error>>()?;
    Ok(read.iter().flat_map(Datum::arrays).cloned().collect())
}

/// Mean and variance, where they are further from what they should be than chance explains.
fn unlike(numbers: &[f64], count: usize, mean: f64, variance: f64) -> Option<String> {
    if numbers.len() != count {
        return Some(format!("{} numbers", numbers.len()));
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    let count = count as f64;
    let actual_mean = numbers.iter().sum::<f64>() / count;
    let actual_variance = numbers.iter().map(|x| (x - actual_mean).powi(2)).sum::<f64>() / count;
    let near = (actual_mean - mean).abs() < 6.0 * (variance / count).sqrt();
    let alike = (actual_variance / variance - 1.0).abs() < 0.1;
    (!near || !alike).then(|| format!("numbers of mean {actual_mean} and variance {actual_variance}"))
}

/// The results of dropout over ones: what is kept is scaled up, and the mask says what is.
fn dropped(numbers: &[f64]) -> Option<String> {
    let (results, mask) = numbers.split_at(numbers.len() / 2);
    let scaled = results.iter().zip(mask).all(|(result, kept)| (result - kept / 0.75).abs() < 1e-6);
    let unlike = unlike(mask, COUNT, 0.75, 0.75 * 0.25);
    unlike.or_else(|| (!scaled).then(|| "results that are not the mask, scaled".to_owned()))
}

fn permuted(numbers: &[f64]) -> Option<String> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    let complete = sorted.len() == COUNT && sorted.iter().enumerate().all(|(i, &x)| (x - i as f64).abs() < 0.5);
    if !complete {
        return Some("not every number once".to_owned());
    }
    (sorted == numbers).then(|| "the numbers in order".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_random_is_found() {
        assert!(unlike(&vec![0.5; COUNT], COUNT, 0.5, 1.0 / 12.0).is_some());
        assert!(unlike(&[], COUNT, 0.5, 1.0 / 12.0).is_some());
        #[expect(clippy::cast_precision_loss, reason = "there are few")]
        let ramp: Vec<f64> = (0..COUNT).map(|i| (i as f64 + 0.5) / COUNT as f64).collect();
        assert!(unlike(&ramp, COUNT, 0.5, 1.0 / 12.0).is_none());
        assert!(permuted(&ramp).is_some());
        #[expect(clippy::cast_precision_loss, reason = "there are few")]
        let mut order: Vec<f64> = (0..COUNT).map(|i| i as f64).collect();
        assert!(permuted(&order).is_some());
        order.swap(0, 1);
        assert!(permuted(&order).is_none());
        assert!(dropped(&vec![1.0; 2 * COUNT]).is_some());
    }
}
