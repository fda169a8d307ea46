//! Products with integer operands: of two integer matrices, and of numbers with weights that are stored as integers of 8 or 4 bits.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use crate::prelude::*;

/// The number of rows of a weight whose 4-bit integers are packed together. The bytes of a pack have row `i` and row `i + 32`.
const ROWS_PER_PACK: i64 = 64;

/// The product of two matrices of 8-bit integers, with sums of 32 bits.
#[op_def("_int_mm(Tensor self, Tensor mat2) -> Tensor", plan, out = "out", body = CompositeExplicitAutograd)]
pub fn _int_mm(_: ...) -> Result<Tensor> {
    _int_mm::plan(this, mat2)?;
    crate::mm(&this.to(DType::I32)?, &mat2.to(DType::I32)?)
}

#[op_plan(_int_mm)]
fn int_mm_plan(this: &Tensor, mat2: &Tensor) -> Result<Plan<()>, BadArgument> {
    let (rows, columns) = check_matrices(("self", this), ("mat2", mat2))?;
    if !matches!(this.dtype(), DType::I8 | DType::U8) {
        return Err(BadArgument::dtype("self", this.dtype(), &[DType::I8, DType::U8]));
    }
    if mat2.dtype() != DType::I8 {
        return Err(BadArgument::dtype("mat2", mat2.dtype(), DType::I8));
    }
    Ok(Plan::new((), [Spec::contiguous(DType::I32, &[rows, columns])]))
}

/// The product of a matrix with the transpose of `mat2`, a weight of 8-bit integers, times the scales of the weight's rows.
#[op_def(
    "_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _weight_int8pack_mm(_: ...) -> Result<Tensor> {
    _weight_int8pack_mm::plan(this, mat2, scales)?;
    let sums = crate::mm(&this.to(DType::F32)?, &mat2.to(DType::F32)?.t()?)?;
    (sums * &scales.to(DType::F32)?)?.to(this.dtype())
}

#[op_plan(_weight_int8pack_mm)]
fn int8pack_plan(this: &Tensor, mat2: &Tensor, scales: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_activations(this)?;
    if mat2.dtype() != DType::I8 {
        return Err(BadArgument::dtype("mat2", mat2.dtype(), DType::I8));
    }
    let &[outputs, inputs] = mat2.sizes() else {
        return Err(BadArgument::rank("mat2", mat2.sizes().len(), 2));
    };
    if inputs != this.sizes()[1] {
        return Err(BadArgument::size("mat2", mat2.sizes(), 1, this.sizes()[1]).like_dim("self", 1));
    }
    if scales.sizes() != [outputs] {
        return Err(BadArgument::sizes("scales", scales.sizes(), &[outputs][..]).like_dim("mat2", 0));
    }
    if scales.dtype() != this.dtype() {
        return Err(BadArgument::dtype("scales", scales.dtype(), this.dtype()).like("self"));
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[this.sizes()[0], outputs])]))
}

/// Packs a weight of integers from 0 to 15 for [`_weight_int4pack_mm_for_cpu`], two in a byte. `innerKTiles` is for other devices.
#[op_def(
    "_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _convert_weight_to_int4pack_for_cpu(this: &Tensor, innerKTiles: i64) -> Result<Tensor> {
    _convert_weight_to_int4pack_for_cpu::plan(this, innerKTiles)?;
    let (rows, columns) = (this.sizes()[0], this.sizes()[1]);
    let whole = rows - rows % ROWS_PER_PACK;
    let integers = this.to(DType::U8)?;
    let combine = |low: &Tensor, high: &Tensor| low.bitwise_or(&(high * 16)?);
    let packs = crate::narrow(&integers, 0, 0, whole)?.reshape([-1, 2, ROWS_PER_PACK / 2, columns])?;
    let packs = combine(&packs.select(1, 0)?, &packs.select(1, 1)?)?.transpose(1, 2)?;
    // The last rows, if they are no whole pack, are in pairs.
    let pairs = crate::narrow(&integers, 0, whole, rows - whole)?.reshape([(rows - whole) / 2, 2, columns])?;
    let pairs = combine(&pairs.select(1, 0)?, &pairs.select(1, 1)?)?.t()?;
    crate::cat(&[packs.reshape(-1)?, pairs.reshape(-1)?], 0)?.reshape([rows, columns / 2])
}

#[op_plan(_convert_weight_to_int4pack_for_cpu)]
fn int4_packing_plan(this: &Tensor, innerKTiles: i64) -> Result<Plan<()>, BadArgument> {
    let _ = innerKTiles;
    if this.dtype() != DType::I32 {
        return Err(BadArgument::dtype("self", this.dtype(), DType::I32));
    }
    let &[rows, columns] = this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2));
    };
    for (dim, size, divisor) in [(0, rows, 16), (1, columns, 2)] {
        if size % divisor != 0 {
            let expected = dispatch_runtime::Sizes::Dim { dim, size: dispatch_runtime::Expected::MultipleOf(divisor) };
            return Err(BadArgument::sizes("self", this.sizes(), expected));
        }
    }
    Ok(Plan::new((), [Spec::contiguous(DType::U8, &[rows, columns / 2])]))
}

