//! Products of matrices and vectors: tensors become operands that [`gemm`](crate::gemm) multiplies where they lie.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DType, Geometry, Operator, Problem, Spec, Value};

use crate::copying::{packed, write};
use crate::gemm::{Face, Operand, Task, multiply};
use crate::number::{NUMBERS, check_dtype, is_single};

const ONE: Scalar = Scalar::Int(1);

#[op_impl(aten::mm, CUDA)]
fn mm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    product(aten::mm::operator(), this, mat2)
}

#[op_impl(aten::mm_out, CUDA)]
fn mm_out(this: &Tensor, mat2: &Tensor, out: &mut Tensor) -> Result<()> {
    into(aten::mm::operator(), out, ("self", this), ("mat2", mat2))
}

#[op_impl(aten::bmm, CUDA)]
fn bmm(this: &Tensor, mat2: &Tensor) -> Result<Tensor> {
    product(aten::bmm::operator(), this, mat2)
}

#[op_impl(aten::bmm_out, CUDA)]
fn bmm_out(this: &Tensor, mat2: &Tensor, out: &mut Tensor) -> Result<()> {
    into(aten::bmm::operator(), out, ("self", this), ("mat2", mat2))
}

#[op_impl(aten::mv, CUDA)]
fn mv(this: &Tensor, vec: &Tensor) -> Result<Tensor> {
    product(aten::mv::operator(), this, vec)
}

#[op_impl(aten::dot, CUDA)]
fn dot(this: &Tensor, tensor: &Tensor) -> Result<Tensor> {
    product(aten::dot::operator(), this, tensor)
}

#[op_impl(aten::vdot, CUDA)]
fn vdot(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    product(aten::vdot::operator(), this, other)
}

#[op_impl(aten::addmm, CUDA)]
fn addmm(this: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let spec = aten::sum_spec(this, [("mat1", mat1, "mk"), ("mat2", mat2, "kn")], "mn", [beta, alpha])?;
    sum(aten::addmm::operator(), &spec, this, mat1, mat2, beta, alpha)
}

#[op_impl(aten::baddbmm, CUDA)]
fn baddbmm(this: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let spec = aten::sum_spec(this, [("batch1", batch1, "bmk"), ("batch2", batch2, "bkn")], "bmn", [beta, alpha])?;
    sum(aten::baddbmm::operator(), &spec, this, batch1, batch2, beta, alpha)
}

#[op_impl(aten::addmv, CUDA)]
fn addmv(this: &Tensor, mat: &Tensor, vec: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let spec = aten::sum_spec(this, [("mat", mat, "mk"), ("vec", vec, "k")], "m", [beta, alpha])?;
    sum(aten::addmv::operator(), &spec, this, mat, vec, beta, alpha)
}

#[op_impl(aten::addbmm, CUDA)]
fn addbmm(this: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let spec = aten::sum_spec(this, [("batch1", batch1, "bmk"), ("batch2", batch2, "bkn")], "mn", [beta, alpha])?;
    let operator = aten::addbmm::operator();
    let items = batch1.sizes()[0];
    if items == 0 {
        // A product over nothing scales what is there.
        let nothing = |rows: i64, columns: i64| Spec::contiguous(spec.dtype, &[rows, columns]).on(batch1.device());
        let (rows, columns) = (nothing(batch1.sizes()[1], 0)?, nothing(0, batch2.sizes()[2])?);
        return sum(operator, &spec, this, &rows, &columns, beta, alpha);
    }
    let mut so_far = sum(operator, &spec, this, &item(batch1, 0)?, &item(batch2, 0)?, beta, alpha)?;
    for at in 1..items {
        so_far = sum(operator, &spec, &so_far, &item(batch1, at)?, &item(batch2, at)?, ONE, alpha)?;
    }
    Ok(so_far)
}

/// The item of a batch.
fn item(batch: &Tensor, at: i64) -> Result<Tensor> {
    let geometry = batch.geometry();
    let offset = geometry.offset() + at * geometry.strides()[0];
    let item = Geometry::strided(&geometry.sizes()[1..], &geometry.strides()[1..], offset);
    Ok(batch.restride(item.unwrap_or_else(|| geometry.clone()))?)
}

#[op_impl(aten::addr, CUDA)]
fn addr(this: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let spec = aten::addr_spec(this, vec1, vec2, [beta, alpha])?;
    let operator = aten::addr::operator();
    if spec.dtype == DType::Bool {
        // What is true counts as one, and any sum of ones is true.
        let counted = Spec { dtype: DType::U8, geometry: spec.geometry };
        return packed(
            &outer(
                operator,
                &counted,
                this,
                vec1,
                vec2,
                aten::number_in(DType::Bool, beta),
                aten::number_in(DType::Bool, alpha),
            )?,
            DType::Bool,
        );
    }
    outer(operator, &spec, this, vec1, vec2, beta, alpha)
}

