//! Guards: conditions on the arguments that torch.export found in the model's code, such as `L['x'].size()[0] >= 4`.

use dispatch_runtime::Value;

use super::{ConstrainedInput, number_text, quantity};
use crate::expression::{Expression, Quantity};

/// A condition on numbers in the arguments.
#[derive(Debug)]
pub(super) struct Guard {
    condition: Expression,
    /// The places of the numbers that the condition names.
    sources: Vec<(String, Source)>,
}

/// The place of a number in the arguments.
#[derive(Debug, Clone, Copy)]
struct Source {
    input: usize,
    part: Part,
}

/// A number in an argument.
#[derive(Debug, Clone, Copy)]
enum Part {
    Number,
    Size(usize),
    Stride(usize),
    StorageOffset,
}

impl Guard {
    /// Parses a guard. A text that this crate does not understand is no guard, because sizes and ranges are checked without guards.
    pub(super) fn parse(text: &str, inputs: &[ConstrainedInput]) -> Option<Self> {
        let condition = Expression::parse(text);
        let sources = condition.symbols().into_iter().map(|name| Some((name.to_owned(), Source::find(name, inputs)?)));
        let sources = sources.collect::<Option<Vec<_>>>()?;
        (!condition.is_unknown()).then_some(Self { condition, sources })
    }

    /// Checks the guard. An error has the position of an input that the guard names.
    pub(super) fn check(&self, inputs: &[ConstrainedInput], leaves: &[Value]) -> Result<(), (usize, String)> {
        let value = |name: &str| self.sources.iter().find(|(known, _)| known == name)?.1.value(leaves);
        let holds = self.condition.quantity(&value).is_none_or(Quantity::is_true);
        let Some((_, first)) = self.sources.first().filter(|_| !holds) else { return Ok(()) };
        let mut text = self.condition.to_string();
        let mut values = Vec::new();
        for (name, source) in &self.sources {
            let readable = source.readable(inputs);
            text = text.replace(name, &readable);
            let number = source.value(leaves).map_or_else(|| "unknown".to_owned(), number_text);
            values.push(format!("{readable} is {number}"));
        }
        Err((first.input, format!("the program requires {text}, and {}", values.join(" and "))))
    }
}

impl Source {
    /// Finds the place that a symbol such as `L['x'].size()[0]` names.
    fn find(name: &str, inputs: &[ConstrainedInput]) -> Option<Self> {
        inputs.iter().enumerate().find_map(|(input, constrained)| {
            let rest = constrained.path.sources.iter().find_map(|source| name.strip_prefix(source.as_str()))?;
            let index = |rest: &str| rest.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
            let part = match rest {
                "" => Part::Number,
                ".storage_offset()" => Part::StorageOffset,
                rest => match (rest.strip_prefix(".size()"), rest.strip_prefix(".stride()")) {
                    (Some(rest), _) => Part::Size(index(rest)?),
                    (_, Some(rest)) => Part::Stride(index(rest)?),
                    _ => return None,
                },
            };
            Some(Self { input, part })
        })
    }

    fn value(self, leaves: &[Value]) -> Option<Quantity> {
        let leaf = leaves.get(self.input)?;
        let tensor = leaf.as_tensor();
        let number = match self.part {
            Part::Number => return quantity(leaf),
            Part::Size(at) => *tensor?.sizes().get(at)?,
            Part::Stride(at) => *tensor?.strides().get(at)?,
            Part::StorageOffset => tensor?.geometry().offset(),
        };
        Some(Quantity::integer(number))
    }

    fn readable(self, inputs: &[ConstrainedInput]) -> String {
        let path = inputs.get(self.input).map_or("", |input| &input.path.name);
        match self.part {
            Part::Number => path.to_owned(),
            Part::Size(at) => format!("{path}.size({at})"),
            Part::Stride(at) => format!("{path}.stride({at})"),
            Part::StorageOffset => format!("{path}.storage_offset()"),
        }
    }
}
