//! Recurrent layers and cells.

use aten::prelude::*;
use dispatch_nn::utils::rnn::{PadOptions, pack_padded_sequence, pack_sequence, pad_packed_sequence};
use dispatch_nn::{
    GRU, GRUCell, GRUOptions, LSTM, LSTMCell, LSTMOptions, Module, RNN, RNNCell, RNNCellOptions, RNNNonlinearity,
    RNNOptions,
};
use dispatch_runtime::prelude::*;

use crate::recording::{check, values};

fn evaluated<M: Module>(module: Result<M>) -> Result<M> {
    module.map(|mut module| {
        module.eval();
        module
    })
}

/// Runs the cases of a layer with one state.
macro_rules! check_layer {
    ($kind:literal $layer:ident $options:ident) => {
        let defaults = $options::default();
        let name = |case: &str| format!("{}_{case}", $kind);
        let call = |module: &$layer, inputs: &[Tensor]| {
            let (output, state) = module.forward(&inputs[0], inputs.get(1))?;
            Ok(vec![output, state])
        };
        let two = || $layer::with(3, 4, $options { num_layers: 2, ..defaults });
        let deep = $options { num_layers: 2, bidirectional: true, batch_first: true, ..defaults };
        let dropout = $options { num_layers: 2, dropout: 0.5, ..defaults };
        check(&name("plain"), $layer::new(3, 4), &[&[5, 2, 3]], call);
        check(&name("deep"), $layer::with(3, 4, deep), &[&[2, 5, 3]], call);
        check(&name("no_bias"), $layer::with(3, 4, $options { bias: false, ..defaults }), &[&[5, 2, 3]], call);
        check(&name("dropout"), evaluated($layer::with(3, 4, dropout)), &[&[5, 2, 3]], call);
        check(&name("unbatched"), $layer::new(3, 4), &[&[5, 3]], call);
        check(&name("state"), two(), &[&[5, 2, 3], &[2, 2, 4]], call);
        check(&name("unbatched_state"), $layer::new(3, 4), &[&[5, 3], &[1, 4]], call);
        let both = $layer::with(3, 4, $options { bidirectional: true, ..defaults });
        check(&name("packed"), both, &[&[5, 3, 3], &[2, 3, 4]], |module, inputs| {
            let packed = pack_padded_sequence(&inputs[0], &Tensor::from([2_i64, 5, 3]), false)?;
            let (output, state) = module.forward_packed(&packed, Some(&inputs[1]))?;
            Ok(vec![pad_packed_sequence(&output, PadOptions::default())?.0, state])
        });
    };
}

#[test]
fn rnns_are_those_of_pytorch() {
    check_layer!("rnn" RNN RNNOptions);
    let relu = RNNOptions { nonlinearity: RNNNonlinearity::ReLU, ..RNNOptions::default() };
    check("rnn_relu", RNN::with(3, 4, relu), &[&[5, 2, 3]], |module, inputs| {
        let (output, state) = module.forward(&inputs[0], None)?;
        Ok(vec![output, state])
    });
}

#[test]
fn grus_are_those_of_pytorch() {
    check_layer!("gru" GRU GRUOptions);
}

fn lstm_state(inputs: &[Tensor]) -> Option<(Tensor, Tensor)> {
    inputs.get(1).cloned().zip(inputs.get(2).cloned())
}

fn lstm(module: &LSTM, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let (output, (hidden, cell)) = module.forward(&inputs[0], lstm_state(inputs).as_ref())?;
    Ok(vec![output, hidden, cell])
}

