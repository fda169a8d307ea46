//! The elementwise engine: the launches of kernels that `elementwise!` declares by one line of C++ each.
//!
//! A call is one launch of one of three loops (kernels/include/elementwise.cuh): over contiguous elements, over elements with any strides,
//! or over elements of any dtypes. Sizes and strides are launch parameters. A scalar, and a zero-dimensional CPU tensor, is passed by
//! value.

mod divisor;
#[macro_use]
mod macros;

use dispatch_runtime::{
    BadArgument, DType, Operation, Operator, Problem, Promotion, Result, Scalar, ShapeWord, Spec, Tensor,
};

use crate::compile::source::Instances;
use crate::device::driver::Grid;
use crate::engine::scalars::{encode_scalar, is_cpu_scalar, round_to_dtype, unsupported_dtype};
use crate::engine::walk::WalkDims;
use crate::error::CudaError;
use crate::kernel::Kernel;
use crate::launch::{DevicePointer, Launch, Parameter, WriteGuard};

/// The kernel of an elementwise operator, and its properties.
pub(crate) struct Loops {
    pub(crate) kernel: Kernel,
    /// The types that the kernel computes in, among the results of [`Loops::compute_dtype`].
    pub(crate) compute_dtypes: &'static [DType],
    pub(crate) marks: &'static [OperandMark],
}

/// A property of an operand, by the operand's index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandMark {
    /// The operand is boolean; the other operands may have any dtype.
    Boolean(usize),
    /// The operand is a divisor: for integers, zero is an error.
    Divisor(usize),
    /// If the operand is a CPU scalar, it is not rounded to half precision, as in PyTorch's kernels for the same operators. Other scalars
    /// are rounded to the dtype that the operands promote to.
    Unrounded(usize),
}

/// The maximum number of operands, and of scalars.
const MAX_OPERANDS_AND_SCALARS: usize = 4;
/// The number of elements of a thread in the strided loop.
const ELEMENTS_PER_THREAD: u32 = 4;

/// The kernels' `struct Operands`: the addresses, scalar values and dtypes of a call's operands.
#[derive(Clone, Copy)]
#[repr(C)]
struct Operands<const N: usize> {
    addresses: [DevicePointer; N],
    scalars: [u64; N],
    single_elements: u32,
    dtypes: [u8; N],
    promoted: u8,
}

impl<const N: usize> Parameter for Operands<N> {}

/// The kernels' `struct Scalars`: a call's scalar arguments.
#[derive(Clone, Copy)]
#[repr(C)]
struct Scalars([u64; MAX_OPERANDS_AND_SCALARS]);

impl Parameter for Scalars {}

/// The loops of an operator with the scalar arguments of a call.
pub(crate) struct BoundLoops {
    loops: &'static Loops,
    scalars: [Scalar; MAX_OPERANDS_AND_SCALARS],
}

/// Computes an operator's result into a fresh tensor.
pub(crate) fn compute_fresh<O: Operation, const N: usize>(inputs: [&Tensor; N], bound: &BoundLoops) -> Result<Tensor> {
    OperatorTraits::for_operator::<O>().compute_fresh(bound, inputs)
}

/// Runs elementwise loops into a fresh tensor, with a given type promotion instead of the operator's.
pub(crate) fn compute_with_promotion<O: Operation, const N: usize>(
    dtype: Promotion,
    loops: &'static Loops,
    inputs: [&Tensor; N],
    scalars: &[Scalar],
) -> Result<Tensor> {
    OperatorTraits { dtype, names: operand_names::<O>(), form: O::operator() }
        .compute_fresh(&loops.bind_scalars(scalars), inputs)
}

