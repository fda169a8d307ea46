//! Tests of data loading: order, workers, errors, and the position in the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aten::prelude::*;
use dispatch_nn::Stateful;
use dispatch_nn::data::{
    Collate, DataLoader, DataLoaderOptions, Dataset, Items, RandomSampler, Sampler, TensorDataset,
    WeightedRandomSampler, random_split,
};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

/// Items with a random part, which are slower the smaller their index is.
struct Noisy {
    len: usize,
    read: Arc<AtomicUsize>,
}

impl Dataset for Noisy {
    type Item = (Tensor, i64);

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize) -> Result<(Tensor, i64)> {
        self.read.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(if index.is_multiple_of(4) { 3 } else { 0 }));
        assert!(index != 1_000, "item 1000 is broken");
        if index == 2_000 {
            return Err("no such file".into());
        }
        Ok((Tensor::randn(2, ())?, i64::try_from(index).unwrap()))
    }
}

fn noisy(len: usize) -> Noisy {
    Noisy { len, read: Arc::default() }
}

type NoisyLoader = DataLoader<Noisy, (Tensor, Tensor)>;

fn loader(len: usize, num_workers: usize) -> Result<NoisyLoader> {
    let options = DataLoaderOptions { shuffle: true, seed: 5, num_workers, ..DataLoaderOptions::default() };
    DataLoader::with(noisy(len), 4, options)
}

type Seen = Vec<(Vec<f32>, Vec<i64>)>;

fn see(batches: impl Iterator<Item = Result<(Tensor, Tensor)>>) -> Result<Seen> {
    batches.map(|batch| batch.and_then(|(x, y)| Ok((x.flatten()?.to_vec()?, y.to_vec()?)))).collect()
}

#[test]
fn batches_do_not_depend_on_the_number_of_workers() -> Result<()> {
    let mut expected = Vec::new();
    for num_workers in [0, 1, 2, 3, 20] {
        let loader = loader(22, num_workers)?;
        let epochs = [see(loader.iter())?, see(loader.iter())?];
        assert_eq!(epochs[0].len(), loader.len());
        let mut items: Vec<i64> = epochs[1].iter().flat_map(|(_, y)| y.clone()).collect();
        items.sort_unstable();
        assert_eq!(items, (0..22).collect::<Vec<_>>());
        assert_ne!(epochs[0], epochs[1]);
        if num_workers == 0 {
            expected = epochs.to_vec();
        }
        assert_eq!(epochs.as_slice(), expected, "{num_workers} workers");
    }
    Ok(())
}

#[test]
fn random_numbers_of_items_leave_the_default_generator_alone() -> Result<()> {
    let generator = Generator::default_for(Device::CPU);
    let own = Generator::new(Device::CPU, 3);
    let _is_default = own.make_default();
    see(loader(8, 0)?.iter())?;
    assert_eq!(own.position(), 0);
    drop(generator);
    Ok(())
}

#[test]
fn a_loaded_position_continues_the_epoch() -> Result<()> {
    let whole = loader(22, 0)?;
    let mut expected = see(whole.iter())?;
    expected.extend(see(whole.iter())?);
    for (num_workers, stop) in [(0, 2), (2, 2), (2, 6), (1, 8)] {
        let first = loader(22, num_workers)?;
        let mut seen = Seen::new();
        while seen.len() < stop {
            for batch in &first {
                seen.extend(see([batch].into_iter())?);
                if seen.len() == stop {
                    break;
                }
            }
        }
        let mut second = loader(22, 2 - num_workers)?;
        second.load_state(&first.state()?)?;
        while seen.len() < expected.len() {
            seen.extend(see(second.iter())?);
        }
        assert_eq!(seen, expected, "{num_workers} workers, stopped after {stop}");
        assert_eq!(second.epoch(), 2);
    }
    Ok(())
}

#[test]
fn an_epoch_that_was_left_is_not_continued() -> Result<()> {
    let loader = loader(22, 0)?;
    let first = see(loader.iter().take(1))?;
    let second = see(loader.iter().take(1))?;
    assert_ne!(first, second);
    assert_eq!(loader.epoch(), 1);
    Ok(())
}

