//! The pool of tensors, and the checks after every call.

use dispatch_runtime::{BadArgument, DType, Error, Name, Operator, Problem, Result, Tensor};

use crate::held_borrows::HeldBorrow;
use crate::model::{self, TensorModel};
use crate::random::SplitMix64;

const MAX_POOL_SIZE: usize = 24;
const MAX_ELEMENTS: usize = 64;
const MAX_DIMS: usize = 5;

pub(crate) struct PoolEntry {
    pub(crate) tensor: Tensor,
    pub(crate) model: TensorModel,
}

pub(crate) struct RandomWalk {
    pub(crate) random: SplitMix64,
    pub(crate) pool: Vec<PoolEntry>,
    pub(crate) calls: u64,
    pub(crate) refused: u64,
}

/// A kind of mistake in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallMistake {
    Dim,
    RepeatedDim,
    Broadcast,
    Sizes,
    Rank,
    DType,
    Index,
    Value,
    Overlap,
    SelfOverlap,
    InUse,
}

impl CallMistake {
    fn from_problem(problem: &Problem) -> Option<Self> {
        Some(match problem {
            Problem::Dim { .. } => Self::Dim,
            Problem::RepeatedDim { .. } => Self::RepeatedDim,
            Problem::Broadcast { .. } => Self::Broadcast,
            Problem::Sizes { .. } | Problem::Length { .. } | Problem::NoTensors => Self::Sizes,
            Problem::Rank { .. } => Self::Rank,
            Problem::DType { .. } => Self::DType,
            Problem::Index { .. } => Self::Index,
            Problem::Value { .. } | Problem::Number { .. } | Problem::Keyword { .. } => Self::Value,
            Problem::Overlap { .. } => Self::Overlap,
            Problem::SelfOverlap => Self::SelfOverlap,
            Problem::InUse => Self::InUse,
            _ => return None,
        })
    }
}

/// The mistakes of a call: it is refused because of a `required` one, and may be refused because of a `possible` one.
#[derive(Default, Debug)]
pub(crate) struct CallMistakes {
    required: Vec<CallMistake>,
    possible: Vec<CallMistake>,
}

impl CallMistakes {
    pub(crate) fn add_if(&mut self, mistake: CallMistake, is_made: bool) {
        if is_made {
            self.required.push(mistake);
        }
    }

    pub(crate) fn add_if_possible(&mut self, mistake: CallMistake, is_possible: bool) {
        if is_possible {
            self.possible.push(mistake);
        }
    }

    /// Adds the mistakes of reading a tensor while `held` borrows memory.
    pub(crate) fn add_mistakes_of_read(&mut self, model: &TensorModel, held: Option<&HeldBorrow>) {
        self.add_in_use_mistake(model, held.filter(|held| held.is_written));
    }

    /// Adds the mistakes of writing a tensor while the tensors in `read` are read and `held` borrows memory.
    pub(crate) fn add_mistakes_of_write(&mut self, this: &PoolEntry, read: &[&PoolEntry], held: Option<&HeldBorrow>) {
        self.add_in_use_mistake(&this.model, held);
        self.add_if(CallMistake::SelfOverlap, this.model.overlaps_itself());
        for other in read {
            let same = this.model.positions == other.model.positions && this.model.sizes == other.model.sizes;
            let overlaps = this.model.overlaps(&other.model);
            self.add_if(CallMistake::Overlap, overlaps && !same);
            // Dimensions of size 1 may have any stride, but the runtime compares strides.
            self.add_if_possible(CallMistake::Overlap, overlaps && this.tensor.strides() != other.tensor.strides());
        }
    }

    fn add_in_use_mistake(&mut self, model: &TensorModel, held: Option<&HeldBorrow>) {
        let conflicts = held.is_some_and(|held| held.borrows_memory_of(model));
        // A kernel need not borrow a tensor without elements.
        self.add_if(CallMistake::InUse, conflicts && !model.positions.is_empty());
        self.add_if_possible(CallMistake::InUse, conflicts);
    }
}

