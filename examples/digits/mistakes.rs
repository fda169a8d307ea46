//! A drawing of the misclassified pictures, each with the predicted digit and the label.

use opdispatch::prelude::*;

use crate::data::Digits;
use crate::picture::{BLACK, GREEN, Picture, RED, mixed};

/// The number of pictures in a row of the drawing.
const COLUMNS: usize = 6;
/// The number of squares along a side of a picture.
const SIDE: usize = 8;
const SQUARE: usize = 14;
const GAP: usize = 20;
/// The grey value of a square without ink.
const PAPER: u8 = 240;
const TILE: (usize, usize) = (SIDE * SQUARE + GAP, SIDE * SQUARE + 44 + GAP);

/// Draws every picture whose `predicted` digit differs from its label.
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