#[test]
fn lstms_are_those_of_pytorch() {
    let defaults = LSTMOptions::default();
    let deep = LSTMOptions { num_layers: 2, bidirectional: true, batch_first: true, ..defaults };
    let two = || LSTM::with(3, 4, LSTMOptions { num_layers: 2, ..defaults });
    let dropout = LSTMOptions { num_layers: 2, dropout: 0.5, ..defaults };
    check("lstm_plain", LSTM::new(3, 4), &[&[5, 2, 3]], lstm);
    check("lstm_deep", LSTM::with(3, 4, deep), &[&[2, 5, 3]], lstm);
    check("lstm_no_bias", LSTM::with(3, 4, LSTMOptions { bias: false, ..defaults }), &[&[5, 2, 3]], lstm);
    check("lstm_dropout", evaluated(LSTM::with(3, 4, dropout)), &[&[5, 2, 3]], lstm);
    check("lstm_unbatched", LSTM::new(3, 4), &[&[5, 3]], lstm);
    check("lstm_state", two(), &[&[5, 2, 3], &[2, 2, 4], &[2, 2, 4]], lstm);
    check("lstm_unbatched_state", LSTM::new(3, 4), &[&[5, 3], &[1, 4], &[1, 4]], lstm);
    let projected = LSTMOptions { num_layers: 2, proj_size: 2, ..defaults };
    check("lstm_projection", LSTM::with(3, 4, projected), &[&[5, 2, 3]], lstm);
    let projected = LSTMOptions { bidirectional: true, proj_size: 2, ..defaults };
    check("lstm_projection_state", LSTM::with(3, 4, projected), &[&[5, 2, 3], &[2, 2, 2], &[2, 2, 4]], lstm);
    let both = LSTM::with(3, 4, LSTMOptions { bidirectional: true, ..defaults });
    check("lstm_packed", both, &[&[5, 3, 3], &[2, 3, 4], &[2, 3, 4]], |module, inputs| {
        let packed = pack_padded_sequence(&inputs[0], &Tensor::from([2_i64, 5, 3]), false)?;
        let (output, (hidden, cell)) = module.forward_packed(&packed, lstm_state(inputs).as_ref())?;
        Ok(vec![pad_packed_sequence(&output, PadOptions::default())?.0, hidden, cell])
    });
}

#[test]
fn cells_are_those_of_pytorch() {
    let state: &[&[i64]] = &[&[2, 3], &[2, 4], &[2, 4]];
    let unbatched: &[&[i64]] = &[&[3], &[4], &[4]];
    let relu = RNNCellOptions { nonlinearity: RNNNonlinearity::ReLU, ..RNNCellOptions::default() };
    let no_bias = RNNCellOptions { bias: false, ..RNNCellOptions::default() };
    let rnn = |cell: &RNNCell, inputs: &[Tensor]| Ok(vec![cell.forward(&inputs[0], inputs.get(1))?]);
    check("rnn_cell_plain", RNNCell::new(3, 4), &state[..1], rnn);
    check("rnn_cell_no_bias", RNNCell::with(3, 4, no_bias), &state[..2], rnn);
    check("rnn_cell_unbatched", RNNCell::new(3, 4), &unbatched[..2], rnn);
    check("rnn_cell_relu", RNNCell::with(3, 4, relu), &state[..1], rnn);
    let gru = |cell: &GRUCell, inputs: &[Tensor]| Ok(vec![cell.forward(&inputs[0], inputs.get(1))?]);
    check("gru_cell_plain", GRUCell::new(3, 4), &state[..1], gru);
    check("gru_cell_no_bias", GRUCell::without_bias(3, 4), &state[..2], gru);
    check("gru_cell_unbatched", GRUCell::new(3, 4), &unbatched[..2], gru);
    let lstm = |cell: &LSTMCell, inputs: &[Tensor]| {
        let (hidden, cell) = cell.forward(&inputs[0], lstm_state(inputs).as_ref())?;
        Ok(vec![hidden, cell])
    };
    check("lstm_cell_plain", LSTMCell::new(3, 4), &state[..1], lstm);
    check("lstm_cell_no_bias", LSTMCell::without_bias(3, 4), state, lstm);
    check("lstm_cell_unbatched", LSTMCell::new(3, 4), unbatched, lstm);
}

#[test]
fn packing_and_padding_restore_sequences_in_any_order() -> Result<()> {
    let sequences = [values(1, &[2, 3], DType::F64)?, values(2, &[4, 3], DType::F64)?, values(3, &[1, 3], DType::F64)?];
    let packed = pack_sequence(&sequences)?;
    assert_eq!(packed.batch_sizes.to_vec::<i64>()?, [3, 2, 1, 1]);
    assert_eq!(packed.sorted_indices.as_ref().expect("an order").to_vec::<i64>()?, [1, 0, 2]);
    let options = PadOptions { batch_first: true, total_length: Some(6), padding_value: Scalar::Float(9.0) };
    let (padded, lengths) = pad_packed_sequence(&packed, options)?;
    assert_eq!((padded.sizes(), lengths.to_vec::<i64>()?), (&[3, 6, 3][..], vec![2, 4, 1]));
    for (at, sequence) in sequences.iter().enumerate() {
        let length = sequence.sizes()[0];
        assert!(padded.i(at)?.narrow(0, 0, length)?.equal(sequence)?);
        assert!(padded.i(at)?.narrow(0, length, 6 - length)?.eq(9.0)?.all()?.item::<bool>()?);
    }
    Ok(())
}

