//! Tests of tensor-core instructions, on a device or emulated: the expected fragments follow the formulas of the PTX manual.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use kernels_cuda::{Grid, Kernel, Launch, kernel};

use crate::{ReverseThreadOrderGuard, copy_to_device, lock_free_device};

kernel! {
    // SAFETY: the tests below launch it, with tensors that have as many elements as their threads access.
    static TENSOR_CORE_KERNEL = unsafe { Kernel::new("fragments", r#"
    #include "tensor_cores.cuh"
    // Multiplies fragments. Each lane has four words of the left operand, two words of the right one, and four sums.
    template <class T> __global__ void multiply(float *sums, const u32 *left, const u32 *right) {
        u32 lane = threadIdx.x, mine[4];
        for (int i = 0; i < 4; i++) mine[i] = left[lane * 4 + i];
        float own[4];
        for (int i = 0; i < 4; i++) own[i] = sums[lane * 4 + i];
        mma16816<T>(own, mine, right[lane * 2], right[lane * 2 + 1]);
        for (int i = 0; i < 4; i++) sums[lane * 4 + i] = own[i];
    }
    // Loads four matrices of 64 halves each, with gaps between their rows in shared memory.
    template <class T> __global__ void load_matrices(T *straight, T *turned, const T *from) {
        DYNAMIC_SHARED_MEMORY(bytes);
        T *rows = (T *)bytes;
        for (u32 i = threadIdx.x; i < 32 * 8; i += blockDim.x) rows[i / 8 * 24 + i % 8] = from[i];
        __syncthreads();
        u32 words[4], lane = threadIdx.x % 32;
        ldmatrix_x4(words, rows + lane * 24);
        for (int i = 0; i < 4; i++) ((u32 *)straight)[threadIdx.x * 4 + i] = words[i];
        ldmatrix_x4_trans(words, rows + lane * 24);
        for (int i = 0; i < 4; i++) ((u32 *)turned)[threadIdx.x * 4 + i] = words[i];
    }
    // Copies groups of eight elements; for every second group, zeros are written instead.
    template <class T> __global__ void copy(T *to, const T *from) {
        DYNAMIC_SHARED_MEMORY(bytes);
        T *eights = (T *)bytes;
        copy_async_16(eights + threadIdx.x * 8, from + threadIdx.x * 8, threadIdx.x % 2);
        wait_for_copies();
        __syncthreads();
        u32 other = 63 - threadIdx.x;
        for (int i = 0; i < 8; i++) to[other * 8 + i] = eights[other * 8 + i];
    }
    template <class T> __global__ void pack_pairs(T *to, const float *from) {
        ((u32 *)to)[threadIdx.x] = pack_halves<T>(from[threadIdx.x * 2], from[threadIdx.x * 2 + 1]);
    }"#,
    |instances| {
        for name in ["multiply", "load_matrices", "copy", "pack_pairs"] {
            instances.add_for_each_dtype(name, &[DType::F16, DType::BF16]);
        }
    }) };
}

const HALF_DTYPES: [DType; 2] = [DType::F16, DType::BF16];

/// Returns small integers, which are exact in half precision, on a device.
fn half_tensor(numbers: impl Iterator<Item = f32>, dtype: DType, cuda: Device) -> Tensor {
    let numbers = Tensor::from(numbers.collect::<Vec<f32>>());
    copy_to_device(&aten::to_dtype(&numbers, dtype, false, true, None).unwrap(), cuda)
}

fn to_f32_vec(tensor: &Tensor) -> Vec<f32> {
    aten::to_dtype(&copy_to_device(tensor, Device::CPU), DType::F32, false, true, None)
        .unwrap()
        .to_vec::<f32>()
        .unwrap()
}

fn left_element(row: usize, step: usize) -> f32 {
    f32::from(u8::try_from((row * 5 + step * 3 + row * step) % 17).unwrap()) - 8.0
}

fn right_element(step: usize, column: usize) -> f32 {
    f32::from(u8::try_from((step * 7 + column * 11 + step * column) % 13).unwrap()) - 6.0
}

