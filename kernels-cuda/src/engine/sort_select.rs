//! Sorting and selection: `sort`, `topk`, the n-th element, medians and modes.
//!
//! Elements are mapped to integer keys of the same order. Sorting is stable, and NaN comes after all numbers. Short lines are sorted in
//! shared memory, several in a block. Long lines are radix-sorted, all lines together. For a few elements of long lines, the digits of the
//! last selected element are found first.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::prefix_sum::exclusive_prefix_sum;
use crate::prelude::*;

kernel! {
    // SAFETY: elements are packed, `SortInputParameter` has their count, and results have room for `most` of each line. Writes are checked
    // against that room, even if elements change meanwhile.
    static SORT_SELECT_KERNEL = unsafe { Kernel::new("sort_select", include_str!("../../kernels/engine/sort_select.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["sort_short_lines", "select_first", "select_nth", "make_keys", "count_digits", "scatter_by_digit", "most_frequent"], &[DType::I32, DType::I64]);
        instances.add("write_first", &[]);
    }) };
}

/// The maximum length of a line that is sorted in a block.
const MAX_BLOCK_SORT_LENGTH: i64 = 2048;

/// The maximum number of elements that are selected by their digits.
const MAX_SELECTED_BY_DIGITS: i64 = 1024;

/// The input of a sort: contiguous lines of elements.
#[derive(Clone)]
pub(crate) struct SortInput {
    pub(crate) elements: Tensor,
    pub(crate) count: i64,
    pub(crate) size: i64,
    pub(crate) descending: bool,
    /// The number of low bits in which keys can differ.
    bits: u32,
}

define_parameters! {
    /// The kernels' `struct SortInput`: the address, sizes and dtype of the lines.
    pub(crate) struct SortInputParameter {
        elements: DevicePointer,
        count: u32,
        size: u32,
        element_size: u32,
        dtype: i32,
        descending: bool,
    }
}

/// The selected elements and their indices, contiguous for each line.
pub(crate) type ValuesAndIndices = (Tensor, Tensor);

/// The element that is selected of each line.
#[derive(Clone, Copy)]
pub(crate) enum SelectedElement {
    /// The n-th smallest element, counted from one.
    NthSmallest(i64),
    Median {
        ignores_nan: bool,
    },
}

