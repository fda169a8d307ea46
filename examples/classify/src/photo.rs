//! Pictures: decoded, and prepared for a model as the transforms of torchvision's weights do it.

use std::fs;
use std::io::Cursor;

use opdispatch::prelude::*;

use crate::plot::picture::Colour;

/// The mean and the standard deviation of the colours in `ImageNet`.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// A picture. The first dimension of `pixels` is the colour, and values are from 0 to 255.
pub(crate) struct Photo {
    pixels: Tensor,
}

impl Photo {
    /// Reads a PNG or JPEG file.
    pub(crate) fn open(path: &str) -> Result<Self> {
        let file = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        Self::decode(&file).map_err(|error| format!("{path}: {error}").into())
    }

    pub(crate) fn decode(file: &[u8]) -> Result<Self> {
        let (bytes, width, height) = match file {
            [0x89, b'P', b'N', b'G', ..] => decode_png(file)?,
            [0xff, 0xd8, ..] => decode_jpeg(file)?,
            _ => return Err("this is neither a PNG nor a JPEG file".into()),
        };
        if bytes.is_empty() {
            return Err("the picture has no pixels".into());
        }
        let channels = bytes.len() / (width * height);
        let pixels = Tensor::from_vec(bytes, (height, width, channels))?.to(DType::F32)?.permute((2, 0, 1))?;
        // Grey is repeated, and opacity is ignored.
        let pixels =
            if channels < 3 { pixels.narrow(0, 0, 1)?.expand((3, -1, -1))? } else { pixels.narrow(0, 0, 3)? };
        Ok(Self { pixels })
    }

    /// Returns the square in the middle, at the scale that torchvision uses: the short side of the whole picture has a seventh more pixels.
    pub(crate) fn resized_and_cropped(&self, side: i64) -> Result<Self> {
        let (height, width) = (self.height(), self.width());
        let short = side * 256 / 224;
        let scaled = |length: i64| short * length / height.min(width);
        let scaled_sizes = [scaled(height), scaled(width)];
        let pixels = aten::_upsample_bilinear2d_aa!(
            &self.pixels.unsqueeze(0)?,
            output_size = &scaled_sizes,
            align_corners = false
        )?
        .squeeze_dims(0)?;
        let [top, left] = scaled_sizes.map(|length| half_rounded_to_even(length - side));
        let pixels = pixels.narrow(1, top, side)?.narrow(2, left, side)?;
        Ok(Self { pixels: pixels.round()?.clamp(0..=255)? })
    }

    /// Returns the input of a model: a batch of one picture, with normalised colours.
    pub(crate) fn to_input(&self) -> Result<Tensor> {
        let colour = |values: [f32; 3]| Tensor::from(values).view((3, 1, 1));
        expr!((self.pixels / 255.0 - colour(MEAN)) / colour(DEVIATION))?.unsqueeze(0)
    }

    /// Returns the colours of the pixels in each row.
    pub(crate) fn to_rows(&self) -> Result<Vec<Vec<Colour>>> {
        let row = |row: &Tensor| Ok(row.to_vec::<u8>()?.as_chunks().0.to_vec());
        self.pixels.permute((1, 2, 0))?.to(DType::U8)?.unbind(0)?.iter().map(row).collect()
    }

    fn height(&self) -> i64 {
        self.pixels.sizes()[1]
    }

    fn width(&self) -> i64 {
        self.pixels.sizes()[2]
    }
}

/// Returns the half of an integer, rounded as Python's `round` does it.
const fn half_rounded_to_even(number: i64) -> i64 {
    let half = number / 2;
    half + number % 2 * (half % 2)
}

type Decoded = (Vec<u8>, usize, usize);

fn decode_png(file: &[u8]) -> Result<Decoded> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(Error::kernel)?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let frame = reader.next_frame(&mut bytes).map_err(Error::kernel)?;
    bytes.truncate(frame.buffer_size());
    Ok((bytes, frame.width as usize, frame.height as usize))
}

fn decode_jpeg(file: &[u8]) -> Result<Decoded> {
    let mut decoder = zune_jpeg::JpegDecoder::new(Cursor::new(file));
    let bytes = decoder.decode().map_err(Error::kernel)?;
    let (width, height) = decoder.dimensions().ok_or("the picture has no size")?;
    Ok((bytes, width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_as_in_python() {
        assert_eq!([0, 1, 2, 3, 5, 7].map(half_rounded_to_even), [0, 0, 1, 2, 2, 4]);
    }

    #[test]
    fn other_files_are_errors() {
        for (file, part) in [(&b"GIF89a"[..], "neither a PNG nor a JPEG"), (b"\x89PNG\r\n", ""), (b"\xff\xd8\xff", "")]
        {
            let error = Photo::decode(file).err().unwrap().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(Photo::open("no/such/photo.png").err().unwrap().to_string().starts_with("no/such/photo.png: "));
    }

    #[test]
    fn a_picture_becomes_a_normalised_square() -> Result<()> {
        let photo = Photo::decode(crate::SMALL_PICTURE)?;
        assert_eq!((photo.height(), photo.width()), (240, 320));
        let input = photo.resized_and_cropped(64)?.to_input()?;
        assert_eq!(input.sizes(), [1, 3, 64, 64]);
        assert!(input.abs()?.max()?.item::<f64>()? < 2.7);
        Ok(())
    }
}
