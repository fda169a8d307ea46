//! Random numbers: generators, the Philox stream, and recordings that a checkpoint replays.

mod generator;
mod philox;
mod replay;

pub use generator::{DefaultGeneratorGuard, Generator, manual_seed};
pub use philox::philox;
pub use replay::RandomRecording;
