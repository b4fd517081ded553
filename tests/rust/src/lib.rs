//! Tests of the whole crate from outside: its architecture, its runs, its promises.

pub mod vector;
