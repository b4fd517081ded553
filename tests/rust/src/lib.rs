//! Tests of the whole crate from outside: its architecture, its runs, its promises.

pub mod vector;

/// The README, whose Rust blocks are run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
