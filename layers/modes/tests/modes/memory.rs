//! Tests of the mode that tracks memory.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_modes::{Made, Memory, enter};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn ones(count: i64) -> Tensor {
    Tensor::ones(&[count], DType::F32).unwrap()
}

#[test]
fn memory_counts_once_however_many_tensors_show_it() {
    let x = ones(100);
    let memory = enter(Memory::new());
    let y = x.exp().unwrap();
    let (view, clone) = (y.view(&[10, 10]).unwrap(), y.clone());
    let again = view.t().unwrap();
    assert_eq!((memory.current(), memory.of("aten::exp").blocks), (800, 1));
    assert_eq!(memory.of("aten::view"), Made::default());
    drop((y, clone, view));
    assert_eq!(memory.current(), 800);
    drop(again);
    assert_eq!((memory.current(), memory.peak()), (400, 800));
    drop(x);
    assert_eq!(memory.current(), 0);
}

#[test]
fn what_is_written_in_place_makes_nothing() {
    let mut x = ones(100);
    let memory = enter(Memory::new());
    x.exp_().unwrap();
    x.exp_().unwrap();
    assert_eq!((memory.peak(), memory.of("aten::exp_")), (400, Made::default()));
    assert_eq!(memory.of("no name of an operator"), Made::default());
}

#[test]
fn memory_belongs_to_the_innermost_call_that_made_it() {
    let (x, w) = (Tensor::ones(&[2, 3], DType::F32).unwrap(), Tensor::ones(&[5, 3], DType::F32).unwrap());
    let memory = enter(Memory::new());
    let y = aten::linear(&x, &w, None).unwrap();
    assert_eq!(memory.of("aten::mm"), Made { blocks: 1, bytes: 40, freed: 0 });
    assert_eq!(memory.of("aten::linear"), Made::default());
    drop(y);
    assert_eq!(memory.of("aten::mm").freed, 40);
}

#[test]
fn a_graph_keeps_what_it_saved_until_it_goes_back() {
    let x = ones(1000).requires_grad_(true).unwrap();
    let memory = enter(Memory::new());
    let loss = x.exp().unwrap().exp().unwrap().sum().unwrap();
    assert_eq!(memory.of("aten::exp").freed, 0, "the results are saved");
    loss.backward().unwrap();
    assert_eq!(memory.of("aten::exp"), Made { blocks: 2, bytes: 8000, freed: 8000 });
}

#[test]
fn what_is_freed_on_another_thread_or_after_the_mode_is_noticed() {
    let memory = std::sync::Arc::new(Memory::new());
    let (a, b) = dispatch_modes::with(memory.clone(), || (ones(10), ones(20)));
    assert_eq!(memory.current(), 120);
    std::thread::spawn(move || drop(a)).join().unwrap();
    assert_eq!(memory.current(), 80);
    drop(b);
    assert_eq!(memory.current(), 0);
}

#[test]
fn several_threads_make_and_free_at_once() {
    let memory = std::sync::Arc::new(Memory::new());
    let _on = enter(memory.clone());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            dispatch_runtime::guard::spawn(|| {
                for _ in 0..50 {
                    ones(10).exp().unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let made = memory.of("aten::exp");
    assert_eq!((made.blocks, made.freed, memory.current()), (200, 8000, 0));
    assert!((80..=4 * 80).contains(&memory.peak()), "{}", memory.peak());
}

#[test]
fn shapes_have_no_memory() {
    let memory = enter(Memory::new());
    let shape = Tensor::ones(&[1000], (DType::F32, Device::META)).unwrap();
    let _more = shape.exp().unwrap();
    assert_eq!((memory.current(), memory.peak()), (0, 0));
}

#[test]
fn the_table_says_who_made_what_and_what_was_freed() {
    let x = ones(1000);
    let memory = enter(Memory::new());
    let y = x.exp().unwrap();
    drop(y.exp().unwrap());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = "\
made by      blocks     bytes     freed     alive
aten::exp         2  8.000 kB  4.000 kB  4.000 kB
no operator       1  4.000 kB       0 B  4.000 kB
8.000 kB alive, 12.000 kB at most";
    let table = memory.to_string();
    assert_eq!(words(&table), words(expected), "{table}");
}
