//! Dtypes: the element types of tensors.
//!
//! The `dtypes!` list below is the only place that names every dtype. The kernel macros read it through [`Element`] and the words in
//! `dtypes(..)`.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::float8::{Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu};

/// A Rust type that a tensor's elements can have.
///
/// # Safety
///
/// Every bit pattern of `Self` is a valid value, and `DTYPE` describes it.
///
/// ```
/// use dispatch_runtime::{DType, Element};
/// assert_eq!(f32::DTYPE, DType::F32);
/// ```
pub unsafe trait Element: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The dtype of tensors whose elements have this type.
    const DTYPE: DType;
}

/// A boolean element of a tensor: a byte that is true unless it is zero, so that every byte is a valid value.
///
/// ```
/// use dispatch_runtime::Bool;
/// assert!(bool::from(Bool(2)) && Bool::from(true) == Bool(1));
/// ```
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl From<bool> for Bool {
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

impl From<Bool> for bool {
    fn from(value: Bool) -> Self {
        value.0 != 0
    }
}

impl PartialEq for Bool {
    fn eq(&self, other: &Self) -> bool {
        bool::from(*self) == bool::from(*other)
    }
}

impl Eq for Bool {}

/// Compares elements with `bool`s: `assert_eq!(x.to_vec::<Bool>()?, [true, false])`.
impl PartialEq<bool> for Bool {
    fn eq(&self, other: &bool) -> bool {
        bool::from(*self) == *other
    }
}

impl fmt::Debug for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&bool::from(*self), f)
    }
}

/// The error for a text that is not the name of a dtype.
///
/// ```
/// let error = "flaot32".parse::<dispatch_runtime::DType>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown dtype `flaot32`; did you mean `float32`?");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownDType {
    /// The text that is not a dtype.
    pub name: String,
    /// The most similar name of a dtype.
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dtype `{}`", self.name)?;
        self.suggestion.map_or(Ok(()), |suggestion| write!(f, "; did you mean `{suggestion}`?"))
    }
}

impl std::error::Error for UnknownDType {}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        let by_name = Self::ALL.into_iter().find(|dtype| dtype.name() == name || dtype.short_name() == name);
        by_name.ok_or_else(|| UnknownDType {
            name: name.to_owned(),
            suggestion: dispatch_schema::suggest(name, Self::ALL.map(Self::name)),
        })
    }
}

macro_rules! define_dtypes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $ty:ty, $name:literal, $short:literal, $category:ident;)*) => {
        /// The type of a tensor's elements. The discriminants are PyTorch's numbers.
        ///
        /// ```
        /// use dispatch_runtime::DType;
        /// assert_eq!("float32".parse(), Ok(DType::F32));
        /// assert_eq!(DType::BF16.size(), 2);
        /// assert!(DType::BF16.is_floating() && !DType::I64.is_floating());
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum DType {
            $($(#[$doc])* $variant = $number,)*
        }

        impl DType {
            /// All dtypes, in the order of their numbers.
            pub const ALL: [Self; [$($number),*].len()] = [$(Self::$variant),*];

            /// Returns PyTorch's name of the dtype, such as `float32`. It is also the text that the dtype prints as.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the short name of the dtype, such as `f32` or `c64`.
            #[must_use]
            pub const fn short_name(self) -> &'static str {
                match self { $(Self::$variant => $short,)* }
            }

            /// Returns the name of the elements' type in Rust, such as `f32`.
            ///
            /// ```
            /// use dispatch_runtime::DType;
            /// assert_eq!((DType::F32.type_name(), DType::C64.type_name()), ("f32", "Complex32"));
            /// ```
            #[must_use]
            pub const fn type_name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($ty),)* }
            }

            /// Returns the size of an element in bytes.
            #[must_use]
            pub const fn size(self) -> usize {
                match self { $(Self::$variant => size_of::<$ty>(),)* }
            }

            /// Returns the category of the dtype.
            pub(crate) const fn category(self) -> DTypeCategory {
                match self { $(Self::$variant => DTypeCategory::$category,)* }
            }
        }

        $(
            // SAFETY: the list pairs a type that allows every bit pattern with its own dtype.
            unsafe impl Element for $ty {
                const DTYPE: DType = DType::$variant;
            }
        )*
    };
}

/// The categories of dtypes, in the order of type promotion, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DTypeCategory {
    Boolean,
    Integral,
    Floating,
    Complex,
}