fn outer(
    operator: &Operator,
    spec: &Spec,
    this: &Tensor,
    vec1: &Tensor,
    vec2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> Result<Tensor> {
    let wide =
        |tensor: &Tensor| if tensor.dtype() == spec.dtype { Ok(tensor.clone()) } else { packed(tensor, spec.dtype) };
    let column = |vector: &Tensor| aten::unsqueeze(vector, 1);
    let row = |vector: &Tensor| aten::unsqueeze(vector, 0);
    sum(operator, spec, &wide(&on(this, vec1)?)?, &column(&wide(vec1)?)?, &row(&wide(vec2)?)?, beta, alpha)
}

/// What the letters of an operator say, or what is wrong by them.
fn by_letters(operator: &Operator, this: &Tensor, other: &Tensor) -> Result<Spec> {
    let shape = operator.shape().ok_or_else(|| dispatch_runtime::ErrorKind::NoShape { operator: operator.name() })?;
    let spec = shape.infer(operator, &[Value::from(this.clone()), Value::from(other.clone())])?;
    check_dtype(operator, "self", spec.dtype, &NUMBERS)?;
    Ok(spec)
}

/// An operand on the left: a vector is a row where there is nothing but vectors.
fn left<'a>(this: &'a Tensor, other: &Tensor) -> Operand<'a> {
    let operand = Operand::of(this);
    if this.sizes().len() == 1 && other.sizes().len() == 1 { operand.transposed() } else { operand }
}

fn product(operator: &Operator, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let out = by_letters(operator, this, other)?.on(this.device())?;
    compute(&out, this, other)?;
    Ok(out)
}

fn compute(out: &Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    let (left, right) = (left(this, other), Operand::of(other));
    multiply(&Task { out: Operand::of(out), left, right, alpha: ONE, added: None })
}

/// The product into a tensor of the caller's.
fn into(
    operator: &Operator,
    out: &mut Tensor,
    this: (&'static str, &Tensor),
    other: (&'static str, &Tensor),
) -> Result<()> {
    let spec = by_letters(operator, this.1, other.1)?;
    spec.fit("out", out)?;
    if out.overlaps_itself() {
        return Err(BadArgument::new("out", Problem::SelfOverlap).into());
    }
    if let Some((with, _)) = [this, other].into_iter().find(|(_, operand)| !operand.is_apart_from_or_same_as(out)) {
        return Err(BadArgument::new("out", Problem::Overlap { with: with.into() }).into());
    }
    let apart = [this.1, other.1].iter().all(|operand| !operand.storage().same(out.storage()));
    if apart && out.dtype() == spec.dtype {
        let _writing = crate::Launch::on(out)?.writing(out)?;
        return compute(out, this.1, other.1);
    }
    let fresh = spec.on(out.device())?;
    compute(&fresh, this.1, other.1)?;
    aten::copy_(out, &fresh, false)
}

/// A tensor on another's device, if it is a number of the CPU's.
fn on(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    if !is_single(this) {
        return Ok(this.clone());
    }
    let mut there = Spec::contiguous(this.dtype(), &[]).on(other.device())?;
    write(&mut there, this)?;
    Ok(there)
}

/// Whether what is multiplied by it counts.
fn counts(beta: Scalar, dtype: DType) -> bool {
    match beta {
        Scalar::Complex(beta) => beta.re != 0.0 || beta.im != 0.0,
        Scalar::Float(beta) if dtype.is_integral() => beta.trunc() != 0.0,
        beta => beta.to_f64() != Some(0.0),
    }
}

/// `beta * this + alpha * first second`
fn sum(
    operator: &Operator,
    spec: &Spec,
    this: &Tensor,
    first: &Tensor,
    second: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> Result<Tensor> {
    check_dtype(operator, "self", spec.dtype, &NUMBERS)?;
    let out = spec.clone().on(first.device())?;
    let this = on(this, first)?;
    let added = Operand { tensor: &this, face: Face::stretched(&this, out.sizes()) };
    multiply(&Task {
        out: Operand::of(&out),
        left: Operand::of(first),
        right: Operand::of(second),
        alpha,
        added: counts(beta, spec.dtype).then_some((added, beta)),
    })?;
    Ok(out)
}
