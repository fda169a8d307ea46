//! Operators that a program lacks because a Cargo feature is off.

use crate::name::Name;

/// The operators of one Cargo feature that is off, as [`disabled_feature!`](crate::disabled_feature) records them.
#[derive(Debug)]
pub struct DisabledFeatureRecord {
    pub(crate) feature: &'static str,
    namespace: &'static str,
    functions: &'static str,
}

impl DisabledFeatureRecord {
    /// Makes the record of the functions of `namespace` that are missing without `feature`, separated by spaces.
    #[must_use]
    pub const fn new(feature: &'static str, namespace: &'static str, functions: &'static str) -> Self {
        Self { feature, namespace, functions }
    }

    /// Whether turning the feature on would add an operator of this name.
    pub(crate) fn provides(&self, name: Name<'_>) -> bool {
        let function = match name.overload {
            "" => name.base.to_owned(),
            overload => format!("{}_{}", name.base, overload.to_lowercase()),
        };
        // The overload `Tensor` has the short function name, unless another operator has it.
        let is_meant = |known: &str| known == function || (name.overload == "Tensor" && known == name.base);
        name.namespace == self.namespace && self.functions.split_ascii_whitespace().any(is_meant)
    }
}

/// Records the operators that are missing if a Cargo feature is off, so that the error for an unknown operator names the feature. In
/// `disabled_feature!("conv", "aten", "conv1d conv2d")`, the arguments are the feature, the namespace, and the names of the operators'
/// functions.
///
/// ```
/// use dispatch_runtime::Operator;
///
/// #[cfg(not(feature = "vision"))]
/// dispatch_runtime::disabled_feature!("vision", "shop", "nms roi_align roi_align_out");
///
/// let error = Operator::find("shop::roi_align.out").unwrap_err();
/// assert!(error.to_string().ends_with("the Cargo feature `vision` adds it: turn it on in Cargo.toml"));
/// ```
#[macro_export]
macro_rules! disabled_feature {
    ($feature:expr, $namespace:expr, $functions:expr) => {
        const _: () = {
            static __DISABLED_FEATURE: $crate::__private::DisabledFeatureRecord =
                $crate::__private::DisabledFeatureRecord::new($feature, $namespace, $functions);
            $crate::__private::__submit! { $crate::__private::Record::DisabledFeature(&__DISABLED_FEATURE) }
        };
    };
}
