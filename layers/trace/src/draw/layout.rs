//! Layout of a drawing: boxes in layers, so that all arrows lead down.
//!
//! A box is one layer below the lowest box from which an arrow leads to it. An arrow over several layers has a *dummy node* in each of
//! them, where it bends. Boxes and dummy nodes of a layer are ordered by the positions of their neighbours in other layers, and then moved
//! as close to these as the layer allows.

use super::{BoxRole, Drawing};

/// The number of rounds that improve the order of boxes in their layers, and again of rounds that improve their positions.
const IMPROVEMENT_ROUNDS: usize = 12;
/// The horizontal and the vertical space between boxes or dummy nodes.
const BOX_GAP: (f64, f64) = (28.0, 52.0);
/// The width of a letter and the height of a line of text.
const LETTER_SIZE: (f64, f64) = (7.3, 16.0);
const MARGIN: f64 = 20.0;

/// The position and the size of a box.
#[derive(Clone, Copy)]
pub(super) struct BoxGeometry {
    /// The horizontal centre of the box.
    pub(super) x: f64,
    /// The upper edge of the box.
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The positions of all boxes, the points of each arrow, and the size of the drawing.
pub(super) struct Layout {
    pub(super) boxes: Vec<BoxGeometry>,
    pub(super) arrows: Vec<Vec<(f64, f64)>>,
    pub(super) size: (f64, f64),
}

/// A box, or a dummy node of an arrow, in a layer.
struct LayoutNode {
    layer: usize,
    width: f64,
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

pub(super) fn compute_layout(drawing: &Drawing) -> Layout {
    let layers = assign_layers(drawing);
    let (mut nodes, routes) = build_layout_nodes(drawing, &layers);
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    (0..nodes.len()).for_each(|node| rows[nodes[node].layer].push(node));
    for round in 0..IMPROVEMENT_ROUNDS {
        order_rows(&mut rows, &nodes, round % 2 == 0);
        // Places the nodes side by side in their new order.
        for row in &rows {
            pack_row(row, &mut nodes);
        }
    }
    for round in 0..IMPROVEMENT_ROUNDS {
        align_rows(&rows, &mut nodes, round % 2 == 0);
    }
    let left = nodes.iter().map(|node| node.x - node.width / 2.0).fold(f64::INFINITY, f64::min);
    for node in &mut nodes {
        node.x += MARGIN - left;
    }
    let (tops, height) = layer_tops(drawing, &layers, count);
    let place = |(at, block): (usize, &super::NodeBox)| {
        let (width, height) = box_size(block);
        BoxGeometry { x: nodes[at].x, y: tops[layers[at]].0, width, height }
    };
    let boxes: Vec<BoxGeometry> = drawing.boxes.iter().enumerate().map(place).collect();
    let point = |node: usize| match boxes.get(node) {
        Some(place) => (place.x, place.y + place.height),
        None => (nodes[node].x, tops[nodes[node].layer].0 + tops[nodes[node].layer].1 / 2.0),
    };
    let arrows = routes.iter().zip(&drawing.arrows).map(|(route, arrow)| {
        let to = boxes[arrow.to];
        route.iter().map(|&node| point(node)).chain([(to.x, to.y)]).collect()
    });
    let arrows = arrows.collect();
    let width = nodes.iter().map(|node| node.x + node.width / 2.0).fold(0.0, f64::max) + MARGIN;
    Layout { boxes, arrows, size: (width, height) }
}

/// Returns the layer of each box. Constants are in the layer above their first use, and results in the last.
fn assign_layers(drawing: &Drawing) -> Vec<usize> {
    let mut layers = vec![0_usize; drawing.boxes.len()];
    // Boxes are in the order of execution, so the starts of all arrows to a box are before it.
    for at in 0..layers.len() {
        let before = drawing.arrows.iter().filter(|arrow| arrow.to == at).map(|arrow| layers[arrow.from] + 1);
        layers[at] = before.max().unwrap_or(0);
    }
    let last = layers.iter().copied().max().unwrap_or(0);
    for (at, block) in drawing.boxes.iter().enumerate() {
        match block.role {
            BoxRole::Constant => {
                let uses = drawing.arrows.iter().filter(|arrow| arrow.from == at).map(|arrow| layers[arrow.to]);
                layers[at] = uses.min().map_or(0, |first| first.saturating_sub(1));
            }
            BoxRole::Result => layers[at] = last,
            _ => {}
        }
    }
    layers
}

/// Returns all nodes, the boxes first, and for each arrow the nodes through which it goes, without the last.
fn build_layout_nodes(drawing: &Drawing, layers: &[usize]) -> (Vec<LayoutNode>, Vec<Vec<usize>>) {
    let node = |layer, width| LayoutNode { layer, width, above: Vec::new(), below: Vec::new(), x: 0.0 };
    let mut nodes: Vec<LayoutNode> =
        drawing.boxes.iter().zip(layers).map(|(block, &layer)| node(layer, box_size(block).0)).collect();
    let mut routes = Vec::new();
    for arrow in &drawing.arrows {
        let mut route = vec![arrow.from];
        for layer in layers[arrow.from] + 1..layers[arrow.to] {
            nodes.push(node(layer, LETTER_SIZE.0));
            route.push(nodes.len() - 1);
        }
        for (&from, &to) in route.iter().zip(route.iter().skip(1).chain([&arrow.to])) {
            nodes[from].below.push(to);
            nodes[to].above.push(from);
        }
        routes.push(route);
    }
    (nodes, routes)
}

/// Orders each row by the mean rank of its nodes' neighbours: those above, from the top down, or those below, from the bottom up.
fn order_rows(rows: &mut [Vec<usize>], nodes: &[LayoutNode], down: bool) {
    let count = rows.len();
    let mut rank = vec![0.0_f64; nodes.len()];
    let set_ranks = |row: &[usize], rank: &mut Vec<f64>| {
        row.iter().zip(0_u32..).for_each(|(&node, place)| rank[node] = f64::from(place));
    };
    for row in rows.iter() {
        set_ranks(row, &mut rank);
    }
    for step in 0..count {
        let at = if down { step } else { count - 1 - step };
        let target = |node: usize| {
            let near = if down { &nodes[node].above } else { &nodes[node].below };
            mean_position(near.iter().map(|&other| rank[other])).unwrap_or(rank[node])
        };
        let mut targets: Vec<(f64, usize)> = rows[at].iter().map(|&node| (target(node), node)).collect();
        // The sort is stable: nodes with the same mean keep their order.
        targets.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows[at] = targets.into_iter().map(|(_, node)| node).collect();
        set_ranks(&rows[at], &mut rank);
    }
}

/// Places the nodes of a row side by side, centred around 0.
fn pack_row(row: &[usize], nodes: &mut [LayoutNode]) {
    let total: f64 = row.iter().map(|&node| nodes[node].width + BOX_GAP.0).sum();
    let mut x = -total / 2.0;
    for &node in row {
        nodes[node].x = x + f64::midpoint(nodes[node].width, BOX_GAP.0);
        x += nodes[node].width + BOX_GAP.0;
    }
}

/// Moves each node as close to the mean position of its neighbours as the other nodes of its row allow.
fn align_rows(rows: &[Vec<usize>], nodes: &mut [LayoutNode], down: bool) {
    let in_order: Vec<&Vec<usize>> = if down { rows.iter().collect() } else { rows.iter().rev().collect() };
    for row in in_order {
        let targets: Vec<f64> = row
            .iter()
            .map(|&node| {
                let near = nodes[node].above.iter().chain(&nodes[node].below);
                mean_position(near.map(|&other| nodes[other].x)).unwrap_or(nodes[node].x)
            })
            .collect();
        let min_distance = |a: usize, b: usize| f64::midpoint(nodes[row[a]].width, nodes[row[b]].width) + BOX_GAP.0;
        let (mut pushed_right, mut pushed_left) = (targets.clone(), targets);
        for at in 1..row.len() {
            pushed_right[at] = pushed_right[at].max(pushed_right[at - 1] + min_distance(at - 1, at));
        }
        for at in (1..row.len()).rev() {
            pushed_left[at - 1] = pushed_left[at - 1].min(pushed_left[at] - min_distance(at - 1, at));
        }
        // The nodes overlap in neither of the two placements, so they do not overlap in the mean of both.
        for (&node, (right, left)) in row.iter().zip(pushed_right.iter().zip(&pushed_left)) {
            nodes[node].x = f64::midpoint(*right, *left);
        }
    }
}

/// Returns the upper edge and the height of each layer, and the height of the drawing.
fn layer_tops(drawing: &Drawing, layers: &[usize], count: usize) -> (Vec<(f64, f64)>, f64) {
    let mut tops = Vec::with_capacity(count);
    let mut y = MARGIN;
    for layer in 0..count {
        let boxes = drawing.boxes.iter().zip(layers).filter(|(_, at)| **at == layer);
        let height = boxes.map(|(block, _)| box_size(block).1).fold(0.0, f64::max);
        tops.push((y, height));
        y += height + BOX_GAP.1;
    }
    (tops, y - BOX_GAP.1 + MARGIN)
}

/// Returns the width and the height of a box.
fn box_size(block: &super::NodeBox) -> (f64, f64) {
    let letters = |text: &str| u32::try_from(text.chars().count()).map_or(0.0, f64::from);
    let lines = if block.detail.is_empty() { 1.0 } else { 2.0 };
    let longest = letters(&block.title).max(letters(&block.detail));
    (longest.mul_add(LETTER_SIZE.0, 20.0), LETTER_SIZE.1.mul_add(lines, 10.0))
}

fn mean_position(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0_f64, 0.0_f64), |(sum, count), x| (sum + x, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
