//! Tests of the mode that tracks memory.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_modes::{AllocationCounts, Memory, enter};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn ones_vector(count: i64) -> Tensor {
    Tensor::ones(count, DType::F32).unwrap()
}

#[test]
fn memory_shared_by_several_tensors_counts_once() {
    let x = ones_vector(100);
    let memory = enter(Memory::new());
    let y = x.exp().unwrap();
    let (view, clone) = (y.view([10, 10]).unwrap(), y.clone());
    let again = view.t().unwrap();
    assert_eq!((memory.current(), memory.of_operator("aten::exp").blocks), (800, 1));
    assert_eq!(memory.of_operator("aten::view"), AllocationCounts::default());
    drop((y, clone, view));
    assert_eq!(memory.current(), 800);
    drop(again);
    assert_eq!((memory.current(), memory.peak()), (400, 800));
    drop(x);
    assert_eq!(memory.current(), 0);
}

#[test]
fn in_place_calls_allocate_nothing() {
    let x = ones_vector(100);
    let memory = enter(Memory::new());
    x.exp_().unwrap();
    x.exp_().unwrap();
    assert_eq!((memory.peak(), memory.of_operator("aten::exp_")), (400, AllocationCounts::default()));
    assert_eq!(memory.of_operator("no name of an operator"), AllocationCounts::default());
}

#[test]
fn memory_belongs_to_the_innermost_call_that_allocated_it() {
    let (x, w) = (Tensor::ones([2, 3], DType::F32).unwrap(), Tensor::ones([5, 3], DType::F32).unwrap());
    let memory = enter(Memory::new());
    let y = aten::linear(&x, &w, None).unwrap();
    assert_eq!(memory.of_operator("aten::mm"), AllocationCounts { blocks: 1, bytes: 40, freed: 0 });
    assert_eq!(memory.of_operator("aten::linear"), AllocationCounts::default());
    drop(y);
    assert_eq!(memory.of_operator("aten::mm").freed, 40);
}

#[test]
fn tensors_saved_by_a_graph_are_freed_by_the_backward() {
    let x = ones_vector(1000).requires_grad_(true).unwrap();
    let memory = enter(Memory::new());
    let loss = x.exp().unwrap().exp().unwrap().sum().unwrap();
    assert_eq!(memory.of_operator("aten::exp").freed, 0, "the results are saved");
    loss.backward().unwrap();
    assert_eq!(memory.of_operator("aten::exp"), AllocationCounts { blocks: 2, bytes: 8000, freed: 8000 });
}

#[test]
fn memory_freed_on_another_thread_or_after_the_mode_is_counted() {
    let memory = std::sync::Arc::new(Memory::new());
    let (a, b) = dispatch_modes::with_mode(memory.clone(), || (ones_vector(10), ones_vector(20)));
    assert_eq!(memory.current(), 120);
    std::thread::spawn(move || drop(a)).join().unwrap();
    assert_eq!(memory.current(), 80);
    drop(b);
    assert_eq!(memory.current(), 0);
}

#[test]
fn several_threads_allocate_and_free_concurrently() {
    let memory = std::sync::Arc::new(Memory::new());
    let _on = enter(memory.clone());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            dispatch_runtime::guard::spawn(|| {
                for _ in 0..50 {
                    ones_vector(10).exp().unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let made = memory.of_operator("aten::exp");
    assert_eq!((made.blocks, made.freed, memory.current()), (200, 8000, 0));
    assert!((80..=4 * 80).contains(&memory.peak()), "{}", memory.peak());
}

#[test]
fn meta_tensors_have_no_memory() {
    let memory = enter(Memory::new());
    let shape = Tensor::ones(1000, (DType::F32, Device::META)).unwrap();
    let _more = shape.exp().unwrap();
    assert_eq!((memory.current(), memory.peak()), (0, 0));
}

#[test]
fn the_table_lists_memory_by_operator() {
    let x = ones_vector(1000);
    let memory = enter(Memory::new());
    let y = x.exp().unwrap();
    drop(y.exp().unwrap());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = "\
operator     blocks     bytes     freed    in use
aten::exp         2  8.000 kB  4.000 kB  4.000 kB
no operator       1  4.000 kB       0 B  4.000 kB
8.000 kB in use, 12.000 kB at the peak";
    let table = memory.to_string();
    assert_eq!(words(&table), words(expected), "{table}");
}
