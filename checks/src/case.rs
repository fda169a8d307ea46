//! Cases: the inputs of an operator, and optionally its expected results.

use dispatch_runtime::{Device, Operator, Tensor, Value};

use crate::arguments::arguments_by_name;
use crate::datum::Datum;
use crate::error::{Error, Result};

/// The inputs of an operator for [`opcheck`](crate::opcheck), and optionally the expected results.
///
/// An argument without an input has the schema's default. A tensor, an array of tensors or a tuple of values is a case without expected
/// results.
///
/// ```
/// use dispatch_checks::{Case, opcheck};
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let case = Case::new().input(&x).named("dim", vec![1_i64]).expect(&Tensor::from([3.0, 7.0]));
/// opcheck(aten::sum_dim_intlist::operator(), case)?;
/// opcheck(aten::sum_dim_intlist::operator(), (&x, vec![1_i64], true))?;
/// opcheck(aten::mm::operator(), [&x, &x])?;
/// # Ok::<(), dispatch_checks::Error>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Case {
    inputs: Vec<Value>,
    named: Vec<(String, Value)>,
    expected: Vec<Value>,
}

impl Case {
    /// Creates a case without inputs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the input of the next argument, in the schema's order.
    ///
    /// ```
    /// # use dispatch_checks::Case;
    /// # use dispatch_runtime::Tensor;
    /// let case = Case::new().input(&Tensor::from([1.0, 2.0])).input(0.5);
    /// ```
    #[must_use]
    pub fn input(mut self, input: impl Into<Value>) -> Self {
        self.inputs.push(input.into());
        self
    }

    /// Adds the input of the argument with this name.
    ///
    /// ```
    /// # use dispatch_checks::Case;
    /// # use dispatch_runtime::Tensor;
    /// let case = Case::new().input(&Tensor::from([1.0, 2.0])).named("keepdim", true);
    /// ```
    #[must_use]
    pub fn named(mut self, argument: impl Into<String>, input: impl Into<Value>) -> Self {
        self.named.push((argument.into(), input.into()));
        self
    }

    /// Adds the expected next result: its dtype, sizes and elements. Strides are not compared.
    ///
    /// ```
    /// # use dispatch_checks::{Case, opcheck};
    /// # use dispatch_runtime::Tensor;
    /// # use kernels_cpu as _;
    /// let case = Case::new().input(&Tensor::from([1.0, -2.0])).expect(&Tensor::from([1.0, 3.0]));
    /// let error = opcheck(aten::abs::operator(), case).unwrap_err();
    /// assert!(error.to_string().contains("values: result 0 has 2.0 at 1, expected 3.0"), "{error}");
    /// ```
    #[must_use]
    pub fn expect(mut self, result: impl Into<Value>) -> Self {
        self.expected.push(result.into());
        self
    }

    /// Returns the device of the first tensor, or the CPU if there is none.
    pub(crate) fn device(&self) -> Device {
        let inputs = self.inputs.iter().chain(self.named.iter().map(|(_, value)| value));
        inputs.flat_map(Value::tensors).next().map_or(Device::CPU, Tensor::device)
    }

    /// Returns all arguments of the operator, in the schema's order.
    pub(crate) fn arguments(&self, operator: &Operator) -> Result<Vec<Datum>> {
        let schema = operator.schema();
        let unexpected = |input: String| Error::UnexpectedInput { operator: schema.to_string(), input };
        let position = |name: &str| schema.argument(name).map(|(position, _)| position);
        if self.inputs.len() > schema.arguments.len() {
            return Err(unexpected(format!("input {}", schema.arguments.len())));
        }
        for (i, (name, _)) in self.named.iter().enumerate() {
            let is_repeated = self.named[..i].iter().any(|(other, _)| other == name);
            if is_repeated || position(name).is_none_or(|position| position < self.inputs.len()) {
                return Err(unexpected(format!("the input `{name}`")));
            }
        }
        let value = |name: &str| {
            let by_position = position(name).and_then(|position| self.inputs.get(position));
            by_position.or_else(|| self.named.iter().find(|(given, _)| given == name).map(|(_, value)| value))
        };
        let named = schema.arguments.iter().filter_map(|argument| Some((&*argument.name, value(&argument.name)?)));
        let given = named.map(|(name, value)| Ok((name, Datum::from_value(value)?))).collect::<Result<Vec<_>>>()?;
        arguments_by_name(operator, |name| {
            given.iter().find(|(given, _)| *given == name).map(|(_, datum)| datum.clone())
        })
    }

    /// Returns the expected results.
    pub(crate) fn expected(&self) -> Result<Vec<Datum>> {
        self.expected.iter().map(Datum::from_value).collect()
    }
}

impl From<()> for Case {
    fn from((): ()) -> Self {
        Self::new()
    }
}

impl From<&Tensor> for Case {
    fn from(input: &Tensor) -> Self {
        Self::new().input(input)
    }
}

impl<const N: usize> From<[&Tensor; N]> for Case {
    fn from(inputs: [&Tensor; N]) -> Self {
        inputs.into_iter().fold(Self::new(), Self::input)
    }
}

/// Implements the conversion of tuples of values.
macro_rules! impl_from_tuples {
    ($($($ty:ident)+;)*) => {$(
        impl<$($ty: Into<Value>),+> From<($($ty,)+)> for Case {
            #[allow(non_snake_case, reason = "a value is named after its type")]
            fn from(($($ty,)+): ($($ty,)+)) -> Self {
                Self::new()$(.input($ty))+
            }
        }
    )*};
}

impl_from_tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