/// Runs elementwise loops into `out`, with a given type promotion instead of the operator's.
pub(crate) fn compute_with_promotion_into<O: Operation, const N: usize>(
    dtype: Promotion,
    loops: &'static Loops,
    out: &mut Tensor,
    inputs: [&Tensor; N],
    scalars: &[Scalar],
) -> Result<()> {
    OperatorTraits { dtype, names: operand_names::<O>(), form: O::operator() }.compute_into(
        &loops.bind_scalars(scalars),
        "out",
        out,
        inputs,
    )
}

/// Computes an operator's result into the caller's tensor.
pub(crate) fn compute_into<O: Operation, const N: usize>(
    (name, out): (&'static str, &mut Tensor),
    inputs: [&Tensor; N],
    bound: &BoundLoops,
) -> Result<()> {
    OperatorTraits::for_operator::<O>().compute_into(bound, name, out, inputs)
}

/// Computes an operator in place: into `this`, which stands for each input that is `None`. `F` is the form of the operator that was called.
pub(crate) fn compute_in_place<O: Operation, F: Operation, const N: usize>(
    this: &mut Tensor,
    inputs: [Option<&Tensor>; N],
    bound: &BoundLoops,
) -> Result<()> {
    let rule = OperatorTraits { form: F::operator(), ..OperatorTraits::for_operator::<O>() };
    let written = this.clone();
    let inputs = inputs.map(|input| input.unwrap_or(&written));
    let computed = rule.dtype.computation_dtype(&inputs);
    rule.result_spec(&inputs, rule.dtype.result_dtype_from(computed))?.fit_output("self", this)?;
    rule.check_and_launch(bound, "self", this, inputs, computed)
}

/// The type promotion, the operand names and the form of an elementwise operator that is called.
#[derive(Clone, Copy)]
struct OperatorTraits {
    dtype: Promotion,
    /// The names of the operands, for errors.
    names: &'static [&'static str],
    /// The called operator (functional, in-place or out form), which errors name.
    form: &'static Operator,
}

impl OperatorTraits {
    fn for_operator<O: Operation>() -> Self {
        Self { dtype: const { operator_promotion::<O>() }, names: operand_names::<O>(), form: O::operator() }
    }

    fn compute_fresh<const N: usize>(self, bound: &BoundLoops, inputs: [&Tensor; N]) -> Result<Tensor> {
        let computed = self.dtype.computation_dtype(&inputs);
        let dtype = self.dtype.result_dtype_from(computed);
        let on = inputs.iter().find(|input| !is_cpu_scalar(input)).unwrap_or(&inputs[0]);
        let mut out = self.result_spec(&inputs, dtype)?.on(on.device())?;
        self.launch_loops(bound, &mut out, inputs, computed)?;
        Ok(out)
    }

    fn compute_into<const N: usize>(
        self,
        bound: &BoundLoops,
        name: &'static str,
        out: &mut Tensor,
        inputs: [&Tensor; N],
    ) -> Result<()> {
        let computed = self.dtype.computation_dtype(&inputs);
        // `out` is replaced only after a resized tensor was written, so a call that fails changes nothing.
        let mut fitted = out.clone();
        self.result_spec(&inputs, self.dtype.result_dtype_from(computed))?.fit_output(name, &mut fitted)?;
        self.check_and_launch(bound, name, &mut fitted, inputs, computed)?;
        *out = fitted;
        Ok(())
    }

    fn check_and_launch<const N: usize>(
        self,
        bound: &BoundLoops,
        name: &'static str,
        out: &mut Tensor,
        inputs: [&Tensor; N],
        computed: DType,
    ) -> Result<()> {
        let _writing = begin_checked_write(self.names, name, out, &inputs)?;
        self.launch_loops(bound, out, inputs, computed)
    }

    fn result_spec(self, inputs: &[&Tensor], dtype: DType) -> Result<Spec> {
        Spec::pointwise(inputs, dtype).map_err(|error| {
            let name = self.names.get(error.operand).copied().unwrap_or_default();
            error.for_argument(name).into()
        })
    }

