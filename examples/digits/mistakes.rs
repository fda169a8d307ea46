//! The pictures that the network read wrongly: what it saw, what it said, and what it was.

use opdispatch::prelude::*;

use crate::data::Digits;
use crate::picture::{BLACK, GREEN, Picture, RED, mixed};

/// How many there are beside each other.
const COLUMNS: usize = 6;
/// A picture's squares beside each other, and how large each is drawn.
const SIDE: usize = 8;
const SQUARE: usize = 14;
const GAP: usize = 20;
/// What is not inked is nearly white.
const PAPER: u8 = 240;
const TILE: (usize, usize) = (SIDE * SQUARE + GAP, SIDE * SQUARE + 44 + GAP);

/// Draws every picture whose `predicted` digit is not its label.
pub(crate) fn draw(digits: &Digits, predicted: &Tensor) -> Result<Picture> {
    let wrong = predicted.ne(&digits.labels)?.nonzero()?.squeeze_dim(1)?;
    let (said, digits) = (predicted.index_select(0, &wrong)?.to_vec::<i64>()?, digits.at(&wrong)?);
    let (ink, labels) = (digits.pictures.to_vec::<f32>()?, digits.labels.to_vec::<i64>()?);
    let rows = labels.len().div_ceil(COLUMNS).max(1);
    let mut picture = Picture::new(COLUMNS * TILE.0 + GAP, rows * TILE.1 + GAP);
    if labels.is_empty() {
        picture.text((GAP, GAP), "no mistakes", BLACK);
    }
    for (position, (ink, (said, label))) in ink.chunks(SIDE * SIDE).zip(said.iter().zip(&labels)).enumerate() {
        let (x, y) = (GAP + position % COLUMNS * TILE.0, GAP + position / COLUMNS * TILE.1);
        for (square, &ink) in ink.iter().enumerate() {
            let corner = (x + square % SIDE * SQUARE, y + square / SIDE * SQUARE);
            picture.rectangle(corner, (SQUARE, SQUARE), BLACK.map(|black| mixed(PAPER, black, ink.into())));
        }
        let below = y + SIDE * SQUARE + 8;
        picture.text((x, below), &format!("said {said}"), RED);
        picture.text((x, below + 20), &format!("is {label}"), GREEN);
    }
    Ok(picture)
}
