//! Words: enums for the closed sets of texts and numbers that operators take, such as reductions and rounding modes.
//!
//! Each enum parses from PyTorch's word and prints as it. `name()` gives the word, and `code()` the number of operators that take one.

use dispatch_runtime::BadArgument;

/// Implements `name`, `Display` and `FromStr` for an enum of words. The first word of a variant is its name; others are parsed too.
macro_rules! impl_words {
    ($name:ident, $argument:literal: $($variant:ident = $word:literal $(| $other:literal)*,)*) => {
        impl $name {
            /// Returns PyTorch's word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = dispatch_runtime::BadArgument;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word $(| $other)* => Ok(Self::$variant),)*
                    _ => Err(dispatch_runtime::BadArgument::keyword($argument, word, &[$($word),*])),
                }
            }
        }
    };
}

pub(crate) use impl_words;

/// Defines an enum of words. The first variant is the default.
macro_rules! define_words {
    ($(
        $(#[$doc:meta])*
        $name:ident, $argument:literal, $example:literal {
            $(#[$first_doc:meta])* $first:ident = $first_word:literal,
            $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)*
        }
    )*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = $example]
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$variant_doc])* $variant,)*
        }

        impl_words! { $name, $argument: $first = $first_word, $($variant = $word,)* }
    )*};
}

define_words! {
    /// The computation of `gelu`.
    GeluApproximation, "approximate", "assert_eq!(aten::GeluApproximation::default().name(), \"none\");" {
        /// Exact.
        None = "none",
        /// By the hyperbolic tangent.
        Tanh = "tanh",
    }

    /// The elements in the border of a padded tensor.
    PadMode, "mode", "assert_eq!(\"reflect\".parse(), Ok(aten::PadMode::Reflect));" {
        /// One value.
        Constant = "constant",
        /// The mirror image at the outermost element, which is not repeated.
        Reflect = "reflect",
        /// The outermost element, repeated.
        Replicate = "replicate",
        /// The elements at the opposite end.
        Circular = "circular",
    }

    /// A side: of equal elements in a search, or of a sequence in a batch.
    Side, "side", "assert_eq!(\"right\".parse(), Ok(aten::Side::Right));" {
        /// Before equal elements, or at the start.
        Left = "left",
        /// After equal elements, or at the end.
        Right = "right",
    }

    /// The computation of a quantile between two elements.
    QuantileInterpolation, "interpolation", "assert_eq!(aten::QuantileInterpolation::default().name(), \"linear\");" {
        /// Linear between both.
        Linear = "linear",
        /// The smaller one.
        Lower = "lower",
        /// The larger one.
        Higher = "higher",
        /// The mean of both.
        Midpoint = "midpoint",
        /// The nearer one.
        Nearest = "nearest",
    }

    /// The order of the dimensions of a grid.
    GridIndexing, "indexing", "assert_eq!(\"xy\".parse(), Ok(aten::GridIndexing::Xy));" {
        /// Rows first, as matrices.
        Ij = "ij",
        /// Columns first, as coordinates.
        Xy = "xy",
    }

    /// The size of the factors of a QR decomposition.
    QrMode, "mode", "assert_eq!(aten::QrMode::default().name(), \"reduced\");" {
        /// As many columns of `Q` as `R` has rows.
        Reduced = "reduced",
        /// A square `Q`.
        Complete = "complete",
        /// Only `R`. `Q` is empty.
        R = "r",
    }

    /// A triangle of a matrix.
    Triangle, "UPLO", "assert_eq!(\"U\".parse(), Ok(aten::Triangle::Upper));" {
        /// The lower triangle.
        Lower = "L",
        /// The upper triangle.
        Upper = "U",
    }

    /// LAPACK's algorithm for least squares.
    LstsqDriver, "driver", "assert_eq!(\"gelsd\".parse(), Ok(aten::LstsqDriver::Gelsd));" {
        /// A complete orthogonal factorisation.
        Gelsy = "gelsy",
        /// A QR decomposition, for matrices of full rank.
        Gels = "gels",
        /// A singular value decomposition by divide and conquer.
        Gelsd = "gelsd",
        /// A singular value decomposition.
        Gelss = "gelss",
    }

    /// cuSOLVER's algorithm for a singular value decomposition.
    SvdDriver, "driver", "assert_eq!(\"gesvdj\".parse(), Ok(aten::SvdDriver::Gesvdj));" {
        /// The Jacobi method.
        Gesvdj = "gesvdj",
        /// The QR method.
        Gesvd = "gesvd",
        /// The approximate method for tall matrices.
        Gesvda = "gesvda",
    }

    /// The scaling of a Fourier transform.
    FftNorm, "norm", "assert_eq!(aten::FftNorm::default().name(), \"backward\");" {
        /// The inverse transform is divided by the length.
        Backward = "backward",
        /// Both transforms are divided by the square root of the length.
        Ortho = "ortho",
        /// The transform is divided by the length.
        Forward = "forward",
    }

    /// When matrix products compute distances, which is faster and less precise.
    CdistCompute, "compute_mode", "assert_eq!(aten::CdistCompute::default(), aten::CdistCompute::IfLarge);" {
        /// If there are more than 25 rows.
        IfLarge = "use_mm_for_euclid_dist_if_necessary",
        /// Always.
        Always = "use_mm_for_euclid_dist",
        /// Never.
        Never = "donot_use_mm_for_euclid_dist",
    }
}