    fn launch_loops<const N: usize>(
        self,
        BoundLoops { loops, scalars }: &BoundLoops,
        out: &mut Tensor,
        inputs: [&Tensor; N],
        computed: DType,
    ) -> Result<()> {
        let Some(class) = loops.compute_dtype(computed) else {
            return Err(unsupported_dtype(self.form, "self", computed, loops.compute_dtypes));
        };
        if out.geometry().count() == 0 {
            return Ok(());
        }
        for mark in loops.marks {
            if let OperandMark::Divisor(k) = *mark
                && !class.is_floating()
            {
                divisor::check_divisor(inputs[k], computed)?;
            }
        }
        let launch = Launch::on_device_of(out)?;
        let operands = Operands::from_inputs(launch, self.names, &inputs, loops, class, computed)?;
        let mut scalar_bits = Scalars([0; MAX_OPERANDS_AND_SCALARS]);
        for (slot, scalar) in scalar_bits.0.iter_mut().zip(scalars) {
            *slot = encode_scalar(*scalar, class);
        }
        let (kernel, to) = (&loops.kernel, launch.pointer(out)?);
        // Only the mixed loop has float8 dtypes.
        let float8 = computed.is_float8() || out.dtype().is_float8();
        let uniform = !float8
            && out.dtype() == self.dtype.result_dtype_from(computed)
            && loops.has_computed_dtypes(&inputs, computed);
        // Conversions between floating dtypes are frequent in networks, so the contiguous loop has instances for them.
        let converts =
            !float8 && N == 1 && self.dtype == Promotion::First && out.dtype().is_floating() && computed.is_floating();
        let instance = loops.instance_dtypes(class, computed, out.dtype());
        let instance = &instance[..N + 2];
        let pack = 16 / instance[1..].iter().map(|dtype| dtype.size()).max().unwrap_or(1);
        if (uniform || converts) && to.is_aligned_to(16) && operands.can_use_packs(out, &inputs) {
            let count = out.geometry().count();
            let grid = Grid::for_elements(count.unsigned_abs().div_ceil(pack as u64).cast_signed());
            return Ok(launch.run(kernel, "contiguous", instance, grid, (count, to, operands, scalar_bits))?);
        }
        let (mut steps, alike) = (WalkDims::for_output(out, &inputs), uniform && has_strided_loop(computed));
        let in_packs = alike
            && steps.divide_into_packs(
                pack,
                std::iter::once((to, instance[1]))
                    .chain(operands.addresses.into_iter().zip(instance[2..].iter().copied())),
            );
        for (walk, count, offsets) in steps.split_for_32_bits() {
            let (to, operands) = (to.offset(offsets[0]), operands.offset_addresses(&offsets[1..]));
            if alike {
                let grid =
                    Grid::for_elements(if in_packs { count } else { count.div_ceil(ELEMENTS_PER_THREAD) }.into());
                launch.run(kernel, "strided", instance, grid, (count, to, operands, scalar_bits, walk, in_packs))?;
            } else {
                let (grid, dtype) = (Grid::for_elements(count.into()), out.dtype() as i32);
                launch.run(kernel, "mixed_dtypes", &[class], grid, (count, to, operands, scalar_bits, walk, dtype))?;
            }
        }
        Ok(())
    }
}

