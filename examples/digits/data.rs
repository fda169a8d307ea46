//! The data set: pictures of digits with labels, split into training and test data, and into batches.

use std::io::Read;

use flate2::read::GzDecoder;
use opdispatch::prelude::*;

/// The number of values in a picture: the ink in each square of an 8x8 grid, row by row.
pub(crate) const PIXEL_COUNT: i64 = 64;

/// The value of a square full of ink in the data file.
const MAX_INK: f32 = 16.0;

/// Pictures, one in each row, with the digits that they show.
pub(crate) struct Digits {
    pub(crate) pictures: Tensor,
    pub(crate) labels: Tensor,
}

impl Digits {
    /// Loads all 1,797 pictures, in the order of the file, with ink scaled to the range 0 to 1.
    pub(crate) fn load() -> Result<Self> {
        let mut text = String::new();
        let compressed: &[u8] = include_bytes!("data/digits.csv.gz");
        GzDecoder::new(compressed).read_to_string(&mut text).map_err(Error::kernel)?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let (mut pictures, mut labels) = (Vec::new(), Vec::new());
        for (line, row) in text.lines().enumerate() {
            let bad = || Error::from(format!("line {} of the digits does not have 65 numbers: {row:?}", line + 1));
            let numbers = row.split(',').map(str::parse).collect::<Result<Vec<u8>, _>>().map_err(|_| bad())?;
            let Some((&label, ink)) = numbers.split_last() else { return Err(bad()) };
            if i64::try_from(ink.len()) != Ok(PIXEL_COUNT) {
                return Err(bad());
            }
            pictures.extend(ink.iter().map(|&ink| f32::from(ink) / MAX_INK));
            labels.push(i64::from(label));
        }
        Ok(Self {
            pictures: Tensor::from_slice(&pictures).view((-1, PIXEL_COUNT))?,
            labels: Tensor::from_slice(&labels),
        })
    }

    /// Returns the number of pictures.
    pub(crate) fn picture_count(&self) -> i64 {
        self.labels.sizes()[0]
    }

    /// Returns the pictures at these indices.
    pub(crate) fn select_pictures(&self, indices: &Tensor) -> Result<Self> {
        let (pictures, labels) = (self.pictures.index_select(0, indices)?, self.labels.index_select(0, indices)?);
        Ok(Self { pictures, labels })
    }

    /// Shuffles the pictures and splits them: the `first` ones, and the others.
    pub(crate) fn shuffle_and_split(&self, first: i64) -> Result<(Self, Self)> {
        let order = Tensor::randperm(self.picture_count(), ())?;
        Ok((self.select_pictures(&order.i(..first)?)?, self.select_pictures(&order.i(first..)?)?))
    }

    /// Returns the pictures in random order, in batches of `size`; the last batch may be smaller.
    pub(crate) fn shuffled_batches(&self, size: i64) -> Result<Vec<Self>> {
        Tensor::randperm(self.picture_count(), ())?
            .split(size, 0)?
            .iter()
            .map(|indices| self.select_pictures(indices))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_1797_pictures_with_values_from_0_to_1() -> Result<()> {
        let digits = Digits::load()?;
        assert_eq!((digits.pictures.sizes(), digits.labels.sizes()), (&[1797, PIXEL_COUNT][..], &[1797][..]));
        let (least, most) = (digits.pictures.min()?, digits.pictures.max()?);
        assert_eq!([least.to_vec::<f32>()?, most.to_vec()?], [[0.0], [1.0]]);
        assert_eq!(digits.labels.i(..3)?.to_vec::<i64>()?, [0, 1, 2]);
        assert!(digits.labels.bincount()?.min()?.item::<i64>()? > 170);
        Ok(())
    }

    #[test]
    fn splits_and_batches_contain_each_picture_once() -> Result<()> {
        let count = 10;
        let pictures = Tensor::arange(0..count * PIXEL_COUNT, DType::F32)?.view((count, PIXEL_COUNT))?;
        let digits = Digits { pictures, labels: Tensor::arange(0..count, ())? };
        let (some, others) = digits.shuffle_and_split(7)?;
        let batches = some.shuffled_batches(3)?;
        assert_eq!(batches.iter().map(Digits::picture_count).collect::<Vec<_>>(), [3, 3, 1]);
        let mut seen = Vec::new();
        for part in batches.iter().chain([&others]) {
            seen.extend(part.labels.to_vec::<i64>()?);
            let first = part.pictures.i((.., 0))?.to(DType::I64)?;
            assert!(first.equal(&(&part.labels * PIXEL_COUNT)?)?, "a picture keeps its label");
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..count).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn an_invalid_line_is_an_error_with_its_number() {
        let error = Digits::parse("1,2,3\n").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("line 1"), "{error}");
    }
}