impl DType {
    /// Returns the dtype that this number stands for in schemas and in PyTorch.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        let mut index = 0;
        while index < Self::ALL.len() {
            if Self::ALL[index] as i64 == number {
                return Some(Self::ALL[index]);
            }
            index += 1;
        }
        None
    }

    /// Returns whether elements are real floating-point numbers.
    #[must_use]
    pub fn is_floating(self) -> bool {
        self.category() == DTypeCategory::Floating
    }

    /// Returns whether elements are 8-bit floats. They are stored, converted and compared; few operators compute with them.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert!(DType::F8E4M3FN.is_float8() && DType::F8E4M3FN.is_floating() && !DType::BF16.is_float8());
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn is_float8(self) -> bool {
        // These are the last numbers of the list.
        self as u8 >= Self::F8E5M2 as u8
    }

    /// Returns whether elements are integers; booleans are not.
    #[must_use]
    pub fn is_integral(self) -> bool {
        self.category() == DTypeCategory::Integral
    }

    /// Returns the smallest and the largest integer that an element can be, if elements are integers.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert_eq!(DType::U8.integer_range(), Some((0, 255)));
    /// ```
    #[must_use]
    pub fn integer_range(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::U8 => (u8::MIN.into(), u8::MAX.into()),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::I64 => (i64::MIN, i64::MAX),
            _ => return None,
        })
    }

    /// Returns whether elements are complex numbers.
    #[must_use]
    pub fn is_complex(self) -> bool {
        self.category() == DTypeCategory::Complex
    }
}

define_dtypes! {
    /// Unsigned bytes.
    U8 = 0, u8, "uint8", "u8", Integral;
    /// Signed bytes.
    I8 = 1, i8, "int8", "i8", Integral;
    /// 16-bit integers.
    I16 = 2, i16, "int16", "i16", Integral;
    /// 32-bit integers.
    I32 = 3, i32, "int32", "i32", Integral;
    /// 64-bit integers.
    I64 = 4, i64, "int64", "i64", Integral;
    /// IEEE half precision.
    F16 = 5, f16, "float16", "f16", Floating;
    /// Single precision.
    F32 = 6, f32, "float32", "f32", Floating;
    /// Double precision.
    F64 = 7, f64, "float64", "f64", Floating;
    /// Complex numbers of two single-precision parts.
    C64 = 9, Complex32, "complex64", "c64", Complex;
    /// Complex numbers of two double-precision parts.
    C128 = 10, Complex64, "complex128", "c128", Complex;
    /// Booleans, a byte each.
    Bool = 11, Bool, "bool", "bool", Boolean;
    /// The upper 16 bits of a single-precision number.
    BF16 = 15, bf16, "bfloat16", "bf16", Floating;
    /// 8-bit floats: 5 exponent bits, 2 fraction bits, infinities and NaN as in IEEE formats.
    F8E5M2 = 23, Float8E5M2, "float8_e5m2", "f8e5m2", Floating;
    /// 8-bit floats: 4 exponent bits, 3 fraction bits, NaN, no infinities.
    F8E4M3FN = 24, Float8E4M3Fn, "float8_e4m3fn", "f8e4m3fn", Floating;
    /// 8-bit floats: 5 exponent bits, 2 fraction bits, one NaN, no infinities and no negative zero.
    F8E5M2FNUZ = 25, Float8E5M2Fnuz, "float8_e5m2fnuz", "f8e5m2fnuz", Floating;
    /// 8-bit floats: 4 exponent bits, 3 fraction bits, one NaN, no infinities and no negative zero.
    F8E4M3FNUZ = 26, Float8E4M3Fnuz, "float8_e4m3fnuz", "f8e4m3fnuz", Floating;
    /// 8-bit scales: powers of two, and NaN.
    F8E8M0FNU = 44, Float8E8M0Fnu, "float8_e8m0fnu", "f8e8m0fnu", Floating;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_convert_back_to_every_dtype() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.short_name().parse(), Ok(dtype));
            assert_eq!(DType::from_number(i64::from(dtype as u8)), Some(dtype));
        }
    }

    #[test]
    fn every_byte_but_zero_is_true() {
        assert!(bool::from(Bool(255)));
        assert!(!bool::from(Bool(0)));
        assert_eq!(Bool(3), Bool(1));
    }
}
