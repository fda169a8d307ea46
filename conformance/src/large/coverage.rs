//! Checks that every operator of the covered families has a large call.

use dispatch_runtime::Operator;

use super::has_large_calls;

/// The families whose operators need large calls.
const CHECKED_FAMILIES: [&str; 5] = ["indexing", "norm", "pooling", "reduction", "sort"];

/// Operators that need no large call, with the reason.
const OPERATORS_WITHOUT_LARGE_CALLS: [(&str, &str); 33] = [
    ("aten::_local_scalar_dense", "it accepts one element only"),
    ("aten::item", "it accepts one element only"),
    ("aten::is_nonzero", "it accepts one element only"),
    (
        "aten::fractional_max_pool2d",
        "its windows begin at random positions; it shares the loop of the other pooling operators",
    ),
    (
        "aten::fractional_max_pool3d",
        "its windows begin at random positions; it shares the loop of the other pooling operators",
    ),
    ("aten::unique_dim", "it sorts rows by the order that `_unique2` sorts elements by"),
    ("aten::unique_dim_consecutive", "it compares rows as `unique_consecutive` compares elements"),
    ("aten::special_softmax", "it is another name of `softmax`"),
    ("aten::special_log_softmax", "it is another name of `log_softmax`"),
    ("aten::cov", "it is a product of matrices, of deviations from means"),
    ("aten::corrcoef", "it is `cov`, scaled"),
    ("aten::diff", "it subtracts views of its input"),
    ("aten::gradient.array", "it is composed of differences of views"),
    ("aten::gradient.scalararray", "it is composed of differences of views"),
    ("aten::gradient.scalarint", "it is composed of differences of views"),
    ("aten::gradient.scalarrayarray", "it is composed of differences of views"),
    ("aten::gradient.scalarrayint", "it is composed of differences of views"),
    ("aten::gradient.tensorarray", "it is composed of differences of views"),
    ("aten::gradient.tensorarrayint", "it is composed of differences of views"),
    ("aten::trapezoid.dx", "it is a sum of products of views"),
    ("aten::trapezoid.x", "it is a sum of products of views"),
    ("aten::trapz.dx", "it is another name of `trapezoid`"),
    ("aten::trapz.x", "it is another name of `trapezoid`"),
    ("aten::cumulative_trapezoid.dx", "it is a running sum of products of views"),
    ("aten::cumulative_trapezoid.x", "it is a running sum of products of views"),
    ("aten::renorm", "it is a norm and a product"),
    ("aten::embedding_renorm", "it is `index_select`, a norm, a product and `index_copy`"),
    ("aten::index_select_backward", "it is `index_add` to zeros"),
    ("aten::masked_select_backward", "it is `masked_scatter` into zeros"),
    ("aten::embedding_backward", "it is `embedding_dense_backward`"),
    ("aten::nonzero_numpy", "it is `nonzero`, a dimension at a time"),
    ("aten::where", "it is another name of `nonzero_numpy`"),
    ("aten::searchsorted.Scalar_out", "it is the form of `searchsorted.Tensor`"),
];

/// Returns the operators of the families that have neither a large call nor a reason to need none. In-place and `out=` forms write what the
/// operator computes and need no call of their own.
///
/// ```
/// assert_eq!(conformance::large::uncovered_operators(), Vec::<String>::new());
/// ```
#[must_use]
pub fn uncovered_operators() -> Vec<String> {
    let is_in_family = |operator: &&&'static Operator| {
        let file = operator.location().file().replace('\\', "/");
        let family = file.split("aten/src/families/").nth(1).and_then(|path| path.split(['/', '.']).next());
        family.is_some_and(|family| CHECKED_FAMILIES.contains(&family)) && operator.functional().is_none()
    };
    let mut all: Vec<String> =
        Operator::all().iter().filter(is_in_family).map(|operator| operator.name().to_string()).collect();
    all.retain(|name| {
        !has_large_calls(name) && !OPERATORS_WITHOUT_LARGE_CALLS.iter().any(|(without, _)| without == name)
    });
    all.sort();
    all
}
