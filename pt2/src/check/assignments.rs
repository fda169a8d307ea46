//! The values of symbols for a check.

use dispatch_runtime::{DType, Value};

use super::values;
use crate::constraints::{Expected, InputConstraints, Symbols};
use crate::expression::{Expression, Quantity};
use crate::recorded::RecordedValue;

/// The largest number of assignments that a check compares.
pub(super) const COUNT: usize = 4;

/// Values of the symbols in the inputs, and the rule for symbols that depend on elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment {
    symbols: Symbols,
    rule: Rule,
}

/// The choice of a symbol's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Example,
    Lowest,
    Highest,
    /// A prime for each symbol, so that no two sizes are equal by accident.
    Primes,
    /// One value for all symbols, because a guard may want them equal or divisible.
    Equal(i64),
}

/// A number above the usual special cases of 0 and 1.
const SMALL: i64 = 4;

const PRIMES: [i64; 8] = [7, 11, 13, 17, 5, 19, 23, 29];

/// Returns assignments, the best ones first. The program may refuse some of them.
pub(super) fn candidates(constraints: &InputConstraints) -> impl Iterator<Item = Assignment> + '_ {
    let names = symbol_names(constraints);
    let equal = [11, 16, 12, 2, 3, 32, 64, 8, 5, 1, 128, 48, 100, 256].map(Rule::Equal);
    let rules = [Rule::Example, Rule::Lowest, Rule::Highest, Rule::Primes].into_iter().chain(equal);
    let mut seen: Vec<Assignment> = Vec::new();
    rules.filter_map(move |rule| {
        let mut symbols = Symbols::default();
        for (at, name) in names.iter().enumerate() {
            symbols.set(name, Quantity::integer(rule.value(name, at, constraints)));
        }
        let assignment = Assignment { symbols, rule };
        // Without symbols in the inputs, rules differ in the values of symbols that depend on elements.
        let is_new = assignment.symbols.is_empty() || seen.iter().all(|known| known.symbols != assignment.symbols);
        seen.push(assignment.clone());
        is_new.then_some(assignment)
    })
}

/// Returns the symbols in the inputs, in their order.
fn symbol_names(constraints: &InputConstraints) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for expected in constraints.expected() {
        let expressions = match expected {
            Expected::Tensor { sizes, .. } => sizes.as_slice(),
            Expected::Int(expression) | Expected::Float(expression) | Expected::Bool(expression) => {
                std::slice::from_ref(expression)
            }
            _ => &[],
        };
        for name in expressions.iter().flat_map(Expression::symbols) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

impl Rule {
    /// Returns the value of the symbol with this position among all symbols.
    fn value(self, name: &str, position: usize, constraints: &InputConstraints) -> i64 {
        let (lowest, highest) = constraints.range(name);
        // A range without an upper bound ends at a size that is large and does not overflow in products.
        let (lowest, highest) = (lowest.unwrap_or(0).max(0), highest.unwrap_or(1 << 10));
        let hint = constraints.hints().get(name).and_then(Quantity::as_int);
        let value = match self {
            Self::Example => hint.unwrap_or(SMALL),
            // Many operators have no result without elements, and PyTorch's ranges do not say so.
            Self::Lowest => lowest.max(1),
            Self::Highest => highest,
            Self::Primes => PRIMES.iter().copied().cycle().nth(position % PRIMES.len()).unwrap_or(SMALL),
            Self::Equal(value) => value,
        };
        value.clamp(lowest, highest.max(lowest))
    }
}

impl Assignment {
    /// Returns a value for each input of the program, without memory. Returns `None` if a size is negative or too large.
    pub(super) fn leaves(&self, constraints: &InputConstraints) -> Option<Vec<Value>> {
        let number = |expression: &Expression| self.symbols.evaluate(expression);
        let leaf = |expected: &Expected| {
            Some(match expected {
                Expected::Tensor { dtype, sizes, strides } => {
                    let (sizes, strides) = (sizes.clone(), strides.clone());
                    let recorded = RecordedValue::Tensor { dtype: dtype.or(Some(DType::F32)), sizes, strides };
                    values::recorded_value(&recorded, &self.symbols)?
                }
                Expected::Int(expression) => number(expression)?.as_int()?.into(),
                Expected::Float(expression) => number(expression)?.as_float().into(),
                Expected::Bool(expression) => number(expression)?.is_true().into(),
                Expected::Fixed(value) => value.clone(),
                Expected::Anything => Value::None,
            })
        };
        constraints.expected().map(leaf).collect()
    }

    /// Returns whether the sizes are those of the example.
    pub(super) fn is_example(&self) -> bool {
        self.rule == Rule::Example
    }

    /// Chooses the value of a symbol that depends on elements.
    pub(super) fn choose(&self, name: &str, constraints: &InputConstraints) -> Quantity {
        Quantity::integer(self.rule.value(name, name.len(), constraints))
    }
}
