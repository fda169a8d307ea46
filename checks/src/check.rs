//! The families of checks, and the function that makes a check of a call.

use std::fmt;

use crate::batches;
use crate::derived_calls::{self, OperatorForms};
use crate::gradients;
use crate::known_operators::known_base;
use crate::meta;
use crate::reference_call::ReferenceCall;
use crate::trace;
use crate::verdict::Verdict;

/// Defines the families of checks and their names.
macro_rules! define_checks {
    ($($(#[$doc:meta])* $check:ident: $name:literal,)*) => {
        /// A family of checks.
        ///
        /// ```
        /// assert_eq!("in-place".parse(), Ok(dispatch_checks::Check::InPlace));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Check {
            $($(#[$doc])* $check,)*
        }

        impl Check {
            /// All families of checks.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$check),*];

            /// Returns the name of the family.
            ///
            /// ```
            /// assert_eq!(dispatch_checks::Check::BatchRules.name(), "batch-rules");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$check => $name,)*
                }
            }
        }
    };
}

define_checks! {
    /// The call itself: results, written arguments, and shared memory.
    Values: "values",
    /// The call on tensors without memory: dtype, sizes and strides.
    Meta: "meta",
    /// The in-place form of the call, which writes its first argument.
    InPlace: "in-place",
    /// The `out=` form of the call.
    Out: "out",
    /// The call with other memory layouts of its arguments.
    Layouts: "layouts",
    /// Wrong calls, which must be refused.
    Mistakes: "mistakes",
    /// Calls in other dtypes and sizes: no panic, and Meta agrees with the kernel. [`opcheck`](crate::opcheck) makes it.
    Changes: "changes",
    /// Calls of operators without a recording, compared with recordings of other operators. Only the conformance suite makes it.
    Siblings: "siblings",
    /// The gradients of the call in double precision, compared with recorded ones. Only the conformance suite makes it.
    Gradients: "gradients",
    /// The gradients of the in-place form, through a base and through a view, compared with those of the call.
    InPlaceGradients: "in-place-gradients",
    /// First- and second-order gradients, compared with finite differences.
    Numeric: "numeric",
    /// Calls of batches within `vmap`, compared with the calls of their slices.
    Vmap: "vmap",
    /// Calls of batches with loops over slices refused: shows which operators have a batch rule.
    BatchRules: "batch-rules",
    /// The traced graph of the call: after cleaning, printing and parsing, it must return the same bits.
    Trace: "trace",
    /// Calls with tens of thousands of elements, compared with combined results of small calls. Only the conformance suite makes it.
    Large: "large",
    /// Calls with scalars at and beyond the limits of dtypes. Only the conformance suite makes it.
    Numbers: "numbers",
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that no [`Check`] has.
///
/// ```
/// assert!("speed".parse::<dispatch_checks::Check>().unwrap_err().to_string().contains("values, meta"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownCheck {
    /// The unknown name.
    pub name: String,
}

impl fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown check `{}`; there are {}", self.name, Check::ALL.map(Check::name).join(", "))
    }
}

impl std::error::Error for UnknownCheck {}

impl std::str::FromStr for Check {
    type Err = UnknownCheck;

    fn from_str(name: &str) -> Result<Self, UnknownCheck> {
        Self::ALL.into_iter().find(|check| check.name() == name).ok_or_else(|| UnknownCheck { name: name.to_owned() })
    }
}

/// Operators that query or change the state of a tensor: its memory, sizes, writes or history. Other checks of derived calls assume that an
/// operator computes elements.
const STATE_OPERATORS: [&str; 18] = [
    "_assert_tensor_metadata",
    "_has_same_storage_numel",
    "get_device",
    "sym_is_contiguous",
    "_has_compatible_shallow_copy_type",
    "_version",
    "detach_",
    "output_nr",
    "requires_grad_",
    "resize",
    "resize_",
    "resize_as",
    "resize_as_",
    "retains_grad",
    "set",
    "set_",
    "set_data",
    "shallow_copy_data_",
];

/// Makes one check of a call. `number` selects batch dimensions and layouts of batches; `forms` are those of the operator.
#[must_use]
pub fn run_check(check: Check, case: &ReferenceCall, number: usize, forms: OperatorForms) -> Vec<Verdict> {
    let computes_elements = !STATE_OPERATORS.contains(&known_base(case.operator.name()));
    if !computes_elements && !matches!(check, Check::Values | Check::Meta | Check::Out) {
        return vec![Verdict::NotApplicable("it queries or changes the state of a tensor")];
    }
    match check {
        Check::Values => vec![case.check_values()],
        Check::Meta => vec![meta::check(case)],
        Check::InPlace => forms.in_place.map_or_else(Vec::new, |form| derived_calls::in_place(case, form)),
        Check::Out => forms.out.map_or_else(Vec::new, |form| derived_calls::out(case, form)),
        Check::Gradients => gradients::recorded(case).into_iter().collect(),
        Check::InPlaceGradients => forms.in_place.map_or_else(Vec::new, |form| gradients::in_place(case, form)),
        Check::Numeric => gradients::numeric(case),
        Check::Layouts => derived_calls::layouts(case),
        Check::Mistakes => derived_calls::mistakes(case),
        Check::Vmap => batches::check(case, number, forms),
        Check::BatchRules => batches::check_batch_rules(case, number),
        Check::Trace => trace::check(case),
        Check::Changes => derived_calls::changes(case),
        // These checks make calls of their own.
        Check::Siblings | Check::Large | Check::Numbers => Vec::new(),
    }
}
