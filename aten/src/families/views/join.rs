//! Tensors joined, repeated and turned.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Geometry, Problem, Spec, result_dtype, wrap_dim};

use crate::{check_devices, images_like, to_dtype};

/// The tensors one after another along a dimension.
#[op_def("cat(Tensor[] tensors, int dim=0) -> Tensor", plan, out = "out")]
pub fn cat(_: ...) -> Result<Tensor>;

/// Tensors that are joined.
pub struct Joined<'a> {
    /// The dimension.
    pub dim: usize,
    /// The tensors that join. One of one dimension and no elements joins anything, and is left out.
    pub parts: Vec<&'a Tensor>,
}

#[op_plan(cat)]
fn cat_plan(tensors: &[Tensor], dim: i64) -> Result<Plan<Joined<'_>>, BadArgument> {
    let parts: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.sizes() != [0]).collect();
    let Some(first) = parts.first().copied().or_else(|| tensors.first()) else {
        return Err(BadArgument::length("tensors", 0, 1..));
    };
    let rank = first.sizes().len();
    if rank == 0 {
        return Err(BadArgument::rank("tensors", 0, 1..));
    }
    let at = wrap_dim("dim", dim, rank)?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[at] = 0;
    for part in &parts {
        let fits =
            part.sizes().len() == rank && (0..rank).all(|dim| dim == at || part.sizes()[dim] == first.sizes()[dim]);
        if !fits {
            let expected = format!("the sizes of the first, {:?}, in every dimension but {at}", first.sizes());
            return Err(BadArgument::sizes("tensors", part.sizes(), expected));
        }
        sizes[at] = sizes[at].saturating_add(part.sizes()[at]);
    }
    let dtype = result_dtype(tensors);
    let format = first.geometry().format();
    let all = tensors.iter().all(|tensor| tensor.geometry().format() == format);
    let geometry = if all { images_like(first, &sizes).geometry } else { Geometry::contiguous(&sizes) };
    Ok(Plan::new(Joined { dim: at, parts }, [Spec { dtype, geometry }]))
}

/// [`cat`], as it is called elsewhere.
#[op_def("concat(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concat(_: ...) -> Result<Tensor>;

/// [`cat`], as it is called elsewhere.
#[op_def("concatenate(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = cat)]
pub fn concatenate(_: ...) -> Result<Tensor>;

/// The tensors side by side along a new dimension.
#[op_def("stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out")]
pub fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(BadArgument::length("tensors", 0, 1..).into());
    };
    wrap_dim("dim", dim, first.sizes().len() + 1)?;
    if let Some(other) = tensors.iter().find(|tensor| tensor.sizes() != first.sizes()) {
        return Err(BadArgument::sizes("tensors", other.sizes(), first.sizes()).because("the first has").into());
    }
    let parts: Vec<Tensor> = tensors.iter().map(|tensor| crate::unsqueeze(tensor, dim)).collect::<Result<_>>()?;
    cat(&parts, dim)
}

/// [`stack`], as it is called elsewhere.
#[op_def("_stack(Tensor[] tensors, int dim=0) -> Tensor", out = "out", calls = stack)]
pub fn _stack(_: ...) -> Result<Tensor>;

/// Refuses a tensor that does not fit the first, beside each other (`rank` 1), below each other (2) or behind each other (3).
fn check_stacked(tensors: &[Tensor], rank: usize) -> Result<(), BadArgument> {
    let Some(first) = tensors.first() else { return Ok(()) };
    let dim = match rank {
        1 => usize::from(first.sizes().len() > 1),
        2 => 0,
        _ => 2,
    };
    super::expand::check_joined(tensors, dim, |sizes| match (sizes, rank) {
        ([], _) => Dims::from_elem(1, rank),
        (&[size], 2) => Dims::from_slice(&[1, size]),
        (&[size], 3) => Dims::from_slice(&[1, size, 1]),
        (&[height, width], 3) => Dims::from_slice(&[height, width, 1]),
        _ => Dims::from_slice(sizes),
    })
}

/// The tensors beside each other: along the second dimension, and vectors along the first.
#[op_def("hstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 1))]
pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
    let parts = super::expand::at_least(tensors, 1)?;
    cat(&parts, i64::from(parts.first().is_some_and(|part| part.sizes().len() != 1)))
}

