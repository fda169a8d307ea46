//! Draws the trial of a seed and a trial number.

use dispatch_runtime::Operator;

use super::graph;
use super::mutate::mutate_call;
use super::plausible_call::{self, RecordedLines};
use super::random::Random;
use super::trial::{Trial, TrialKind};
use crate::error::Result;

/// A source of trials: the operators, the recordings and the seed.
pub(super) struct TrialSource {
    /// Sorted by name, so that a trial number selects the same operator in every build.
    operators: Vec<&'static Operator>,
    recorded: RecordedLines,
    seed: u64,
}

impl TrialSource {
    /// Creates the source of trials for a seed, of one operator or of all.
    ///
    /// # Errors
    ///
    /// Returns an error if the recordings cannot be read.
    pub(super) fn new(seed: u64, only: Option<&'static Operator>) -> Result<Self> {
        let mut operators = only.map_or_else(Operator::all, |operator| vec![operator]);
        operators.sort_by_cached_key(|operator| operator.name().to_string());
        Ok(Self { operators, recorded: RecordedLines::read()?, seed })
    }

    /// Returns the operator of a trial.
    pub(super) fn operator_of_trial(&self, number: u64) -> &'static Operator {
        Random::new(self.seed, number).pick(&self.operators)
    }

    /// Draws the trial of this number. Some trials are graphs: these call operators on Meta.
    pub(super) fn draw_trial(&self, number: u64) -> Trial {
        let mut random = Random::new(self.seed, number);
        let operator = random.pick(&self.operators);
        let mut call = plausible_call::draw_call(operator, &self.recorded, &mut random);
        if random.true_with_percent(6)
            && let Some(text) = graph::trace_to_text(&call)
        {
            return Trial(TrialKind::Graph(graph::change_numbers(&text, &mut random)));
        }
        mutate_call(&mut call, &mut random);
        Trial(TrialKind::Call(call))
    }
}
