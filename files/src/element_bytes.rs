//! Conversion between elements of tensors and bytes in files, a block at a time.

use std::io::{Read, Write};

use dispatch_runtime::{
    Bool, Complex32, Complex64, DType, Device, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz,
    Float8E8M0Fnu, Geometry, Spec, Tensor, bf16, f16,
};

use crate::error::FileProblem;

/// The order of the bytes of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// The order of elements in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ElementOrder {
    /// The last dimension is innermost, as in C.
    RowMajor,
    /// The first dimension is innermost, as in Fortran.
    ColumnMajor,
}

/// A description of a tensor's elements in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ElementLayout {
    pub(crate) dtype: DType,
    pub(crate) byte_order: ByteOrder,
    pub(crate) element_order: ElementOrder,
    pub(crate) sizes: Vec<u64>,
}

/// The number of bytes that are converted at a time: a multiple of every element's size.
const BLOCK_BYTES: usize = 64 * 1024;

/// Reads a tensor. `available` is the largest number of bytes that `reader` can have. No more memory is allocated.
pub(crate) fn read_tensor(
    reader: &mut impl Read,
    layout: &ElementLayout,
    available: u64,
) -> Result<Tensor, FileProblem> {
    let too_large = || FileProblem::TooLarge { sizes: layout.sizes.clone() };
    let sizes = layout.sizes.iter().map(|&size| i64::try_from(size));
    let sizes = sizes.collect::<Result<Vec<i64>, _>>().map_err(|_| too_large())?;
    // A size of 0 counts as 1, because strides are products of the other sizes.
    let bytes = sizes.iter().try_fold(layout.dtype.size(), |bytes, &size| {
        bytes.checked_mul(usize::try_from(size.max(1)).ok()?).filter(|bytes| isize::try_from(*bytes).is_ok())
    });
    let bytes = bytes.ok_or_else(too_large)?;
    let bytes = if sizes.contains(&0) { 0 } else { bytes };
    if u64::try_from(bytes).is_ok_and(|bytes| bytes > available) {
        return Err(FileProblem::Truncated { expected: bytes as u64, found: available });
    }
    let count = bytes / layout.dtype.size();
    let flat = [i64::try_from(count).map_err(|_| too_large())?];
    let mut tensor = Spec::contiguous(layout.dtype, &flat).on(Device::CPU)?;
    with_element_type!(layout.dtype, T => read_elements::<T>(reader, &mut tensor, layout.byte_order))?;
    let geometry = match layout.element_order {
        ElementOrder::RowMajor => Some(Geometry::contiguous(&sizes)),
        ElementOrder::ColumnMajor => Geometry::dense(&sizes, 0..sizes.len()),
    };
    tensor.restride(geometry.ok_or_else(too_large)?).map_err(|error| FileProblem::Tensor(error.into()))
}

fn read_elements<T: FileElement>(
    reader: &mut impl Read,
    tensor: &mut Tensor,
    byte_order: ByteOrder,
) -> Result<(), FileProblem> {
    let mut elements = tensor.write::<T>().map_err(|error| FileProblem::Tensor(error.into()))?;
    let expected = size_of_val(&elements[..]) as u64;
    let mut block = vec![0; BLOCK_BYTES.min(size_of_val(&elements[..]))];
    let mut done = 0;
    for elements in elements.chunks_mut(BLOCK_BYTES / size_of::<T>()) {
        let bytes = &mut block[..size_of_val(elements)];
        let found = read_up_to(reader, bytes)?;
        done += found as u64;
        if found < bytes.len() {
            return Err(FileProblem::Truncated { expected, found: done });
        }
        if byte_order == ByteOrder::Big {
            bytes.chunks_mut(T::NUMBER_BYTES).for_each(<[u8]>::reverse);
        }
        T::from_bytes(bytes, elements);
    }
    Ok(())
}

