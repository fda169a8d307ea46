//! Compilation of a chain to a pass: chooses the loop of each call and the location of its elements.

use dispatch_runtime::{DType, FusionGroup, FusionStep, Geometry, Scalar, Spec, StepArgument, Storage, Tensor, Value};

use super::check::is_sound;
use super::registers::{self, Operation};
use super::{Call, Element, End, From, INPUTS, Pass, Place, Spread, TILE, Tile, Uniform};
use crate::compute::Compute;
use crate::convert::computed_in;
use crate::elementwise::Cheap;
use crate::elementwise::fusible::{Bound, Fusible, Loop};
use crate::elementwise::operands::ElementPath;

/// The most memory for the tiles of one thread.
const MOST: usize = 16 << 20;

/// Compiles a chain to a pass. Returns `None` if a call has no loop, or if the chain states a wrong result for it.
pub(super) fn pass(chain: &FusionGroup) -> Option<Pass> {
    let [first, ..] = &chain.steps[..] else { return None };
    if !is_sound(chain) {
        return None;
    }
    let sizes = first.result.sizes().to_vec();
    let count = first.result.geometry().count();
    let mut compiler = Compiler {
        chain,
        count,
        last: last_uses(chain),
        places: vec![None; chain.inputs.len() + chain.steps.len()],
        free: Vec::new(),
        open: None,
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
        compiler.step(at)?;
    }
    compiler.close()?;
    Some(compiler.pass).filter(|pass| pass.bytes <= MOST)
}

fn spec(tensor: &Tensor) -> Spec {
    Spec::contiguous(tensor.dtype(), tensor.sizes())
}

/// Returns the dtype of a step's result.
fn dtype(chain: &FusionGroup, value: usize) -> Option<DType> {
    Some(chain.steps.get(value.checked_sub(chain.inputs.len())?)?.result.dtype())
}

/// Returns the last step that uses each value.
fn last_uses(chain: &FusionGroup) -> Vec<usize> {
    let mut last = vec![0; chain.inputs.len() + chain.steps.len()];
    for (at, step) in chain.steps.iter().enumerate() {
        for value in values(step) {
            last[value] = at;
        }
    }
    last
}

fn values(step: &FusionStep) -> impl Iterator<Item = usize> {
    step.arguments.iter().filter_map(|given| if let StepArgument::Value(value) = given { Some(*value) } else { None })
}

/// The most inputs of one operation.
const INPUTS_OF_ONE: usize = 4;

/// Returns whether runs in registers compute with a dtype.
fn is_held(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::BF16 | DType::F16)
}

/// Replaces `a + 1 * b` by `a + b`, which is equal to the bit. Nearly all sums have the factor 1.
fn without_unit_factor((cheap, numbers): (Cheap, Vec<Scalar>)) -> (Cheap, Vec<Scalar>) {
    let of_one = numbers.first().is_some_and(|factor| factor.to_f64() == Some(1.0));
    match cheap {
        Cheap::plus_times if of_one => (Cheap::plus, Vec::new()),
        Cheap::minus_times if of_one => (Cheap::minus, Vec::new()),
        _ => (cheap, numbers),
    }
}

struct Compiler<'a> {
    chain: &'a FusionGroup,
    /// The number of elements of the results.
    count: i64,
    last: Vec<usize>,
    /// The location of each value computed so far, and the size of its elements.
    places: Vec<Option<(Place, usize)>>,
    /// Unused tiles, with the size of their elements.
    free: Vec<(Tile, usize)>,
    /// The last step, if it is not yet a call: the next step may continue it in registers.
    open: Option<Open>,
    pass: Pass,
}

/// One step, or several steps that form a run.
struct Open {
    /// The result of the last step.
    value: usize,
    dtype: DType,
    /// The loop of the first step.
    row: Box<dyn Loop>,
    /// The operations of the run; empty if runs do not know the first step.
    operations: Vec<Operation>,
    inputs: Vec<End>,
    out: ElementPath,
    /// Tiles that are free once this call is done.
    done: Vec<(Tile, usize)>,
}

