//! The native half of the Python package: converts, calls, converts.
//!
//! What Python users see is the package `cheliped`; nothing here is public. Callables stay in Python: this side knows
//! each by a number, so that no reference cycle runs through Rust.

mod agent;
mod failure;
mod function;
mod run;
mod runtime;

use pyo3::prelude::*;

/// The module `cheliped._native`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::agent::{Agent, Conversation, Script, Tool};
    #[pymodule_export]
    use crate::function::Reply;
    #[pymodule_export]
    use crate::run::Handle;

    /// The tables of options, errors and events as JSON.
    #[pyfunction]
    fn tables() -> String {
        cheliped::host::tables()
    }

    /// What the built-in guards say of a text, as JSON.
    #[pyfunction]
    #[pyo3(signature = (guard_rules, text, source))]
    fn check(py: Python<'_>, guard_rules: &str, text: &str, source: Option<&str>) -> PyResult<String> {
        let said = py.detach(|| cheliped::host::check(guard_rules, text, source));
        said.map_err(|error| crate::failure::exception(py, &error))
    }

    /// Runs the `cheliped` command and gives its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| cheliped::cli::command(arguments.into_iter()))
    }

    /// Ends the background threads unless they work for a run; for a fork.
    #[pyfunction]
    fn retire(py: Python<'_>) {
        crate::runtime::retire(py);
    }

    /// Ends the background threads; for the end of the interpreter.
    #[pyfunction]
    fn shutdown(py: Python<'_>) {
        crate::runtime::shutdown(py);
    }
}
