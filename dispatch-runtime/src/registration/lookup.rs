//! Lookup of operators by name.

use super::registry;
use crate::error::{ErrorKind, Result};
use crate::name::Name;
use crate::operator::Operator;

impl Operator {
    /// Returns the operator with this name, such as `aten::add.Tensor`.
    ///
    /// # Errors
    ///
    /// Returns an error if no operator has the name. The error suggests similar names.
    ///
    /// ```
    /// let error = dispatch_runtime::Operator::find("nowhere::add").unwrap_err();
    /// assert!(error.to_string().contains("nowhere::add"));
    /// ```
    pub fn find(text: &str) -> Result<&'static Self> {
        let registry = registry::lock();
        let name = Name::parse(text);
        let row = name.and_then(|name| registry.row(name));
        match row.map(|row| (row, row.definition())) {
            Some((_, Some(operator))) => Ok(operator),
            Some((row, None)) => Err(row.missing_definition_error()),
            None => {
                let defined = registry.rows.iter().filter(|row| row.definition().is_some());
                let names: Vec<String> = defined.map(|row| row.name.to_string()).collect();
                // PyTorch's graphs spell a name `torch.ops.aten.add.Tensor`.
                let spelled =
                    text.strip_prefix("torch.ops.").map_or_else(|| text.to_owned(), |name| name.replacen('.', "::", 1));
                let suggestion =
                    dispatch_schema::suggest(&spelled, names.iter().map(String::as_str)).map(str::to_owned);
                let (namespace, base) = text.split_once("::").unwrap_or(("", text));
                let is_overload =
                    |name: &Name<'_>| name.base == base && (namespace.is_empty() || name.namespace == namespace);
                let defined = registry.rows.iter().filter(|row| row.definition().is_some()).map(|row| row.name);
                let mut overloads: Vec<String> = defined.filter(is_overload).map(|name| name.to_string()).collect();
                overloads.sort();
                let disabled =
                    registry.disabled_features.iter().find(|record| name.is_some_and(|name| record.provides(name)));
                let feature = disabled.map(|record| record.feature);
                Err(ErrorKind::UnknownOperator { name: text.to_owned(), feature, overloads, suggestion }.into())
            }
        }
    }

    /// Returns every operator of the program, sorted by name.
    ///
    /// ```
    /// let names = dispatch_runtime::Operator::all();
    /// assert!(names.is_sorted_by_key(|operator| operator.name()));
    /// ```
    #[must_use]
    pub fn all() -> Vec<&'static Self> {
        let registry = registry::lock();
        let mut operators: Vec<_> = registry.rows.iter().flat_map(|row| row.definitions.iter().copied()).collect();
        operators.sort_by_key(|operator| operator.name());
        operators
    }
}
