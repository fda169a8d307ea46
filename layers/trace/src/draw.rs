//! Drawings of graphs: boxes, and arrows between them.
//!
//! After a write to a value, arrows of the value start at the call that wrote it. If another value shares the memory, a dashed arrow leads
//! from that call to the next use of the other value: no data flows there, but the order matters.

mod dot;
mod layout;
mod svg;

use std::collections::HashMap;

use crate::argument::{Argument, Id};
use crate::graph::{Graph, Node};
use crate::operator_paths;
use crate::print::{Kind, Literal};

/// Boxes in the order of execution, and the arrows between them.
#[derive(Default)]
struct Picture {
    boxes: Vec<Block>,
    arrows: Vec<Arrow>,
}

struct Block {
    role: Role,
    title: String,
    /// The text below the title; may be empty.
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Input,
    Constant,
    Call,
    /// A call with effects.
    Effect,
    Result,
}

#[derive(PartialEq)]
struct Arrow {
    from: usize,
    to: usize,
    /// The kind of the value that flows; `None` if the arrow is about order only.
    label: Option<String>,
}

impl Role {
    const ALL: [Self; 5] = [Self::Input, Self::Constant, Self::Call, Self::Effect, Self::Result];

    /// Returns the fill colour and the border colour of the boxes.
    const fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Input => ("#dcf0dc", "#3c783c"),
            Self::Constant => ("#ebebeb", "#787878"),
            Self::Call => ("#dce6f5", "#3c5a96"),
            Self::Effect => ("#fae6c8", "#b4640a"),
            Self::Result => ("#f0dcf0", "#823c82"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Constant => "constant",
            Self::Call => "call",
            Self::Effect => "effect",
            Self::Result => "result",
        }
    }
}

/// The box from which each value comes, after the nodes so far.
#[derive(Default)]
struct Sources {
    of_value: HashMap<Id, usize>,
    /// The last box that wrote to each memory. A memory is named by the first value that shares it.
    last_write: HashMap<Id, usize>,
}

impl Picture {
    fn of(graph: &Graph) -> Self {
        let mut picture = Self::default();
        let mut sources = Sources::default();
        let given = (0..graph.inputs + graph.constants.len()).map(Id);
        for id in given {
            let role = if id.0 < graph.inputs { Role::Input } else { Role::Constant };
            let at = picture.block(role, id.to_string(), Kind::of(graph.value(id)).to_string());
            sources.of_value.insert(id, at);
        }
        for node in &graph.nodes {
            let role = if node.is_effect() { Role::Effect } else { Role::Call };
            let at = picture.block(role, operator_paths::path(node.operator), detail(node));
            node.uses().for_each(|id| picture.uses(graph, &sources, id, at));
            for id in node.gives().filter(|id| !sources.of_value.contains_key(id)).collect::<Vec<_>>() {
                sources.of_value.insert(id, at);
            }
            for id in &node.effects.writes {
                sources.of_value.insert(*id, at);
                sources.last_write.insert(graph.root(*id), at);
            }
        }
        for (number, id) in graph.outputs.iter().enumerate() {
            let at = picture.block(Role::Result, format!("result {number}"), Kind::of(graph.value(*id)).to_string());
            picture.uses(graph, &sources, *id, at);
        }
        picture
    }

    fn block(&mut self, role: Role, title: String, detail: String) -> usize {
        self.boxes.push(Block { role, title, detail });
        self.boxes.len() - 1
    }

    fn uses(&mut self, graph: &Graph, sources: &Sources, id: Id, to: usize) {
        let Some(&from) = sources.of_value.get(&id) else { return };
        self.arrow(Arrow { from, to, label: Some(Kind::of(graph.value(id)).to_string()) });
        if let Some(&wrote) = sources.last_write.get(&graph.root(id)).filter(|&&wrote| wrote > from) {
            self.arrow(Arrow { from: wrote, to, label: None });
        }
    }

    fn arrow(&mut self, arrow: Arrow) {
        if !self.arrows.contains(&arrow) {
            self.arrows.push(arrow);
        }
    }
}

/// Returns the arguments of a call that are not tensors, and its effects, as text.
fn detail(node: &Node) -> String {
    const ENOUGH: usize = 36;
    let is_plain = |arg: &Argument| arg.ids().is_empty() && *arg != Argument::Tensors(Vec::new());
    let plain = node.inputs.iter().filter(|input| is_plain(&input.arg));
    let mut parts: Vec<String> = plain.map(|input| format!("{} = {}", input.name, Literal(&input.arg))).collect();
    if !node.effects.writes.is_empty() {
        let written: Vec<String> = node.effects.writes.iter().map(ToString::to_string).collect();
        parts.push(format!("writes {}", written.join(", ")));
    }
    if node.effects.random {
        parts.push("random".to_owned());
    }
    let text = parts.join(", ");
    match text.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
