//! The trial of a seed and a number.

use dispatch_runtime::Operator;

use super::graph;
use super::mutate::mutate;
use super::plausible::{self, Recorded};
use super::random::Random;
use super::trial::{Subject, Trial};
use crate::error::Result;

/// The source of trials.
pub(super) struct Source {
    /// In the order of their names, so that a number means the same operator in every build.
    operators: Vec<&'static Operator>,
    recorded: Recorded,
    seed: u64,
}

impl Source {
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read.
    pub(super) fn new(seed: u64, only: Option<&'static Operator>) -> Result<Self> {
        let mut operators = only.map_or_else(Operator::all, |operator| vec![operator]);
        operators.sort_by_cached_key(|operator| operator.name().to_string());
        Ok(Self { operators, recorded: Recorded::load()?, seed })
    }

    /// The operator of a trial.
    pub(super) fn operator(&self, number: u64) -> &'static Operator {
        Random::new(self.seed, number).pick(&self.operators)
    }

    /// The trial. Some are graphs, for which operators are called on Meta.
    pub(super) fn trial(&self, number: u64) -> Trial {
        let mut random = Random::new(self.seed, number);
        let operator = random.pick(&self.operators);
        let mut call = plausible::call(operator, &self.recorded, &mut random);
        if random.percent(6)
            && let Some(text) = graph::text(&call)
        {
            return Trial(Subject::Graph(graph::mutate(&text, &mut random)));
        }
        mutate(&mut call, &mut random);
        Trial(Subject::Call(call))
    }
}
