//! Diagrams of curves, such as loss and accuracy over the epochs.

use super::font;
use super::picture::{BLACK, Colour, GREY, Picture, as_f64};

const PANEL_SIZE: (usize, usize) = (560, 400);
/// The left edge of the curves in their panel, in pixels.
const LEFT_EDGE: usize = 90;
const RIGHT_EDGE: usize = PANEL_SIZE.0 - 30;
const TOP_EDGE: usize = 60;
const BOTTOM_EDGE: usize = PANEL_SIZE.1 - 60;
/// Width and height of a character in pixels, with the space after it.
const CHARACTER_SIZE: (usize, usize) = (2 * font::CHARACTER_WIDTH, 2 * font::CHARACTER_HEIGHT);

/// A curve of a diagram.
pub(crate) struct Curve<'a> {
    pub(crate) name: &'a str,
    pub(crate) colour: Colour,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A diagram of one quantity.
pub(crate) struct Panel<'a> {
    pub(crate) title: &'a str,
    /// The quantity of the horizontal axis.
    pub(crate) x_title: &'a str,
    pub(crate) curves: Vec<Curve<'a>>,
}

/// Draws panels from left to right.
pub(crate) fn draw_panels(panels: &[Panel<'_>]) -> Picture {
    let mut picture = Picture::new(panels.len() * PANEL_SIZE.0, PANEL_SIZE.1);
    for (panel, number) in panels.iter().zip(0..) {
        draw_panel(&mut picture, number * PANEL_SIZE.0, panel);
    }
    picture
}

fn draw_panel(picture: &mut Picture, x: usize, panel: &Panel<'_>) {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let vertical = Axis::covering(points().map(|point| point.1), (BOTTOM_EDGE, TOP_EDGE));
    let horizontal = Axis::covering(points().map(|point| point.0), (x + LEFT_EDGE, x + RIGHT_EDGE));

    picture.draw_text((x + LEFT_EDGE, TOP_EDGE / 3), panel.title, BLACK);
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
    let x_title = x + RIGHT_EDGE - panel.x_title.len() * CHARACTER_SIZE.0;
    picture.draw_text((x_title, BOTTOM_EDGE + 14 + 20), panel.x_title, BLACK);
    let names: usize = panel.curves.iter().map(|curve| curve.name.len() + 2).sum();
    let mut legend = x + RIGHT_EDGE - (names - 2) * CHARACTER_SIZE.0;
    for curve in &panel.curves {
        picture.draw_text((legend, TOP_EDGE / 3), curve.name, curve.colour);
        legend += (curve.name.len() + 2) * CHARACTER_SIZE.0;
        let pixels = curve.points.iter().map(|&(x, y)| (horizontal.pixel_of(x), vertical.pixel_of(y)));
        picture.draw_curve(&pixels.collect::<Vec<_>>(), curve.colour);
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
