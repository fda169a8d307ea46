//! A drawing of the misclassified pictures, each with the predicted digit and the label.

use opdispatch::prelude::*;

use crate::data::Digits;
use crate::plot::picture::{BLACK, GREEN, Picture, RED, blend_component};

/// The number of pictures in a row of the drawing.
const COLUMN_COUNT: usize = 6;
/// The number of squares along a side of a picture.
const PICTURE_SIDE: usize = 8;
const SQUARE_SIZE: usize = 14;
const TILE_GAP: usize = 20;
/// The grey value of a square without ink.
const BLANK_GREY: u8 = 240;
const TILE_SIZE: (usize, usize) = (PICTURE_SIDE * SQUARE_SIZE + TILE_GAP, PICTURE_SIDE * SQUARE_SIZE + 44 + TILE_GAP);

/// Draws every picture whose `predicted` digit differs from its label.
pub(crate) fn draw_misclassified(digits: &Digits, predicted: &Tensor) -> Result<Picture> {
    let wrong = predicted.ne(&digits.labels)?.nonzero()?.squeeze_dims(1)?;
    let (predicted_digits, digits) =
        (predicted.index_select(0, &wrong)?.to_vec::<i64>()?, digits.select_pictures(&wrong)?);
    let (ink, labels) = (digits.pictures.to_vec::<f32>()?, digits.labels.to_vec::<i64>()?);
    let rows = labels.len().div_ceil(COLUMN_COUNT).max(1);
    let mut picture = Picture::new(COLUMN_COUNT * TILE_SIZE.0 + TILE_GAP, rows * TILE_SIZE.1 + TILE_GAP);
    if labels.is_empty() {
        picture.draw_text((TILE_GAP, TILE_GAP), "none misclassified", BLACK);
    }
    for (position, (ink, (predicted, label))) in
        ink.chunks(PICTURE_SIDE * PICTURE_SIDE).zip(predicted_digits.iter().zip(&labels)).enumerate()
    {
        let (x, y) =
            (TILE_GAP + position % COLUMN_COUNT * TILE_SIZE.0, TILE_GAP + position / COLUMN_COUNT * TILE_SIZE.1);
        for (square, &ink) in ink.iter().enumerate() {
            let corner = (x + square % PICTURE_SIDE * SQUARE_SIZE, y + square / PICTURE_SIDE * SQUARE_SIZE);
            picture.draw_rectangle(
                corner,
                (SQUARE_SIZE, SQUARE_SIZE),
                BLACK.map(|black| blend_component(BLANK_GREY, black, ink.into())),
            );
        }
        let below = y + PICTURE_SIDE * SQUARE_SIZE + 8;
        picture.draw_text((x, below), &format!("guess {predicted}"), RED);
        picture.draw_text((x, below + 20), &format!("label {label}"), GREEN);
    }
    Ok(picture)
}
