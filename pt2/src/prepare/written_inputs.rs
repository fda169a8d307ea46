//! The inputs that a run of a graph writes to.

use dispatch_runtime::Value;
use dispatch_runtime::schema::{Alias, Return, Schema, Type, TypeKind};

use super::{HigherOrder, Operation, OperatorCall, PreparedGraph, Slot, Source};

/// The effects of a graph on its inputs, each by its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputEffects {
    /// Whether the graph writes to the input, directly or through a view.
    pub(crate) written: Vec<bool>,
    /// The input that each output is, or is a view of.
    outputs: Vec<Option<usize>>,
}

impl PreparedGraph {
    /// Returns the effects of a run on the inputs, as the schemas of the operators tell.
    pub(crate) fn input_effects(&self) -> InputEffects {
        let mut aliases =
            Aliases { of_slots: vec![None; self.slot_names.len()], written: vec![false; self.inputs.len()] };
        for (input, slot) in self.inputs.iter().enumerate() {
            if let Some(slot) = slot {
                aliases.set(*slot, Some(input));
            }
        }
        for instruction in &self.instructions {
            let results = match &instruction.operation {
                Operation::Call(call) => aliases.call(call),
                Operation::Python(..) => Vec::new(),
                Operation::HigherOrder(operation) => aliases.higher_order(operation),
            };
            for (output, alias) in instruction.outputs.iter().zip(results) {
                output.for_each_slot(|slot| aliases.set(slot, alias));
            }
        }
        let outputs = self.outputs.iter().map(|output| aliases.of(output)).collect();
        InputEffects { written: aliases.written, outputs }
    }
}

struct Aliases {
    /// The input that the value in each slot is, or is a view of.
    of_slots: Vec<Option<usize>>,
    written: Vec<bool>,
}

impl Aliases {
    fn set(&mut self, slot: Slot, alias: Option<usize>) {
        if let Some(place) = self.of_slots.get_mut(slot) {
            *place = alias;
        }
    }

    fn of(&self, source: &Source) -> Option<usize> {
        let mut found = None;
        source.for_each_slot(|slot| found = found.or_else(|| self.of_slots.get(slot).copied().flatten()));
        found
    }

    /// Marks the inputs behind a written value.
    fn write(&mut self, source: &Source) {
        source.for_each_slot(|slot| {
            if let Some(input) = self.of_slots.get(slot).copied().flatten()
                && let Some(written) = self.written.get_mut(input)
            {
                *written = true;
            }
        });
    }

    /// Returns the alias of each result.
    fn call(&mut self, call: &OperatorCall) -> Vec<Option<usize>> {
        let schema = call.operator.schema();
        let writes_statistics = writes_statistics(schema, &call.arguments);
        for (described, source) in schema.arguments.iter().zip(&call.arguments) {
            if described.is_written() || writes_statistics && described.name.starts_with("running_") {
                self.write(source);
            }
        }
        let alias = |result: &Return| {
            let alias = element_alias(&result.ty)?;
            let mut arguments = schema.arguments.iter().zip(&call.arguments);
            arguments.find_map(|(described, source)| {
                let own = element_alias(&described.ty)?;
                if own.before.iter().any(|set| alias.before.contains(set)) { self.of(source) } else { None }
            })
        };
        schema.returns.iter().map(alias).collect()
    }

    fn higher_order(&mut self, operation: &HigherOrder) -> Vec<Option<usize>> {
        let mut run = |graph: &PreparedGraph, operands: &[&[Source]]| {
            let operands: Vec<&Source> = operands.iter().copied().flatten().collect();
            let effects = graph.input_effects();
            for (source, written) in operands.iter().zip(&effects.written) {
                if *written {
                    self.write(source);
                }
            }
            let alias = |input: &Option<usize>| self.of(operands.get((*input)?)?);
            effects.outputs.iter().map(alias).collect::<Vec<_>>()
        };
        match operation {
            HigherOrder::Cond { then, otherwise, operands, .. } => {
                let then = run(then, &[operands]);
                let otherwise = run(otherwise, &[operands]);
                then.into_iter().zip(otherwise).map(|(a, b)| a.or(b)).collect()
            }
            HigherOrder::WhileLoop { condition, body, carried, additional } => {
                run(condition, &[carried, additional]);
                run(body, &[carried, additional])
            }
            HigherOrder::Map { body, mapped, others } => {
                run(body, &[mapped, others]);
                Vec::new()
            }
            HigherOrder::Scan { body, carried, mapped, additional } => run(body, &[carried, mapped, additional]),
            HigherOrder::AssociativeScan { .. } => Vec::new(),
            HigherOrder::Vmap(region) => {
                let mapped: Vec<Source> = region.mapped.iter().map(|(source, _)| source.clone()).collect();
                run(&region.body, &[&mapped, &region.captured])
            }
            HigherOrder::WithEffects(call) => std::iter::once(None).chain(self.call(call)).collect(),
            HigherOrder::SetGradEnabled { body, operands, .. } | HigherOrder::Autocast { body, operands, .. } => {
                run(body, &[operands])
            }
        }
    }
}

/// Whether a call updates the statistics `running_mean` and `running_var`, which the schemas do not say.
fn writes_statistics(schema: &Schema, arguments: &[Source]) -> bool {
    schema.arguments.iter().zip(arguments).any(|(described, source)| {
        matches!(described.name.as_str(), "training" | "train" | "use_input_stats")
            && !matches!(source, Source::Constant(Value::Bool(false)))
    })
}

/// Returns the alias of a tensor, or of the tensors in a list.
fn element_alias(ty: &Type) -> Option<&Alias> {
    let inner = match &ty.kind {
        TypeKind::Optional(inner) | TypeKind::List(inner, _) => element_alias(inner),
        _ => None,
    };
    ty.alias.as_ref().or(inner)
}
