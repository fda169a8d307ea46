//! Printer of a graph as text that looks like Rust.
//!
//! Arguments are printed by position, up to the first that is left out, and by name after that. Keyword-only arguments are printed by name.
//! Arguments that the schema writes are printed as `&mut`. Other writes, and random numbers, are attributes above the call.

use std::fmt::{self, Write};

use dispatch_runtime::{DType, Geometry, Tensor};

use crate::argument::{Argument, ValueId};
use crate::graph::{Graph, Node, ValueInfo};
use crate::operator_paths;

/// The kind of a tensor, such as `f32[2, 3]`. Strides are printed only if it is not contiguous.
pub(crate) struct TensorTypeText<'a>(pub(crate) DType, pub(crate) &'a Geometry);

impl<'a> TensorTypeText<'a> {
    pub(crate) const fn from_value_info(info: &'a ValueInfo) -> Self {
        Self(info.dtype, &info.geometry)
    }

    pub(crate) fn from_tensor(tensor: &'a Tensor) -> Self {
        Self(tensor.dtype(), tensor.geometry())
    }
}

impl fmt::Display for TensorTypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}", self.0.short_name(), CommaSeparatedList(self.1.sizes()))?;
        if self.1.strides() != Geometry::contiguous(self.1.sizes()).strides() {
            write!(f, "; {}", CommaSeparatedList(self.1.strides()))?;
        }
        f.write_char(']')
    }
}

struct CommaSeparatedList<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for CommaSeparatedList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The definition of a value, such as `v3: &'v1 f32[2]`.
struct ValueDefinition<'a>(&'a Graph, ValueId);

impl fmt::Display for ValueDefinition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.0.value(self.1);
        write!(f, "{}: ", self.1)?;
        if let Some(root) = info.shares_memory_with {
            write!(f, "&'{root} ")?;
        }
        TensorTypeText::from_value_info(info).fmt(f)
    }
}

/// Prints the text that [`Graph::parse`] reads.
///
/// ```
/// # use kernels_cpu as _;
/// # use dispatch_runtime::prelude::*;
/// # fn main() -> Result<()> {
/// let graph = dispatch_trace::trace(|x| Ok([aten::t(&x[0])?]), &[Tensor::from([[1.0_f32, 2.0]])])?;
/// assert_eq!(
///     graph.to_string(),
///     "fn graph(v0: f32[1, 2]) {\n    let v1: &'v0 f32[2, 1; 1, 2] = aten::t(&v0);\n    [v1]\n}\n"
/// );
/// # Ok(())
/// # }
/// ```
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_with_remarks(f, &|_| None)
    }
}

impl Graph {
    /// Prints the text, with a comment after each call for which `remark` returns one.
    pub(crate) fn fmt_with_remarks(
        &self,
        f: &mut fmt::Formatter<'_>,
        remark: &dyn Fn(usize) -> Option<String>,
    ) -> fmt::Result {
        let inputs: Vec<ValueDefinition<'_>> = self.inputs().map(|id| ValueDefinition(self, id)).collect();
        writeln!(f, "fn graph({}) {{", CommaSeparatedList(&inputs))?;
        for at in self.inputs..self.inputs + self.constants.len() {
            writeln!(f, "    const {};", ValueDefinition(self, ValueId(at)))?;
        }
        let mut defined = self.inputs + self.constants.len();
        for (at, node) in self.nodes.iter().enumerate() {
            self.fmt_statement(f, node, &mut defined)?;
            writeln!(f, "{}", remark(at).map_or_else(String::new, |remark| format!(" // {remark}")))?;
        }
        writeln!(f, "    [{}]\n}}", CommaSeparatedList(&self.outputs))
    }

