//! Numbers beyond what bytes, memory and time hold: results stay right, and what cannot be computed is an error.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

#[test]
fn more_elements_are_counted_than_a_byte_holds() -> Result<()> {
    let [rows, columns] = [300, 70_001];
    for dtype in [DType::Bool, DType::U8, DType::F16, DType::F32, DType::I64] {
        let line = Tensor::ones(&[columns], dtype)?;
        assert_eq!(aten::count_nonzero(&line, None)?.to_vec::<i64>()?, [columns], "{dtype}");
        assert_eq!(aten::count_nonzero(&line.i(..255)?, None)?.to_vec::<i64>()?, [255], "{dtype}");
        assert_eq!(aten::count_nonzero(&line.i(..256)?, None)?.to_vec::<i64>()?, [256], "{dtype}");
        let matrix = line.i(..1000)?.expand(&[rows, 1000])?;
        assert_eq!(aten::count_nonzero(&matrix, Some(0))?.to_vec::<i64>()?, [rows; 1000], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix, Some(1))?.to_vec::<i64>()?, [1000; 300], "{dtype}");
        let matrix = matrix.contiguous()?;
        assert_eq!(aten::count_nonzero(&matrix, Some(0))?.to_vec::<i64>()?, [rows; 1000], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix.t()?, Some(0))?.to_vec::<i64>()?, [1000; 300], "{dtype}");
        assert_eq!(aten::count_nonzero(&matrix, None)?.to_vec::<i64>()?, [rows * 1000], "{dtype}");
    }
    Ok(())
}
