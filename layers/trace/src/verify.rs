//! Whether a graph can run.

use dispatch_runtime::{Device, Result, Spec};

use crate::argument::Id;
use crate::error::TraceError;
use crate::graph::Graph;
use crate::run::arguments;

impl Graph {
    /// Whether every node fits its operator's schema and uses what is there before it, and whether the operators, asked on Meta, give
    /// what the graph says. Nothing is computed.
    ///
    /// Traced and parsed graphs are verified; this is for programs that were given one, and for those that change what is linked.
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
    /// What is wrong with the first node that does not fit.
    pub fn verify(&self) -> Result<()> {
        let shape = Spec::contiguous(dispatch_runtime::DType::F32, &[]).on(Device::META)?;
        let mut defined = vec![false; self.values.len()];
        defined[..self.inputs + self.constants.len()].fill(true);
        for (at, node) in self.nodes.iter().enumerate() {
            let mut is_there = |id: Id| defined.get(id.0).copied().unwrap_or(false).then(|| shape.clone());
            arguments(at, node, &mut is_there)?;
            for (result, output) in node.outputs.iter().enumerate() {
                let written = node.schema().written_return(result).and_then(|at| node.schema().arguments.get(at));
                let written = written.and_then(|written| node.inputs.iter().find(|input| input.name == written.name));
                for id in output.ids() {
                    if std::mem::replace(&mut defined[id.0], true)
                        && !written.is_some_and(|written| written.arg.ids().contains(&id))
                    {
                        let operator = node.operator.name().to_string();
                        let problem = format!("it gives {id}, which was there before, and does not write to it");
                        return Err(TraceError::Node { node: at, operator, problem }.into());
                    }
                }
            }
        }
        if let Some(id) = self.outputs.iter().find(|id| !defined.get(id.0).copied().unwrap_or(false)) {
            let problem = format!("{id} is given, and nothing defines it");
            return Err(TraceError::Node { node: self.nodes.len(), operator: "the results".to_owned(), problem }.into());
        }
        self.check_shapes()
    }
}
