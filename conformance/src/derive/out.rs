//! Checks the `out=` form of an operator against the recording of the functional form.

use dispatch_runtime::{DType, Operator, Value};

use super::in_place::rank;
use super::overlap::{alike, partly_overlapping, with_tensors};
use super::refusal::refused;
use crate::array::Array;
use crate::case::{Case, call};
use crate::compare::{Extent, compare_to};
use crate::datum::{Datum, to_values};
use crate::error::Result;
use crate::tensors::GAP;
use crate::verdict::{Failure, Stop, Verdict};

/// Returns the call of the `out=` form into contiguous tensors with the results' dtypes and sizes.
pub(crate) fn call_of(case: &Case, form: &'static Operator) -> Option<Case> {
    let results = results(case).filter(|_| case.operator.schema().views().is_empty())?;
    let outs = results.iter().map(|result| result.contiguous()).collect::<Vec<_>>();
    let arguments = (Out { case, form, results }).arguments(outs.into_iter());
    Some(case.derived(form, arguments, case.expected.clone()))
}

fn results(case: &Case) -> Option<Vec<&Array>> {
    case.expected.iter().map(Datum::as_array).collect()
}

pub(crate) fn check(case: &Case, form: &'static Operator) -> Vec<Verdict> {
    let Some(results) = results(case) else { return vec![Verdict::LeftOut("it does not give tensors alone")] };
    if results.is_empty() || !case.operator.schema().views().is_empty() {
        return vec![Verdict::LeftOut("its result is a view")];
    }
    (Out { case, form, results }).verdicts().unwrap_or_else(|error| vec![error.into()])
}

struct Out<'a> {
    case: &'a Case,
    form: &'static Operator,
    results: Vec<&'a Array>,
}

