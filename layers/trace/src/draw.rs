//! A graph as a picture: boxes, and arrows between them.
//!
//! What is written to comes, from then on, out of the call that wrote it. Where another value shows the same memory, a dashed arrow
//! leads from that call to whoever uses the value next: nothing flows there, but the order matters.

mod dot;
mod layout;
mod svg;

use std::collections::HashMap;

use crate::argument::{Argument, Id};
use crate::graph::{Graph, Node};
use crate::operator_paths;
use crate::print::{Kind, Literal};

/// Boxes, in the order in which they come about, and the arrows between them.
#[derive(Default)]
struct Picture {
    boxes: Vec<Block>,
    arrows: Vec<Arrow>,
}

struct Block {
    role: Role,
    title: String,
    /// What stands below the title, and may be empty.
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Input,
    Constant,
    Call,
    /// A call that does more than give results.
    Effect,
    Result,
}

#[derive(PartialEq)]
struct Arrow {
    from: usize,
    to: usize,
    /// What flows; nothing where this is about order alone.
    label: Option<String>,
}

impl Role {
    const ALL: [Self; 5] = [Self::Input, Self::Constant, Self::Call, Self::Effect, Self::Result];

    /// What its boxes are filled with, and what is around them.
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

/// Which boxes the values come out of, as far as the graph was gone through.
#[derive(Default)]
struct Sources {
    of_value: HashMap<Id, usize>,
    /// The last box that wrote to a memory, by the first value that shows it.
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

/// What a call is given beside tensors, and what it does beside giving results.
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
