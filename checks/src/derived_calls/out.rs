//! Checks the `out=` form of an operator against the outcome of the functional form.

use dispatch_runtime::{DType, Operator, Value};

use super::in_place::dtype_category_rank;
use super::overlapping_arguments::{overlapping_tensors, same_shape_arguments, with_tensors_at};
use super::refusal::{argument_named_by, check_call_is_refused};
use crate::array::Array;
use crate::compare::{ComparedProperties, Tolerance, compare_properties, first_difference};
use crate::datum::{Datum, create_values};
use crate::error::Result;
use crate::known_operators::known_base;
use crate::reference_call::{ReferenceCall, call_and_check_aliasing};
use crate::tensors::{GAP_ELEMENT, round_to_dtype};
use crate::verdict::{CallError, Failure, Verdict};

/// Returns the call of the `out=` form into contiguous tensors with the results' dtypes and sizes.
pub(crate) fn derive_out_call(case: &ReferenceCall, form: &'static Operator) -> Option<ReferenceCall> {
    let results = expected_arrays(case).filter(|_| case.operator.schema().views().is_empty())?;
    let outs = results.iter().map(|result| result.contiguous()).collect::<Vec<_>>();
    let arguments = (OutFormCheck { case, form, results }).form_arguments(outs.into_iter());
    Some(case.derived_call(form, arguments, case.expected.clone()))
}

fn expected_arrays(case: &ReferenceCall) -> Option<Vec<&Array>> {
    case.expected.iter().map(Datum::as_array).collect()
}

pub(crate) fn check(case: &ReferenceCall, form: &'static Operator) -> Vec<Verdict> {
    let Some(results) = expected_arrays(case) else {
        return vec![Verdict::NotApplicable("it returns values other than tensors")];
    };
    if results.is_empty() || !case.operator.schema().views().is_empty() {
        return vec![Verdict::NotApplicable("its result is a view")];
    }
    (OutFormCheck { case, form, results }).verdicts().unwrap_or_else(|error| vec![error.into()])
}

/// Checks the call into an `out` of another floating-point dtype, to which the result converts. The operator may refuse it, with an error
/// that names `out`.
pub(crate) fn out_of_another_dtype(case: &ReferenceCall, form: &'static Operator) -> Option<Verdict> {
    let results = expected_arrays(case).filter(|_| case.operator.schema().views().is_empty())?;
    let of = results.first()?.dtype;
    let dtype = if of == DType::F64 { DType::F32 } else { DType::F64 };
    let derived = OutFormCheck { case, form, results };
    if !of.is_floating() || of.is_float8() || derived.implies_dtype() || case.is_unpredictable() {
        return None;
    }
    Some(derived.check_out_of_dtype(dtype).with_context(format!("into an `out` of {dtype}")))
}

struct OutFormCheck<'a> {
    case: &'a ReferenceCall,
    form: &'static Operator,
    results: Vec<&'a Array>,
}

