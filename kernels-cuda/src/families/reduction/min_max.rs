//! CUDA kernels of maxima, minima and their indices, and of `any` and `all`.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::ReductionDims;

use crate::engine::reduce::{fold, folded, reductions};
use crate::prelude::*;

fold!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    LARGEST "amax" [F32 F64 I64] ordered false, "C": "Bounds<C>::least()", "larger(x, total)", "larger(a, b)" => "total", "0";
    SMALLEST "amin" [F32 F64 I64] ordered false, "C": "Bounds<C>::most()", "smaller(x, total)", "smaller(a, b)" => "total", "0";
    RANGE "aminmax" [F32 F64 I64] ordered false, "Range<C>":
    "Range<C>{Bounds<C>::most(), Bounds<C>::least()}", "Range<C>{smaller(x, total.least), larger(x, total.most)}",
    "Range<C>{smaller(a.least, b.least), larger(a.most, b.most)}" => "total.least", "total.most";
    FIRST_LARGEST "max_dim" [F32 F64 I64] ordered true, "Placed<C>":
    "Placed<C>{Bounds<C>::least(), Bounds<i64>::most()}", "highest(total, Placed<C>{x, at})", "highest(a, b)" => "total.value", "total.at";
    FIRST_SMALLEST "min_dim" [F32 F64 I64] ordered true, "Placed<C>":
    "Placed<C>{Bounds<C>::most(), Bounds<i64>::most()}", "lowest(total, Placed<C>{x, at})", "lowest(a, b)" => "total.value", "total.at";
    ANY "any" [F32 F64 I64] ordered false, "i32": "0", "total | (x != C(0))", "a | b" => "total", "0";
    ALL "all" [F32 F64 I64] ordered false, "i32": "1", "total & (x != C(0))", "a & b" => "total", "0";
});

reductions! {
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
