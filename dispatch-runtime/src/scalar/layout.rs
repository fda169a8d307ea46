//! Layouts and memory formats, with the numbers that PyTorch gives them.

use std::fmt;

macro_rules! define_numbered_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)*
        }

        impl $name {
            /// Returns the value that this number stands for in schemas and in PyTorch.
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

define_numbered_enum! {
    /// The layout of a tensor's elements in memory. The discriminants are PyTorch's numbers.
    ///
    /// ```
    /// use dispatch_runtime::Layout;
    /// assert_eq!(Layout::from_number(0), Some(Layout::Strided));
    /// ```
    Layout {
        /// Strided: a block of memory that is indexed with one stride per dimension.
        #[default]
        Strided = 0, "strided";
        /// Sparse: the coordinates and values of the stored elements.
        Sparse = 1, "sparse_coo";
        /// Sparse, in compressed rows (CSR).
        SparseCsr = 2, "sparse_csr";
    }
}

define_numbered_enum! {
    /// A memory format: which dimension is innermost in memory. The discriminants are PyTorch's numbers.
    ///
    /// ```
    /// use dispatch_runtime::MemoryFormat;
    /// assert_eq!(MemoryFormat::default(), MemoryFormat::Contiguous);
    /// ```
    MemoryFormat {
        /// The last dimension is innermost.
        #[default]
        Contiguous = 0, "contiguous_format";
        /// The same dimension as in the operator's argument is innermost.
        Preserve = 1, "preserve_format";
        /// The channels of a batch of images are innermost.
        ChannelsLast = 2, "channels_last";
        /// The channels of a batch of volumes are innermost.
        ChannelsLast3d = 3, "channels_last_3d";
    }
}
