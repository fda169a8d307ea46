//! Normalisation, and softmax.

mod normalization;
mod softmax;