#[test]
fn mma_equals_the_matrix_product() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let lanes = |each: usize| (0..32).flat_map(move |lane| (0..each).map(move |i| (lane / 4, lane % 4, i)));
    for (number, dtype) in HALF_DTYPES.into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        // "row = groupID for ai where 0 <= i < 2 || 4 <= i < 6, groupID + 8 otherwise; col = (threadID_in_group * 2) + (i & 1), + 8 for i >= 4".
        let of_left = lanes(8).map(|(group, in_group, i)| {
            let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
            left_element(row, in_group * 2 + i % 2 + if i < 4 { 0 } else { 8 })
        });
        // "row = (threadID_in_group * 2) + (i & 1) for bi where i < 2, + 8 for i >= 2; col = groupID".
        let of_right =
            lanes(4).map(|(group, in_group, i)| right_element(in_group * 2 + i % 2 + if i < 2 { 0 } else { 8 }, group));
        // "row = groupID for ci where i < 2, groupID + 8 for i >= 2; col = (threadID_in_group * 2) + (i & 1)".
        let place =
            |(group, in_group, i): (usize, usize, usize)| (if i < 2 { group } else { group + 8 }, in_group * 2 + i % 2);
        let expected = lanes(4).map(place).map(|(row, column)| {
            let before = f32::from(u8::try_from(row * 8 + column).unwrap());
            before + (0..16).map(|step| left_element(row, step) * right_element(step, column)).sum::<f32>()
        });
        let before = lanes(4).map(place).map(|(row, column)| f32::from(u8::try_from(row * 8 + column).unwrap()));
        let sums = copy_to_device(&Tensor::from(before.collect::<Vec<f32>>()), cuda);
        let (of_left, of_right) = (half_tensor(of_left, dtype, cuda), half_tensor(of_right, dtype, cuda));
        let launch = Launch::on_device_of(&sums).unwrap();
        let arguments =
            (launch.pointer(&sums).unwrap(), launch.pointer(&of_left).unwrap(), launch.pointer(&of_right).unwrap());
        launch.run(&TENSOR_CORE_KERNEL, "multiply", &[dtype], Grid::new(1, 32), arguments).unwrap();
        assert_eq!(to_f32_vec(&sums), expected.collect::<Vec<f32>>(), "{dtype}");
    }
}

#[test]
fn ldmatrix_loads_and_transposes_four_matrices() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for (number, dtype) in HALF_DTYPES.into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        let element =
            |matrix: usize, row: usize, column: usize| f32::from(u8::try_from(matrix * 64 + row * 8 + column).unwrap());
        let from = half_tensor((0..256).map(|i| element(i / 64, i / 8 % 8, i % 8)), dtype, cuda);
        // The results of two warps, each with its own registers.
        let (straight, turned) =
            (half_tensor((0..512).map(|_| 0.0), dtype, cuda), half_tensor((0..512).map(|_| 0.0), dtype, cuda));
        let launch = Launch::on_device_of(&from).unwrap();
        let arguments =
            (launch.pointer(&straight).unwrap(), launch.pointer(&turned).unwrap(), launch.pointer(&from).unwrap());
        launch
            .run(
                &TENSOR_CORE_KERNEL,
                "load_matrices",
                &[dtype],
                Grid::new(1, 64).with_shared_memory(32 * 24 * 2),
                arguments,
            )
            .unwrap();
        // Lane `l` holds row `l / 4`, elements `l % 4 * 2` and the next, of each matrix; transposed, that of a column.
        let places = || (0..64).flat_map(|lane| (0..8).map(move |i| (i / 2, lane % 32 / 4, lane % 4 * 2 + i % 2)));
        let expected: Vec<f32> = places().map(|(matrix, row, column)| element(matrix, row, column)).collect();
        assert_eq!(to_f32_vec(&straight), expected, "{dtype}");
        let expected: Vec<f32> = places().map(|(matrix, row, column)| element(matrix, column, row)).collect();
        assert_eq!(to_f32_vec(&turned), expected, "transposed {dtype}");
    }
}

#[test]
fn asynchronous_copies_write_sixteen_bytes_or_zeros() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _order = ReverseThreadOrderGuard::set(true);
    let number = |i: u8| f32::from(i) + 1.0;
    let from = half_tensor((0..512_u16).map(|i| number(u8::try_from(i % 250).unwrap())), DType::BF16, cuda);
    let copied = half_tensor((0..512).map(|_| -1.0), DType::BF16, cuda);
    let launch = Launch::on_device_of(&from).unwrap();
    let arguments = (launch.pointer(&copied).unwrap(), launch.pointer(&from).unwrap());
    launch
        .run(&TENSOR_CORE_KERNEL, "copy", &[DType::BF16], Grid::new(1, 64).with_shared_memory(64 * 16), arguments)
        .unwrap();
    let kept = to_f32_vec(&from).into_iter().enumerate();
    let expected: Vec<f32> = kept.map(|(i, x)| if i / 8 % 2 == 0 { x } else { 0.0 }).collect();
    assert_eq!(to_f32_vec(&copied), expected);
}

#[test]
fn pack_halves_puts_the_first_number_into_the_low_half() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for dtype in HALF_DTYPES {
        let given: Vec<f32> = (0..64_u8).map(|i| f32::from(i) * 1.001 - 30.0).collect();
        let from = Tensor::from(given);
        let expected = to_f32_vec(&aten::to_dtype(&from, dtype, false, true, None).unwrap());
        let found = half_tensor((0..64).map(|_| 0.0), dtype, cuda);
        let from = copy_to_device(&from, cuda);
        let launch = Launch::on_device_of(&from).unwrap();
        let arguments = (launch.pointer(&found).unwrap(), launch.pointer(&from).unwrap());
        launch.run(&TENSOR_CORE_KERNEL, "pack_pairs", &[dtype], Grid::new(1, 32), arguments).unwrap();
        assert_eq!(to_f32_vec(&found), expected, "{dtype}");
    }
}
