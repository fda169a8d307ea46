//! Rules for operators of aten that no word speaks for.

/// One rule for several operators, given all arguments as values: `rule(batch, operator, arguments)`.
macro_rules! by_values {
    ($rule:expr => $($operator:ident)*) => {$(
        const _: () = {
            const RUN: crate::rules::ByValues = $rule;
            static BATCHED: crate::rule::BatchRule = crate::rule::BatchRule::new(|batch, arguments| {
                RUN(batch, <aten::$operator as dispatch_runtime::Operation>::operator(), arguments)
            });
            static RULE: dispatch_runtime::RuleRecord = dispatch_runtime::RuleRecord::new(
                <aten::$operator as dispatch_runtime::Operation>::operator,
                &BATCHED,
                dispatch_runtime::Location::new(file!(), line!()),
            );
            dispatch_runtime::__submit! { dispatch_runtime::__private::Record::Rule(&RULE) }
        };
    )*};
}

use crate::batch::Batch;
use dispatch_runtime::{Operator, Result, Value};

/// None where the rule does not hold for these arguments.
type ByValues = fn(&Batch, &Operator, &[Value]) -> Result<Option<Vec<Value>>>;

mod along;
mod attention;
mod geometry;
mod images;
mod indexing;
mod items;
mod losses;
mod made;
mod normalized;
mod parts;
mod places;
mod pointwise;
mod products;
mod reductions;
mod reinterpreted;
mod same;