impl<const N: usize> Operands<N> {
    fn from_inputs(
        launch: Launch,
        names: &'static [&'static str],
        inputs: &[&Tensor; N],
        loops: &Loops,
        class: DType,
        computed: DType,
    ) -> Result<Self> {
        let promoted = computed as u8;
        let mut operands =
            Self { addresses: [DevicePointer::NULL; N], scalars: [0; N], single_elements: 0, dtypes: [0; N], promoted };
        for (k, input) in inputs.iter().enumerate() {
            operands.dtypes[k] = input.dtype() as u8;
            if is_cpu_scalar(input) {
                let scalar = input.to_scalar()?;
                let is_kept = computed.is_floating() && loops.marks.contains(&OperandMark::Unrounded(k));
                operands.scalars[k] =
                    encode_scalar(if is_kept { scalar } else { round_to_dtype(scalar, computed) }, class);
                operands.single_elements |= 1 << k;
            } else {
                operands.addresses[k] = operand_pointer(launch, names.get(k).copied().unwrap_or_default(), input)?;
                operands.single_elements |= u32::from(input.geometry().count() == 1) << k;
            }
        }
        Ok(operands)
    }

    fn has_single_element(&self, k: usize) -> bool {
        self.single_elements >> k & 1 == 1
    }

    /// Whether all operands are scalars, or have the layout of the result, which is dense, and are aligned to sixteen bytes.
    fn can_use_packs(&self, out: &Tensor, inputs: &[&Tensor; N]) -> bool {
        out.geometry().is_dense()
            && inputs.iter().enumerate().all(|(k, input)| {
                let alike = || {
                    let (own, others) = (input.geometry(), out.geometry());
                    own.same_sizes(others)
                        && (own.strides() == others.strides() || own.is_contiguous() && others.is_contiguous())
                };
                self.has_single_element(k) || (self.addresses[k].is_aligned_to(16) && alike())
            })
    }

    fn offset_addresses(mut self, offsets: &[u64]) -> Self {
        for (address, offset) in self.addresses.iter_mut().zip(offsets) {
            if *address != DevicePointer::NULL {
                *address = address.offset(*offset);
            }
        }
        self
    }
}

/// Returns the address of an operand. An error names the operand.
fn operand_pointer(launch: Launch, name: &'static str, input: &Tensor) -> Result<DevicePointer> {
    launch.pointer(input).map_err(|error| match error {
        CudaError::WrongDevice { found, expected } => {
            BadArgument::new(name, Problem::Device { found, expected }).into()
        }
        other => other.into(),
    })
}

/// Copies the elements of `from` into `to`, which is not empty, and converts them.
pub(crate) fn convert_into(copy: &'static Loops, to: &mut Tensor, from: &Tensor) -> Result<()> {
    OperatorTraits { dtype: Promotion::First, names: &["src"], form: aten::copy_::operator() }.launch_loops(
        &copy.bind_scalars(&[]),
        to,
        [from],
        from.dtype(),
    )
}

