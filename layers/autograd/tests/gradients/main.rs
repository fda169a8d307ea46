//! What goes back: through what, in which order, to whom.

mod captured;
mod complex;
mod custom;
mod first_order;
mod functional;
mod gathered;
mod kinks;
mod numeric;
mod places;
mod running_statistics;
mod second_order;
mod second_order_of_places;
mod threads;
mod views;
mod writes;
