//! CUDA kernels of maxima, minima and their indices, and of `any` and `all`.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::ReductionDims;

use crate::engine::reduce::{define_folds, define_reductions, reduce};
use crate::prelude::*;

define_folds!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    LARGEST "amax" [F32 F64 I64] ordered false, "C": "Limits<C>::min_value()", "maximum(x, total)", "maximum(a, b)" => "total", "0";
    SMALLEST "amin" [F32 F64 I64] ordered false, "C": "Limits<C>::max_value()", "minimum(x, total)", "minimum(a, b)" => "total", "0";
    RANGE "aminmax" [F32 F64 I64] ordered false, "MinMax<C>":
    "MinMax<C>{Limits<C>::max_value(), Limits<C>::min_value()}", "MinMax<C>{minimum(x, total.min), maximum(x, total.max)}",
    "MinMax<C>{minimum(a.min, b.min), maximum(a.max, b.max)}" => "total.min", "total.max";
    FIRST_LARGEST "max_dim" [F32 F64 I64] ordered true, "ValueAndIndex<C>":
    "ValueAndIndex<C>{Limits<C>::min_value(), Limits<i64>::max_value()}", "max_with_first_index(total, ValueAndIndex<C>{x, at})", "max_with_first_index(a, b)" => "total.value", "total.index";
    FIRST_SMALLEST "min_dim" [F32 F64 I64] ordered true, "ValueAndIndex<C>":
    "ValueAndIndex<C>{Limits<C>::max_value(), Limits<i64>::max_value()}", "min_with_first_index(total, ValueAndIndex<C>{x, at})", "min_with_first_index(a, b)" => "total.value", "total.index";
    ANY "any" [F32 F64 I64] ordered false, "i32": "0", "total | (x != C(0))", "a | b" => "total", "0";
    ALL "all" [F32 F64 I64] ordered false, "i32": "1", "total & (x != C(0))", "a & b" => "total", "0";
});

define_reductions! {
    amax LARGEST [first];
    amin SMALLEST [first];
    max LARGEST [first];
    min SMALLEST [first];
    aminmax RANGE [both];
    max_dim FIRST_LARGEST [both];
    min_dim FIRST_SMALLEST [both];
    argmax FIRST_LARGEST [second];
    argmin FIRST_SMALLEST [second];
    any ANY [first];
    any_dim ANY [first];
    any_dims ANY [first];
    all ALL [first];
    all_dim ALL [first];
    all_dims ALL [first];
}