/// The product of a matrix with the transpose of a weight that [`_convert_weight_to_int4pack_for_cpu`] packed. `qScaleAndZeros` has a scale
/// and an offset for each group of `qGroupSize` columns and each row of the weight; the integer 8 stands for the offset.
#[op_def(
    "_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _weight_int4pack_mm_for_cpu(
    this: &Tensor,
    mat2: &Tensor,
    qGroupSize: i64,
    qScaleAndZeros: &Tensor,
) -> Result<Tensor> {
    _weight_int4pack_mm_for_cpu::plan(this, mat2, qGroupSize, qScaleAndZeros)?;
    let (rows, columns) = (mat2.sizes()[0], this.sizes()[1]);
    let integers = unpack_int4(mat2, rows, columns)?.to(DType::F32)?.reshape([rows, -1, qGroupSize])?;
    let parameters = qScaleAndZeros.to(DType::F32)?.transpose(0, 1)?.unsqueeze(-1)?;
    let (scales, offsets) = (parameters.select(2, 0)?, parameters.select(2, 1)?);
    let weight = (((integers - 8)? * scales)? + offsets)?.reshape([rows, columns])?;
    crate::mm(&this.to(DType::F32)?, &weight.t()?)?.to(this.dtype())
}

#[op_plan(_weight_int4pack_mm_for_cpu)]
fn int4_product_plan(
    this: &Tensor,
    mat2: &Tensor,
    qGroupSize: i64,
    qScaleAndZeros: &Tensor,
) -> Result<Plan<()>, BadArgument> {
    check_activations(this)?;
    if mat2.dtype() != DType::U8 {
        return Err(BadArgument::dtype("mat2", mat2.dtype(), DType::U8));
    }
    let &[outputs, bytes] = mat2.sizes() else {
        return Err(BadArgument::rank("mat2", mat2.sizes().len(), 2));
    };
    let inputs = this.sizes()[1];
    if bytes.saturating_mul(2) != inputs {
        return Err(BadArgument::size("mat2", mat2.sizes(), 1, inputs / 2).because("a byte has two columns of `self`"));
    }
    if outputs % 16 != 0 {
        let expected = dispatch_runtime::Sizes::Dim { dim: 0, size: dispatch_runtime::Expected::MultipleOf(16) };
        return Err(BadArgument::sizes("mat2", mat2.sizes(), expected));
    }
    if !matches!(qGroupSize, 32 | 64 | 128 | 256) || inputs % qGroupSize != 0 {
        return Err(BadArgument::value(
            "qGroupSize",
            qGroupSize,
            "32, 64, 128 or 256, and a divisor of the columns of `self`",
        ));
    }
    let expected = [inputs / qGroupSize, outputs, 2];
    if qScaleAndZeros.sizes() != expected {
        return Err(BadArgument::sizes("qScaleAndZeros", qScaleAndZeros.sizes(), &expected[..]));
    }
    if qScaleAndZeros.dtype() != this.dtype() {
        return Err(BadArgument::dtype("qScaleAndZeros", qScaleAndZeros.dtype(), this.dtype()).like("self"));
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[this.sizes()[0], outputs])]))
}

/// Returns the integers of a packed weight.
fn unpack_int4(packed: &Tensor, rows: i64, columns: i64) -> Result<Tensor> {
    let whole = rows - rows % ROWS_PER_PACK;
    let bytes = packed.reshape(-1)?;
    let split = |bytes: &Tensor, dim: i64| crate::stack(&[bytes.bitwise_and(15)?, bytes.bitwise_right_shift(4)?], dim);
    let packs = crate::narrow(&bytes, 0, 0, whole * columns / 2)?.reshape([-1, columns, ROWS_PER_PACK / 2])?;
    let packs = split(&packs, 1)?.transpose(2, 3)?.reshape([whole, columns])?;
    let pairs = crate::narrow(&bytes, 0, whole * columns / 2, (rows - whole) * columns / 2)?;
    let pairs = split(&pairs.reshape([columns, (rows - whole) / 2])?, -1)?.reshape([columns, rows - whole])?.t()?;
    crate::cat(&[packs, pairs], 0)
}

/// Refuses what is no matrix of numbers in single or half precision.
fn check_activations(this: &Tensor) -> Result<(), BadArgument> {
    if !matches!(this.dtype(), DType::F32 | DType::F16 | DType::BF16) {
        return Err(BadArgument::dtype("self", this.dtype(), &[DType::F32, DType::F16, DType::BF16]));
    }
    match this.sizes().len() {
        2 => Ok(()),
        rank => Err(BadArgument::rank("self", rank, 2)),
    }
}

/// Refuses tensors that are no matrices whose product exists. Returns the sizes of the product.
pub(super) fn check_matrices(
    (first_name, first): (&'static str, &Tensor),
    (second_name, second): (&'static str, &Tensor),
) -> Result<(i64, i64), BadArgument> {
    let &[rows, inner] = first.sizes() else {
        return Err(BadArgument::rank(first_name, first.sizes().len(), 2));
    };
    match *second.sizes() {
        [size, columns] if size == inner => Ok((rows, columns)),
        [_, _] => Err(BadArgument::size(second_name, second.sizes(), 0, inner).like_dim(first_name, 1)),
        _ => Err(BadArgument::rank(second_name, second.sizes().len(), 2)),
    }
}