impl SortInput {
    /// Returns the lines of a tensor along dimension `at`, made contiguous.
    pub(crate) fn along_dim(this: &Tensor, at: usize, descending: bool) -> Result<Self> {
        if this.dtype().is_complex() {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real)
                .because("complex numbers have no order")
                .into());
        }
        let (moved, size) = match this.sizes().get(at) {
            Some(&size) => (aten::movedim_int(this, i64::try_from(at).unwrap_or(0), -1)?, size),
            None => (this.clone(), 1),
        };
        let elements = contiguous(&moved, this.dtype())?;
        let count = elements.geometry().count().checked_div(size).unwrap_or(0);
        Ok(Self { elements, count, size, descending, bits: dtype_bits(this.dtype()) })
    }

    /// Returns the input with one line of contiguous elements.
    pub(crate) fn from_single_line(elements: &Tensor) -> Self {
        let size = elements.geometry().count();
        let count = i64::from(size > 0);
        let bits = dtype_bits(elements.dtype());
        Self { elements: elements.clone(), count, size, descending: false, bits }
    }

    /// Returns this input for elements that are at least zero and at most `limit`, so that fewer bits are sorted.
    pub(crate) fn with_max_value(self, limit: i64) -> Self {
        Self { bits: (64 - limit.leading_zeros()).next_multiple_of(8), ..self }
    }

    fn key_dtype(&self) -> DType {
        if self.elements.dtype().size() == 8 { DType::I64 } else { DType::I32 }
    }

    fn key_size(&self) -> u32 {
        if self.key_dtype() == DType::I64 { 8 } else { 4 }
    }

    pub(crate) fn parameter(&self, launch: Launch) -> Result<SortInputParameter> {
        let small = |number: i64| {
            let expected = format!("lines of at most {} elements", i32::MAX);
            i32::try_from(number)
                .map(i32::cast_unsigned)
                .map_err(|_| BadArgument::sizes("self", self.elements.sizes(), expected))
        };
        Ok(SortInputParameter {
            elements: launch.pointer(&self.elements)?,
            count: small(self.count)?,
            size: small(self.size)?,
            element_size: u32::try_from(self.elements.dtype().size()).unwrap_or(1),
            dtype: self.elements.dtype() as i32,
            descending: self.descending,
        })
    }

    fn allocate_results(&self, most: i64) -> Result<ValuesAndIndices> {
        let allocate = |dtype| Spec::contiguous(dtype, &[self.count, most]).on(self.elements.device());
        Ok((allocate(self.elements.dtype())?, allocate(DType::I64)?))
    }

    /// Sorts all elements of each line.
    pub(crate) fn sort(&self) -> Result<ValuesAndIndices> {
        self.first_elements(self.size)
    }

    /// Returns the first `most` elements of each line, in order.
    pub(crate) fn first_elements(&self, most: i64) -> Result<ValuesAndIndices> {
        let found = self.allocate_results(most)?;
        self.first_elements_into(most, &found)?;
        Ok(found)
    }

    /// Writes the first `most` elements of each line, in order, into contiguous tensors.
    pub(crate) fn first_elements_into(&self, most: i64, found: &ValuesAndIndices) -> Result<()> {
        let launch = Launch::on_device_of(&self.elements)?;
        if found.0.geometry().count() == 0 {
            Ok(())
        } else if self.size <= MAX_BLOCK_SORT_LENGTH {
            self.sort_short_lines(launch, most, found)
        } else if most <= MAX_SELECTED_BY_DIGITS && !self.has_few_long_lines() {
            self.select_first(launch, most, found)
        } else {
            self.sort_long_lines(launch, most, found)
        }
    }

    /// Whether one block for each line would leave most of the device idle.
    fn has_few_long_lines(&self) -> bool {
        self.size >= 1 << 16 && self.count < 32
    }

    fn sort_short_lines(&self, launch: Launch, most: i64, (values, indices): &ValuesAndIndices) -> Result<()> {
        let (parameter, width) = (self.parameter(launch)?, round_up_to_power_of_two(self.size));
        let threads = (width / 2).max(128);
        let blocks = self.count.cast_unsigned().div_ceil((2 * threads / width).into());
        let grid = Grid::from_block_count(blocks, threads);
        let most = u32::try_from(most).unwrap_or(0);
        let grid = grid.with_shared_memory(2 * threads * (self.key_size() + 4));
        Ok(launch.run(
            &SORT_SELECT_KERNEL,
            "sort_short_lines",
            &[self.key_dtype()],
            grid,
            (parameter, width, most, values, indices),
        )?)
    }

    fn select_first(&self, launch: Launch, most: i64, (values, indices): &ValuesAndIndices) -> Result<()> {
        let (parameter, width) = (self.parameter(launch)?, round_up_to_power_of_two(most));
        let threads = (width / 2).max(threads_per_line(parameter.size));
        let grid = Grid::new(parameter.count, threads).with_shared_memory(2 * threads * (self.key_size() + 4));
        let most = u32::try_from(most).unwrap_or(0);
        let arguments = (parameter, width, most, self.bits, values, indices);
        Ok(launch.run(&SORT_SELECT_KERNEL, "select_first", &[self.key_dtype()], grid, arguments)?)
    }

    /// Returns `count` of the lines, from line `first` on.
    fn select_lines(&self, first: i64, count: i64) -> Result<Self> {
        let elements = view_range(&self.elements, first * self.size, count * self.size)?;
        Ok(Self { elements, count, ..self.clone() })
    }

    fn sort_long_lines(&self, launch: Launch, most: i64, found: &ValuesAndIndices) -> Result<()> {
        let count = self.count.saturating_mul(self.size);
        if count > i32::MAX.into() && self.count > 1 {
            // Positions are 32-bit integers, so the lines are sorted in two halves.
            let half = self.count / 2;
            for (first, lines) in [(0, half), (half, self.count - half)] {
                let some = |tensor: &Tensor| view_range(tensor, first * most, lines * most);
                self.select_lines(first, lines)?.sort_long_lines(launch, most, &(some(&found.0)?, some(&found.1)?))?;
            }
            return Ok(());
        }
        let (parameter, key, (values, indices)) = (self.parameter(launch)?, self.key_dtype(), found);
        let tile = 256 * 64 / self.key_size();
        let tiles = parameter.size.div_ceil(tile);
        let allocate = |dtype: DType, count: i64| Spec::contiguous(dtype, &[count]).on(self.elements.device());
        let mut keys = [allocate(key, count)?, allocate(key, count)?];
        let mut positions = [allocate(DType::I32, count)?, allocate(DType::I32, count)?];
        launch.run_per_element(&SORT_SELECT_KERNEL, "make_keys", &[key], count, (parameter, &keys[0]))?;
        let grid = Grid::new(tiles * parameter.count, 256);
        let counts = allocate(DType::I32, i64::from(tiles) * self.count * 256)?;
        for shift in (0..self.bits).step_by(8) {
            launch.run(
                &SORT_SELECT_KERNEL,
                "count_digits",
                &[key],
                grid,
                (parameter.size, tiles, &keys[0], shift, &counts),
            )?;
            exclusive_prefix_sum(launch, &counts)?;
            let from = (&keys[0], (shift != 0).then_some(&positions[0]));
            let arguments = (parameter.size, tiles, from.0, from.1, shift, &counts, &keys[1], &positions[1]);
            launch.run(&SORT_SELECT_KERNEL, "scatter_by_digit", &[key], grid, arguments)?;
            keys.swap(0, 1);
            positions.swap(0, 1);
        }
        let arguments = (parameter, u32::try_from(most).unwrap_or(0), &positions[0], values, indices);
        launch.run_per_element(&SORT_SELECT_KERNEL, "write_first", &[], self.count * most, arguments)
    }

    /// Writes the selected element of each line and its index.
    pub(crate) fn select_nth(&self, nth: SelectedElement, found: &ValuesAndIndices) -> Result<()> {
        let launch = Launch::on_device_of(&self.elements)?;
        let (nth, which) = match nth {
            SelectedElement::NthSmallest(nth) => (u32::try_from(nth).unwrap_or(u32::MAX), 0),
            SelectedElement::Median { ignores_nan } => (1, 1 + i32::from(ignores_nan)),
        };
        let parameter = self.parameter(launch)?;
        let arguments = (parameter, nth, which, self.bits, &found.0, &found.1);
        Ok(launch.run(
            &SORT_SELECT_KERNEL,
            "select_nth",
            &[self.key_dtype()],
            Grid::new(parameter.count, threads_per_line(parameter.size)),
            arguments,
        )?)
    }

    /// Writes the most frequent element of each line and its index.
    pub(crate) fn write_most_frequent(&self, found: &ValuesAndIndices) -> Result<()> {
        let (elements, positions) = self.sort()?;
        let launch = Launch::on_device_of(&elements)?;
        let sorted = Self { elements, ..self.clone() };
        let parameter = sorted.parameter(launch)?;
        let (grid, arguments) =
            (Grid::new(parameter.count, threads_per_line(parameter.size)), (parameter, &positions, &found.0, &found.1));
        Ok(launch.run(&SORT_SELECT_KERNEL, "most_frequent", &[self.key_dtype()], grid, arguments)?)
    }
}

/// Returns a view of `count` elements of a contiguous tensor, from element `first` on.
fn view_range(tensor: &Tensor, first: i64, count: i64) -> Result<Tensor> {
    Ok(tensor.restride(Geometry::contiguous(&[count]).with_offset(tensor.geometry().offset() + first))?)
}

/// Returns the smallest power of two that is at least two and not less than a number.
fn round_up_to_power_of_two(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX >> 1).max(2).next_power_of_two()
}

/// Copies the contiguous results of lines into `out`, in which the lines are along dimension `dim`.
pub(crate) fn copy_lines_into(found: &Tensor, out: &Tensor, dim: usize) -> Result<()> {
    let mut moved = aten::movedim_int(out, i64::try_from(dim).unwrap_or(0), -1)?;
    let lines = found.restride(Geometry::contiguous(moved.sizes()))?;
    copy_into(&mut moved, &lines)
}

/// Returns the number of threads that share a line of `size` elements.
fn threads_per_line(size: u32) -> u32 {
    (size / 4).next_power_of_two().clamp(32, 512)
}

/// Returns the number of bits of a dtype's elements.
fn dtype_bits(dtype: DType) -> u32 {
    u32::try_from(8 * dtype.size()).unwrap_or(64)
}
