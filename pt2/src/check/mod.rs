//! The check of a program: the dtype and sizes of each node's results, computed without running it.
//!
//! The operators of the program are called on Meta tensors, so their plans compute the results. These are compared with what torch.export
//! recorded. If sizes are symbols, the check repeats this for several values of the symbols.
//!
//! Strides are not compared, because each kernel chooses those of its results. The operands of a node have the recorded strides, so a node that
//! needs certain strides, such as `aten::view`, is compared for those that PyTorch had. Two more things are not compared, because PyTorch's
//! descriptions differ from its own CPU kernels there: results that nothing uses, and floating-point dtypes in a region with autocast, which
//! depend on the device.

mod assignments;
mod graph;
mod values;

use std::fmt;

use dispatch_runtime::{Device, Tensor, Value, guard};

use crate::constraints::Symbols;
use crate::error::Pt2Error;
use crate::expression::Expression;
use crate::program::Program;
use assignments::Assignment;
use graph::GraphCheck;

/// The answer of [`Program::check`]. Its text is a list of the findings.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
///
/// let report = Program::load("tests/programs/mlp.pt2")?.check()?;
/// assert!(report.is_clean(), "{report}");
/// assert_eq!((report.nodes, report.unchecked.len()), (3, 0));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The number of nodes that were compared.
    pub nodes: usize,
    /// The names of the nodes that were not compared: their results depend on elements, or their operators have no plan.
    pub unchecked: Vec<String>,
    /// The values of the symbols that the nodes were compared for, such as `s0 = 8, s1 = 3`. A program without symbols has one empty text.
    pub assignments: Vec<String>,
    /// The differences.
    pub findings: Vec<Finding>,
}

/// A difference between a recorded and a computed value.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
///
/// let report = Program::load("tests/checks/wrong_size.pt2")?.check()?;
/// let finding = &report.findings[0];
/// assert_eq!((&*finding.node, &*finding.recorded, &*finding.computed), ("linear", "float32[2, 9]", "float32[2, 8]"));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the node. For an input of the program, it is the name of the input.
    pub node: String,
    /// What the node calls, such as `torch.ops.aten.linear.default`. It is empty for an input of the program.
    pub target: String,
    /// The path of the node's module. It is empty for the outermost module.
    pub module: String,
    /// The name of the value.
    pub value: String,
    /// The recorded dtype and sizes, for the values of the symbols in `assignment`.
    pub recorded: String,
    /// The computed dtype and sizes, or the error of the operator.
    pub computed: String,
    /// The values of the symbols, such as `s0 = 8, s1 = 3`.
    pub assignment: String,
}

impl CheckReport {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Program {
    /// Compares the dtype and sizes of each node's results with what torch.export recorded, without running the program.
    ///
    /// Operators are called on Meta tensors, so the check needs no memory for them and no backend. Nodes inside of higher-order operators are
    /// compared, too. If sizes are symbols, the nodes are compared for several values: those of the example, the lowest and the highest ones
    /// that the program allows, and primes.
    ///
    /// A difference is a [`Finding`] of the report. Either the file is damaged, or this crate's operators differ from PyTorch's.
    ///
    /// # Errors
    ///
    /// Returns an error if no values of the symbols are allowed by the program's own ranges, guards and assertions.
    pub fn check(&self) -> Result<CheckReport, Pt2Error> {
        let _no_grad = guard::no_grad();
        let mut report = CheckReport::default();
        let state: Vec<Value> = self.state_tensors().map(on_meta).collect();
        for assignment in assignments::candidates(self.constraints()) {
            if report.assignments.len() == assignments::COUNT {
                break;
            }
            let Some(leaves) = assignment.leaves(self.constraints()) else { continue };
            let Ok(symbols) = self.constraints().check(&leaves) else { continue };
            self.check_assignment(&assignment, symbols, &leaves, &state, &mut report);
            // A program without symbols has one assignment.
            if report.assignments.last().is_some_and(String::is_empty) {
                break;
            }
        }
        if report.assignments.is_empty() {
            let reason = "no sizes of the inputs satisfy the program's ranges, guards and assertions".to_owned();
            return Err(self.error(crate::error::Pt2Problem::Arguments { reason }));
        }
        Ok(report)
    }

    /// Compares the nodes for these values of the symbols, unless the program cannot run for them: an assertion refuses them, or an operator
    /// fails. PyTorch's ranges and guards do not have all conditions on the sizes, so only the sizes of the example are certain.
    fn check_assignment(
        &self,
        assignment: &Assignment,
        symbols: Symbols,
        leaves: &[Value],
        state: &[Value],
        report: &mut CheckReport,
    ) {
        let inputs: Vec<Value> = self.graph_inputs(|at| state.get(at).cloned(), leaves).collect();
        let mut check = GraphCheck::new(self.graph(), symbols.clone(), assignment, self.constraints());
        if check.run(self.graph(), inputs.clone(), "").is_err() {
            return;
        }
        if !assignment.is_example() && !check.findings.is_empty() {
            let mut trial = GraphCheck::with_computed_values(self.graph(), symbols, assignment, self.constraints());
            if trial.run(self.graph(), inputs, "").is_err() {
                return;
            }
        }
        let text = symbols_text(&check.symbols);
        report.nodes = report.nodes.max(check.nodes);
        for name in check.unchecked {
            if !report.unchecked.contains(&name) {
                report.unchecked.push(name);
            }
        }
        for finding in check.findings {
            let is_same = |known: &Finding| (&known.node, &known.value) == (&finding.node, &finding.value);
            if !report.findings.iter().any(is_same) {
                report.findings.push(Finding { assignment: text.clone(), ..finding });
            }
        }
        report.assignments.push(text);
    }
}

fn on_meta(tensor: &Tensor) -> Value {
    values::meta_tensor(tensor.dtype(), tensor.sizes(), tensor.strides()).unwrap_or_else(|_| tensor.clone()).into()
}

fn symbols_text(symbols: &Symbols) -> String {
    let texts = symbols.iter().map(|(name, value)| format!("{name} = {}", Expression::number(value)));
    texts.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, unchecked, assignments, findings } = self;
        write!(f, "{nodes} nodes compared for {} assignments of sizes", assignments.len())?;
        if !unchecked.is_empty() {
            write!(f, ", {} not compared", unchecked.len())?;
        }
        write!(f, ", {} findings", findings.len())?;
        findings.iter().try_for_each(|finding| write!(f, "\n  {finding}"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, target, module, value, recorded, computed, assignment } = self;
        if target.is_empty() {
            write!(f, "input `{node}`")?;
        } else {
            write!(f, "node `{node}` ({target})")?;
        }
        if !module.is_empty() {
            write!(f, " of module `{module}`")?;
        }
        write!(f, ": `{value}` is recorded as {recorded}, and computed as {computed}")?;
        if assignment.is_empty() { Ok(()) } else { write!(f, ", with {assignment}") }
    }
}

/// The device that all operators run on during a check.
const META: Device = Device::META;
