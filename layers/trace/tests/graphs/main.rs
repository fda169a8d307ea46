//! Graphs: recorded, cleaned, printed, read back, drawn, and run.

mod corners;
mod functions;
mod pictures;
mod programs;
mod text;
