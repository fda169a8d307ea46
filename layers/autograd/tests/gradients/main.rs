//! Tests of gradients: formulas, order of nodes, accumulation.

mod accumulation;
mod checkpoint;
mod complex;
mod custom_functions;
mod decompositions;
mod first_order;
mod functional;
mod gradient_state;
mod hidden_writes;
mod indexing;
mod lazy_views;
mod random;
mod running_statistics;
mod second_order;
mod second_order_indexing;
mod spectra;
mod subgradients;
mod threads;
mod trees;
mod views;