#[test]
fn a_position_in_other_data_is_an_error() -> Result<()> {
    let state = loader(22, 0)?.state()?;
    let error = loader(23, 0)?.load_state(&state).unwrap_err().to_string();
    assert!(error.contains("value `items` is `22`"), "{error}");
    let mut state = state;
    state.set_value("batch", 100);
    assert!(loader(22, 0)?.load_state(&state).is_err());
    Ok(())
}

#[test]
fn errors_and_panics_reach_the_caller_and_later_batches_are_delivered() -> Result<()> {
    for (broken, message) in [(1_000, "item 1000 is broken"), (2_000, "item 3 of the dataset: no such file")] {
        let dataset = noisy(3_000).subset(vec![1, 2, 3, broken, 5, 6])?;
        let options = DataLoaderOptions { num_workers: 2, ..DataLoaderOptions::default() };
        let results: Vec<_> = DataLoader::with(dataset, 2, options)?.iter().collect();
        assert_eq!(results.len(), 3);
        assert!(results[0].is_ok() && results[2].is_ok());
        let error = results[1].as_ref().err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
    Ok(())
}

#[test]
fn a_dropped_iterator_stops_its_workers() -> Result<()> {
    let dataset = noisy(100_000);
    let read = Arc::clone(&dataset.read);
    let options = DataLoaderOptions { num_workers: 2, prefetch_factor: 2, ..DataLoaderOptions::default() };
    let loader = DataLoader::with(dataset, 4, options)?;
    let mut batches = loader.iter();
    batches.next().transpose()?;
    std::thread::sleep(Duration::from_millis(50));
    // Each worker prepares at most two batches in advance.
    assert!(read.load(Ordering::Relaxed) <= 4 * (1 + 2 * 2), "{read:?}");
    drop(batches);
    let stopped = read.load(Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(read.load(Ordering::Relaxed), stopped);
    Ok(())
}

#[test]
fn workers_inherit_the_default_device_and_the_grad_mode() -> Result<()> {
    let _no_grad = dispatch_runtime::guard::no_grad();
    let _device = aten::set_default_device(Device::META);
    let dataset = Items(vec![(); 3]).map(|()| {
        let device = Tensor::zeros(1, ())?.device();
        Ok((device, dispatch_runtime::guard::is_grad_enabled()))
    });
    let options = DataLoaderOptions { num_workers: 1, ..DataLoaderOptions::default() };
    for batch in &DataLoader::with_collate(dataset, 1, options, Ok)? {
        assert_eq!(batch?, [(Device::META, false)]);
    }
    Ok(())
}

#[test]
fn options_of_the_loader() -> Result<()> {
    let numbers = Items((0..10_i64).collect());
    let options = DataLoaderOptions { drop_last: true, ..DataLoaderOptions::default() };
    let loader = DataLoader::with(numbers.clone(), 4, options.clone())?;
    let batches: Vec<Vec<i64>> = loader.iter().map(|batch| batch?.to_vec()).collect::<Result<_>>()?;
    assert_eq!((loader.len(), batches), (2, vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]]));
    assert!(DataLoader::new(numbers.clone(), 0).is_err());
    let both = DataLoaderOptions { shuffle: true, sampler: Some(Arc::new(RandomSampler)), ..options.clone() };
    assert!(DataLoader::with(numbers.clone(), 2, both).is_err());
    let sampler = WeightedRandomSampler::new(vec![1.0; 9], 4, false)?;
    let weighted = DataLoaderOptions { sampler: Some(Arc::new(sampler)), ..options };
    let loader = DataLoader::with(numbers, 2, weighted)?;
    assert_eq!(loader.len(), 2);
    let error = loader.iter().next().unwrap().unwrap_err().to_string();
    assert!(error.contains("`weights` has length 9") || error.contains("weights"), "{error}");
    let empty = DataLoader::new(Items(Vec::<i64>::new()), 2)?;
    assert!(empty.is_empty() && empty.iter().next().is_none());
    Ok(())
}

