//! Tests of tensor-core instructions, on a device or emulated: the expected fragments follow the formulas of the PTX manual.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use kernels_cuda::{Grid, Kernel, Launch, kernel};

use crate::{Backwards, free_device, to};

kernel! {
    // SAFETY: the tests below launch it, with tensors that have as many elements as their threads access.
    static FRAGMENTS = unsafe { Kernel::new("fragments", r#"
    #include "tensor_cores.cuh"
    // The words of each lane as they are given: four of the left side, two of the right, four sums.
    template <class T> __global__ void multiply(float *sums, const u32 *left, const u32 *right) {
        u32 lane = threadIdx.x, mine[4];
        for (int i = 0; i < 4; i++) mine[i] = left[lane * 4 + i];
        float own[4];
        for (int i = 0; i < 4; i++) own[i] = sums[lane * 4 + i];
        mma16816<T>(own, mine, right[lane * 2], right[lane * 2 + 1]);
        for (int i = 0; i < 4; i++) sums[lane * 4 + i] = own[i];
    }
    // Four matrices of 64 halves each, whose rows lie apart.
    template <class T> __global__ void fetch(T *straight, T *turned, const T *from) {
        SHARED_BYTES(bytes);
        T *rows = (T *)bytes;
        for (u32 i = threadIdx.x; i < 32 * 8; i += blockDim.x) rows[i / 8 * 24 + i % 8] = from[i];
        __syncthreads();
        u32 words[4], lane = threadIdx.x % 32;
        ldmatrix_x4(words, rows + lane * 24);
        for (int i = 0; i < 4; i++) ((u32 *)straight)[threadIdx.x * 4 + i] = words[i];
        ldmatrix_x4_trans(words, rows + lane * 24);
        for (int i = 0; i < 4; i++) ((u32 *)turned)[threadIdx.x * 4 + i] = words[i];
    }
    // Every second eight is left out.
    template <class T> __global__ void copied(T *to, const T *from) {
        SHARED_BYTES(bytes);
        T *eights = (T *)bytes;
        copy_async_16(eights + threadIdx.x * 8, from + threadIdx.x * 8, threadIdx.x % 2);
        copies_arrive();
        __syncthreads();
        u32 other = 63 - threadIdx.x;
        for (int i = 0; i < 8; i++) to[other * 8 + i] = eights[other * 8 + i];
    }
    template <class T> __global__ void pairs(T *to, const float *from) {
        ((u32 *)to)[threadIdx.x] = rounded<T>(from[threadIdx.x * 2], from[threadIdx.x * 2 + 1]);
    }"#,
    |instances| {
        for name in ["multiply", "fetch", "copied", "pairs"] {
            instances.each(name, &[DType::F16, DType::BF16]);
        }
    }) };
}

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// Returns small integers, which are exact in half precision, on a device.
fn halves(numbers: impl Iterator<Item = f32>, dtype: DType, cuda: Device) -> Tensor {
    let numbers = Tensor::from(numbers.collect::<Vec<f32>>());
    to(&aten::to_dtype(&numbers, dtype, false, true, None).unwrap(), cuda)
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    aten::to_dtype(&to(tensor, Device::CPU), DType::F32, false, true, None).unwrap().to_vec::<f32>().unwrap()
}

fn left(row: usize, step: usize) -> f32 {
    f32::from(u8::try_from((row * 5 + step * 3 + row * step) % 17).unwrap()) - 8.0
}

fn right(step: usize, column: usize) -> f32 {
    f32::from(u8::try_from((step * 7 + column * 11 + step * column) % 13).unwrap()) - 6.0
}

