//! The floor plan as a test: which room of `core/src` may use which, by the paths in the code.
//!
//! Rooms are the top-level modules of the crate. A room may use the floors below its own and the few neighbours
//! listed here, never what is above. The same walk finds `unsafe`, overlong files and paths that would hide an edge.

mod house;

use house::{File, check, files_of};
use std::path::Path;

#[test]
fn every_edge_goes_down() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/src");
    let files = files_of(&core).unwrap();
    assert!(files.len() > 10, "core/src was not found");
    let problems = check(&files);
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// Problems found in one file of a crate whose root re-exports the agent and the errors.
fn problems(path: &str, text: &str) -> Vec<String> {
    let root = "pub mod agent; pub mod error; pub use agent::Agent; pub use error::{Error, ErrorKind as Kind};";
    check(&[file("lib.rs", root), file(path, text)])
}

fn file(path: &str, text: &str) -> File {
    File { path: path.into(), text: text.into() }
}

fn assert_refused(path: &str, text: &str, expected: &str) {
    let problems = problems(path, text);
    assert!(problems.iter().any(|problem| problem.contains(expected)), "{text}\nexpected {expected}, got {problems:?}");
}

fn assert_fine(path: &str, text: &str) {
    assert_eq!(problems(path, text), Vec::<String>::new(), "{text}");
}

#[test]
fn edges_down_are_fine() {
    assert_fine("agent/mod.rs", "use crate::{run::Run, provider, tool::{self, Tool}};");
    assert_fine("provider/mod.rs", "use crate::message::Message; use crate::Error; fn a() -> crate::Kind { todo!() }");
    assert_fine("provider/wire/mod.rs", "use super::ModelReply; use super::super::limits; use self::sse::Sse;");
    assert_fine("approval/classifier.rs", "use crate::provider::Provider;");
    assert_fine("session/mod.rs", "use crate::agent::Agent;");
    assert_fine("cli/mod.rs", "use crate::agent::Agent; use std::agent;");
    assert_fine("main.rs", "fn main() { cheliped::cli::main() }");
}

#[test]
fn edges_up_are_refused_however_they_are_written() {
    assert_refused("provider/mod.rs", "\n\nuse crate::run::Run;", "provider/mod.rs:3: provider may not use run");
    assert_refused("message/mod.rs", "use crate::{error, provider::ModelReply};", "message may not use provider");
    assert_refused("provider/wire/x.rs", "use super::super::super::agent as boss;", "provider may not use agent");
    assert_refused("tool/mod.rs", "fn a() -> crate::agent::Agent { loop {} }", "tool may not use agent");
    assert_refused("tool/mod.rs", "fn a() { crate::run::step(); }", "tool may not use run");
    assert_refused("tool/mod.rs", "mod inner { fn a() { super::super::run::step(); } }", "tool may not use run");
    assert_refused("guard/mod.rs", "fn a() { log!(\"{}\", crate::hooks::count()); }", "guard may not use hooks");
    assert_refused("guard/mod.rs", "macro_rules! m { () => { $crate::hooks::count() } }", "guard may not use hooks");
    assert_refused("error/mod.rs", "impl From<crate::provider::X> for E {}", "error may not use provider");
    assert_refused("run/mod.rs", "#[serde(with = \"crate::agent::text\")] struct A;", "run may not use agent");
    assert_refused("run/mod.rs", "use crate::Agent;", "run may not use agent");
    assert_refused("run/mod.rs", "fn a(agent: &crate::Agent) {}", "run may not use agent");
}

#[test]
fn edges_forbidden_on_purpose_are_refused() {
    assert_refused("guard/mod.rs", "use crate::provider::Provider;", "guard may not use provider");
    assert_refused("sandbox/mod.rs", "use crate::tool::Tool;", "sandbox may not use tool");
    assert_refused("provider/mod.rs", "use crate::run::Run;", "provider may not use run");
    assert_refused("run/mod.rs", "use crate::durable::RunStore;", "run may not use durable");
    assert_refused("hooks/mod.rs", "use crate::agent::Agent;", "hooks may not use agent");
    assert_refused("agent/mod.rs", "use crate::session::Lane;", "agent may not use session");
    assert_refused("agent/mod.rs", "use crate::cli::Terminal;", "agent may not use cli");
    assert_refused("agent/mod.rs", "use pyo3::prelude::*;", "no binding");
    assert_refused("agent/mod.rs", "fn a() { napi::call(); }", "no binding");
    assert_refused("guard/mod.rs", "async fn scan() {}", "guard holds no async code");
    assert_refused("sandbox/mod.rs", "fn a() { let _ = async { 1 }; }", "sandbox holds no async code");
}

#[test]
fn what_hides_an_edge_is_refused() {
    assert_refused("run/mod.rs", "use crate::*;", "glob import of the crate root");
    assert_refused("run/mod.rs", "use crate as house;", "renames the crate root");
    assert_refused("run/mod.rs", "#[path = \"../agent/mod.rs\"] mod agent;", "#[path]");
    assert_refused("run/mod.rs", "include!(\"../agent/mod.rs\");", "include!");
    assert_refused("attic/mod.rs", "fn a() {}", "attic has no floor");
    assert_refused("run/mod.rs", "fn {", "cannot be parsed");
}

#[test]
fn tests_may_use_everything() {
    assert_fine("provider/mod.rs", "#[cfg(test)] mod tests { use crate::agent::Agent; }");
    assert_fine("provider/mod.rs", "#[cfg(test)] use crate::agent::Agent;");
    assert_fine("provider/mod.rs", "//! See [`crate::agent`].\n/// See [`crate::agent::Agent`].\nfn a() {}");
    let tests = file("tool/tests.rs", "use crate::agent::Agent;");
    assert_eq!(check(&[file("tool/mod.rs", "#[cfg(test)] mod tests;"), tests.clone()]), Vec::<String>::new());
    assert!(!check(&[file("tool/mod.rs", "mod tests;"), tests]).is_empty());
}

#[test]
fn unsafe_stays_in_one_file() {
    assert_refused("tool/mod.rs", "fn a() { unsafe { b() } }", "tool/mod.rs:1: unsafe");
    assert_refused("tool/mod.rs", "unsafe fn a() {}", "unsafe");
    assert_refused("tool/mod.rs", "unsafe impl Send for A {}", "unsafe");
    assert_refused("tool/mod.rs", "#[allow(unsafe_code)] fn a() {}", "unsafe");
    assert_refused("tool/mod.rs", "m!(unsafe { b() });", "unsafe");
    assert_fine("process/child.rs", "fn a() { unsafe { b() } }");
    assert_fine("tool/mod.rs", "fn a() { say(\"unsafe\") }");
}

#[test]
fn files_stay_short() {
    let lines = |count: usize| "fn a() {}\n".repeat(count);
    assert_fine("tool/mod.rs", &lines(600));
    assert_refused("tool/mod.rs", &lines(601), "601 lines");
    assert_fine("tool/mod.rs", &format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(600), lines(300)));
    assert_refused("tool/mod.rs", &format!("#[cfg(test)]\nmod tests {{\n{}}}\n{}", lines(9), lines(601)), "601 lines");
}
