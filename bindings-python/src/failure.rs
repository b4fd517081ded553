//! Errors of the engine as exceptions of the package.

use cheliped::Error;
use cheliped::host::Failure;
use pyo3::prelude::*;

/// The exception for an error; an exception that a callback raised becomes its cause.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let Failure { code, message, details, retryable } = error.into();
    let make = || {
        let make = py.import("cheliped._errors")?.getattr("from_native")?;
        make.call1((code, message, details, retryable, cause(py, error)))
    };
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

/// The Python exception among the sources of an error.
fn cause(py: Python<'_>, error: &Error) -> Option<Py<PyAny>> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(raised) = inner.downcast_ref::<PyErr>() {
            return Some(raised.clone_ref(py).into_value(py).into_any());
        }
        source = inner.source();
    }
    None
}
