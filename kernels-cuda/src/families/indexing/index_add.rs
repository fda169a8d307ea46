//! Rows that go to the same place, added in their order: however many threads there are, sums are the same.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::gather::{List, Lists, computed_in};
use crate::engine::sort_select::Ranks;
use crate::engine::walk::Steps;
use crate::prelude::*;

kernel! {
    // SAFETY: keys and places are made here, one for each of `count` rows. A row goes nowhere unless its key is less than `limit`.
    static MEET = unsafe { Kernel::new("meet", include_str!("../../../kernels/indexing/index_add.cu"), |instances| {
        instances.all(&["tiles", "joints"], &[DType::F32, DType::F64, DType::I32, DType::I64]);
        instances.each("rarity", &[DType::F32, DType::F64]);
    }) };
}

/// How many rows a thread adds.
const TILE: i64 = 32;

parameters! {
    /// `struct Meeting` of the kernels.
    struct Given {
        count: i64,
        width: u32,
        keys: Place,
        limit: i64,
        skipped: i64,
        places: Place,
        of_places: Place,
        rows: i64,
        from: Place,
        from_step: i64,
        dtype: i32,
        to: Place,
        to_step: i64,
        shares: Place,
    }
}

/// Rows, sorted by where they go.
pub(crate) struct Meeting {
    keys: Tensor,
    places: Tensor,
    pub(crate) limit: i64,
    /// Where rows go that are none.
    pub(crate) skipped: i64,
}

/// The rows of a side: where the first begins, the step from one to the next, and the steps inside of one.
pub(crate) struct Rows {
    pub(crate) at: Place,
    pub(crate) step: i64,
    pub(crate) steps: Dims,
}

impl Rows {
    /// Those of a matrix, which lie side by side.
    pub(crate) fn of(launch: Launch, matrix: &Tensor) -> Result<Self> {
        let element = element_size(matrix);
        let step = matrix.sizes().last().copied().unwrap_or(1) * element;
        Ok(Self { at: launch.place(matrix)?, step, steps: [element].into_iter().collect() })
    }
}

impl Meeting {
    /// Of rows that go to these numbers, which are at most `limit`.
    pub(crate) fn new(keys: &Tensor, limit: i64, skipped: i64) -> Result<Self> {
        let (keys, places) = Ranks::one(keys).below(limit).sorted()?;
        Ok(Self { keys, places, limit, skipped })
    }

    /// Adds rows of so many elements of a dtype, each multiplied by a share of its own. Of more places than rows, `of_places` says which row
    /// each is, if there is such a row.
    pub(crate) fn add(
        &self,
        dtype: DType,
        sizes: &[i64],
        to: &Rows,
        from: &Rows,
        of_places: Option<(&Tensor, i64)>,
        shares: Option<&Tensor>,
    ) -> Result<()> {
        let (launch, count) = (Launch::on(&self.keys)?, self.keys.geometry().count());
        if count == 0 || sizes.contains(&0) {
            return Ok(());
        }
        let computed = computed_in(dtype);
        let tiles = (count - 1) / TILE + 1;
        let given = Given {
            count,
            width: 0,
            keys: launch.place(&self.keys)?,
            limit: self.limit,
            skipped: self.skipped,
            places: launch.place(&self.places)?,
            of_places: launch.place_of_any(of_places.map(|(places, _)| places))?,
            rows: of_places.map_or(0, |(_, rows)| rows),
            from: from.at,
            from_step: from.step,
            dtype: dtype as i32,
            to: to.at,
            to_step: to.step,
            shares: launch.place_of_any(shares)?,
        };
        for (walk, width, offsets) in Steps::new(sizes, &[to.steps.clone(), from.steps.clone()]).parts() {
            let partial = Spec::contiguous(computed, &[tiles * 2, i64::from(width)]).on(launch.device())?;
            let given = Given { width, to: to.at.offset(offsets[0]), from: from.at.offset(offsets[1]), ..given };
            for template in ["tiles", "joints"] {
                launch.cover(&MEET, template, &[computed], tiles * i64::from(width), (given, walk, &partial))?;
            }
        }
        Ok(())
    }

    /// Divides what rows are multiplied by, which may be nothing yet, by how many go where they go.
    pub(crate) fn shared(&self, shares: Option<Tensor>, computed: DType) -> Result<Tensor> {
        let (launch, count, more) = (Launch::on(&self.keys)?, self.keys.geometry().count(), shares.is_some());
        let shares = match shares {
            Some(shares) => shares,
            None => Spec::contiguous(computed, &[count]).on(launch.device())?,
        };
        launch.cover(&MEET, "rarity", &[computed], count, (count, &self.keys, &self.places, &shares, more))?;
        Ok(shares)
    }
}

#[op_impl(aten::embedding_dense_backward, CUDA)]
fn embedding_dense_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    write(out, &Tensor::number(0.into()))?;
    let (dtype, launch) = (grad_output.dtype(), Launch::on(out)?);
    let rows = packed(grad_output, dtype)?;
    let list = List::of(indices, indices.sizes(), (num_weights, 1));
    let lists = Lists::one(list, false, site!("aten::embedding_dense_backward", "indices"));
    let keys = lists.places(launch, indices.sizes(), num_weights)?;
    let meeting = Meeting::new(&keys, num_weights, padding_idx)?;
    let shares = scale_grad_by_freq.then(|| meeting.shared(None, computed_in(dtype))).transpose()?;
    let width = grad_output.sizes().last().copied().unwrap_or(0);
    meeting.add(dtype, &[width], &Rows::of(launch, out)?, &Rows::of(launch, &rows)?, None, shares.as_ref())
}