/// The tensors below each other, a vector being a row.
#[op_def("vstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 2))]
pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::at_least(tensors, 2)?, 0)
}

/// [`vstack`], as it is called elsewhere.
#[op_def("row_stack(Tensor[] tensors) -> Tensor", out = "out", calls = vstack)]
pub fn row_stack(_: ...) -> Result<Tensor>;

/// The tensors behind each other, along the third dimension.
#[op_def("dstack(Tensor[] tensors) -> Tensor", out = "out", check = check_stacked(tensors, 3))]
pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
    cat(&super::expand::at_least(tensors, 3)?, 2)
}

/// The tensor so many times in each dimension.
#[op_def("repeat(Tensor self, SymInt[] repeats) -> Tensor", plan, out = "out")]
pub fn repeat(_: ...) -> Result<Tensor>;

/// The value is how many dimensions are new; they come first.
#[op_plan(repeat)]
fn repeat_plan(this: &Tensor, repeats: &[i64]) -> Result<Plan<usize>, BadArgument> {
    let new = repeats.len().checked_sub(this.sizes().len());
    let rank = this.sizes().len();
    let new =
        new.ok_or_else(|| BadArgument::length("repeats", repeats.len(), rank..).because("`self` has dimensions"))?;
    if let Some(&times) = repeats.iter().find(|&&times| times < 0) {
        return Err(BadArgument::number("repeats", times, 0..));
    }
    let own = std::iter::repeat_n(1, new).chain(this.sizes().iter().copied());
    let sizes: Dims = own.zip(repeats).map(|(size, &times)| size.saturating_mul(times)).collect();
    Ok(Plan::new(new, [Spec::contiguous(this.dtype(), &sizes)]))
}

/// [`repeat`], of the last dimensions where `dims` has fewer than there are.
#[op_def("tile(Tensor self, SymInt[] dims) -> Tensor")]
pub fn tile(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let missing = this.sizes().len().saturating_sub(dims.len());
    let repeats: Dims = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
    repeat(this, &repeats)
}

/// The elements in reverse along these dimensions.
#[op_def("flip(Tensor self, int[] dims) -> Tensor", plan, out = "out")]
pub fn flip(_: ...) -> Result<Tensor>;

/// The value is whether each dimension turns.
#[op_plan(flip)]
fn flip_plan(this: &Tensor, dims: &[i64]) -> Result<Plan<Vec<bool>>, BadArgument> {
    let rank = this.sizes().len();
    let mut turned = vec![false; rank];
    for &dim in dims {
        let at = wrap_dim("dims", dim, rank)?;
        if rank > 0 && std::mem::replace(&mut turned[at], true) {
            return Err(BadArgument::new("dims", Problem::RepeatedDim { dim }));
        }
    }
    Ok(Plan::new(turned, [Spec::like(this, this.dtype())]))
}

/// The columns in reverse.
#[op_def("fliplr(Tensor self) -> Tensor")]
pub fn fliplr(this: &Tensor) -> Result<Tensor> {
    if this.sizes().len() < 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    }
    flip(this, &[1])
}

/// The rows in reverse.
#[op_def("flipud(Tensor self) -> Tensor")]
pub fn flipud(this: &Tensor) -> Result<Tensor> {
    if this.sizes().is_empty() {
        return Err(BadArgument::rank("self", 0, 1..).into());
    }
    flip(this, &[0])
}

/// The elements moved along these dimensions, those that leave at one end entering at the other.
#[op_def("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", plan, out = "out")]
pub fn roll(_: ...) -> Result<Tensor>;

/// The way in which elements roll.
pub enum Roll {
    /// All of them, as if there were one dimension, by so many places.
    Flat(i64),
    /// Each dimension by so many positions.
    Dims(Vec<i64>),
}

#[op_plan(roll)]
fn roll_plan(this: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Plan<Roll>, BadArgument> {
    let spec = Spec::contiguous(this.dtype(), this.sizes());
    if let (&[shift], []) = (shifts, dims) {
        return Ok(Plan::new(Roll::Flat(shift.rem_euclid(this.geometry().count().max(1))), [spec]));
    }
    if shifts.is_empty() || shifts.len() != dims.len() {
        return Err(BadArgument::length("shifts", shifts.len(), dims.len()).like("dims"));
    }
    let rank = this.sizes().len();
    let mut by = vec![0_i64; rank];
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let at = wrap_dim("dims", dim, rank)?;
        if let Some(by) = by.get_mut(at) {
            let size = this.sizes()[at].max(1);
            let left = size - shift.rem_euclid(size);
            *by = if *by < left { *by + (size - left) } else { *by - left };
        }
    }
    Ok(Plan::new(Roll::Dims(by), [spec]))
}

