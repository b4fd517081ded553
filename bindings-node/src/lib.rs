//! The native half of the npm package `cheliped`: it carries JSON between the engine and JavaScript.
//!
//! It decides nothing. What a payload holds and what an answer means is the engine's (`cheliped::host`); what a user of
//! the package sees is TypeScript, beside this file. Nothing here is a public interface.

mod border;
mod parts;
mod run;
mod runtime;
mod wire;

use napi_derive::napi;
use std::ffi::OsString;

/// The tables of errors, events and options as JSON.
#[napi]
pub fn tables() -> String {
    cheliped::host::tables()
}

/// What the built-in guards say of a text, as JSON.
#[napi(catch_unwind)]
pub fn check(guard_rules: String, text: String, source: Option<String>) -> napi::Result<String> {
    cheliped::host::check(&guard_rules, &text, source.as_deref()).map_err(wire::exception)
}

/// Runs the `cheliped` command in this thread; the first argument is the program's name. Gives the exit code.
#[napi(catch_unwind)]
pub fn command(arguments: Vec<String>) -> u32 {
    cheliped::cli::command(arguments.into_iter().map(OsString::from)).into()
}
