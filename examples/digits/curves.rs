//! A diagram of loss and accuracy over the epochs.

use crate::font;
use crate::picture::{BLACK, BLUE, Colour, GREY, Picture, RED, as_f64};
use crate::training::{EpochScores, Score};

const PANEL_SIZE: (usize, usize) = (560, 400);
/// The left edge of the curves in their panel, in pixels.
const LEFT_EDGE: usize = 90;
const RIGHT_EDGE: usize = PANEL_SIZE.0 - 30;
const TOP_EDGE: usize = 60;
const BOTTOM_EDGE: usize = PANEL_SIZE.1 - 60;
/// Width and height of a character in pixels, with the space after it.
const CHARACTER_SIZE: (usize, usize) = (2 * font::CHARACTER_WIDTH, 2 * font::CHARACTER_HEIGHT);

/// Draws two panels: loss on the left and accuracy on the right.
pub(crate) fn draw_curves(epochs: &[EpochScores]) -> Picture {
    let mut picture = Picture::new(2 * PANEL_SIZE.0, PANEL_SIZE.1);
    draw_panel(&mut picture, 0, "loss", epochs, |score| score.loss);
    draw_panel(&mut picture, PANEL_SIZE.0, "accuracy %", epochs, |score| 100.0 * score.accuracy);
    picture
}

fn draw_panel(picture: &mut Picture, x: usize, title: &str, epochs: &[EpochScores], value: impl Fn(&Score) -> f64) {
    let curves: [(&str, Colour, Vec<f64>); 2] = [
        ("training", BLUE, epochs.iter().map(|epoch| value(&epoch.training)).collect()),
        ("test", RED, epochs.iter().map(|epoch| value(&epoch.test)).collect()),
    ];
    let vertical =
        Axis::covering(curves.iter().flat_map(|(.., values)| values.iter().copied()), (BOTTOM_EDGE, TOP_EDGE));
    let horizontal = Axis::covering([1.0, as_f64(epochs.len())], (x + LEFT_EDGE, x + RIGHT_EDGE));

    picture.draw_text((x + LEFT_EDGE, TOP_EDGE / 3), title, BLACK);
    for (tick, label) in vertical.ticks() {
        picture.draw_rectangle((x + LEFT_EDGE, tick), (RIGHT_EDGE - LEFT_EDGE, 1), GREY);
        picture.draw_text(
            (x + LEFT_EDGE - 10 - label.len() * CHARACTER_SIZE.0, tick - CHARACTER_SIZE.1 / 2),
            &label,
            BLACK,
        );
    }
    for (tick, label) in horizontal.ticks() {
        picture.draw_rectangle((tick, BOTTOM_EDGE), (1, 6), BLACK);
        picture.draw_text((tick - label.len() * CHARACTER_SIZE.0 / 2, BOTTOM_EDGE + 14), &label, BLACK);
    }
    picture.draw_text((x + RIGHT_EDGE - 5 * CHARACTER_SIZE.0, BOTTOM_EDGE + 14 + 20), "epoch", BLACK);
    let mut legend = x + RIGHT_EDGE - 14 * CHARACTER_SIZE.0;
    for (name, colour, values) in curves {
        picture.draw_text((legend, TOP_EDGE / 3), name, colour);
        legend += (name.len() + 2) * CHARACTER_SIZE.0;
        let points = values
            .iter()
            .zip(1..)
            .map(|(&value, epoch)| (horizontal.pixel_of(as_f64(epoch)), vertical.pixel_of(value)));
        picture.draw_curve(&points.collect::<Vec<_>>(), colour);
    }
}

/// An axis: it maps values to pixel coordinates.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// The pixel coordinates of `low` and `high`.
    pixels: (f64, f64),
}

impl Axis {
    /// Returns an axis from a round number below all values to a round number above them.
    fn covering(values: impl IntoIterator<Item = f64>, pixels: (usize, usize)) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        let rough = (high - low) / 5.0;
        let ten = 10_f64.powf(rough.log10().floor());
        let step = ten * [1.0, 2.0, 5.0, 10.0].into_iter().find(|&round| round * ten >= rough).unwrap_or(10.0);
        let pixels = (as_f64(pixels.0), as_f64(pixels.1));
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step, pixels }
    }

    fn pixel_of(&self, value: f64) -> f64 {
        self.pixels.0 + (value - self.low) / (self.high - self.low) * (self.pixels.1 - self.pixels.0)
    }

    /// Returns the round numbers of the axis, each with its pixel coordinate.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ticks are in the picture")]
    fn ticks(&self) -> impl Iterator<Item = (usize, String)> {
        let count = ((self.high - self.low) / self.step).round() as usize;
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=count).map(move |tick| {
            let value = self.low + as_f64(tick) * self.step;
            (self.pixel_of(value).round() as usize, format!("{value:.decimals$}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_around_all_values() {
        let labels = |values: &[f64]| {
            let axis = Axis::covering(values.iter().copied(), (100, 0));
            axis.ticks().map(|(pixel, label)| format!("{label}@{pixel}")).collect::<Vec<_>>()
        };
        assert_eq!(labels(&[1.9, 0.03, f64::NAN]), ["0.0@100", "0.5@75", "1.0@50", "1.5@25", "2.0@0"]);
        assert_eq!(labels(&[71.0, 99.0]), ["70@100", "80@67", "90@33", "100@0"]);
        assert_eq!(labels(&[]), labels(&[0.0, 1.0]));
    }
}