impl RandomWalk {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: SplitMix64(seed), pool: Vec::new(), calls: 0, refused: 0 }
    }

    pub(crate) fn random_pool_index(&mut self) -> usize {
        self.random.integer_below(self.pool.len())
    }

    /// Returns another handle to a tensor of the pool.
    pub(crate) fn handle_from_pool(&self, at: usize) -> PoolEntry {
        PoolEntry { tensor: self.pool[at].tensor.clone(), model: self.pool[at].model.clone() }
    }

    pub(crate) fn random_handle(&mut self) -> PoolEntry {
        let at = self.random_pool_index();
        self.handle_from_pool(at)
    }

    /// Returns a borrow to hold during a call; usually `None`.
    pub(crate) fn random_borrow(&mut self) -> Option<HeldBorrow> {
        if !self.random.true_once_in(12) {
            return None;
        }
        let (at, is_written) = (self.random_pool_index(), self.random.true_once_in(2));
        Some(HeldBorrow::new(&self.pool[at].tensor, &self.pool[at].model, is_written))
    }

    /// Returns a random dimension, counted from either end; occasionally an invalid one.
    pub(crate) fn random_dim(&mut self, rank: usize) -> i64 {
        let count = i64::try_from(rank.max(1)).unwrap();
        let beyond = i64::from(self.random.true_once_in(20));
        self.random.integer_between(-count - beyond, count - 1 + beyond)
    }

    pub(crate) fn add_to_pool(&mut self, tensor: Tensor, model: TensorModel) {
        let entry = PoolEntry { tensor, model };
        if entry.model.positions.len() > MAX_ELEMENTS || entry.model.rank() > MAX_DIMS {
            return;
        }
        if self.pool.len() < MAX_POOL_SIZE {
            self.pool.push(entry);
        } else {
            let at = self.random_pool_index();
            self.pool[at] = entry;
        }
    }

    /// Checks the outcome of a call. It must succeed if it has no mistakes. Otherwise it must return an error about one of them, and change
    /// nothing.
    pub(crate) fn check_outcome<T>(&mut self, operator: &str, mistakes: &CallMistakes, result: Result<T>) -> Option<T> {
        self.calls += 1;
        match result {
            Ok(result) => {
                assert!(mistakes.required.is_empty(), "`{operator}` accepted a call with {mistakes:?}");
                Some(result)
            }
            Err(error) => {
                self.refused += 1;
                let mistake = mistake_of_error(operator, &error);
                let is_made = mistakes.required.contains(&mistake) || mistakes.possible.contains(&mistake);
                assert!(is_made, "{error}: the error is not among {mistakes:?}");
                self.pool.iter().for_each(PoolEntry::assert_agrees_with_model);
                None
            }
        }
    }

    /// Checks that a result is correct and shares no memory, and adds it to the pool.
    pub(crate) fn check_own_memory_and_add_to_pool(&mut self, operator: &str, tensor: Tensor, model: TensorModel) {
        let shared = self.pool.iter().any(|entry| entry.tensor.storage().same(tensor.storage()));
        assert!(!shared, "the result of `{operator}` shares memory with another tensor");
        self.check_and_add_to_pool(operator, tensor, model);
    }

    /// Checks that a result is correct, and adds it to the pool.
    pub(crate) fn check_and_add_to_pool(&mut self, operator: &str, tensor: Tensor, model: TensorModel) {
        let entry = PoolEntry { tensor, model };
        assert!(entry.agrees_with_model(), "`{operator}` returned {:?}, not {:?}", entry.tensor, entry.model);
        self.add_to_pool(entry.tensor, entry.model);
    }

    /// Checks all tensors that share this memory.
    pub(crate) fn check_tensors_sharing_memory(&self, model: &TensorModel) {
        self.pool
            .iter()
            .filter(|entry| entry.model.shares_memory_with(model))
            .for_each(PoolEntry::assert_agrees_with_model);
    }

    /// Checks all tensors, and that two tensors share memory exactly if their models do.
    pub(crate) fn check_all_tensors(&self) {
        for (i, a) in self.pool.iter().enumerate() {
            a.assert_agrees_with_model();
            for b in &self.pool[..i] {
                assert_eq!(a.tensor.storage().same(b.tensor.storage()), a.model.shares_memory_with(&b.model));
            }
        }
    }
}

impl PoolEntry {
    fn assert_agrees_with_model(&self) {
        assert!(self.agrees_with_model(), "{:?} should be {:?}", self.tensor, self.model);
    }

    fn agrees_with_model(&self) -> bool {
        let (tensor, model) = (&self.tensor, &self.model);
        tensor.dtype() == model.dtype
            && tensor.sizes() == model.sizes_as_i64()
            && model::elements_of_tensor(tensor).unwrap() == model.elements()
    }
}

/// Returns the mistake that an error describes. Checks that the error names the called operator, and an argument of the failed operator.
fn mistake_of_error(operator: &str, error: &Error) -> CallMistake {
    let (called, failed) = (Name::parse(operator), error.kind().operator());
    let named = failed == called || error.callers().iter().any(|&caller| Some(caller) == called);
    assert!(named, "an error of `{operator}` does not name the operator: {error}");
    let bad = std::error::Error::source(error).and_then(|source| source.downcast_ref::<BadArgument>());
    let bad = bad.unwrap_or_else(|| panic!("`{operator}` returned an error without `BadArgument`: {error}"));
    let schema = Operator::find(&failed.unwrap().to_string()).unwrap().schema();
    let is_argument = schema.arguments.iter().any(|argument| argument.name == bad.argument);
    assert!(is_argument, "{} has no argument of the name in `{error}`", failed.unwrap());
    CallMistake::from_problem(&bad.problem).unwrap_or_else(|| panic!("no generated call has this mistake: {error}"))
}

/// Returns a dimension as an index; `None` if it is out of range. A tensor without dimensions accepts 0 and -1.
pub(crate) fn dim_index(dim: i64, rank: usize) -> Option<usize> {
    let count = i64::try_from(rank.max(1)).unwrap();
    let wrapped = if dim < 0 { dim + count } else { dim };
    (0..count).contains(&wrapped).then(|| usize::try_from(wrapped).unwrap())
}

/// Returns a random dtype, each with the same probability.
pub(crate) fn random_dtype(random: &mut SplitMix64) -> DType {
    random.choose_from(&model::WALK_DTYPES)
}
