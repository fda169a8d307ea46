//! Saving and loading of the parameters as a safetensors file.

use opdispatch::autograd;
use opdispatch::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::network::Network;

/// Returns the bytes of a safetensors file with all parameters.
pub(crate) fn serialize_weights(network: &Network) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (name, parameter) in network.parameters() {
        let numbers: Vec<u8> = parameter.to_vec::<f32>()?.into_iter().flat_map(f32::to_le_bytes).collect();
        bytes.push((name, sizes_as_usize(&parameter), numbers));
    }
    let mut views = Vec::new();
    for (name, shape, numbers) in &bytes {
        views.push((name, TensorView::new(Dtype::F32, shape.clone(), numbers).map_err(Error::kernel)?));
    }
    safetensors::serialize(views, None).map_err(Error::kernel)
}

/// Copies the parameters in a safetensors file to a network.
pub(crate) fn load_weights(network: &Network, file: &[u8]) -> Result<()> {
    let _no_grad = autograd::no_grad();
    let file = SafeTensors::deserialize(file).map_err(Error::kernel)?;
    for (name, parameter) in network.parameters() {
        let saved = file.tensor(name).map_err(Error::kernel)?;
        let expected = sizes_as_usize(&parameter);
        if (saved.dtype(), saved.shape()) != (Dtype::F32, &expected) {
            let (dtype, shape) = (saved.dtype(), saved.shape());
            return Err(format!("`{name}` is {dtype} {shape:?} in the file and F32 {expected:?} in the network").into());
        }
        let (numbers, _) = saved.data().as_chunks();
        let numbers: Vec<f32> = numbers.iter().copied().map(f32::from_le_bytes).collect();
        let numbers = Tensor::from_vec(numbers, parameter.sizes())?;
        parameter.copy_(&numbers)?;
    }
    Ok(())
}

fn sizes_as_usize(tensor: &Tensor) -> Vec<usize> {
    tensor.sizes().iter().map(|&size| size.unsigned_abs().try_into().unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_weights_are_loaded_bit_for_bit() -> Result<()> {
        let (trained, fresh) = (Network::new()?, Network::new()?);
        let same = |(a, b): (&Tensor, &Tensor)| a.equal(b);
        let pairs = || trained.parameters().into_iter().zip(fresh.parameters()).map(|((_, a), (_, b))| (a, b));
        assert!(!pairs().map(|(a, b)| same((&a, &b))).collect::<Result<Vec<_>>>()?.contains(&true));
        load_weights(&fresh, &serialize_weights(&trained)?)?;
        assert!(!pairs().map(|(a, b)| same((&a, &b))).collect::<Result<Vec<_>>>()?.contains(&false));
        Ok(())
    }

    #[test]
    fn a_file_of_another_network_is_an_error_that_names_the_parameter() -> Result<()> {
        let bytes = [0; 4];
        let other = TensorView::new(Dtype::F32, vec![1], &bytes).map_err(Error::kernel)?;
        let file = safetensors::serialize([("hidden.weight", other)], None).map_err(Error::kernel)?;
        let error = load_weights(&Network::new()?, &file).unwrap_err().to_string();
        assert!(error.contains("hidden.weight") && error.contains("[128, 64]"), "{error}");
        Ok(())
    }
}
