//! Small values that operators take besides tensors.

use std::fmt;
use std::sync::Arc;

use num_complex::Complex64;

/// A text of a schema: cheap to clone, so that lists of them are.
///
/// ```
/// let mode: dispatch_runtime::Str = "mean".into();
/// assert_eq!(&*mode, "mean");
/// ```
pub type Str = Arc<str>;

/// A number of any kind.
///
/// ```
/// use dispatch_runtime::Scalar;
/// assert_eq!(Scalar::from(2), Scalar::Int(2));
/// assert_eq!(Scalar::from(0.5).to_f64(), Some(0.5));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

impl Scalar {
    /// The number as a float, if it is real.
    #[must_use]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            #[expect(clippy::cast_precision_loss, reason = "numbers convert to floats as they do everywhere")]
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Complex(value) => (value.im == 0.0).then_some(value.re),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => fmt::Display::fmt(value, f),
            Self::Int(value) => fmt::Display::fmt(value, f),
            Self::Float(value) => fmt::Debug::fmt(value, f),
            Self::Complex(value) => fmt::Display::fmt(value, f),
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Self {
        Self::Float(value.into())
    }
}

impl From<Complex64> for Scalar {
    fn from(value: Complex64) -> Self {
        Self::Complex(value)
    }
}

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)*
        }

        impl $name {
            /// The value that schemas and PyTorch write as this number.
            #[must_use]
            pub const fn from_number(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)* })
            }
        }
    };
}

numbered! {
    /// How a tensor's elements are laid out in memory. The numbers are PyTorch's.
    ///
    /// ```
    /// use dispatch_runtime::Layout;
    /// assert_eq!(Layout::from_number(0), Some(Layout::Strided));
    /// ```
    Layout {
        /// A block of memory walked with one stride per dimension.
        #[default]
        Strided = 0, "strided";
        /// Coordinates and values.
        Sparse = 1, "sparse_coo";
        /// Compressed rows.
        SparseCsr = 2, "sparse_csr";
    }
}

numbered! {
    /// Which dimension is innermost in memory. The numbers are PyTorch's.
    ///
    /// ```
    /// use dispatch_runtime::MemoryFormat;
    /// assert_eq!(MemoryFormat::default(), MemoryFormat::Contiguous);
    /// ```
    MemoryFormat {
        /// The last dimension.
        #[default]
        Contiguous = 0, "contiguous_format";
        /// As the argument has it.
        Preserve = 1, "preserve_format";
        /// The channels of a batch of images.
        ChannelsLast = 2, "channels_last";
        /// The channels of a batch of volumes.
        ChannelsLast3d = 3, "channels_last_3d";
    }
}