impl Out<'_> {
    fn verdicts(&self) -> Result<Vec<Verdict>> {
        let mut verdicts = vec![
            self.written("into `out`", |result| Some(Array { strides: result.contiguous().strides, ..result.clone() })),
            self.written("into a strided `out`", |result| {
                let strides = result.contiguous().strides.iter().map(|stride| stride * 2).collect();
                (!result.elements.is_empty()).then(|| Array { strides, offset: 1, ..result.clone() })
            }),
            self.resized(),
        ];
        verdicts.extend(self.mistaken("an `out` of another shape", |result| {
            let mut sizes = result.sizes.clone();
            sizes.push(2);
            let count = usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
            (count > 0).then(|| Array::new(result.dtype, &sizes, vec![GAP; count]))
        })?);
        verdicts.extend(self.mistaken("an `out` of a dtype that the result cannot be cast to", |result| {
            let lower = match rank(result.dtype) {
                // The dtype of a factory's result is that of `out`.
                _ if self.says_dtype() => return None,
                3 => DType::F32,
                2 => DType::I64,
                1 => DType::Bool,
                _ => return None,
            };
            Some(result.contiguous().cast(lower))
        })?);
        verdicts.extend(self.overlapping()?);
        Ok(verdicts)
    }

    /// Returns the arguments of the `out=` form, with `outs` as its `out` arguments.
    fn arguments(&self, mut outs: impl Iterator<Item = Array>) -> Vec<Datum> {
        let functional = self.case.operator.schema();
        let arguments = self.form.schema().arguments.iter().map(|argument| {
            let given = functional.argument(&argument.name).filter(|_| !argument.is_out());
            match given {
                Some((i, _)) => self.case.arguments[i].clone(),
                None => outs.next().map_or(Datum::Plain(Value::None), Datum::Array),
            }
        });
        arguments.collect()
    }

    /// Whether `out` determines the dtype of the result: only the functional form has a `dtype` argument.
    fn says_dtype(&self) -> bool {
        self.case.operator.schema().argument("dtype").is_some() && self.form.schema().argument("dtype").is_none()
    }

    fn outs(&self) -> Vec<(usize, &str)> {
        let arguments = self.form.schema().arguments.iter().enumerate();
        arguments.filter(|(_, argument)| argument.is_out()).map(|(i, argument)| (i, argument.name.as_str())).collect()
    }

    fn written(&self, variant: &str, out: impl Fn(&Array) -> Option<Array>) -> Verdict {
        let Some(outs) = self.results.iter().map(|result| out(result)).collect::<Option<Vec<Array>>>() else {
            return Verdict::LeftOut("its result has no elements");
        };
        let blank = outs.iter().map(|out| Array { elements: vec![GAP; out.elements.len()], ..out.clone() });
        let arguments = self.arguments(blank);
        let expected = outs.iter().cloned().map(Datum::Array).collect();
        self.case.derived(self.form, arguments, expected).verdict(Extent::All).of(variant)
    }

    fn resized(&self) -> Verdict {
        let arguments = self.arguments(self.results.iter().map(|result| Array::new(result.dtype, &[0], Vec::new())));
        let derived = self.case.derived(self.form, arguments, self.case.expected.clone());
        derived.verdict(Extent::Values).of("into an empty `out`")
    }

    /// Checks that a call with a wrong first `out` argument is refused.
    fn mistaken(&self, mistake: &str, out: impl Fn(&Array) -> Option<Array>) -> Result<Option<Verdict>> {
        let Some(wrong) = self.results.first().and_then(|result| out(result)) else { return Ok(None) };
        let others = self.results.iter().skip(1).map(|result| result.contiguous());
        let values = to_values(&self.arguments(std::iter::once(wrong).chain(others)), self.case.device)?;
        let culprits: Vec<&str> = self.outs().into_iter().take(1).map(|(_, name)| name).collect();
        Ok(Some(refused(self.form, values, mistake, &culprits)))
    }

    /// Checks calls whose `out` is one of the arguments, or partly overlaps it.
    fn overlapping(&self) -> Result<Vec<Verdict>> {
        let (&[result], [(out, name)]) = (&self.results[..], &self.outs()[..]) else { return Ok(Vec::new()) };
        let mut verdicts = Vec::new();
        let arguments = || to_values(&self.arguments(std::iter::once(result.contiguous())), self.case.device);
        for read in alike(self.case, result) {
            let read_name = self.case.operator.schema().arguments[read].name.as_str();
            let Some((read, _)) = self.form.schema().argument(read_name) else { continue };
            if let Some((written, shifted)) = partly_overlapping(self.case, result)? {
                let values = with_tensors(arguments()?, &[(*out, &written), (read, &shifted)]);
                verdicts.push(refused(self.form, values, "an `out` that overlaps in part", &[name, read_name]));
            }
            let values = arguments()?;
            let Some(tensor) = values[read].as_tensor().cloned() else { continue };
            if self.case.arguments.iter().filter_map(Datum::as_array).any(Array::overlaps_itself) {
                continue;
            }
            verdicts.push(self.over_argument(with_tensors(values, &[(*out, &tensor)]), name, read_name));
        }
        Ok(verdicts)
    }

    /// Returns the result of the call without `out`.
    fn plain_result(&self) -> Option<Datum> {
        let values = to_values(&self.case.arguments, self.case.device).ok()?;
        Datum::read(call(self.case.operator, values).ok()?.results.first()?).ok()
    }

    /// Checks a call whose `out` is an argument. The operator may refuse it, but must not write another result.
    fn over_argument(&self, values: Vec<Value>, out: &str, read: &str) -> Verdict {
        let variant = format!("with `{read}` itself as `{out}`");
        let again = values.clone();
        match call(self.form, values) {
            Ok(outcome) => match Datum::read(&outcome.results[0]) {
                Ok(actual) => {
                    // The functional call may be more precise than the recording: its result is then the reference.
                    let extent = outcome.known(Extent::Values);
                    let compared = compare_to(extent, &actual, &self.case.expected[0]).or_else(|difference| {
                        let plain = self.plain_result();
                        plain.map_or(Err(difference), |plain| compare_to(extent, &actual, &plain))
                    });
                    Verdict::from(compared.map_err(|difference| Failure::Result { index: 0, difference })).of(variant)
                }
                Err(error) => Verdict::Failed(Failure::Suite(error)),
            },
            Err(Stop::Failed(Failure::Refused(_))) => refused(self.form, again, &variant, &[out, read]),
            Err(stop) => Verdict::from(stop).of(variant),
        }
    }
}
