//! From a chain to a pass: which loop each call has, and where its elements are meanwhile.

use dispatch_runtime::{Chain, DType, Device, Given, Spec, Step, Tensor, Value};

use super::{Call, End, From, INPUTS, Pass, Place, Spread, TILE, Tile, Uniform};
use crate::elementwise::lanes::Way;
use crate::elementwise::row::{Bound, Fusible};

/// None where a call has no loop, or gives something else than the chain says.
pub(super) fn pass(chain: &Chain) -> Option<Pass> {
    let [first, ..] = &chain.steps[..] else { return None };
    let sizes = first.result.sizes().to_vec();
    let count = first.result.geometry().count();
    let mut compiler = Compiler {
        chain,
        count,
        last: last_uses(chain),
        places: vec![None; chain.inputs.len() + chain.steps.len()],
        free: Vec::new(),
        pass: Pass {
            sizes,
            inputs: chain.inputs.iter().map(spec).collect(),
            uniform: Vec::new(),
            spread: Vec::new(),
            calls: Vec::new(),
            results: chain.results.iter().map(|&value| dtype(chain, value)).collect::<Option<_>>()?,
            bytes: 0,
        },
    };
    for at in 0..chain.steps.len() {
        compiler.call(at)?;
    }
    Some(compiler.pass)
}

fn spec(tensor: &Tensor) -> Spec {
    Spec::contiguous(tensor.dtype(), tensor.sizes())
}

/// The dtype of a value that a call gives.
fn dtype(chain: &Chain, value: usize) -> Option<DType> {
    Some(chain.steps.get(value.checked_sub(chain.inputs.len())?)?.result.dtype())
}

/// The last step that each value is used in.
fn last_uses(chain: &Chain) -> Vec<usize> {
    let mut last = vec![0; chain.inputs.len() + chain.steps.len()];
    for (at, step) in chain.steps.iter().enumerate() {
        for value in values(step) {
            last[value] = at;
        }
    }
    last
}

fn values(step: &Step) -> impl Iterator<Item = usize> {
    step.arguments.iter().filter_map(|given| if let Given::Value(value) = given { Some(*value) } else { None })
}

struct Compiler<'a> {
    chain: &'a Chain,
    /// How many elements the results have.
    count: i64,
    last: Vec<usize>,
    /// Where the values are that calls have given so far, and a tile's size.
    places: Vec<Option<(Place, usize)>>,
    /// Tiles that are needed no more, by size.
    free: Vec<(Tile, usize)>,
    pass: Pass,
}

impl Compiler<'_> {
    fn call(&mut self, at: usize) -> Option<()> {
        let step = &self.chain.steps[at];
        if step.result.sizes() != self.pass.sizes {
            return None;
        }
        let mut arguments = step.arguments.iter().map(|given| self.stand_in(given)).collect::<Option<Vec<_>>>()?;
        let Bound { row, inputs: ways, out, dtype } = Fusible::bound(step.operator, &mut arguments)?;
        let tensors =
            step.arguments.iter().filter(|given| !matches!(given, Given::Fixed(value) if value.as_tensor().is_none()));
        let tensors: Vec<&Given> = tensors.collect();
        if dtype != step.result.dtype() || tensors.len() != ways.len() || ways.len() > INPUTS {
            return None;
        }
        let mut inputs = Vec::new();
        for (given, way) in tensors.into_iter().zip(ways) {
            inputs.push(self.input(given, way)?);
        }
        let value = self.chain.inputs.len() + at;
        let size = dtype.size();
        let place = match self.chain.results.iter().position(|result| *result == value) {
            Some(result) => Place::Result(result),
            None => Place::Tile(self.tile(size)),
        };
        self.places[value] = Some((place, size));
        let aside = if out.direct { 0 } else { self.tile(out.size) };
        for (end, tile) in inputs.iter().map(|end| (end, end.aside)).filter(|(end, _)| !end.way.direct) {
            self.free.push((tile, end.way.size));
        }
        if !out.direct {
            self.free.push((aside, out.size));
        }
        let mut done: Vec<usize> = values(step).filter(|&value| self.last[value] == at).collect();
        done.sort_unstable();
        done.dedup();
        for value in done {
            if let Some((Place::Tile(tile), size)) = self.places[value] {
                self.free.push((tile, size));
            }
        }
        self.pass.calls.push(Call { row, inputs, out: End { at: place, size, way: out, aside } });
        Some(())
    }

    /// An argument as it will be, but for its elements.
    fn stand_in(&self, given: &Given) -> Option<Value> {
        let value = match given {
            Given::Fixed(value) => return Some(value.clone()),
            Given::Value(value) => *value,
        };
        let inputs = self.chain.inputs.len();
        let tensor = match value.checked_sub(inputs) {
            None => &self.chain.inputs[value],
            Some(step) => &self.chain.steps.get(step)?.result,
        };
        let ones = vec![1; tensor.sizes().len()];
        let mut zeros = Spec::contiguous(tensor.dtype(), &ones).on(Device::CPU).ok()?;
        aten::zero_(&mut zeros).ok()?;
        Some(zeros.into())
    }

    fn input(&mut self, given: &Given, way: Way) -> Option<End> {
        let value = match given {
            Given::Value(value) => *value,
            Given::Fixed(Value::Tensor(number)) if number.geometry().count() == 1 => {
                return Some(self.uniform(From::Number(number.clone()), way));
            }
            Given::Fixed(_) => return None,
        };
        let Some(input) = self.chain.inputs.get(value) else {
            let (at, size) = self.places[value]?;
            let aside = if way.direct { 0 } else { self.tile(way.size) };
            return Some(End { at, size, way, aside });
        };
        let size = input.dtype().size();
        Some(match input.geometry().count() {
            count if count == self.count => {
                let aside = if way.direct { 0 } else { self.tile(way.size) };
                End { at: Place::Input(value), size, way, aside }
            }
            1 => self.uniform(From::Input(value), way),
            _ => {
                let (end, to) = self.ahead(&way);
                self.pass.spread.push(Spread { input: value, size, way, to });
                end
            }
        })
    }

    fn uniform(&mut self, from: From, way: Way) -> End {
        let (end, to) = self.ahead(&way);
        self.pass.uniform.push(Uniform { from, way, to });
        end
    }

    /// Elements that are brought to the loop before any call, in a tile that nobody else ever uses.
    fn ahead(&mut self, way: &Way) -> (End, Tile) {
        let to = self.own_tile(way.size);
        (End { at: Place::Tile(to), size: way.size, way: way.in_the_loop(), aside: 0 }, to)
    }

    /// A tile for elements of this size that nobody uses now.
    fn tile(&mut self, size: usize) -> Tile {
        match self.free.iter().position(|(_, free)| *free == size) {
            Some(at) => self.free.swap_remove(at).0,
            None => self.own_tile(size),
        }
    }

    fn own_tile(&mut self, size: usize) -> Tile {
        let tile = self.pass.bytes;
        self.pass.bytes += TILE * size;
        tile
    }
}
