//! Exclusive prefix sums: each count is replaced by the sum of the counts before it.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::prelude::*;

kernel! {
    // SAFETY: the counts are contiguous, `count` of them, and `starts` has one for each tile.
    static PREFIX_SUM_KERNEL = unsafe { Kernel::new("prefix_sum", include_str!("../../kernels/engine/prefix_sum.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["sum_tiles", "prefix_sums"], &[DType::I32, DType::I64]);
    }) };
}

/// The number of counts that a block sums.
const COUNTS_PER_BLOCK: i64 = 2048;

/// Replaces contiguous counts by their exclusive prefix sums. Returns the total as a tensor on the device.
pub(crate) fn exclusive_prefix_sum(launch: Launch, counts: &Tensor) -> Result<Tensor> {
    let mut total = Spec::contiguous(counts.dtype(), &[1]).on(counts.device())?;
    if counts.geometry().count() == 0 {
        copy_into(&mut total, &Tensor::number(0.into()))?;
    }
    launch_prefix_sums(launch, counts, Some(&total))?;
    Ok(total)
}

fn launch_prefix_sums(launch: Launch, counts: &Tensor, total: Option<&Tensor>) -> Result<()> {
    let (count, dtype) = (counts.geometry().count(), [counts.dtype()]);
    let tiles = (count.cast_unsigned()).div_ceil(COUNTS_PER_BLOCK.unsigned_abs());
    let grid = Grid::from_block_count(tiles, 256);
    let mut starts = None;
    if tiles > 1 {
        let sums = Spec::contiguous(dtype[0], &[tiles.cast_signed()]).on(counts.device())?;
        launch.run(&PREFIX_SUM_KERNEL, "sum_tiles", &dtype, grid, (count, counts, &sums))?;
        launch_prefix_sums(launch, &sums, None)?;
        starts = Some(sums);
    }
    Ok(launch.run(&PREFIX_SUM_KERNEL, "prefix_sums", &dtype, grid, (count, counts, starts.as_ref(), total))?)
}

/// Copies an integer from the device to the CPU, and waits for it.
pub(crate) fn read_device_integer(launch: Launch, number: &Tensor) -> Result<i64> {
    let mut bytes = [0; 8];
    let size = number.dtype().size();
    launch.copy_device_to_host(launch.pointer(number)?, &mut bytes[..size])?;
    Ok(if size == 8 {
        i64::from_ne_bytes(bytes)
    } else {
        i64::from(i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    })
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;

    #[test]
    fn prefix_sums_of_many_tiles_equal_a_serial_sum() {
        let answer = crate::emulate().then_some(()).ok_or("there is no C++ compiler to emulate a device");
        let Some(()) = test_tools::tool_or_skip(test_tools::Tool::Emulator, answer) else { return };
        let device = crate::device::gpu::cuda_device(0);
        for count in [0_i64, 1, 5, COUNTS_PER_BLOCK, COUNTS_PER_BLOCK + 1, 3 * COUNTS_PER_BLOCK + 7] {
            let counts: Vec<i64> = (0..count).map(|i| i * 7 % 5).collect();
            let mut on = Spec::contiguous(DType::I64, &[count]).on(device).unwrap();
            copy_into(&mut on, &Tensor::from_slice(&counts)).unwrap();
            let launch = Launch::on_device_of(&on).unwrap();
            let total = read_device_integer(launch, &exclusive_prefix_sum(launch, &on).unwrap()).unwrap();
            assert_eq!(total, counts.iter().sum::<i64>());
            let mut host = Spec::contiguous(DType::I64, &[count]).on(Device::CPU).unwrap();
            aten::copy_(&mut host, &on, false).unwrap();
            let mut before = 0;
            for (sum, count) in host.to_vec::<i64>().unwrap().into_iter().zip(counts) {
                assert_eq!(sum, before);
                before += count;
            }
        }
    }
}