/// Fills a buffer as far as the reader has bytes. Returns the number of bytes.
pub(crate) fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, FileProblem> {
    let mut found = 0;
    while found < buffer.len() {
        match reader.read(&mut buffer[found..]) {
            Ok(0) => break,
            Ok(count) => found += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Writes the elements of a tensor in row-major order, with the lowest byte first.
pub(crate) fn write_tensor(tensor: &Tensor, writer: &mut impl Write) -> Result<(), FileProblem> {
    with_element_type!(tensor.dtype(), T => {
        // The elements of a lazy conjugate or negative are computed from those in memory.
        if tensor.geometry().is_contiguous() && tensor.math_bits().is_empty() {
            let elements = tensor.read::<T>().map_err(|error| FileProblem::Tensor(error.into()))?;
            write_elements(&elements, writer)
        } else {
            write_elements(&tensor.to_vec::<T>()?, writer)
        }
    })
}

fn write_elements<T: FileElement>(elements: &[T], writer: &mut impl Write) -> Result<(), FileProblem> {
    let mut bytes = Vec::with_capacity(BLOCK_BYTES.min(size_of_val(elements)));
    for block in elements.chunks(BLOCK_BYTES / size_of::<T>()) {
        bytes.clear();
        T::append_bytes(block, &mut bytes);
        writer.write_all(&bytes)?;
    }
    Ok(())
}

/// Returns the number of bytes of a tensor's elements.
pub(crate) fn byte_count(tensor: &Tensor) -> usize {
    usize::try_from(tensor.geometry().count()).unwrap_or(0).saturating_mul(tensor.dtype().size())
}

/// An element type with its bytes, the lowest first.
trait FileElement: Element {
    /// The size of one number: half of a complex element.
    const NUMBER_BYTES: usize;

    /// Converts bytes to as many elements as there are.
    fn from_bytes(bytes: &[u8], elements: &mut [Self]);

    /// Appends the bytes of elements.
    fn append_bytes(elements: &[Self], bytes: &mut Vec<u8>);
}

macro_rules! impl_file_element {
    ($($ty:ty, $size:literal, $number:literal: |$bytes:ident| $from:expr, |$element:ident| $to:expr;)*) => {$(
        impl FileElement for $ty {
            const NUMBER_BYTES: usize = $number;

            fn from_bytes(bytes: &[u8], elements: &mut [Self]) {
                let (bytes, _) = bytes.as_chunks::<$size>();
                for (element, &$bytes) in elements.iter_mut().zip(bytes) {
                    *element = $from;
                }
            }

            fn append_bytes(elements: &[Self], bytes: &mut Vec<u8>) {
                for &$element in elements {
                    bytes.extend_from_slice(&$to);
                }
            }
        }
    )*};
}

impl_file_element! {
    Bool, 1, 1: |bytes| Self::from(bytes[0] != 0), |element| [u8::from(bool::from(element))];
    u8, 1, 1: |bytes| bytes[0], |element| [element];
    i8, 1, 1: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    i16, 2, 2: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    i32, 4, 4: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    i64, 8, 8: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    f16, 2, 2: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    bf16, 2, 2: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    f32, 4, 4: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    f64, 8, 8: |bytes| Self::from_le_bytes(bytes), |element| element.to_le_bytes();
    Complex32, 8, 4: |bytes| complex32(bytes), |element| {
        (u64::from(element.im.to_bits()) << 32 | u64::from(element.re.to_bits())).to_le_bytes()
    };
    Complex64, 16, 8: |bytes| complex64(bytes), |element| {
        (u128::from(element.im.to_bits()) << 64 | u128::from(element.re.to_bits())).to_le_bytes()
    };
    Float8E5M2, 1, 1: |bytes| Self::from_bits(bytes[0]), |element| [element.to_bits()];
    Float8E4M3Fn, 1, 1: |bytes| Self::from_bits(bytes[0]), |element| [element.to_bits()];
    Float8E5M2Fnuz, 1, 1: |bytes| Self::from_bits(bytes[0]), |element| [element.to_bits()];
    Float8E4M3Fnuz, 1, 1: |bytes| Self::from_bits(bytes[0]), |element| [element.to_bits()];
    Float8E8M0Fnu, 1, 1: |bytes| Self::from_bits(bytes[0]), |element| [element.to_bits()];
}

#[expect(clippy::cast_possible_truncation, reason = "each half is one number")]
const fn complex32(bytes: [u8; 8]) -> Complex32 {
    let both = u64::from_le_bytes(bytes);
    Complex32::new(f32::from_bits(both as u32), f32::from_bits((both >> 32) as u32))
}

#[expect(clippy::cast_possible_truncation, reason = "each half is one number")]
const fn complex64(bytes: [u8; 16]) -> Complex64 {
    let both = u128::from_le_bytes(bytes);
    Complex64::new(f64::from_bits(both as u64), f64::from_bits((both >> 64) as u64))
}

/// Runs an expression with the element type of a dtype.
macro_rules! with_element_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        with_element_type! { @ $dtype, $T => $body;
            Bool Bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64, C64 Complex32,
            C128 Complex64, F8E5M2 Float8E5M2, F8E4M3FN Float8E4M3Fn, F8E5M2FNUZ Float8E5M2Fnuz,
            F8E4M3FNUZ Float8E4M3Fnuz, F8E8M0FNU Float8E8M0Fnu
        }
    };
    (@ $dtype:expr, $T:ident => $body:expr; $($variant:ident $ty:ty),*) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $ty;
                $body
            })*
        }
    };
}
use with_element_type;