/// Checks that a tensor may be written by a call that reads the inputs, and begins the write. Returns an error if the tensor overlaps
/// itself, or partially overlaps an input.
pub(crate) fn begin_checked_write(
    names: &[&'static str],
    name: &'static str,
    out: &Tensor,
    inputs: &[&Tensor],
) -> Result<WriteGuard> {
    if out.overlaps_itself() {
        return Err(BadArgument::new(name, Problem::SelfOverlap).into());
    }
    for (k, input) in inputs.iter().enumerate() {
        if !input.is_disjoint_or_same_elements(out) {
            let operand = names.get(k).copied().unwrap_or_default();
            return Err(BadArgument::new(operand, Problem::Overlap { with: name.into() }).into());
        }
    }
    Ok(Launch::on_device_of(out)?.begin_write(out)?)
}

impl Loops {
    /// Binds the loops to the scalar arguments of a call, at most four.
    pub(crate) fn bind_scalars(&'static self, scalars: &[Scalar]) -> BoundLoops {
        let mut given = [Scalar::Int(0); MAX_OPERANDS_AND_SCALARS];
        given.iter_mut().zip(scalars).for_each(|(given, scalar)| *given = *scalar);
        BoundLoops { loops: self, scalars: given }
    }

    /// Returns the type that a dtype is computed in, or `None` if there are no loops for it.
    pub(crate) fn compute_dtype(&self, computed: DType) -> Option<DType> {
        let class = match computed {
            DType::F16 | DType::BF16 | DType::F32 => DType::F32,
            _ if computed.is_float8() => DType::F32,
            DType::F64 => DType::F64,
            DType::C64 | DType::C128 => return None,
            DType::I64 => DType::I64,
            _ if self.compute_dtypes.contains(&DType::I32) => DType::I32,
            _ => DType::I64,
        };
        self.compute_dtypes.contains(&class).then_some(class)
    }

    /// Whether all operands have the computed dtype, apart from boolean operands and CPU scalars.
    fn has_computed_dtypes(&self, inputs: &[&Tensor], computed: DType) -> bool {
        inputs.iter().enumerate().all(|(k, input)| {
            let expected = if self.marks.contains(&OperandMark::Boolean(k)) { DType::Bool } else { computed };
            input.dtype() == expected || is_cpu_scalar(input)
        })
    }

    /// Returns the dtypes of an instance: the computed type, the result and the operands.
    fn instance_dtypes(&self, class: DType, computed: DType, out: DType) -> [DType; MAX_OPERANDS_AND_SCALARS + 3] {
        let mut dtypes = [computed; MAX_OPERANDS_AND_SCALARS + 3];
        (dtypes[0], dtypes[1]) = (class, out);
        for mark in self.marks {
            if let OperandMark::Boolean(truth) = *mark {
                dtypes[truth + 2] = DType::Bool;
            }
        }
        dtypes
    }

    /// Adds all instances of the loops, for an operator with so many operands and this promotion.
    pub(crate) fn add_instances(&self, operands: usize, dtype: Promotion, instances: &mut Instances) {
        for computed in REAL_DTYPES {
            let floating_only = dtype == Promotion::Float && !computed.is_floating();
            if let Some(class) = self.compute_dtype(computed).filter(|_| !floating_only) {
                let list = self.instance_dtypes(class, computed, dtype.result_dtype_from(computed));
                instances.add("contiguous", &list[..operands + 2]);
                if has_strided_loop(computed) {
                    instances.add("strided", &list[..operands + 2]);
                }
            }
        }
        instances.add_for_each_dtype("mixed_dtypes", self.compute_dtypes);
    }
}

/// Whether the strided loop has an instance for a dtype.
pub(crate) fn has_strided_loop(dtype: DType) -> bool {
    dtype.is_floating() || dtype.size() >= 4
}

/// The real dtypes (boolean, integers and floating), for which there are elementwise loops.
pub(crate) const REAL_DTYPES: [DType; 10] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U8,
    DType::Bool,
];

/// Returns the type promotion of an operator's `shape`.
pub(crate) const fn operator_promotion<O: Operation>() -> Promotion {
    match O::SHAPE_WORD {
        Some(ShapeWord::Pointwise { dtype, .. }) => dtype,
        _ => panic!("an elementwise kernel needs an operator with `shape = pointwise`"),
    }
}

/// Returns the names of an operator's operands, for errors.
pub(crate) const fn operand_names<O: Operation>() -> &'static [&'static str] {
    match O::SHAPE_WORD {
        Some(ShapeWord::Pointwise { names, .. }) => names,
        _ => &["self", "self", "self"],
    }
}

/// Returns the number of real dtypes in a list: there are no loops for complex ones.
pub(crate) const fn count_real_dtypes(dtypes: &[DType]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < dtypes.len() {
        count += is_real_dtype(dtypes[i]) as usize;
        i += 1;
    }
    count
}

/// Returns the real dtypes of a list.
pub(crate) const fn filter_real_dtypes<const N: usize>(dtypes: &[DType]) -> [DType; N] {
    let (mut real, mut count, mut i) = ([DType::F32; N], 0, 0);
    while i < dtypes.len() {
        if is_real_dtype(dtypes[i]) {
            real[count] = dtypes[i];
            count += 1;
        }
        i += 1;
    }
    real
}

const fn is_real_dtype(dtype: DType) -> bool {
    !matches!(dtype, DType::C64 | DType::C128)
}
