//! Removal of unused nodes, and merging of equal nodes.

use std::collections::{HashMap, HashSet};

use crate::argument::{Argument, ValueId};
use crate::graph::{Graph, GraphBuilder, Node};

impl Graph {
    /// Removes nodes whose results are not used, and merges nodes that compute the same.
    ///
    /// A node with [effects](crate::Node::has_effects) stays, once and in its position: it writes, draws random numbers, or returns
    /// nothing. Two nodes are equal if nothing they read is written between them, and if their results are never written. Two results of
    /// the graph remain two tensors.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # use dispatch_runtime::prelude::*;
    /// # fn main() -> Result<()> {
    /// let graph = dispatch_trace::trace(
    ///     |x| {
    ///         let (once, again) = (aten::exp(&x[0])?, aten::exp(&x[0])?);
    ///         aten::neg(&once)?;                  // not used
    ///         Ok([aten::mul(&once, &again)?])
    ///     },
    ///     &[Tensor::from([1.0_f32, 2.0])],
    /// )?;
    /// let clean = graph.clean();
    /// assert_eq!((graph.nodes().len(), clean.nodes().len()), (4, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn clean(&self) -> Self {
        let mut graph = self.clone();
        loop {
            let next = graph.merge_equal_nodes().remove_unused_nodes();
            if next.nodes.len() == graph.nodes.len() {
                return next;
            }
            graph = next;
        }
    }

    fn remove_unused_nodes(self) -> Self {
        let mut needed: HashSet<ValueId> = self.outputs.iter().copied().collect();
        let keep: Vec<bool> = self
            .nodes
            .iter()
            .rev()
            .map(|node| {
                let keep = node.has_effects() || node.result_values().any(|id| needed.contains(&id));
                if keep {
                    needed.extend(node.used_values());
                }
                keep
            })
            .collect();
        let mut builder = GraphBuilder::from(self);
        let mut keep = keep.into_iter().rev();
        builder.nodes.retain(|_| keep.next().unwrap_or(true));
        builder.finish()
    }

    /// Returns a representative value for each value: values that share memory, or may share it in another run, have the same one. Inputs
    /// may be the same tensor or share memory with a constant in another run. The result of an operator that returns a view or a copy, such
    /// as `aten::reshape`, may be the other one.
    fn possible_memory_roots(&self) -> Vec<ValueId> {
        let outside = self.inputs + self.constants.len();
        let mut memory_roots: Vec<ValueId> =
            (0..self.values.len()).map(|at| ValueId(if at < outside { 0 } else { at })).collect();
        for node in &self.nodes {
            for (result, output) in node.outputs.iter().enumerate() {
                let new = || output.value_ids().into_iter().filter(|id| id.0 >= outside);
                let mut shared: Vec<ValueId> = new().map(|id| self.memory_root(id)).collect();
                shared.extend(node.possible_aliases(result));
                for (id, shared) in new().flat_map(|id| shared.iter().map(move |shared| (id, *shared))) {
                    let (one, other) = (memory_roots[id.0], memory_roots[shared.0]);
                    if one == id {
                        memory_roots[id.0] = other;
                    } else if one != other {
                        memory_roots.iter_mut().filter(|memory| **memory == one).for_each(|memory| *memory = other);
                    }
                }
            }
        }
        memory_roots
    }

    fn merge_equal_nodes(&self) -> Self {
        let memory_roots = self.possible_memory_roots();
        let memory = |id: ValueId| memory_roots[id.0];
        let writes = |node: &Node| node.effects.writes.iter().map(|id| memory(*id)).collect::<Vec<_>>();
        let ever_written: HashSet<ValueId> = self.nodes.iter().flat_map(writes).collect();
        let mut graph_results: HashSet<ValueId> = self.outputs.iter().map(|id| self.memory_root(*id)).collect();
        // The number of writes to each memory so far.
        let mut epochs: HashMap<ValueId, usize> = HashMap::new();
        let mut seen: HashMap<String, Vec<Argument>> = HashMap::new();
        let mut replacements: HashMap<ValueId, ValueId> = HashMap::new();
        let mut builder = GraphBuilder::from(self.clone());
        builder.nodes.retain_mut(|node| {
            node.map_value_ids(|id| replacements.get(&id).copied().unwrap_or(id));
            for root in writes(node) {
                *epochs.entry(root).or_default() += 1;
            }
            if node.has_effects() || node.result_values().any(|id| ever_written.contains(&memory(id))) {
                return true;
            }
            let read: Vec<usize> = node.used_values().map(|id| epochs.get(&memory(id)).copied().unwrap_or(0)).collect();
            let key = format!("{} {:?} {read:?} {:?}", node.operator.name(), node.inputs, node.grad_mode);
            let Some(first) = seen.get(&key) else {
                seen.insert(key, node.outputs.clone());
                return true;
            };
            let (first, now): (Vec<ValueId>, Vec<ValueId>) =
                (first.iter().flat_map(Argument::value_ids).collect(), node.result_values().collect());
            let both_are_results = |(a, b): (&ValueId, &ValueId)| {
                let (a, b) = (self.memory_root(*a), self.memory_root(*b));
                a != b && graph_results.contains(&a) && graph_results.contains(&b)
            };
            if first.len() != now.len() || first.iter().zip(&now).any(both_are_results) {
                return true;
            }
            for (first, now) in first.into_iter().zip(now) {
                if graph_results.contains(&self.memory_root(now)) {
                    graph_results.insert(self.memory_root(first));
                }
                replacements.insert(now, first);
            }
            false
        });
        // A value that shares memory with a merged value now shares that of the value which replaces it.
        for value in &mut builder.values {
            value.shares_memory_with = value
                .shares_memory_with
                .map(|root| replacements.get(&root).map_or(root, |first| self.memory_root(*first)));
        }
        for id in &mut builder.outputs {
            *id = replacements.get(id).copied().unwrap_or(*id);
        }
        builder.finish()
    }
}
