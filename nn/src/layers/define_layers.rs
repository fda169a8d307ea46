//! Definitions of layers without tensors of their own. Their options are public fields.

/// Defines layers whose options all have defaults: the struct, `new`, and `Default`.
macro_rules! define_layers {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $ty:ty = $default:expr,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }

        impl $name {
            /// Creates the layer with the default options.
            #[must_use]
            pub const fn new() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}

/// Implements the computation of layers that map a tensor to a tensor.
macro_rules! impl_forward {
    ($($name:ident($layer:pat, $x:ident) => $result:expr;)*) => {$(
        impl crate::Forward for $name {
            type Output = dispatch_runtime::Tensor;

            fn forward(&self, $x: &dispatch_runtime::Tensor) -> dispatch_runtime::Result<dispatch_runtime::Tensor> {
                let $layer = self;
                crate::summary::observe(self, $result)
            }
        }
    )*};
}

pub(super) use {define_layers, impl_forward};