/// A plane turned by `k` right angles, from the first of two dimensions towards the second.
#[op_def("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", out = "out")]
pub fn rot90(this: &Tensor, k: i64, dims: &[i64]) -> Result<Tensor> {
    let &[a, b] = dims else {
        return Err(BadArgument::length("dims", dims.len(), 2).into());
    };
    let rank = this.sizes().len();
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, 2..).into());
    }
    if wrap_dim("dims", a, rank)? == wrap_dim("dims", b, rank)? {
        return Err(BadArgument::new("dims", Problem::RepeatedDim { dim: b }).into());
    }
    match k.rem_euclid(4) {
        1 => crate::transpose_int(&flip(this, &[b])?, a, b),
        2 => flip(this, dims),
        3 => flip(&crate::transpose_int(this, a, b)?, &[b]),
        _ => crate::alias_copy(this),
    }
}

/// The lower triangle of each matrix, and zeros.
#[op_def("tril(Tensor self, SymInt diagonal=0) -> Tensor", plan, inplace, out = "out")]
pub fn tril(_: ...) -> Result<Tensor>;

#[op_plan(tril)]
fn tril_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    triangle(this)
}

/// The upper triangle of each matrix, and zeros.
#[op_def("triu(Tensor self, SymInt diagonal=0) -> Tensor", plan, inplace, out = "out")]
pub fn triu(_: ...) -> Result<Tensor>;

#[op_plan(triu)]
fn triu_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    triangle(this)
}

fn triangle(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    match this.sizes().len() {
        rank @ (0 | 1) => Err(BadArgument::rank("self", rank, 2..)),
        _ => Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())])),
    }
}

/// Matrices with the last dimension along a diagonal, and zeros.
#[op_def("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", plan, out = "out")]
pub fn diag_embed(_: ...) -> Result<Tensor>;

#[op_plan(diag_embed)]
fn diag_embed_plan(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Plan<()>, BadArgument> {
    let Some((&length, outer)) = this.sizes().split_last() else {
        return Err(BadArgument::rank("self", 0, 1..));
    };
    let rank = this.sizes().len() + 1;
    let (a, b) = (wrap_dim("dim1", dim1, rank)?, wrap_dim("dim2", dim2, rank)?);
    if a == b {
        return Err(BadArgument::new("dim2", Problem::RepeatedDim { dim: dim2 }));
    }
    let side = length.saturating_add(offset.saturating_abs());
    let mut sizes = Dims::from_slice(outer);
    sizes.insert(a.min(b), side);
    sizes.insert(a.max(b), side);
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &sizes)]))
}

