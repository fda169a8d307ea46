//! Layout of a drawing: boxes in layers, so that all arrows lead down.
//!
//! A box is one layer below the lowest box from which an arrow leads to it. An arrow over several layers has a *stop* in each of them,
//! where it bends. Boxes and stops of a layer are ordered by the positions of their neighbours in other layers, and then moved as close to
//! these as the layer allows.

use super::{Picture, Role};

/// The number of rounds that improve the order, and the number that improve the positions.
const ROUNDS: usize = 12;
/// The horizontal and the vertical space between boxes or stops.
const GAP: (f64, f64) = (28.0, 52.0);
/// The width of a letter and the height of a line of text.
const LETTER: (f64, f64) = (7.3, 16.0);
const MARGIN: f64 = 20.0;

/// The position and the size of a box.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The horizontal centre.
    pub(super) x: f64,
    /// The upper edge.
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The positions of all boxes, the points of each arrow, and the size of the drawing.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) arrows: Vec<Vec<(f64, f64)>>,
    pub(super) size: (f64, f64),
}

/// A box, or a stop of an arrow, in a layer.
struct Spot {
    layer: usize,
    width: f64,
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

pub(super) fn layout(picture: &Picture) -> Layout {
    let layers = layers(picture);
    let (mut spots, ways) = spots(picture, &layers);
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    (0..spots.len()).for_each(|spot| rows[spots[spot].layer].push(spot));
    for round in 0..ROUNDS {
        order(&mut rows, &spots, round % 2 == 0);
        // The next round uses the positions of this one.
        for row in &rows {
            pack(row, &mut spots);
        }
    }
    for round in 0..ROUNDS {
        settle(&rows, &mut spots, round % 2 == 0);
    }
    let left = spots.iter().map(|spot| spot.x - spot.width / 2.0).fold(f64::INFINITY, f64::min);
    for spot in &mut spots {
        spot.x += MARGIN - left;
    }
    let (tops, height) = tops(picture, &layers, count);
    let place = |(at, block): (usize, &super::Block)| {
        let (width, height) = extent(block);
        Place { x: spots[at].x, y: tops[layers[at]].0, width, height }
    };
    let places: Vec<Place> = picture.boxes.iter().enumerate().map(place).collect();
    let point = |spot: usize| match places.get(spot) {
        Some(place) => (place.x, place.y + place.height),
        None => (spots[spot].x, tops[spots[spot].layer].0 + tops[spots[spot].layer].1 / 2.0),
    };
    let arrows = ways.iter().zip(&picture.arrows).map(|(stops, arrow)| {
        let to = places[arrow.to];
        stops.iter().map(|&spot| point(spot)).chain([(to.x, to.y)]).collect()
    });
    let arrows = arrows.collect();
    let width = spots.iter().map(|spot| spot.x + spot.width / 2.0).fold(0.0, f64::max) + MARGIN;
    Layout { places, arrows, size: (width, height) }
}

/// Returns the layer of each box. Constants are in the layer above their first use, and results in the last.
fn layers(picture: &Picture) -> Vec<usize> {
    let mut layers = vec![0_usize; picture.boxes.len()];
    // Boxes are in the order of execution, so the starts of all arrows to a box are before it.
    for at in 0..layers.len() {
        let before = picture.arrows.iter().filter(|arrow| arrow.to == at).map(|arrow| layers[arrow.from] + 1);
        layers[at] = before.max().unwrap_or(0);
    }
    let last = layers.iter().copied().max().unwrap_or(0);
    for (at, block) in picture.boxes.iter().enumerate() {
        match block.role {
            Role::Constant => {
                let uses = picture.arrows.iter().filter(|arrow| arrow.from == at).map(|arrow| layers[arrow.to]);
                layers[at] = uses.min().map_or(0, |first| first.saturating_sub(1));
            }
            Role::Result => layers[at] = last,
            _ => {}
        }
    }
    layers
}

/// Returns all spots, the boxes first, and for each arrow the spots through which it goes, without the last.
fn spots(picture: &Picture, layers: &[usize]) -> (Vec<Spot>, Vec<Vec<usize>>) {
    let spot = |layer, width| Spot { layer, width, above: Vec::new(), below: Vec::new(), x: 0.0 };
    let mut spots: Vec<Spot> =
        picture.boxes.iter().zip(layers).map(|(block, &layer)| spot(layer, extent(block).0)).collect();
    let mut ways = Vec::new();
    for arrow in &picture.arrows {
        let mut way = vec![arrow.from];
        for layer in layers[arrow.from] + 1..layers[arrow.to] {
            spots.push(spot(layer, LETTER.0));
            way.push(spots.len() - 1);
        }
        for (&from, &to) in way.iter().zip(way.iter().skip(1).chain([&arrow.to])) {
            spots[from].below.push(to);
            spots[to].above.push(from);
        }
        ways.push(way);
    }
    (spots, ways)
}

/// Orders each row by the mean rank of its spots' neighbours: those above, from the top down, or those below, from the bottom up.
fn order(rows: &mut [Vec<usize>], spots: &[Spot], down: bool) {
    let count = rows.len();
    let mut rank = vec![0.0_f64; spots.len()];
    let note = |row: &[usize], rank: &mut Vec<f64>| {
        row.iter().zip(0_u32..).for_each(|(&spot, place)| rank[spot] = f64::from(place));
    };
    for row in rows.iter() {
        note(row, &mut rank);
    }
    for step in 0..count {
        let at = if down { step } else { count - 1 - step };
        let wish = |spot: usize| {
            let near = if down { &spots[spot].above } else { &spots[spot].below };
            mean(near.iter().map(|&other| rank[other])).unwrap_or(rank[spot])
        };
        let mut wishes: Vec<(f64, usize)> = rows[at].iter().map(|&spot| (wish(spot), spot)).collect();
        // The sort is stable: spots with the same mean keep their order.
        wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows[at] = wishes.into_iter().map(|(_, spot)| spot).collect();
        note(&rows[at], &mut rank);
    }
}

/// Places the spots of a row side by side, centred around 0.
fn pack(row: &[usize], spots: &mut [Spot]) {
    let total: f64 = row.iter().map(|&spot| spots[spot].width + GAP.0).sum();
    let mut x = -total / 2.0;
    for &spot in row {
        spots[spot].x = x + f64::midpoint(spots[spot].width, GAP.0);
        x += spots[spot].width + GAP.0;
    }
}

/// Moves each spot as close to the mean position of its neighbours as the other spots of its row allow.
fn settle(rows: &[Vec<usize>], spots: &mut [Spot], down: bool) {
    let in_order: Vec<&Vec<usize>> = if down { rows.iter().collect() } else { rows.iter().rev().collect() };
    for row in in_order {
        let wishes: Vec<f64> = row
            .iter()
            .map(|&spot| {
                let near = spots[spot].above.iter().chain(&spots[spot].below);
                mean(near.map(|&other| spots[other].x)).unwrap_or(spots[spot].x)
            })
            .collect();
        let apart = |a: usize, b: usize| f64::midpoint(spots[row[a]].width, spots[row[b]].width) + GAP.0;
        let (mut pushed_right, mut pushed_left) = (wishes.clone(), wishes);
        for at in 1..row.len() {
            pushed_right[at] = pushed_right[at].max(pushed_right[at - 1] + apart(at - 1, at));
        }
        for at in (1..row.len()).rev() {
            pushed_left[at - 1] = pushed_left[at - 1].min(pushed_left[at] - apart(at - 1, at));
        }
        // The spots overlap in neither of the two placements, so they do not overlap in the mean of both.
        for (&spot, (right, left)) in row.iter().zip(pushed_right.iter().zip(&pushed_left)) {
            spots[spot].x = f64::midpoint(*right, *left);
        }
    }
}

/// Returns the upper edge and the height of each layer, and the height of the drawing.
fn tops(picture: &Picture, layers: &[usize], count: usize) -> (Vec<(f64, f64)>, f64) {
    let mut tops = Vec::with_capacity(count);
    let mut y = MARGIN;
    for layer in 0..count {
        let boxes = picture.boxes.iter().zip(layers).filter(|(_, at)| **at == layer);
        let height = boxes.map(|(block, _)| extent(block).1).fold(0.0, f64::max);
        tops.push((y, height));
        y += height + GAP.1;
    }
    (tops, y - GAP.1 + MARGIN)
}

/// Returns the width and the height of a box.
fn extent(block: &super::Block) -> (f64, f64) {
    let letters = |text: &str| u32::try_from(text.chars().count()).map_or(0.0, f64::from);
    let lines = if block.detail.is_empty() { 1.0 } else { 2.0 };
    let longest = letters(&block.title).max(letters(&block.detail));
    (longest.mul_add(LETTER.0, 20.0), LETTER.1.mul_add(lines, 10.0))
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0_f64, 0.0_f64), |(sum, count), x| (sum + x, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