#[test]
fn a_product_of_fragments_is_that_of_their_matrices() {
    let Some((cuda, _alone)) = free_device() else { return };
    let lanes = |each: usize| (0..32).flat_map(move |lane| (0..each).map(move |i| (lane / 4, lane % 4, i)));
    for (number, dtype) in HALVES.into_iter().enumerate() {
        let _order = Backwards::on(number % 2 == 1);
        // "row = groupID for ai where 0 <= i < 2 || 4 <= i < 6, groupID + 8 otherwise; col = (threadID_in_group * 2) + (i & 1), + 8 for i >= 4".
        let of_left = lanes(8).map(|(group, in_group, i)| {
            let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
            left(row, in_group * 2 + i % 2 + if i < 4 { 0 } else { 8 })
        });
        // "row = (threadID_in_group * 2) + (i & 1) for bi where i < 2, + 8 for i >= 2; col = groupID".
        let of_right =
            lanes(4).map(|(group, in_group, i)| right(in_group * 2 + i % 2 + if i < 2 { 0 } else { 8 }, group));
        // "row = groupID for ci where i < 2, groupID + 8 for i >= 2; col = (threadID_in_group * 2) + (i & 1)".
        let place =
            |(group, in_group, i): (usize, usize, usize)| (if i < 2 { group } else { group + 8 }, in_group * 2 + i % 2);
        let expected = lanes(4).map(place).map(|(row, column)| {
            let before = f32::from(u8::try_from(row * 8 + column).unwrap());
            before + (0..16).map(|step| left(row, step) * right(step, column)).sum::<f32>()
        });
        let before = lanes(4).map(place).map(|(row, column)| f32::from(u8::try_from(row * 8 + column).unwrap()));
        let sums = to(&Tensor::from(before.collect::<Vec<f32>>()), cuda);
        let (of_left, of_right) = (halves(of_left, dtype, cuda), halves(of_right, dtype, cuda));
        let launch = Launch::on(&sums).unwrap();
        let arguments =
            (launch.place(&sums).unwrap(), launch.place(&of_left).unwrap(), launch.place(&of_right).unwrap());
        launch.run(&FRAGMENTS, "multiply", &[dtype], Grid::new(1, 32), arguments).unwrap();
        assert_eq!(numbers(&sums), expected.collect::<Vec<f32>>(), "{dtype}");
    }
}

#[test]
fn lanes_get_their_halves_of_four_matrices() {
    let Some((cuda, _alone)) = free_device() else { return };
    for (number, dtype) in HALVES.into_iter().enumerate() {
        let _order = Backwards::on(number % 2 == 1);
        let element =
            |matrix: usize, row: usize, column: usize| f32::from(u8::try_from(matrix * 64 + row * 8 + column).unwrap());
        let from = halves((0..256).map(|i| element(i / 64, i / 8 % 8, i % 8)), dtype, cuda);
        // Two warps, each with its own registers.
        let (straight, turned) =
            (halves((0..512).map(|_| 0.0), dtype, cuda), halves((0..512).map(|_| 0.0), dtype, cuda));
        let launch = Launch::on(&from).unwrap();
        let arguments =
            (launch.place(&straight).unwrap(), launch.place(&turned).unwrap(), launch.place(&from).unwrap());
        launch.run(&FRAGMENTS, "fetch", &[dtype], Grid::new(1, 64).sharing(32 * 24 * 2), arguments).unwrap();
        // Lane `l` holds row `l / 4`, elements `l % 4 * 2` and the next, of each matrix; transposed, that of a column.
        let places = || (0..64).flat_map(|lane| (0..8).map(move |i| (i / 2, lane % 32 / 4, lane % 4 * 2 + i % 2)));
        let expected: Vec<f32> = places().map(|(matrix, row, column)| element(matrix, row, column)).collect();
        assert_eq!(numbers(&straight), expected, "{dtype}");
        let expected: Vec<f32> = places().map(|(matrix, row, column)| element(matrix, column, row)).collect();
        assert_eq!(numbers(&turned), expected, "transposed {dtype}");
    }
}

#[test]
fn copies_bring_sixteen_bytes_or_zeros() {
    let Some((cuda, _alone)) = free_device() else { return };
    let _order = Backwards::on(true);
    let number = |i: u8| f32::from(i) + 1.0;
    let from = halves((0..512_u16).map(|i| number(u8::try_from(i % 250).unwrap())), DType::BF16, cuda);
    let copied = halves((0..512).map(|_| -1.0), DType::BF16, cuda);
    let launch = Launch::on(&from).unwrap();
    let arguments = (launch.place(&copied).unwrap(), launch.place(&from).unwrap());
    launch.run(&FRAGMENTS, "copied", &[DType::BF16], Grid::new(1, 64).sharing(64 * 16), arguments).unwrap();
    let kept = numbers(&from).into_iter().enumerate();
    let expected: Vec<f32> = kept.map(|(i, x)| if i / 8 % 2 == 0 { x } else { 0.0 }).collect();
    assert_eq!(numbers(&copied), expected);
}

#[test]
fn two_numbers_are_rounded_into_a_word_the_first_one_lower() {
    let Some((cuda, _alone)) = free_device() else { return };
    for dtype in HALVES {
        let given: Vec<f32> = (0..64_u8).map(|i| f32::from(i) * 1.001 - 30.0).collect();
        let from = Tensor::from(given);
        let expected = numbers(&aten::to_dtype(&from, dtype, false, true, None).unwrap());
        let found = halves((0..64).map(|_| 0.0), dtype, cuda);
        let from = to(&from, cuda);
        let launch = Launch::on(&from).unwrap();
        let arguments = (launch.place(&found).unwrap(), launch.place(&from).unwrap());
        launch.run(&FRAGMENTS, "pairs", &[dtype], Grid::new(1, 32), arguments).unwrap();
        assert_eq!(numbers(&found), expected, "{dtype}");
    }
}
