//! Default values of arguments that a call leaves out.

use dispatch_schema::{Argument, DefaultValue, Type, TypeKind};
use num_complex::Complex64;

use crate::scalar::{DType, Layout, MemoryFormat, Scalar};
use crate::value::Value;

impl Value {
    /// Returns the value of an argument that a call leaves out, or `None` if it has no default.
    ///
    /// ```
    /// use dispatch_runtime::{Value, schema::Schema};
    ///
    /// let schema = Schema::parse("norm(Tensor self, float p=2, int[2] pad=1) -> Tensor").unwrap();
    /// let default = |at: usize| Value::default_of(&schema.arguments[at]);
    /// assert!(default(0).is_none());
    /// assert!(matches!(default(1), Some(Value::Float(2.0))));
    /// assert!(matches!(default(2), Some(Value::Ints(pad)) if *pad == [1, 1]));
    /// ```
    #[must_use]
    pub fn default_of(argument: &Argument) -> Option<Self> {
        value_of_default(argument.default.as_ref()?, &argument.ty)
    }
}

fn value_of_default(default: &DefaultValue, ty: &Type) -> Option<Value> {
    Some(match (default, &ty.without_optional().kind) {
        (DefaultValue::None, _) => Value::None,
        (DefaultValue::Int(number), TypeKind::ScalarType) => DType::from_number(*number)?.into(),
        (DefaultValue::Int(number), TypeKind::Layout) => Layout::from_number(*number)?.into(),
        (DefaultValue::Int(number), TypeKind::MemoryFormat) => MemoryFormat::from_number(*number)?.into(),
        #[expect(clippy::cast_precision_loss, reason = "a default in a schema is a short number")]
        (DefaultValue::Int(number), TypeKind::Float) => (*number as f64).into(),
        #[expect(clippy::cast_precision_loss, reason = "a default in a schema is a short number")]
        (DefaultValue::Int(number), TypeKind::Complex) => Complex64::from(*number as f64).into(),
        (DefaultValue::Float(number), TypeKind::Complex) => Complex64::from(*number).into(),
        (DefaultValue::List(items), TypeKind::List(element, _)) => {
            let values = items.iter().map(|item| value_of_default(item, element)).collect::<Option<_>>()?;
            list_from_values(values, &element.kind)?
        }
        (DefaultValue::Bool(value), _) => (*value).into(),
        (DefaultValue::Int(value), _) => (*value).into(),
        (DefaultValue::Float(value), _) => (*value).into(),
        (DefaultValue::Complex(re, im), _) => Complex64::new(*re, *im).into(),
        (DefaultValue::Str(value), _) => value.as_str().into(),
        (DefaultValue::Device(name), _) => Value::Device(name.parse().ok()?),
        (DefaultValue::List(_), _) => return None,
    })
}

fn list_from_values(values: Vec<Value>, element: &TypeKind) -> Option<Value> {
    fn convert_elements<T>(values: Vec<Value>) -> Option<Value>
    where
        T: for<'a> crate::value::Argument<'a>,
        Vec<T>: Into<Value>,
    {
        let items: Option<Vec<T>> = values.into_iter().map(|mut value| T::from_value(&mut value)).collect();
        Some(items?.into())
    }
    match element {
        TypeKind::Int | TypeKind::SymInt => convert_elements::<i64>(values),
        TypeKind::Float => convert_elements::<f64>(values),
        TypeKind::Bool | TypeKind::SymBool => convert_elements::<bool>(values),
        TypeKind::Scalar => convert_elements::<Scalar>(values),
        _ => Some(Value::List(values.into())),
    }
}
