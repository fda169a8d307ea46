//! Compilation of a chain to a pass: chooses the loop of each call and the location of its elements.

use dispatch_runtime::{DType, FusionGroup, FusionStep, Geometry, Scalar, Spec, StepArgument, Storage, Tensor, Value};

use super::check::is_valid_chain;
use super::registers::{self, RegisterRunStep};
use super::{
    BroadcastInput, ELEMENTS_PER_TILE, ElementBytes, ElementLocation, FusedCall, FusedCallOperand, FusedPass,
    MAX_LOOP_INPUTS, TileOffset, UniformInput, UniformSource,
};
use crate::compute::ComputeType;
use crate::convert::compute_dtype;
use crate::elementwise::CheapOperation;
use crate::elementwise::fusible::{BoundLoop, ContiguousLoop, FusionRule};
use crate::elementwise::operands::OperandConversion;

/// The most memory for the tiles of one thread.
const MAX_TILE_BYTES: usize = 16 << 20;

/// Compiles a chain to a pass. Returns `None` if a call has no loop, or if the chain states a wrong result for it.
pub(super) fn compile_pass(chain: &FusionGroup) -> Option<FusedPass> {
    let [first, ..] = &chain.steps[..] else { return None };
    if !is_valid_chain(chain) {
        return None;
    }
    let sizes = first.result.sizes().to_vec();
    let count = first.result.geometry().count();
    let mut compiler = Compiler {
        chain,
        count,
        last_uses: last_uses(chain),
        locations: vec![None; chain.inputs.len() + chain.steps.len()],
        free_tiles: Vec::new(),
        open_run: None,
        pass: FusedPass {
            sizes,
            inputs: chain.inputs.iter().map(contiguous_spec).collect(),
            uniform_inputs: Vec::new(),
            broadcast_inputs: Vec::new(),
            calls: Vec::new(),
            results: chain.results.iter().map(|&value| step_result_dtype(chain, value)).collect::<Option<_>>()?,
            tile_bytes: 0,
        },
    };
    for at in 0..chain.steps.len() {
        compiler.compile_step(at)?;
    }
    compiler.close_run()?;
    Some(compiler.pass).filter(|pass| pass.tile_bytes <= MAX_TILE_BYTES)
}

fn contiguous_spec(tensor: &Tensor) -> Spec {
    Spec::contiguous(tensor.dtype(), tensor.sizes())
}

/// Returns the dtype of a step's result.
fn step_result_dtype(chain: &FusionGroup, value: usize) -> Option<DType> {
    Some(chain.steps.get(value.checked_sub(chain.inputs.len())?)?.result.dtype())
}

/// Returns the last step that uses each value.
fn last_uses(chain: &FusionGroup) -> Vec<usize> {
    let mut last = vec![0; chain.inputs.len() + chain.steps.len()];
    for (at, step) in chain.steps.iter().enumerate() {
        for value in argument_value_numbers(step) {
            last[value] = at;
        }
    }
    last
}

fn argument_value_numbers(step: &FusionStep) -> impl Iterator<Item = usize> {
    step.arguments.iter().filter_map(|given| if let StepArgument::Value(value) = given { Some(*value) } else { None })
}

/// The most inputs of one operation.
const MAX_OPERATION_INPUTS: usize = 4;

/// Returns whether a sequence of fused operations on this dtype may keep its intermediate results in registers.
fn supports_register_runs(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::BF16 | DType::F16)
}

/// Replaces `a + 1 * b` by `a + b`, which is equal to the bit. Nearly all sums have the factor 1.
fn without_unit_factor((cheap, numbers): (CheapOperation, Vec<Scalar>)) -> (CheapOperation, Vec<Scalar>) {
    let of_one = numbers.first().is_some_and(|factor| factor.to_f64() == Some(1.0));
    match cheap {
        CheapOperation::add_scaled if of_one => (CheapOperation::plus, Vec::new()),
        CheapOperation::sub_scaled if of_one => (CheapOperation::minus, Vec::new()),
        _ => (cheap, numbers),
    }
}

struct Compiler<'a> {
    chain: &'a FusionGroup,
    /// The number of elements of the results.
    count: i64,
    last_uses: Vec<usize>,
    /// The location of each value computed so far, and the size of its elements.
    locations: Vec<Option<(ElementLocation, usize)>>,
    /// Unused tiles, with the size of their elements.
    free_tiles: Vec<(TileOffset, usize)>,
    /// The run of the last steps, which is not yet a call because the next step may continue it in registers.
    open_run: Option<OpenRun>,
    pass: FusedPass,
}

