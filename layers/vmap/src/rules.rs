//! Batch rules of aten's operators that shape words do not cover.

/// Registers one batch rule for several operators: `rule(batch, operator, arguments)`. After a `;` come the operators of an optional
/// family.
macro_rules! value_rules {
    ($rule:expr => $($(#[$family:meta])? $($operator:ident)+);+) => {$(
        $(#[$family])?
        const _: () = {
            const VALUE_RULE: crate::rules::ValueRule = $rule;
            $(const _: () = {
                static BATCH_RULE: crate::rule::BatchRule = crate::rule::BatchRule::new(|batch, arguments| {
                    VALUE_RULE(batch, <aten::$operator as dispatch_runtime::Operation>::operator(), arguments)
                });
                static RULE_RECORD: dispatch_runtime::RuleRecord = dispatch_runtime::RuleRecord::new(
                    <aten::$operator as dispatch_runtime::Operation>::operator,
                    &BATCH_RULE,
                    dispatch_runtime::Location::new(file!(), line!()),
                );
                dispatch_runtime::__submit! { dispatch_runtime::__private::Record::Rule(&RULE_RECORD) }
            };)+
        };
    )+};
}

use crate::batch::Batch;
use dispatch_runtime::{Operator, Result, Value};

/// A rule that receives all arguments as values. It returns `None` if it does not cover them.
type ValueRule = fn(&Batch, &Operator, &[Value]) -> Result<Option<Vec<Value>>>;

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "conv")]
mod conv;
mod dim_arguments;
mod elementwise;
mod factories;
mod fold_into_items;
mod indexing;
mod leading_batch;
#[cfg(feature = "linalg")]
mod linalg;
#[cfg(feature = "loss")]
mod loss;
#[cfg(feature = "norm")]
mod norm;
#[cfg(feature = "products")]
mod products;
mod reduction;
mod views;