#[test]
fn collate_stacks_each_part() -> Result<()> {
    let item = |i: i32| ((Tensor::from([i, i]), i), vec![f64::from(i); 2], [i64::from(i); 3], format!("{i}"));
    let ((tensors, numbers), lists, arrays, texts) = Collate::collate(vec![item(1), item(2)])?;
    assert_eq!(tensors.to_vec::<i32>()?, [1, 1, 2, 2]);
    assert_eq!((numbers.dtype(), numbers.to_vec::<i32>()?), (DType::I32, vec![1, 2]));
    assert_eq!((lists.len(), lists[1].to_vec::<f64>()?), (2, vec![1.0, 2.0]));
    assert_eq!(arrays.each_ref().map(|array| array.to_vec::<i64>().unwrap()), [const { [1, 2] }; 3]);
    assert_eq!(texts, ["1", "2"]);
    assert!(Collate::collate(vec![vec![1_i64], vec![1, 2]]).is_err());
    assert!(Collate::collate(vec![Tensor::from([1]), Tensor::from([1, 2])]).is_err());
    assert!(Collate::collate(Vec::<Tensor>::new()).is_err());
    Ok(())
}

#[test]
fn tensor_datasets_have_rows() -> Result<()> {
    let (x, y, z) = (Tensor::zeros((3, 2), ())?, Tensor::arange(0..3, DType::I64)?, Tensor::zeros(4, ())?);
    assert_eq!(TensorDataset::new(y.clone())?.get(2)?.item::<i64>()?, 2);
    assert_eq!(TensorDataset::new((x.clone(), y.clone(), x.clone()))?.len(), 3);
    let error = TensorDataset::new((x.clone(), z)).unwrap_err().to_string();
    assert!(error.contains("[3, 4] rows"), "{error}");
    assert!(TensorDataset::new(Tensor::from(1.0)).is_err());
    assert!(TensorDataset::new((x, y))?.get(3).is_err());
    Ok(())
}

#[test]
fn splits_have_each_item_once() -> Result<()> {
    let parts = random_split(Items((0..50_i64).collect()), &[30, 15, 5], 9)?;
    let mut items = Vec::new();
    for part in &parts {
        for i in 0..part.len() {
            items.push(part.get(i)?);
        }
    }
    assert_ne!(items, (0..50).collect::<Vec<_>>());
    items.sort_unstable();
    assert_eq!(items, (0..50).collect::<Vec<_>>());
    assert!(parts[2].get(5).is_err());
    assert!(Items(vec![1, 2]).subset(vec![2]).is_err());
    Ok(())
}

#[test]
fn random_orders_and_weights_are_uniform() -> Result<()> {
    let (mut first, mut weighted, mut apart) = ([0_usize; 4], [0_usize; 3], [0_usize; 3]);
    let with = WeightedRandomSampler::new(vec![1.0, 0.0, 3.0], 1, true)?;
    let without = WeightedRandomSampler::new(vec![1.0, 1.0, 6.0], 2, false)?;
    for epoch in 0..4_000 {
        first[RandomSampler.indices(4, 1, epoch)?[0]] += 1;
        weighted[with.indices(3, 1, epoch)?[0]] += 1;
        let two = without.indices(3, 1, epoch)?;
        assert_ne!(two[0], two[1]);
        apart[two[0]] += 1;
    }
    assert!(first.iter().all(|count| count.abs_diff(1_000) < 120), "{first:?}");
    assert!(weighted[0].abs_diff(1_000) < 120 && weighted[1] == 0, "{weighted:?}");
    assert!(apart[2].abs_diff(3_000) < 120, "{apart:?}");
    assert!(WeightedRandomSampler::new(vec![1.0, -1.0], 1, true).is_err());
    assert!(WeightedRandomSampler::new(vec![1.0, 0.0], 2, false).is_err());
    Ok(())
}
