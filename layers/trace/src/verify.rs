//! Verification of graphs.

use dispatch_runtime::{Device, Result, Spec, Tensor, Value};

use crate::argument::ValueId;
use crate::error::TraceError;
use crate::graph::{Graph, Node, ValueInfo};
use crate::record::is_meta_unsupported_error;
use crate::run::{RunValues, matches_value_info, node_arguments, store_result};

impl Graph {
    /// Checks that every node matches its operator's schema and uses only values defined before it, and that the results of the operators
    /// on Meta match the graph. Nothing is computed.
    ///
    /// Parsed graphs are verified already. Use this for a graph from another program, or after the linked operators have changed.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_trace::Graph;
    ///
    /// let error = Graph::parse("fn graph(x: f32[2]) { let y: f32[3] = aten::relu(&x); [y] }", &[]).unwrap_err();
    /// assert!(error.to_string().ends_with("`aten::relu` returned f32[2] for v1, which is f32[3] in the graph"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the first node that is wrong.
    pub fn verify(&self) -> Result<()> {
        self.check_definitions()?;
        self.check_shapes_on_meta()
    }

    /// Checks that all used values are defined, and that none is defined twice.
    fn check_definitions(&self) -> Result<()> {
        let shape = Spec::contiguous(dispatch_runtime::DType::F32, &[]).on(Device::META)?;
        let mut defined = vec![false; self.values.len()];
        defined[..self.inputs + self.constants.len()].fill(true);
        for (at, node) in self.nodes.iter().enumerate() {
            let mut meta_if_defined = |id: ValueId| defined.get(id.0).copied().unwrap_or(false).then(|| shape.clone());
            node_arguments(at, node, &mut meta_if_defined)?;
            for (result, output) in node.outputs.iter().enumerate() {
                let written = node.written_values_of_result(result);
                for id in output.value_ids() {
                    if std::mem::replace(&mut defined[id.0], true) && !written.contains(&id) {
                        let problem = format!("it returns {id}, which is already defined, and does not write to it");
                        return Err(invalid_node_error(at, node, problem).into());
                    }
                }
            }
        }
        if let Some(id) = self.outputs.iter().find(|id| !defined.get(id.0).copied().unwrap_or(false)) {
            let problem = format!("{id} is a result of the graph, but no node defines it");
            return Err(TraceError::InvalidNode {
                node: self.nodes.len(),
                operator: "the results".to_owned(),
                problem,
            }
            .into());
        }
        Ok(())
    }

    /// Makes the calls on Meta, and compares the results with the graph. If Meta cannot tell a result, it is taken from the graph.
    fn check_shapes_on_meta(&self) -> Result<()> {
        let shape = |info: &ValueInfo| Spec { dtype: info.dtype, geometry: info.geometry.clone() }.on(Device::META);
        let mut values: RunValues = vec![None; self.values.len()];
        for (slot, info) in values.iter_mut().zip(&self.values).take(self.inputs + self.constants.len()) {
            *slot = Some(shape(info)?);
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let mut on_meta = node_arguments(at, node, &mut |id: ValueId| values.get(id.0).cloned().flatten())?;
            let mut names_device = false;
            for value in &mut on_meta {
                if matches!(value, Value::Device(_)) {
                    *value = Device::META.into();
                    names_device = true;
                }
            }
            match node.operator.call(on_meta) {
                Ok(results) => {
                    for (output, value) in node.outputs.iter().zip(results) {
                        store_result(output, value, &mut values);
                    }
                }
                Err(error) if is_meta_unsupported_error(&error) => {}
                Err(error) => return Err(error),
            }
            for id in node.result_values() {
                match values[id.0].as_ref().filter(|tensor| tensor.device() == Device::META) {
                    Some(tensor) => {
                        if !matches_value_info(&self.values[id.0], tensor) {
                            return Err(self.result_mismatch_error(node, id, tensor).into());
                        }
                        // On Meta, a copy to another device shares the memory of its argument.
                        if !names_device {
                            self.check_shared_memory(at, id, tensor, &values)?;
                        }
                    }
                    None => values[id.0] = Some(shape(&self.values[id.0])?),
                }
            }
        }
        Ok(())
    }

    /// Returns an error if a result shares memory with an argument and the graph does not say so: [`clean`](Self::clean) relies on it.
    fn check_shared_memory(
        &self,
        at: usize,
        id: ValueId,
        tensor: &Tensor,
        values: &RunValues,
    ) -> Result<(), TraceError> {
        let node = &self.nodes[at];
        let shares_memory =
            |used: &ValueId| values[used.0].as_ref().is_some_and(|used| used.storage().same(tensor.storage()));
        match node.used_values().find(|used| self.memory_root(*used) != self.memory_root(id) && shares_memory(used)) {
            Some(used) => {
                let of = self.memory_root(used);
                let problem =
                    format!("{id} shares the memory of {used}, but the graph does not say so: write `{id}: &'{of} ..`");
                Err(invalid_node_error(at, node, problem))
            }
            None => Ok(()),
        }
    }
}

fn invalid_node_error(at: usize, node: &Node, problem: String) -> TraceError {
    TraceError::InvalidNode { node: at, operator: node.operator.name().to_string(), problem }
}
