//! A raster picture with drawing functions, which can be encoded as PNG.

use std::iter::zip;

use opdispatch::{Error, Result};

use super::font;

/// A colour: red, green and blue.
pub(crate) type Colour = [u8; 3];

pub(crate) const WHITE: Colour = [255; 3];
pub(crate) const BLACK: Colour = [30; 3];
pub(crate) const GREY: Colour = [225; 3];
pub(crate) const RED: Colour = [200, 50, 40];
pub(crate) const BLUE: Colour = [40, 100, 190];
pub(crate) const GREEN: Colour = [20, 130, 60];

/// A picture whose pixel (0, 0) is at the top left.
pub(crate) struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Picture {
    /// Returns a white picture.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![WHITE; width * height] }
    }

    /// Blends a colour into a pixel with the opacity `opacity`, from 0 to 1. A pixel outside the picture is ignored.
    fn blend_pixel(&mut self, x: usize, y: usize, colour: Colour, opacity: f64) {
        if x < self.width && y < self.height {
            for (old, new) in zip(&mut self.pixels[y * self.width + x], colour) {
                *old = blend_component(*old, new, opacity);
            }
        }
    }

    /// Draws a filled rectangle, given its upper left corner and size.
    pub(crate) fn draw_rectangle(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), colour: Colour) {
        for y in y..y + height {
            for x in x..x + width {
                self.blend_pixel(x, y, colour, 1.0);
            }
        }
    }

    /// Draws an anti-aliased line through the points.
    pub(crate) fn draw_curve(&mut self, points: &[(f64, f64)], colour: Colour) {
        const HALF_WIDTH: f64 = 1.2;
        let mut opacities = vec![0.0_f64; self.pixels.len()];
        for (from, to) in zip(points, points.iter().skip(1)) {
            for y in pixel_range(from.1, to.1, self.height) {
                for x in pixel_range(from.0, to.0, self.width) {
                    let opacity = &mut opacities[y * self.width + x];
                    *opacity = opacity.max(HALF_WIDTH + 0.5 - distance_to_segment((as_f64(x), as_f64(y)), *from, *to));
                }
            }
        }
        for (pixel, opacity) in opacities.into_iter().enumerate() {
            self.blend_pixel(pixel % self.width, pixel / self.width, colour, opacity.clamp(0.0, 1.0));
        }
    }

    /// Draws text, given its upper left corner. Characters that are not in the font are blank.
    pub(crate) fn draw_text(&mut self, (x, y): (usize, usize), text: &str, colour: Colour) {
        const DOT_SIZE: usize = 2;
        for (position, character) in text.chars().enumerate() {
            for (column, row) in font::dots_of_character(character) {
                let corner = (x + (position * font::CHARACTER_WIDTH + column) * DOT_SIZE, y + row * DOT_SIZE);
                self.draw_rectangle(corner, (DOT_SIZE, DOT_SIZE), colour);
            }
        }
    }

    /// Returns the picture as the bytes of a PNG file.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let size = |length: usize| u32::try_from(length).map_err(Error::kernel);
        let mut encoder = png::Encoder::new(&mut file, size(self.width)?, size(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().map_err(Error::kernel)?;
        writer.write_image_data(self.pixels.as_flattened()).map_err(Error::kernel)?;
        writer.finish().map_err(Error::kernel)?;
        Ok(file)
    }
}

/// Returns the linear interpolation of two colour components.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a value between two bytes is a byte")]
pub(crate) fn blend_component(old: u8, new: u8, opacity: f64) -> u8 {
    (f64::from(old) + (f64::from(new) - f64::from(old)) * opacity).round() as u8
}

/// Converts a pixel coordinate to `f64`. It is small, so the result is exact.
#[expect(clippy::cast_precision_loss, reason = "pictures have fewer pixels than 2^52")]
pub(crate) fn as_f64(pixel: usize) -> f64 {
    pixel as f64
}

/// Returns the range of pixel coordinates that a line from `a` to `b` may touch.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast to an integer stops at its ends")]
fn pixel_range(a: f64, b: f64, end: usize) -> std::ops::Range<usize> {
    (a.min(b) - 3.0) as usize..end.min((a.max(b) + 3.0) as usize)
}

/// Returns the distance from a point to the line segment between two others.
fn distance_to_segment((x, y): (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
    let along = (((x - from.0) * dx + (y - from.1) * dy) / length).clamp(0.0, 1.0);
    (x - from.0 - along * dx).hypot(y - from.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_colours_only_the_pixels_near_it() {
        let mut picture = Picture::new(40, 20);
        picture.draw_curve(&[(5.0, 10.0), (20.0, 10.0), (30.0, 5.0)], RED);
        assert_eq!(picture.pixels[10 * 40 + 12], RED);
        assert_eq!(picture.pixels[5 * 40 + 30], RED);
        assert_eq!(picture.pixels[15 * 40 + 12], WHITE);
        assert_eq!(picture.pixels[10 * 40 + 30], WHITE);
    }

    #[test]
    fn the_png_file_has_the_drawn_pixels() -> Result<()> {
        let mut picture = Picture::new(3, 2);
        picture.draw_rectangle((1, 1), (2, 5), BLUE);
        let file = picture.to_png()?;
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().map_err(Error::kernel)?;
        let mut pixels = vec![0; 18];
        reader.next_frame(&mut pixels).map_err(Error::kernel)?;
        assert_eq!(pixels, [WHITE, WHITE, WHITE, WHITE, BLUE, BLUE].as_flattened());
        Ok(())
    }
}
