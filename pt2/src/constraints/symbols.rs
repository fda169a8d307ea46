//! The values of symbols, from numbers that are known to be equal to expressions of them.

use std::collections::BTreeMap;

use crate::expression::{Expression, Quantity};

/// The values of symbols.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Symbols(BTreeMap<String, Quantity>);

/// The result of the comparison of an expression with a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Agreement {
    /// They are equal, or they cannot be compared yet.
    Agrees,
    /// The expression has this other value.
    Differs(Quantity),
    /// They differ for all values of the symbol.
    Impossible,
}

impl Symbols {
    pub(crate) fn get(&self, name: &str) -> Option<Quantity> {
        self.0.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, value: Quantity) {
        self.0.insert(name.to_owned(), value);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Quantity)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns the value of an expression, or `None` if a symbol in it has none.
    pub(crate) fn evaluate(&self, expression: &Expression) -> Option<Quantity> {
        expression.quantity(&|name| self.get(name))
    }

    /// Compares an expression with its value. If one symbol of the expression has no value, it gets the one that makes them equal.
    pub(crate) fn unify(&mut self, expression: &Expression, value: Quantity) -> Agreement {
        if let Some(known) = self.evaluate(expression) {
            let equal = known.compare(value).is_some_and(std::cmp::Ordering::is_eq);
            return if equal { Agreement::Agrees } else { Agreement::Differs(known) };
        }
        let unknown: Vec<&str> = expression.symbols().into_iter().filter(|symbol| self.get(symbol).is_none()).collect();
        let [symbol] = unknown.as_slice() else { return Agreement::Agrees };
        let solution =
            if expression.as_symbol().is_some() { Some(value) } else { self.solve(expression, symbol, value) };
        match solution {
            Some(solution) => {
                self.set(symbol, solution);
                Agreement::Agrees
            }
            None if self.is_linear(expression, symbol) => Agreement::Impossible,
            None => Agreement::Agrees,
        }
    }

    /// Returns the integer that makes an expression have this value, if the expression is linear in the symbol.
    fn solve(&self, expression: &Expression, symbol: &str, value: Quantity) -> Option<Quantity> {
        let at = |number: i64| self.evaluate_with(expression, symbol, number);
        let (start, slope) = (at(0)?, at(1)?.checked_sub(at(0)?)?);
        let candidate = value.as_int()?.checked_sub(start)?.checked_div(slope)?;
        (at(candidate)? == value.as_int()?).then(|| Quantity::integer(candidate))
    }

    /// Returns whether an expression grows evenly with a symbol, as far as some values show.
    fn is_linear(&self, expression: &Expression, symbol: &str) -> bool {
        let at = |number: i64| self.evaluate_with(expression, symbol, number);
        let differences = [(0, 1), (1, 2), (6, 7), (40, 41), (1000, 1001)]
            .map(|(from, to)| at(from).zip(at(to)).and_then(|(from, to)| to.checked_sub(from)));
        differences.iter().all(|difference| {
            difference.is_some_and(|difference| difference != 0 && Some(difference) == differences[0])
        })
    }

    fn evaluate_with(&self, expression: &Expression, symbol: &str, number: i64) -> Option<i64> {
        let lookup = |name: &str| if name == symbol { Some(Quantity::integer(number)) } else { self.get(name) };
        expression.quantity(&lookup)?.as_int()
    }
}
