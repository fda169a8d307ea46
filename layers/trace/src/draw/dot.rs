//! Output of a drawing in the DOT language of Graphviz.

use std::fmt::{self, Display, Write};

use super::{Arrow, BoxRole, Drawing};
use crate::graph::Graph;

impl Graph {
    /// Returns the graph in the DOT language, for `dot -Tsvg` and other programs that read it.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// # use dispatch_runtime::prelude::*;
    /// # fn main() -> Result<()> {
    /// let graph = dispatch_trace::trace(|x| Ok([aten::relu(&x[0])?]), &[Tensor::from([1.0_f32, -2.0])])?;
    /// assert!(graph.to_dot().contains("0 -> 1 [label = \"f32[2]\"];"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` does not fail.
        let _ = write_dot(&mut text, &Drawing::from_graph(self));
        text
    }
}

fn write_dot(text: &mut String, drawing: &Drawing) -> fmt::Result {
    text.push_str(
        "digraph {\n    node [shape = box, style = filled, fontname = monospace];\n    edge [fontname = monospace];\n",
    );
    for (at, block) in drawing.boxes.iter().enumerate() {
        let (fill, line) = block.role.fill_and_border_colours();
        let lines: Vec<&str> =
            [&block.title[..], &block.detail[..]].into_iter().filter(|line| !line.is_empty()).collect();
        let bold = if block.role == BoxRole::EffectfulCall { ", penwidth = 2" } else { "" };
        writeln!(
            text,
            "    {at} [label = {}, fillcolor = \"{fill}\", color = \"{line}\"{bold}];",
            QuotedDotString(lines.join("\n"))
        )?;
    }
    for Arrow { from, to, label } in &drawing.arrows {
        match label {
            Some(label) => writeln!(text, "    {from} -> {to} [label = {}];", QuotedDotString(label))?,
            None => writeln!(text, "    {from} -> {to} [style = dashed];")?,
        }
    }
    text.push_str("}\n");
    Ok(())
}

struct QuotedDotString<T>(T);

impl<T: Display> Display for QuotedDotString<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        write!(f, "\"{text}\"")
    }
}