#[op_impl(diag_embed, CompositeExplicitAutograd)]
fn diag_embed_any(_plan: &(), out: &mut Tensor, this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<()> {
    crate::zero_(out)?;
    crate::copy_(&mut crate::diagonal(out, offset, dim1, dim2)?, this, false)
}

/// The diagonal of a matrix, or the matrix with this diagonal.
#[op_def("diag(Tensor self, int diagonal=0) -> Tensor", out = "out")]
pub fn diag(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    match this.sizes().len() {
        1 => diag_embed(this, diagonal, 0, 1),
        2 => crate::diagonal_copy(this, diagonal, 0, 1),
        rank => Err(BadArgument::rank("self", rank, &[1, 2]).into()),
    }
}

/// Every combination of the positions in vectors, a tensor for each vector.
#[op_def("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")]
pub fn meshgrid_indexing(tensors: &[Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    let turned = match indexing {
        "ij" => false,
        "xy" => true,
        other => return Err(BadArgument::word("indexing", other, &["ij", "xy"]).into()),
    };
    let Some(first) = tensors.first() else {
        return Err(BadArgument::length("tensors", 0, 1..).into());
    };
    let mut sizes = Dims::new();
    for tensor in tensors {
        match tensor.sizes() {
            [] => sizes.push(1),
            &[size] => sizes.push(size),
            more => return Err(BadArgument::rank("tensors", more.len(), ..=1).into()),
        }
        if tensor.dtype() != first.dtype() {
            return Err(BadArgument::dtype("tensors", tensor.dtype(), first.dtype()).because("the first is").into());
        }
    }
    let swap = turned && tensors.len() > 1;
    if swap {
        sizes.swap(0, 1);
    }
    let grid = |(i, tensor): (usize, &Tensor)| {
        let dim = if swap && i < 2 { 1 - i } else { i };
        let mut own = Dims::from_elem(1, sizes.len());
        own[dim] = sizes[dim];
        crate::expand(&crate::view(tensor, &own)?, &sizes, false)
    };
    tensors.iter().enumerate().map(grid).collect()
}

/// [`meshgrid_indexing`] by rows and columns.
#[op_def("meshgrid(Tensor[] tensors) -> Tensor[]", calls = meshgrid_indexing(tensors, "ij"))]
pub fn meshgrid(_: ...) -> Result<Vec<Tensor>>;

/// Every position as often as it says.
#[op_def(
    "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    plan,
    data_dependent,
    out = "Tensor_out"
)]
pub fn repeat_interleave(_: ...) -> Result<Tensor>;

#[op_plan(repeat_interleave)]
fn repeat_interleave_plan(repeats: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    if repeats.sizes().len() != 1 {
        return Err(BadArgument::rank("repeats", repeats.sizes().len(), 1));
    }
    if !repeats.dtype().is_integral() {
        return Err(BadArgument::dtype("repeats", repeats.dtype(), DTypes::Integral));
    }
    Ok(Plan::checked(()))
}

fn check_repeats(repeats: &Tensor) -> Result<(), BadArgument> {
    if repeats.dtype().is_integral() { Ok(()) } else { Err(BadArgument::dtype("repeats", repeats.dtype(), "integral")) }
}

/// Every position of a dimension as often as `repeats` says.
#[op_def(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    check = check_repeats(repeats)
)]
pub fn repeat_interleave_self_tensor(_: ...) -> Result<Tensor> {
    check_devices([("self", this), ("repeats", repeats)])?;
    let (this, dim) = match dim {
        Some(dim) => (this.clone(), dim),
        None => (crate::flatten_using_ints(this, 0, -1)?, 0),
    };
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let size = this.sizes().get(at).copied().unwrap_or(1);
    let repeats = match repeats.sizes() {
        [] | [1] => crate::expand(&crate::reshape(repeats, &[1])?, &[size], false)?,
        &[count] if count == size => repeats.clone(),
        other => {
            return Err(
                BadArgument::sizes("repeats", other, format!("[{size}], as the dimension has, or one number")).into()
            );
        }
    };
    // Positions are of the dtype of the repeats, and what is narrow may not hold them.
    let is_narrow = repeats.dtype().is_integral() && repeats.dtype().size() < DType::I32.size();
    let repeats = if is_narrow { to_dtype(&repeats, DType::I64, false, false, None)? } else { repeats };
    crate::index_select(&this, dim, &repeat_interleave(&repeats, output_size)?)
}

/// Every position of a dimension `repeats` times.
#[op_def(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor"
)]
pub fn repeat_interleave_self_int(_: ...) -> Result<Tensor> {
    let (this, dim) = match dim {
        Some(dim) => (this.clone(), dim),
        None => (crate::flatten_using_ints(this, 0, -1)?, 0),
    };
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    if repeats < 0 {
        return Err(BadArgument::number("repeats", repeats, 0..).into());
    }
    let size = this.sizes().get(at).copied().ok_or_else(|| BadArgument::rank("self", 0, 1..))?;
    if output_size.is_some_and(|wanted| wanted != size.saturating_mul(repeats)) {
        return Err(BadArgument::number("output_size", output_size.unwrap_or(0), size.saturating_mul(repeats)).into());
    }
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.insert(at + 1, repeats);
    let inner = i64::try_from(at).unwrap_or(0);
    let wide = crate::expand(&crate::unsqueeze(&this, inner + 1)?, &sizes, false)?;
    crate::flatten_using_ints(&crate::alias_copy(&wide)?, inner, inner + 1)
}
