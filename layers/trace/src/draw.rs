//! Drawings of graphs: boxes, and arrows between them.
//!
//! After a write to a value, arrows of the value start at the call that wrote it. If another value shares the memory, a dashed arrow leads
//! from that call to the next use of the other value: no data flows there, but the order matters.

mod dot;
mod layout;
mod svg;

use std::collections::HashMap;

use crate::argument::{Argument, ValueId};
use crate::graph::{Graph, Node};
use crate::operator_paths;
use crate::print::{ArgumentText, TensorTypeText};

/// Boxes in the order of execution, and the arrows between them.
#[derive(Default)]
struct Drawing {
    boxes: Vec<NodeBox>,
    arrows: Vec<Arrow>,
}

struct NodeBox {
    role: BoxRole,
    title: String,
    /// The text below the title; may be empty.
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BoxRole {
    Input,
    Constant,
    Call,
    /// A call with effects.
    EffectfulCall,
    Result,
}

#[derive(PartialEq)]
struct Arrow {
    from: usize,
    to: usize,
    /// The kind of the value that flows; `None` if the arrow is about order only.
    label: Option<String>,
}

impl BoxRole {
    const ALL: [Self; 5] = [Self::Input, Self::Constant, Self::Call, Self::EffectfulCall, Self::Result];

    /// Returns the fill colour and the border colour of the boxes.
    const fn fill_and_border_colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Input => ("#dcf0dc", "#3c783c"),
            Self::Constant => ("#ebebeb", "#787878"),
            Self::Call => ("#dce6f5", "#3c5a96"),
            Self::EffectfulCall => ("#fae6c8", "#b4640a"),
            Self::Result => ("#f0dcf0", "#823c82"),
        }
    }

    const fn class_name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Constant => "constant",
            Self::Call => "call",
            Self::EffectfulCall => "effect",
            Self::Result => "result",
        }
    }
}

/// The box from which each value comes, after the nodes so far.
#[derive(Default)]
struct ValueSources {
    box_of_value: HashMap<ValueId, usize>,
    /// The last box that wrote to each memory. A memory is named by the first value that shares it.
    last_write: HashMap<ValueId, usize>,
}

impl Drawing {
    fn from_graph(graph: &Graph) -> Self {
        let mut drawing = Self::default();
        let mut sources = ValueSources::default();
        let given = (0..graph.inputs + graph.constants.len()).map(ValueId);
        for id in given {
            let role = if id.0 < graph.inputs { BoxRole::Input } else { BoxRole::Constant };
            let at =
                drawing.add_box(role, id.to_string(), TensorTypeText::from_value_info(graph.value(id)).to_string());
            sources.box_of_value.insert(id, at);
        }
        for node in &graph.nodes {
            let role = if node.has_effects() { BoxRole::EffectfulCall } else { BoxRole::Call };
            let at = drawing.add_box(role, operator_paths::shortest_path(node.operator), detail_text(node));
            node.used_values().for_each(|id| drawing.add_use_arrows(graph, &sources, id, at));
            for id in node.result_values().filter(|id| !sources.box_of_value.contains_key(id)).collect::<Vec<_>>() {
                sources.box_of_value.insert(id, at);
            }
            for id in &node.effects.writes {
                sources.box_of_value.insert(*id, at);
                sources.last_write.insert(graph.memory_root(*id), at);
            }
        }
        for (number, id) in graph.outputs.iter().enumerate() {
            let at = drawing.add_box(
                BoxRole::Result,
                format!("result {number}"),
                TensorTypeText::from_value_info(graph.value(*id)).to_string(),
            );
            drawing.add_use_arrows(graph, &sources, *id, at);
        }
        drawing
    }

    fn add_box(&mut self, role: BoxRole, title: String, detail: String) -> usize {
        self.boxes.push(NodeBox { role, title, detail });
        self.boxes.len() - 1
    }

    fn add_use_arrows(&mut self, graph: &Graph, sources: &ValueSources, id: ValueId, to: usize) {
        let Some(&from) = sources.box_of_value.get(&id) else { return };
        self.add_arrow(Arrow { from, to, label: Some(TensorTypeText::from_value_info(graph.value(id)).to_string()) });
        if let Some(&writer) = sources.last_write.get(&graph.memory_root(id)).filter(|&&writer| writer > from) {
            self.add_arrow(Arrow { from: writer, to, label: None });
        }
    }

    fn add_arrow(&mut self, arrow: Arrow) {
        if !self.arrows.contains(&arrow) {
            self.arrows.push(arrow);
        }
    }
}

/// Returns the arguments of a call that are not tensors, and its effects, as text.
fn detail_text(node: &Node) -> String {
    const MAX_DETAIL_LENGTH: usize = 36;
    let is_plain = |arg: &Argument| arg.value_ids().is_empty() && *arg != Argument::Tensors(Vec::new());
    let plain = node.inputs.iter().filter(|input| is_plain(&input.arg));
    let mut parts: Vec<String> = plain.map(|input| format!("{} = {}", input.name, ArgumentText(&input.arg))).collect();
    if !node.effects.writes.is_empty() {
        let written: Vec<String> = node.effects.writes.iter().map(ToString::to_string).collect();
        parts.push(format!("writes {}", written.join(", ")));
    }
    if node.effects.random {
        parts.push("random".to_owned());
    }
    let text = parts.join(", ");
    match text.char_indices().nth(MAX_DETAIL_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