    fn fmt_statement(&self, f: &mut fmt::Formatter<'_>, node: &Node, defined: &mut usize) -> fmt::Result {
        if node.effects.random {
            f.write_str("    #[random]\n")?;
        }
        if let Some(grad) = node.grad_mode {
            writeln!(f, "    #[{}]", if grad { "enable_grad" } else { "no_grad" })?;
        }
        let written = node.values_written_by_schema();
        let undeclared: Vec<ValueId> = node.effects.writes.iter().filter(|id| !written.contains(id)).copied().collect();
        if !undeclared.is_empty() {
            writeln!(f, "    #[writes({})]", CommaSeparatedList(&undeclared))?;
        }
        f.write_str("    ")?;
        let start = *defined;
        *defined = node.result_values().map(|id| id.0 + 1).fold(start, usize::max);
        if *defined > start || node.result_values().any(|id| !written.contains(&id)) {
            let name = |id: ValueId| if id.0 < start { id.to_string() } else { ValueDefinition(self, id).to_string() };
            let outputs: Vec<String> = node.outputs.iter().map(|output| format_pattern(output, &name)).collect();
            match &outputs[..] {
                [one] => write!(f, "let {one} = ")?,
                _ => write!(f, "let ({}) = ", outputs.join(", "))?,
            }
        }
        fmt_call(f, node, &operator_paths::shortest_path(node.operator))?;
        f.write_char(';')
    }
}

fn format_pattern(output: &Argument, name: &impl Fn(ValueId) -> String) -> String {
    let list = |names: Vec<String>| format!("[{}]", names.join(", "));
    match output {
        Argument::Tensor(id) => name(*id),
        Argument::Tensors(ids) => list(ids.iter().map(|id| name(*id)).collect()),
        Argument::OptionalTensors(ids) => list(ids.iter().map(|id| id.map_or_else(|| "_".to_owned(), name)).collect()),
        _ => "_".to_owned(),
    }
}

/// Prints a call, such as `aten::add(&v1, &v2, alpha = 2)`.
fn fmt_call(f: &mut fmt::Formatter<'_>, node: &Node, path: &str) -> fmt::Result {
    let schema = node.schema();
    write!(f, "{path}(")?;
    for (i, input) in node.inputs.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        let position = schema.argument(&input.name);
        if input.keyword || position.is_none_or(|(at, _)| at != i) {
            write!(f, "{} = ", input.name)?;
        }
        let reference = if position.is_some_and(|(_, argument)| argument.is_written()) { "&mut " } else { "&" };
        fmt_argument(f, &input.arg, reference)?;
    }
    f.write_char(')')
}

/// An argument, printed as in a call.
pub(crate) struct ArgumentText<'a>(pub(crate) &'a Argument);

impl fmt::Display for ArgumentText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_argument(f, self.0, "&")
    }
}

fn fmt_argument(f: &mut fmt::Formatter<'_>, arg: &Argument, reference: &str) -> fmt::Result {
    match arg {
        Argument::None => f.write_str("None"),
        Argument::Tensor(id) => write!(f, "{reference}{id}"),
        Argument::Tensors(ids) => write!(f, "{reference}[{}]", CommaSeparatedList(ids)),
        Argument::OptionalTensors(ids) => {
            let items: Vec<String> =
                ids.iter().map(|id| id.map_or_else(|| "None".to_owned(), |id| format!("Some({id})"))).collect();
            write!(f, "{reference}[{}]", items.join(", "))
        }
        Argument::Bool(value) => write!(f, "{value}"),
        Argument::Int(value) => write!(f, "{value}"),
        Argument::Float(value) => write!(f, "{value:?}"),
        Argument::Complex(value) => write!(f, "Complex({:?}, {:?})", value.re, value.im),
        Argument::String(value) => write!(f, "{value:?}"),
        Argument::Bools(values) => write!(f, "{values:?}"),
        Argument::Ints(values) => write!(f, "{values:?}"),
        Argument::Floats(values) => write!(f, "{values:?}"),
        Argument::Strings(values) => write!(f, "{values:?}"),
        Argument::ScalarType(value) => write!(f, "DType::{value:?}"),
        Argument::Layout(value) => write!(f, "Layout::{value:?}"),
        Argument::MemoryFormat(value) => write!(f, "MemoryFormat::{value:?}"),
        Argument::Device(value) => write!(f, "Device({:?})", value.to_string()),
        Argument::List(items) => {
            write!(f, "[{}]", CommaSeparatedList(&items.iter().map(ArgumentText).collect::<Vec<_>>()))
        }
    }
}
