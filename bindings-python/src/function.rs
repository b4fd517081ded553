//! Python callables as functions of the engine.

use cheliped::error::BoxError;
use cheliped::host::{HostCall, HostFunction, Progress};
use futures::future::BoxFuture;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

tokio::task_local! {
    /// The Python object of the run that is being polled.
    pub(crate) static RUN: Arc<Py<PyAny>>;
}

/// A callable, known by its number. The run finds the callable itself.
pub(crate) struct Callable(pub(crate) u64);

impl HostFunction for Callable {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, BoxError>> {
        let started = RUN.try_with(Arc::clone).map_err(BoxError::from).and_then(|run| start(&run, self.0, call));
        Box::pin(async move {
            let (answer, mut calling) = started?;
            let answer = answer.await;
            calling.call = None;
            answer.unwrap_or_else(|_| Err("the call ended without an answer".into()))
        })
    }
}

type Answer = Result<String, BoxError>;

/// Hands a call over to Python, which answers through the reply.
fn start(run: &Py<PyAny>, number: u64, call: HostCall) -> Result<(oneshot::Receiver<Answer>, Calling), BoxError> {
    let (sender, answer) = oneshot::channel();
    let reply = Reply { sender: Mutex::new(Some(sender)), progress: call.progress };
    // Nothing can be called once the interpreter is going away.
    let call = Python::try_attach(|py| run.call_method1(py, "start", (number, call.payload, Py::new(py, reply)?)));
    Ok((answer, Calling { call: Some(call.ok_or("the interpreter is going away")??) }))
}

/// A call under way. Dropping it tells Python to stop.
struct Calling {
    call: Option<Py<PyAny>>,
}

impl Drop for Calling {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            // What goes wrong in telling has nobody to hear it.
            let _ = Python::try_attach(|py| call.call_method0(py, "cancel").map(|_| ()));
        }
    }
}

/// Where Python puts the answer of a call. The first answer counts.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Reply {
    sender: Mutex<Option<oneshot::Sender<Answer>>>,
    progress: Option<Progress>,
}

impl Reply {
    fn send(&self, answer: Answer) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // A run that is over does not read late answers.
            let _ = sender.send(answer);
        }
    }
}

#[pymethods]
impl Reply {
    /// Answers with JSON.
    fn ok(&self, answer: String) {
        self.send(Ok(answer));
    }

    /// Answers with the exception that was raised.
    fn error(&self, exception: Bound<'_, PyAny>) {
        self.send(Err(PyErr::from_value(exception).into()));
    }

    /// Says how far a tool is.
    fn progress(&self, text: String) {
        if let Some(progress) = &self.progress {
            progress.tell(text);
        }
    }
}
