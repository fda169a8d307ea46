//! Verification of graphs.

use dispatch_runtime::{Device, Result, Spec, Tensor, Value};

use crate::argument::Id;
use crate::error::TraceError;
use crate::graph::{Graph, Node, ValueInfo};
use crate::record::is_ignorance;
use crate::run::{Known, arguments, fits, keep};

impl Graph {
    /// Checks that every node matches its operator's schema and uses only values defined before it, and that the operators on Meta return
    /// what the graph says. Nothing is computed.
    ///
    /// Parsed graphs are verified already. Use this for a graph from another program, or after the linked operators have changed.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_trace::Graph;
    ///
    /// let error = Graph::parse("fn graph(x: f32[2]) { let y: f32[3] = aten::relu(&x); [y] }", &[]).unwrap_err();
    /// assert!(error.to_string().ends_with("`aten::relu` gave f32[2] for v1, which the graph says is f32[3]"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the first node that is wrong.
    pub fn verify(&self) -> Result<()> {
        self.check_names()?;
        self.check_shapes()
    }

    /// Checks that all used values are defined, and that none is defined twice.
    fn check_names(&self) -> Result<()> {
        let shape = Spec::contiguous(dispatch_runtime::DType::F32, &[]).on(Device::META)?;
        let mut defined = vec![false; self.values.len()];
        defined[..self.inputs + self.constants.len()].fill(true);
        for (at, node) in self.nodes.iter().enumerate() {
            let mut is_there = |id: Id| defined.get(id.0).copied().unwrap_or(false).then(|| shape.clone());
            arguments(at, node, &mut is_there)?;
            for (result, output) in node.outputs.iter().enumerate() {
                let written = node.written_by(result);
                for id in output.ids() {
                    if std::mem::replace(&mut defined[id.0], true) && !written.contains(&id) {
                        let problem = format!("it gives {id}, which was there before, and does not write to it");
                        return Err(wrong(at, node, problem).into());
                    }
                }
            }
        }
        if let Some(id) = self.outputs.iter().find(|id| !defined.get(id.0).copied().unwrap_or(false)) {
            let problem = format!("{id} is given, and nothing defines it");
            return Err(TraceError::Node { node: self.nodes.len(), operator: "the results".to_owned(), problem }.into());
        }
        Ok(())
    }

    /// Makes the calls on Meta, and compares the results with the graph. If Meta cannot tell a result, it is taken from the graph.
    fn check_shapes(&self) -> Result<()> {
        let shape = |shown: &ValueInfo| Spec { dtype: shown.dtype, geometry: shown.geometry.clone() }.on(Device::META);
        let mut known: Known = vec![None; self.values.len()];
        for (place, shown) in known.iter_mut().zip(&self.values).take(self.inputs + self.constants.len()) {
            *place = Some(shape(shown)?);
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let mut on_meta = arguments(at, node, &mut |id: Id| known.get(id.0).cloned().flatten())?;
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
                        keep(output, value, &mut known);
                    }
                }
                Err(error) if is_ignorance(&error) => {}
                Err(error) => return Err(error),
            }
            for id in node.gives() {
                match known[id.0].as_ref().filter(|tensor| tensor.device() == Device::META) {
                    Some(tensor) => {
                        if !fits(&self.values[id.0], tensor) {
                            return Err(self.unlike(node, id, tensor).into());
                        }
                        // On Meta, a copy to another device shares the memory of its argument.
                        if !names_device {
                            self.check_memory(at, id, tensor, &known)?;
                        }
                    }
                    None => known[id.0] = Some(shape(&self.values[id.0])?),
                }
            }
        }
        Ok(())
    }

    /// Returns an error if a result shares memory with an argument and the graph does not say so: [`clean`](Self::clean) relies on it.
    fn check_memory(&self, at: usize, id: Id, tensor: &Tensor, known: &Known) -> Result<(), TraceError> {
        let node = &self.nodes[at];
        let is_shown = |used: &Id| known[used.0].as_ref().is_some_and(|used| used.storage().same(tensor.storage()));
        match node.uses().find(|used| self.root(*used) != self.root(id) && is_shown(used)) {
            Some(used) => {
                let of = self.root(used);
                let problem =
                    format!("{id} shows the memory of {used}, which the graph does not say: `{id}: &'{of} ..`");
                Err(wrong(at, node, problem))
            }
            None => Ok(()),
        }
    }
}

fn wrong(at: usize, node: &Node, problem: String) -> TraceError {
    TraceError::Node { node: at, operator: node.operator.name().to_string(), problem }
}
