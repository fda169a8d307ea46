//! Removal of unused nodes, and merging of equal nodes.

use std::collections::{HashMap, HashSet};

use crate::argument::{Argument, Id};
use crate::graph::{Graph, GraphBuilder, Node};

impl Graph {
    /// Removes nodes whose results are not used, and merges nodes that compute the same.
    ///
    /// A node with [effects](crate::Node::is_effect) stays, once and in its position: it writes, draws random numbers, or returns nothing.
    /// Two nodes are equal if nothing they read is written between them, and if their results are never written. Two results of the graph
    /// remain two tensors.
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
            let next = graph.merged().without_dead();
            if next.nodes.len() == graph.nodes.len() {
                return next;
            }
            graph = next;
        }
    }

    fn without_dead(self) -> Self {
        let mut needed: HashSet<Id> = self.outputs.iter().copied().collect();
        let keep: Vec<bool> = self
            .nodes
            .iter()
            .rev()
            .map(|node| {
                let keep = node.is_effect() || node.gives().any(|id| needed.contains(&id));
                if keep {
                    needed.extend(node.uses());
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
    fn memories(&self) -> Vec<Id> {
        let outside = self.inputs + self.constants.len();
        let mut memories: Vec<Id> = (0..self.values.len()).map(|at| Id(if at < outside { 0 } else { at })).collect();
        for node in &self.nodes {
            for (result, output) in node.outputs.iter().enumerate() {
                let new = || output.ids().into_iter().filter(|id| id.0 >= outside);
                let mut shown: Vec<Id> = new().map(|id| self.root(id)).collect();
                shown.extend(node.may_show(result));
                for (id, shown) in new().flat_map(|id| shown.iter().map(move |shown| (id, *shown))) {
                    let (one, other) = (memories[id.0], memories[shown.0]);
                    if one == id {
                        memories[id.0] = other;
                    } else if one != other {
                        memories.iter_mut().filter(|memory| **memory == one).for_each(|memory| *memory = other);
                    }
                }
            }
        }
        memories
    }

    fn merged(&self) -> Self {
        let memories = self.memories();
        let memory = |id: Id| memories[id.0];
        let writes = |node: &Node| node.effects.writes.iter().map(|id| memory(*id)).collect::<Vec<_>>();
        let ever_written: HashSet<Id> = self.nodes.iter().flat_map(writes).collect();
        let mut given: HashSet<Id> = self.outputs.iter().map(|id| self.root(*id)).collect();
        // The number of writes to each memory so far.
        let mut epochs: HashMap<Id, usize> = HashMap::new();
        let mut seen: HashMap<String, Vec<Argument>> = HashMap::new();
        let mut instead: HashMap<Id, Id> = HashMap::new();
        let mut builder = GraphBuilder::from(self.clone());
        builder.nodes.retain_mut(|node| {
            node.rename(|id| instead.get(&id).copied().unwrap_or(id));
            for root in writes(node) {
                *epochs.entry(root).or_default() += 1;
            }
            if node.is_effect() || node.gives().any(|id| ever_written.contains(&memory(id))) {
                return true;
            }
            let read: Vec<usize> = node.uses().map(|id| epochs.get(&memory(id)).copied().unwrap_or(0)).collect();
            let key = format!("{} {:?} {read:?} {:?}", node.operator.name(), node.inputs, node.grad);
            let Some(first) = seen.get(&key) else {
                seen.insert(key, node.outputs.clone());
                return true;
            };
            let (first, now): (Vec<Id>, Vec<Id>) =
                (first.iter().flat_map(Argument::ids).collect(), node.gives().collect());
            let both_given = |(a, b): (&Id, &Id)| {
                let (a, b) = (self.root(*a), self.root(*b));
                a != b && given.contains(&a) && given.contains(&b)
            };
            if first.len() != now.len() || first.iter().zip(&now).any(both_given) {
                return true;
            }
            for (first, now) in first.into_iter().zip(now) {
                if given.contains(&self.root(now)) {
                    given.insert(self.root(first));
                }
                instead.insert(now, first);
            }
            false
        });
        // A value that shares memory with a merged value now shares that of the value which replaces it.
        for value in &mut builder.values {
            value.shares = value.shares.map(|root| instead.get(&root).map_or(root, |first| self.root(*first)));
        }
        for id in &mut builder.outputs {
            *id = instead.get(id).copied().unwrap_or(*id);
        }
        builder.finish()
    }
}
