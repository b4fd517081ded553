//! Rules for what leaves the process: pure functions of their input. Nothing here opens a file or a connection.

pub mod address;
pub mod blocks;
pub mod command;
pub mod url;
