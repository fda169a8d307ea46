//! Checks that parameters of recurrent layers fit the input and the states.

use dispatch_runtime::{BadArgument, Tensor};

use super::cells::CellKind;
use super::layers::RecurrentLayers;
use crate::{check_dims_by_letter, check_same_dtype};

impl RecurrentLayers<'_> {
    /// Checks that the sizes and dtypes of the layers' parameters fit the input and the states `hx`.
    pub(super) fn check_params(
        &self,
        (name, input): (&'static str, &Tensor),
        hx: &[Tensor],
    ) -> Result<(), BadArgument> {
        self.cell.check_state_count(hx)?;
        let size = |tensor: &Tensor| tensor.sizes().last().copied().unwrap_or(0);
        let (out, hidden) = (size(&hx[0]), size(&hx[hx.len() - 1]));
        let projected = out != hidden;
        self.direction_weights(projected)?;
        let directions = if self.bidirectional { 2 } else { 1 };
        let each = self.params.len() / usize::try_from(self.num_layers).unwrap_or(1) / directions;
        let rows = self.cell.gate_count().saturating_mul(hidden);
        for (at, param) in self.params.iter().enumerate() {
            let width = if at < each * directions {
                size(input)
            } else if self.bidirectional {
                2 * out
            } else {
                out
            };
            let expected_sizes = match at % each {
                0 => &[rows, width][..],
                1 => &[rows, out],
                last if projected && last + 1 == each => &[out, hidden],
                _ => &[rows],
            };
            let param_name = format!("params[{at}]");
            if param.sizes() != expected_sizes {
                let states: Vec<&[i64]> = hx.iter().map(Tensor::sizes).collect();
                let expected = format!(
                    "{expected_sizes:?}, as `{name}` has sizes {:?}, and `hx` has sizes {states:?}",
                    input.sizes()
                );
                return Err(BadArgument::sizes(param_name, param.sizes(), expected));
            }
            if param.dtype() != input.dtype() {
                return Err(BadArgument::dtype(
                    param_name,
                    param.dtype(),
                    format!("{}, as `{name}` is", input.dtype()),
                ));
            }
        }
        Ok(())
    }
}

/// Checks that the input, the states and the parameters of one step of a cell fit each other.
pub(super) fn check_cell_arguments(
    cell: CellKind,
    input: &Tensor,
    hx: &[Tensor],
    weights: [&Tensor; 2],
    biases: [Option<&Tensor>; 2],
) -> Result<(), BadArgument> {
    cell.check_state_count(hx)?;
    check_dims_by_letter(&[
        ("input", Some(input), "*i"),
        ("w_ih", Some(weights[0]), "gi"),
        ("hx", Some(&hx[0]), "*h"),
        ("w_hh", Some(weights[1]), "gh"),
        ("b_ih", biases[0], "g"),
        ("b_hh", biases[1], "g"),
    ])?;
    let (gates, &[rows, hidden]) = (cell.gate_count(), weights[1].sizes()) else { return Ok(()) };
    if rows != gates.saturating_mul(hidden) {
        let expected = format!("{} rows, {gates} for each of {hidden} columns", gates.saturating_mul(hidden));
        return Err(BadArgument::sizes("w_hh", weights[1].sizes(), expected));
    }
    let rows = |tensor: &Tensor| tensor.sizes().len().checked_sub(2).map(|at| tensor.sizes()[at]);
    if let Some(state) = hx.iter().find(|state| rows(state) != rows(input)) {
        let expected = format!("as many rows as `input`, which has sizes {:?}", input.sizes());
        return Err(BadArgument::sizes("hx", state.sizes(), expected));
    }
    if let Some(state) = hx.iter().find(|state| state.sizes() != hx[0].sizes()) {
        return Err(BadArgument::sizes("hx", state.sizes(), format!("{:?}, as the first", hx[0].sizes())));
    }
    check_same_dtype([
        ("input", Some(input)),
        ("w_ih", Some(weights[0])),
        ("hx", Some(&hx[0])),
        ("w_hh", Some(weights[1])),
    ])
}
