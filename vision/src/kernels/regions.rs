//! Regions of images, as kernels read them from the rows of `rois`.

use dispatch_runtime::{BadArgument, Problem, prelude::*};

/// A region of an image.
pub(super) struct Region<T> {
    /// The number of the image.
    pub(super) image: usize,
    /// The left, upper, right and lower edge.
    pub(super) edges: [T; 4],
}

/// Reads the regions from the rows of `rois`, and checks the numbers of their images.
pub(super) fn read_regions<T: Floating>(rois: &Tensor, images: usize) -> Result<Vec<Region<T>>> {
    let numbers = rois.to_vec::<T>()?;
    let region = |row: &[T]| {
        let image = row[0].to_f64();
        let is_image = (0.0..to_f64(images)).contains(&image);
        if !is_image {
            let found = format!("a row with {image} as the number of its image");
            return Err(BadArgument::value("rois", found, format!("0 or more, and less than the {images} images")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is below the number of images")]
        let image = image as usize;
        Ok(Region { image, edges: [row[1], row[2], row[3], row[4]] })
    };
    Ok(numbers.chunks_exact(5).map(region).collect::<Result<_, BadArgument>>()?)
}

#[expect(clippy::cast_precision_loss, reason = "it is the bound of a range")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

/// The bins of position-sensitive regions that were computed from each channel, from the second result of the operator.
pub(super) struct BinsOfChannels {
    /// For each channel, the flat indices of its bins in the result, in ascending order.
    indices: Vec<Vec<usize>>,
}

impl BinsOfChannels {
    pub(super) fn read(channel_mapping: &Tensor, channels: usize) -> Result<Self> {
        let mut indices = vec![Vec::new(); channels];
        for (at, channel) in channel_mapping.to_vec::<i32>()?.into_iter().enumerate() {
            let bins = usize::try_from(channel).ok().and_then(|channel| indices.get_mut(channel));
            let wrong = || {
                let size = i64::try_from(channels).unwrap_or(i64::MAX);
                BadArgument::new("channel_mapping", Problem::Index { index: channel.into(), size, dim: None })
            };
            bins.ok_or_else(wrong)?.push(at);
        }
        Ok(Self { indices })
    }

    pub(super) fn of_channel(&self, channel: usize) -> &[usize] {
        &self.indices[channel]
    }
}