impl OutFormCheck<'_> {
    fn verdicts(&self) -> Result<Vec<Verdict>> {
        let mut verdicts = vec![
            self.check_call_into_out("into `out`", |result| {
                Some(Array { strides: result.contiguous().strides, ..result.clone() })
            }),
            self.check_call_into_out("into a strided `out`", |result| {
                let strides = result.contiguous().strides.iter().map(|stride| stride * 2).collect();
                (!result.elements.is_empty()).then(|| Array { strides, offset: 1, ..result.clone() })
            }),
            self.check_empty_out(),
        ];
        verdicts.extend(self.check_wrong_out("an `out` of another shape", |result| {
            let mut sizes = result.sizes.clone();
            sizes.push(2);
            let count = usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
            (count > 0).then(|| Array::new(result.dtype, &sizes, vec![GAP_ELEMENT; count]))
        })?);
        verdicts.extend(self.check_wrong_out("an `out` of a dtype that the result cannot be cast to", |result| {
            let lower = match dtype_category_rank(result.dtype) {
                // The dtype of a factory's result, or of a scaled product, is that of `out`.
                _ if self.implies_dtype() => return None,
                3 => DType::F32,
                2 => DType::I64,
                1 => DType::Bool,
                _ => return None,
            };
            Some(result.contiguous().with_dtype(lower))
        })?);
        verdicts.extend(self.check_overlapping_out()?);
        Ok(verdicts)
    }

    /// Returns the arguments of the `out=` form, with `outs` as its `out` arguments.
    fn form_arguments(&self, mut outs: impl Iterator<Item = Array>) -> Vec<Datum> {
        let functional = self.case.operator.schema();
        let arguments = self.form.schema().arguments.iter().map(|argument| {
            let given = functional.argument(&argument.name).filter(|_| !argument.is_out());
            match given {
                Some((i, _)) => self.case.arguments[i].clone(),
                None => outs.next().map_or(Datum::NonTensor(Value::None), Datum::Array),
            }
        });
        arguments.collect()
    }

    /// Whether `out` determines the dtype of the result: only the functional form has a `dtype` argument.
    fn implies_dtype(&self) -> bool {
        let has_dtype = |operator: &Operator| operator.schema().argument("dtype").is_some();
        has_dtype(self.case.operator) && !has_dtype(self.form) || known_base(self.case.operator.name()) == "_scaled_mm"
    }

    fn out_arguments(&self) -> Vec<(usize, &str)> {
        let arguments = self.form.schema().arguments.iter().enumerate();
        arguments.filter(|(_, argument)| argument.is_out()).map(|(i, argument)| (i, argument.name.as_str())).collect()
    }

    fn check_call_into_out(&self, variant: &str, out: impl Fn(&Array) -> Option<Array>) -> Verdict {
        let Some(outs) = self.results.iter().map(|result| out(result)).collect::<Option<Vec<Array>>>() else {
            return Verdict::NotApplicable("its result has no elements");
        };
        let blank = outs.iter().map(|out| Array { elements: vec![GAP_ELEMENT; out.elements.len()], ..out.clone() });
        let arguments = self.form_arguments(blank);
        let expected = outs.iter().cloned().map(Datum::Array).collect();
        self.case.derived_call(self.form, arguments, expected).check(ComparedProperties::All).with_context(variant)
    }

    fn check_out_of_dtype(&self, dtype: DType) -> Verdict {
        let blank = |result: &&Array| Array::new(dtype, &result.sizes, vec![GAP_ELEMENT; result.elements.len()]);
        let outs = self.results.iter().take(1).map(blank);
        let others = self.results.iter().skip(1).map(|result| result.contiguous());
        let arguments = self.form_arguments(outs.chain(others));
        let compared =
            self.case.derived_call(self.form, arguments.clone(), Vec::new()).call(&arguments).and_then(|outcome| {
                let Some(Datum::Array(actual)) = outcome.results.first().map(Datum::from_value).transpose()? else {
                    return Ok(());
                };
                let expected = self.results[0].contiguous();
                // The result has the precision of the coarser dtype.
                let coarser = if dtype == DType::F32 { dtype } else { expected.dtype };
                let expected = round_to_dtype(&expected.with_dtype(dtype))?;
                let geometry = compare_properties(
                    ComparedProperties::DTypeAndSizes,
                    &Datum::Array(actual.clone()),
                    &Datum::Array(expected.clone()),
                );
                let elements = first_difference(Tolerance::for_dtype(coarser), &actual.elements, &expected.elements);
                geometry
                    .and_then(|()| elements.map_or(Ok(()), Err))
                    .map_err(|difference| Failure::WrongResult { index: 0, difference }.into())
            });
        let outs: Vec<&str> = self.out_arguments().into_iter().map(|(_, name)| name).collect();
        match compared {
            Err(CallError::Failed(Failure::Refused(error)))
                if argument_named_by(&error).is_some_and(|argument| outs.contains(&argument)) =>
            {
                Verdict::Passed
            }
            compared => compared.into(),
        }
    }

    fn check_empty_out(&self) -> Verdict {
        let arguments =
            self.form_arguments(self.results.iter().map(|result| Array::new(result.dtype, &[0], Vec::new())));
        let derived = self.case.derived_call(self.form, arguments, self.case.expected.clone());
        derived.check(ComparedProperties::AllButStrides).with_context("into an empty `out`")
    }

    /// Checks that a call with a wrong first `out` argument is refused.
    fn check_wrong_out(&self, mistake: &str, out: impl Fn(&Array) -> Option<Array>) -> Result<Option<Verdict>> {
        let Some(wrong) = self.results.first().and_then(|result| out(result)) else { return Ok(None) };
        let others = self.results.iter().skip(1).map(|result| result.contiguous());
        let values = create_values(&self.form_arguments(std::iter::once(wrong).chain(others)), self.case.device)?;
        let arguments_to_name: Vec<&str> = self.out_arguments().into_iter().take(1).map(|(_, name)| name).collect();
        Ok(Some(check_call_is_refused(self.form, values, mistake, &arguments_to_name)))
    }

    /// Checks calls whose `out` is one of the arguments, or partly overlaps it.
    fn check_overlapping_out(&self) -> Result<Vec<Verdict>> {
        let (&[result], [(out, name)]) = (&self.results[..], &self.out_arguments()[..]) else { return Ok(Vec::new()) };
        let mut verdicts = Vec::new();
        let arguments = || create_values(&self.form_arguments(std::iter::once(result.contiguous())), self.case.device);
        for read in same_shape_arguments(self.case, result) {
            let read_name = self.case.operator.schema().arguments[read].name.as_str();
            let Some((read, _)) = self.form.schema().argument(read_name) else { continue };
            if let Some((written, shifted)) = overlapping_tensors(self.case, result)? {
                let values = with_tensors_at(arguments()?, &[(*out, &written), (read, &shifted)]);
                verdicts.push(check_call_is_refused(
                    self.form,
                    values,
                    "an `out` that overlaps in part",
                    &[name, read_name],
                ));
            }
            let values = arguments()?;
            let Some(tensor) = values[read].as_tensor().cloned() else { continue };
            if self.case.arguments.iter().filter_map(Datum::as_array).any(Array::overlaps_itself) {
                continue;
            }
            verdicts.push(self.check_argument_as_out(with_tensors_at(values, &[(*out, &tensor)]), name, read_name));
        }
        Ok(verdicts)
    }

    /// Returns the result of the call without `out`.
    fn call_functional_form(&self) -> Option<Datum> {
        let values = create_values(&self.case.arguments, self.case.device).ok()?;
        Datum::from_value(call_and_check_aliasing(self.case.operator, values).ok()?.results.first()?).ok()
    }

    /// Checks a call whose `out` is an argument. The operator may refuse it, but must not write another result.
    fn check_argument_as_out(&self, values: Vec<Value>, out: &str, read: &str) -> Verdict {
        let variant = format!("with `{read}` itself as `{out}`");
        let again = values.clone();
        match call_and_check_aliasing(self.form, values) {
            Ok(outcome) => match Datum::from_value(&outcome.results[0]) {
                Ok(actual) => {
                    // The functional call may be more precise than the expected result: its result is then the reference.
                    let properties = outcome.comparable_properties(ComparedProperties::AllButStrides);
                    let compared =
                        compare_properties(properties, &actual, &self.case.expected[0]).or_else(|difference| {
                            let plain = self.call_functional_form();
                            plain.map_or(Err(difference), |plain| compare_properties(properties, &actual, &plain))
                        });
                    Verdict::from(compared.map_err(|difference| Failure::WrongResult { index: 0, difference }))
                        .with_context(variant)
                }
                Err(error) => Verdict::from(error),
            },
            Err(CallError::Failed(Failure::Refused(_))) => {
                check_call_is_refused(self.form, again, &variant, &[out, read])
            }
            Err(error) => Verdict::from(error).with_context(variant),
        }
    }
}