impl Compiler<'_> {
    fn step(&mut self, at: usize) -> Option<()> {
        let step = &self.chain.steps[at];
        let mut arguments = step.arguments.iter().map(|given| self.stand_in(given)).collect::<Option<Vec<_>>>()?;
        let Bound { mut row, inputs: ways, out, dtype } = Fusible::bound(step.operator, &mut arguments)?;
        let tensors = step
            .arguments
            .iter()
            .filter(|given| !matches!(given, StepArgument::Constant(value) if value.as_tensor().is_none()));
        let tensors: Vec<&StepArgument> = tensors.collect();
        if dtype != step.result.dtype() || tensors.len() != ways.len() || ways.len() > INPUTS {
            return None;
        }
        let cheap =
            row.cheap.take().filter(|_| is_held(dtype) && row.results == computed_in(dtype)).map(without_unit_factor);
        let place = cheap.as_ref().and_then(|(cheap, _)| self.goes_on(at, *cheap, dtype, &tensors));
        if place.is_none() {
            self.close()?;
        }
        let mut inputs = Vec::new();
        for (i, (given, way)) in tensors.into_iter().zip(ways).enumerate() {
            if place != Some(i) {
                inputs.push(self.input(given, way)?);
            }
        }
        let asides = inputs.iter().filter(|end| !end.way.direct).map(|end| (end.aside, end.way.size));
        let mut done: Vec<(Tile, usize)> = asides.collect();
        let mut last: Vec<usize> = values(step).filter(|&value| self.last[value] == at).collect();
        last.sort_unstable();
        last.dedup();
        for value in last {
            if let Some((Place::Tile(tile), size)) = self.places[value] {
                done.push((tile, size));
            }
        }
        let value = self.chain.inputs.len() + at;
        let open = self.open.take().unwrap_or_else(|| {
            let (row, operations, inputs, done) = (row.run, Vec::new(), Vec::new(), Vec::new());
            Open { value, dtype, row, operations, inputs, out, done }
        });
        let operands = open.inputs.len().max(1);
        let mut open = Open { value, ..open };
        open.inputs.append(&mut inputs);
        open.done.append(&mut done);
        if let Some((cheap, numbers)) = cheap {
            for number in numbers {
                open.inputs.push(self.number(number, dtype)?);
            }
            open.operations.push(Operation { cheap, place: place.unwrap_or(0), operands });
        }
        self.open = Some(open);
        Some(())
    }

    /// Returns the argument of a step that is the result of the open run, if the step can continue that run: no other step uses the result,
    /// and runs know both.
    fn goes_on(&self, at: usize, cheap: Cheap, dtype: DType, tensors: &[&StepArgument]) -> Option<usize> {
        let open = self.open.as_ref()?;
        let is_open = |given: &&&StepArgument| matches!(given, StepArgument::Value(value) if *value == open.value);
        let place = tensors.iter().position(|given| is_open(&given))?;
        let only_here = self.last[open.value] == at
            && tensors.iter().filter(is_open).count() == 1
            && !self.chain.results.contains(&open.value);
        let both = !open.operations.is_empty() && open.dtype == dtype && cheap.takes(place);
        (only_here && both && open.inputs.len() + INPUTS_OF_ONE <= INPUTS).then_some(place)
    }

    /// Makes a call of the open steps.
    fn close(&mut self) -> Option<()> {
        let Some(Open { value, dtype, row, operations, inputs, out, done }) = self.open.take() else {
            return Some(());
        };
        let size = dtype.size();
        let place = match self.chain.results.iter().position(|result| *result == value) {
            Some(result) => Place::Result(result),
            None => Place::Tile(self.tile(size)),
        };
        self.places[value] = Some((place, size));
        let aside = if out.direct { 0 } else { self.tile(out.size) };
        self.free.extend(done);
        if !out.direct {
            self.free.push((aside, out.size));
        }
        let is_uniform = |end: &End| {
            self.pass.uniform.iter().any(|uniform| matches!(end.at, Place::Tile(tile) if tile == uniform.to))
        };
        let uniform: Vec<bool> = inputs.iter().map(is_uniform).collect();
        let row = if operations.len() < 2 { row } else { registers::run(dtype, operations, &uniform)? };
        self.pass.calls.push(Call { row, inputs, out: End { at: place, size, way: out, aside } });
        Some(())
    }

    /// Returns an argument with the later dtype and rank, for binding a loop. Its elements are zeros.
    fn stand_in(&self, given: &StepArgument) -> Option<Value> {
        let value = match given {
            StepArgument::Constant(value) => return Some(value.clone()),
            StepArgument::Value(value) => *value,
        };
        let inputs = self.chain.inputs.len();
        let tensor = match value.checked_sub(inputs) {
            None => &self.chain.inputs[value],
            Some(step) => &self.chain.steps.get(step)?.result,
        };
        let few: Vec<i64> = tensor.sizes().iter().map(|&size| size.min(2)).collect();
        // One zero for all ranks.
        let zeros = Geometry::strided(&few, &vec![0; few.len()], 0)?;
        Some(Tensor::new(Storage::try_host(tensor.dtype().size()).ok()?, tensor.dtype(), zeros).ok()?.into())
    }

    fn input(&mut self, given: &StepArgument, way: ElementPath) -> Option<End> {
        let value = match given {
            StepArgument::Value(value) => *value,
            StepArgument::Constant(Value::Tensor(number)) => {
                return Some(self.uniform(From::Number(Element::of(number)?), way));
            }
            StepArgument::Constant(_) => return None,
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

    /// Returns a scalar argument of the call as an input of its loop.
    fn number(&mut self, number: Scalar, dtype: DType) -> Option<End> {
        let computed = computed_in(dtype);
        let number = match computed {
            DType::F32 => Tensor::from([f32::from_scalar(number)]),
            DType::F64 => Tensor::from([f64::from_scalar(number)]),
            _ => return None,
        };
        let way = ElementPath::of_input(computed, computed, None, false);
        Some(self.uniform(From::Number(Element::of(&number)?), way))
    }

    fn uniform(&mut self, from: From, way: ElementPath) -> End {
        let (end, to) = self.ahead(&way);
        self.pass.uniform.push(Uniform { from, way, to });
        end
    }

    /// Returns an input that is converted for the loop before any call, in a tile of its own.
    fn ahead(&mut self, way: &ElementPath) -> (End, Tile) {
        let to = self.own_tile(way.size);
        (End { at: Place::Tile(to), size: way.size, way: way.in_the_loop(), aside: 0 }, to)
    }

    /// Returns an unused tile for elements of this size.
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
