//! Tests of `masked_select` and `nonzero`.

use dispatch_runtime::{Geometry, Tensor};

#[test]
fn masked_select_and_nonzero_work_across_blocks() {
    // Rows shorter and longer than a block, and several blocks without selected elements.
    for (high, wide) in [(3_i64, 20_011_i64), (20_011, 3), (70, 1000)] {
        let holds = |place: i64| place % 7 == 3 && !(9000..30_000).contains(&place) || place % 4099 == 0;
        let flags: Vec<bool> = (0..high * wide).map(holds).collect();
        let sized = |tensor: Tensor| tensor.restride(Geometry::contiguous(&[high, wide])).unwrap();
        let mask = aten::ne_scalar(
            &sized(Tensor::from_slice(&flags.iter().map(|&flag| i64::from(flag)).collect::<Vec<_>>())),
            0.into(),
        )
        .unwrap();
        let expected: Vec<i64> = (0..high * wide).filter(|&place| holds(place)).collect();
        let elements = sized(Tensor::from_slice(&(0..high * wide).collect::<Vec<_>>()));
        assert_eq!(aten::masked_select(&elements, &mask).unwrap().to_vec::<i64>().unwrap(), expected);
        let pairs: Vec<i64> = expected.iter().flat_map(|place| [place / wide, place % wide]).collect();
        let found = aten::alias_copy(&aten::nonzero(&mask).unwrap()).unwrap();
        assert_eq!(
            aten::contiguous(&found, dispatch_runtime::MemoryFormat::Contiguous).unwrap().to_vec::<i64>().unwrap(),
            pairs
        );
        let turned = aten::masked_select(&aten::t(&elements).unwrap(), &aten::t(&mask).unwrap()).unwrap();
        let mut turned = turned.to_vec::<i64>().unwrap();
        assert!(turned.is_sorted_by_key(|place| (place % wide, place / wide)));
        turned.sort_unstable();
        assert_eq!(turned, expected);
    }
}