impl CdistCompute {
    /// Returns PyTorch's number.
    #[must_use]
    pub const fn code(self) -> Option<i64> {
        match self {
            Self::IfLarge => None,
            Self::Always => Some(1),
            Self::Never => Some(2),
        }
    }
}

/// The order of the norm of a matrix: a word, or a number such as 1, 2 or infinity.
///
/// ```
/// use aten::NormOrder;
/// assert_eq!("fro".parse(), Ok(NormOrder::Frobenius));
/// assert_eq!("inf".parse(), Ok(NormOrder::from(f64::INFINITY)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum NormOrder {
    /// The root of the sum of squares of all elements.
    #[default]
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    /// A norm of vectors' images: 1, 2, infinity, or one of these with a minus sign.
    Number(f64),
}

impl NormOrder {
    /// Returns PyTorch's word, or an empty text for a number.
    #[cfg(feature = "linalg")]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Frobenius => "fro",
            Self::Nuclear => "nuc",
            Self::Number(_) => "",
        }
    }
}

impl From<f64> for NormOrder {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for NormOrder {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl std::str::FromStr for NormOrder {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        match word {
            "fro" => Ok(Self::Frobenius),
            "nuc" => Ok(Self::Nuclear),
            number => {
                let error = |_| BadArgument::value("ord", word, "`fro`, `nuc` or a number");
                number.parse().map(Self::Number).map_err(error)
            }
        }
    }
}

/// The padding of a convolution: numbers for the start and the end of each dimension, or a word.
///
/// ```
/// use aten::Padding;
/// assert_eq!("same".parse(), Ok(Padding::Same));
/// assert_eq!(Padding::from(1), Padding::Sizes([1].into()));
/// assert_eq!(Padding::default(), "valid".parse().unwrap());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Padding {
    /// No padding.
    #[default]
    Valid,
    /// As much as gives the result the sizes of the input. The stride must be 1.
    Same,
    /// As many elements at the start and at the end of each dimension, or of all.
    Sizes(crate::IntList),
}

impl<L: dispatch_runtime::IntoSizes> From<L> for Padding {
    fn from(sizes: L) -> Self {
        Self::Sizes(sizes.into())
    }
}

impl std::str::FromStr for Padding {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        match word {
            "valid" => Ok(Self::Valid),
            "same" => Ok(Self::Same),
            _ => Err(BadArgument::keyword("padding", word, &["valid", "same"])),
        }
    }
}

#[cfg(feature = "conv")]
impl Padding {
    /// Returns PyTorch's word, if numbers cannot express the padding.
    pub(crate) fn as_word(&self) -> Option<&'static str> {
        (*self == Self::Same).then_some("same")
    }

    /// Returns the numbers.
    pub(crate) fn as_slice(&self) -> &[i64] {
        match self {
            Self::Sizes(sizes) => sizes.or_zeros(),
            Self::Valid | Self::Same => &[0],
        }
    }
}