/// One step, or several steps that form a run.
struct OpenRun {
    /// The result of the last step.
    value: usize,
    dtype: DType,
    /// The loop of the first step.
    kernel_loop: Box<dyn ContiguousLoop>,
    /// The operations of the run; empty if runs do not know the first step.
    steps: Vec<RegisterRunStep>,
    inputs: Vec<FusedCallOperand>,
    out: OperandConversion,
    /// Tiles that are free once this call is done.
    released_tiles: Vec<(TileOffset, usize)>,
}

impl Compiler<'_> {
    fn compile_step(&mut self, at: usize) -> Option<()> {
        let step = &self.chain.steps[at];
        let mut arguments =
            step.arguments.iter().map(|given| self.placeholder_argument(given)).collect::<Option<Vec<_>>>()?;
        let BoundLoop { mut kernel_loop, inputs: paths, out, dtype } =
            FusionRule::bind_call(step.operator, &mut arguments)?;
        let tensors = step
            .arguments
            .iter()
            .filter(|given| !matches!(given, StepArgument::Constant(value) if value.as_tensor().is_none()));
        let tensors: Vec<&StepArgument> = tensors.collect();
        if dtype != step.result.dtype() || tensors.len() != paths.len() || paths.len() > MAX_LOOP_INPUTS {
            return None;
        }
        let cheap = kernel_loop
            .cheap
            .take()
            .filter(|_| supports_register_runs(dtype) && kernel_loop.result_dtype == compute_dtype(dtype))
            .map(without_unit_factor);
        let register_argument =
            cheap.as_ref().and_then(|(cheap, _)| self.argument_from_open_run(at, *cheap, dtype, &tensors));
        if register_argument.is_none() {
            self.close_run()?;
        }
        let mut inputs = Vec::new();
        for (i, (given, path)) in tensors.into_iter().zip(paths).enumerate() {
            if register_argument != Some(i) {
                inputs.push(self.input_operand(given, path)?);
            }
        }
        let conversion_tiles = inputs
            .iter()
            .filter(|operand| !operand.path.direct)
            .map(|operand| (operand.conversion_tile, operand.path.size));
        let mut released_tiles: Vec<(TileOffset, usize)> = conversion_tiles.collect();
        let mut ended: Vec<usize> = argument_value_numbers(step).filter(|&value| self.last_uses[value] == at).collect();
        ended.sort_unstable();
        ended.dedup();
        for value in ended {
            if let Some((ElementLocation::Tile(tile), size)) = self.locations[value] {
                released_tiles.push((tile, size));
            }
        }
        let value = self.chain.inputs.len() + at;
        let open_run = self.open_run.take().unwrap_or_else(|| {
            let (kernel_loop, steps, inputs, released_tiles) = (kernel_loop.run, Vec::new(), Vec::new(), Vec::new());
            OpenRun { value, dtype, kernel_loop, steps, inputs, out, released_tiles }
        });
        let first_operand = open_run.inputs.len().max(1);
        let mut open_run = OpenRun { value, ..open_run };
        open_run.inputs.append(&mut inputs);
        open_run.released_tiles.append(&mut released_tiles);
        if let Some((cheap, numbers)) = cheap {
            for number in numbers {
                open_run.inputs.push(self.scalar_operand(number, dtype)?);
            }
            open_run.steps.push(RegisterRunStep {
                cheap,
                register_argument: register_argument.unwrap_or(0),
                first_operand,
            });
        }
        self.open_run = Some(open_run);
        Some(())
    }

    /// Returns the argument of a step that is the result of the open run, if the step can continue that run: no other step uses the result,
    /// and runs know both.
    fn argument_from_open_run(
        &self,
        at: usize,
        cheap: CheapOperation,
        dtype: DType,
        tensors: &[&StepArgument],
    ) -> Option<usize> {
        let open_run = self.open_run.as_ref()?;
        let is_open = |given: &&&StepArgument| matches!(given, StepArgument::Value(value) if *value == open_run.value);
        let argument = tensors.iter().position(|given| is_open(&given))?;
        let only_here = self.last_uses[open_run.value] == at
            && tensors.iter().filter(is_open).count() == 1
            && !self.chain.results.contains(&open_run.value);
        let both = !open_run.steps.is_empty() && open_run.dtype == dtype && cheap.accepts_register_at(argument);
        (only_here && both && open_run.inputs.len() + MAX_OPERATION_INPUTS <= MAX_LOOP_INPUTS).then_some(argument)
    }

    /// Turns the steps of the open run into one call, and adds it to the pass.
    fn close_run(&mut self) -> Option<()> {
        let Some(OpenRun { value, dtype, kernel_loop, steps, inputs, out, released_tiles }) = self.open_run.take()
        else {
            return Some(());
        };
        let size = dtype.size();
        let location = match self.chain.results.iter().position(|result| *result == value) {
            Some(result) => ElementLocation::Result(result),
            None => ElementLocation::Tile(self.reuse_or_append_tile(size)),
        };
        self.locations[value] = Some((location, size));
        let conversion_tile = if out.direct { 0 } else { self.reuse_or_append_tile(out.size) };
        self.free_tiles.extend(released_tiles);
        if !out.direct {
            self.free_tiles.push((conversion_tile, out.size));
        }
        let is_uniform = |operand: &FusedCallOperand| {
            self.pass
                .uniform_inputs
                .iter()
                .any(|uniform| matches!(operand.location, ElementLocation::Tile(tile) if tile == uniform.tile))
        };
        let uniform: Vec<bool> = inputs.iter().map(is_uniform).collect();
        let kernel_loop =
            if steps.len() < 2 { kernel_loop } else { registers::register_run_loop(dtype, steps, &uniform)? };
        self.pass.calls.push(FusedCall {
            kernel_loop,
            inputs,
            out: FusedCallOperand { location, size, path: out, conversion_tile },
        });
        Some(())
    }

    /// Returns a tensor of zeros with the dtype and rank of a step's argument, for binding the kernel's loop.
    fn placeholder_argument(&self, given: &StepArgument) -> Option<Value> {
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
        // One zero in memory is enough for tensors of any rank.
        let zeros = Geometry::strided(&few, &vec![0; few.len()], 0)?;
        Some(Tensor::new(Storage::try_new_host(tensor.dtype().size()).ok()?, tensor.dtype(), zeros).ok()?.into())
    }

    fn input_operand(&mut self, given: &StepArgument, path: OperandConversion) -> Option<FusedCallOperand> {
        let value = match given {
            StepArgument::Value(value) => *value,
            StepArgument::Constant(Value::Tensor(number)) => {
                return Some(self.uniform_operand(UniformSource::Scalar(ElementBytes::from_tensor(number)?), path));
            }
            StepArgument::Constant(_) => return None,
        };
        let Some(input) = self.chain.inputs.get(value) else {
            let (location, size) = self.locations[value]?;
            let conversion_tile = if path.direct { 0 } else { self.reuse_or_append_tile(path.size) };
            return Some(FusedCallOperand { location, size, path, conversion_tile });
        };
        let size = input.dtype().size();
        Some(match input.geometry().count() {
            count if count == self.count => {
                let conversion_tile = if path.direct { 0 } else { self.reuse_or_append_tile(path.size) };
                FusedCallOperand { location: ElementLocation::Input(value), size, path, conversion_tile }
            }
            1 => self.uniform_operand(UniformSource::Input(value), path),
            _ => {
                let (operand, tile) = self.preloaded_operand(&path);
                self.pass.broadcast_inputs.push(BroadcastInput { input: value, size, path, tile });
                operand
            }
        })
    }

    /// Returns a scalar argument of the call as an input of its loop.
    fn scalar_operand(&mut self, number: Scalar, dtype: DType) -> Option<FusedCallOperand> {
        let computed = compute_dtype(dtype);
        let number = match computed {
            DType::F32 => Tensor::from([f32::from_scalar(number)]),
            DType::F64 => Tensor::from([f64::from_scalar(number)]),
            _ => return None,
        };
        let path = OperandConversion::for_input(computed, computed, None, false);
        Some(self.uniform_operand(UniformSource::Scalar(ElementBytes::from_tensor(&number)?), path))
    }

    fn uniform_operand(&mut self, source: UniformSource, path: OperandConversion) -> FusedCallOperand {
        let (operand, tile) = self.preloaded_operand(&path);
        self.pass.uniform_inputs.push(UniformInput { source, path, tile });
        operand
    }

    /// Returns an input with a tile of its own, into which elements are converted before the first call.
    fn preloaded_operand(&mut self, path: &OperandConversion) -> (FusedCallOperand, TileOffset) {
        let tile = self.append_tile(path.size);
        (
            FusedCallOperand {
                location: ElementLocation::Tile(tile),
                size: path.size,
                path: path.without_conversion(),
                conversion_tile: 0,
            },
            tile,
        )
    }

    /// Returns an unused tile for elements of this size.
    fn reuse_or_append_tile(&mut self, size: usize) -> TileOffset {
        match self.free_tiles.iter().position(|(_, free)| *free == size) {
            Some(at) => self.free_tiles.swap_remove(at).0,
            None => self.append_tile(size),
        }
    }

    fn append_tile(&mut self, size: usize) -> TileOffset {
        let tile = self.pass.tile_bytes;
        self.pass.tile_bytes += ELEMENTS_PER_TILE * size;
        tile
    }
}