#[test]
fn parameters_are_uniform_and_named_in_the_order_of_pytorch() -> Result<()> {
    let options = LSTMOptions { num_layers: 2, bidirectional: true, proj_size: 64, ..LSTMOptions::default() };
    let parameters = LSTM::with(64, 256, options)?.parameters();
    let names: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
    let first = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_hr_l0", "weight_ih_l0_reverse"];
    assert_eq!(names[..6], first);
    assert_eq!((names.len(), names[19]), (20, "weight_hr_l1_reverse"));
    let cell = GRUCell::new(64, 256)?.parameters();
    for parameter in parameters.iter().chain(&cell) {
        let (largest, mean) = (parameter.abs()?.max()?.item::<f32>()?, parameter.mean()?.item::<f32>()?);
        assert!(largest <= 1.0 / 16.0 && largest > 0.99 / 16.0, "{}: {largest}", parameter.name);
        assert!(mean.abs() < 0.006, "{}: {mean}", parameter.name);
    }
    Ok(())
}

#[test]
fn dropout_between_layers_is_active_while_training() -> Result<()> {
    let options = GRUOptions { num_layers: 2, dropout: 0.5, ..GRUOptions::default() };
    let (gru, x) = (GRU::with(3, 4, options)?, values(1, &[5, 2, 3], DType::F32)?);
    let output = |gru: &GRU| Ok::<_, Error>(gru.forward(&x, None)?.0);
    assert!(!output(&gru)?.allclose(&output(&gru)?)?);
    let gru = evaluated(Ok(gru))?;
    assert!(output(&gru)?.equal(&output(&gru)?)?);
    Ok(())
}

#[test]
fn mistakes_are_errors_that_name_the_argument() -> Result<()> {
    let defaults = LSTMOptions::default();
    for (name, options) in [
        ("num_layers", LSTMOptions { num_layers: 0, ..defaults }),
        ("dropout", LSTMOptions { dropout: -0.1, ..defaults }),
        ("proj_size", LSTMOptions { proj_size: 4, ..defaults }),
        ("proj_size", LSTMOptions { proj_size: -1, ..defaults }),
    ] {
        let error = LSTM::with(3, 4, options).unwrap_err().to_string();
        assert!(error.contains(&format!("`{name}`")), "{error}");
    }
    assert!(GRU::new(3, 0).unwrap_err().to_string().contains("`hidden_size`"));
    assert!(LSTM::new(3, i64::MAX).is_err() && GRUCell::new(3, i64::MAX).is_err());
    assert!(RNNCell::new(0, 3).unwrap_err().to_string().contains("`input_size`"));
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, ());
    let lstm = LSTM::new(3, 4)?;
    assert!(lstm.forward(&zeros(&[5])?, None).unwrap_err().to_string().contains("`input`"));
    assert!(lstm.forward(&zeros(&[5, 2, 4])?, None).unwrap_err().to_string().contains("`input_size`"));
    let wrong = (zeros(&[1, 2, 4])?, zeros(&[1, 3, 4])?);
    assert!(lstm.forward(&zeros(&[5, 2, 3])?, Some(&wrong)).unwrap_err().to_string().contains("`state`"));
    assert!(lstm.forward(&zeros(&[5, 3])?, Some(&wrong)).unwrap_err().to_string().contains("`state`"));
    let cell = GRUCell::new(3, 4)?;
    assert!(cell.forward(&zeros(&[2, 3])?, Some(&zeros(&[4])?)).unwrap_err().to_string().contains("`state`"));
    assert!(cell.forward(&zeros(&[2, 5])?, None).is_err());
    let lengths = Tensor::from([2_i64]);
    assert!(pack_padded_sequence(&zeros(&[5, 2, 3])?, &lengths, false).unwrap_err().to_string().contains("`lengths`"));
    assert!(pack_padded_sequence(&zeros(&[5, 1, 3])?, &Tensor::from([6_i64]), false).is_err());
    assert!(pack_padded_sequence(&zeros(&[5])?, &lengths, true).is_err());
    assert!(pack_sequence(&[]).is_err());
    Ok(())
}
