//! Layouts and memory formats, with the numbers that PyTorch gives them.

use std::fmt;

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
