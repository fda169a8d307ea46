//! A drawing of a picture beside a bar chart of its classes.

use opdispatch::Result;

use crate::classifier::Guess;
use crate::photo::Photo;
use crate::plot::picture::{BLACK, BLUE, GREY, Picture, as_f64};

const GAP: usize = 20;
/// The smallest side of the picture in the drawing; a smaller picture gets larger pixels.
const SMALLEST_SIDE: usize = 256;
const BAR_SIZE: (usize, usize) = (400, 16);
const ROW_HEIGHT: usize = 52;
/// The number of characters of a class name. With the percentage, the text above a bar is as wide as the bar.
const NAME_LENGTH: usize = 26;

pub(crate) fn draw(photo: &Photo, guesses: &[Guess]) -> Result<Picture> {
    let rows = photo.to_rows()?;
    let pixel_size = SMALLEST_SIDE.div_ceil(rows.len().max(1));
    let photo_size = rows.len() * pixel_size;
    let chart_height = guesses.len() * ROW_HEIGHT;
    let mut drawing = Picture::new(photo_size + BAR_SIZE.0 + 3 * GAP, photo_size.max(chart_height) + 2 * GAP);
    for (y, row) in rows.into_iter().enumerate() {
        for (x, colour) in row.into_iter().enumerate() {
            drawing.draw_rectangle((GAP + x * pixel_size, GAP + y * pixel_size), (pixel_size, pixel_size), colour);
        }
    }
    let x = photo_size + 2 * GAP;
    for (row, guess) in guesses.iter().enumerate() {
        let y = GAP + row * ROW_HEIGHT;
        let name: String = guess.class.chars().take(NAME_LENGTH).collect();
        drawing.draw_text((x, y), &format!("{name:<NAME_LENGTH$} {:>5.1}%", 100.0 * guess.probability), BLACK);
        drawing.draw_rectangle((x, y + 20), BAR_SIZE, GREY);
        drawing.draw_rectangle((x, y + 20), (bar_length(guess.probability), BAR_SIZE.1), BLUE);
    }
    Ok(drawing)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a probability is from 0 to 1")]
fn bar_length(probability: f64) -> usize {
    (probability.clamp(0.0, 1.0) * as_f64(BAR_SIZE.0)).round() as usize
}
