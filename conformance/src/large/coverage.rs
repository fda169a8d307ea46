//! Checks that every operator of the covered families has a large call.

use dispatch_runtime::Operator;

use super::has_large_calls;

/// The families whose operators need large calls.
const CHECKED_FAMILIES: [&str; 5] = ["indexing", "norm", "pooling", "reduction", "sort"];

/// Operators that need no large call, with the reason.
const OPERATORS_WITHOUT_LARGE_CALLS: [(&str, &str); 59] = [
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
    ("aten::_aminmax", "it is another name of `aminmax`"),
    ("aten::_aminmax.dim", "it is another name of `aminmax`"),
    ("aten::_batch_norm_impl_index", "it is `native_batch_norm`"),
    ("aten::_batch_norm_impl_index_backward", "it is `native_batch_norm_backward`"),
    ("aten::_batch_norm_no_update", "it is `native_batch_norm`"),
    ("aten::_batch_norm_with_update.out", "it is the form of `_batch_norm_with_update`"),
    ("aten::_batch_norm_with_update_functional", "it is `native_batch_norm` with copies of the statistics"),
    ("aten::_cummax_helper", "it is another name of `cummax`"),
    ("aten::_cummin_helper", "it is another name of `cummin`"),
    ("aten::_is_all_true", "it is `all`"),
    ("aten::_is_any_true", "it is `any`"),
    ("aten::_logcumsumexp", "it is another name of `logcumsumexp`"),
    ("aten::_logcumsumexp.out", "it is another name of `logcumsumexp`"),
    ("aten::_native_batch_norm_legit.out", "it is the form of `_native_batch_norm_legit`"),
    ("aten::_native_batch_norm_legit_functional", "it is `native_batch_norm` with copies of the statistics"),
    ("aten::_rowwise_prune", "it is `index_select` and a running count"),
    ("aten::batch_norm_backward", "it is `native_batch_norm_backward`"),
    ("aten::batch_norm_update_stats", "it is a mean, a variance and running averages"),
    ("aten::cummaxmin_backward", "it is `scatter_add` to zeros"),
    ("aten::cumprod_backward", "it is composed of running sums and products"),
    ("aten::gather_backward", "it is `scatter_add` to zeros"),
    ("aten::hash_tensor", "it is composed of operators on integers"),
    ("aten::linalg__powsum", "it is `linalg_vector_norm` without the root"),
    ("aten::masked_scatter_backward", "it is a running count and `scatter_add`"),
    ("aten::trace_backward", "it fills a diagonal of zeros"),
    ("aten::value_selecting_reduction_backward", "it is `scatter` to zeros"),
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
