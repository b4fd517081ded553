//! Agents, and what they are made of.

use crate::failure::exception;
use crate::function::Callable;
use crate::run::{Handle, Message};
use cheliped::agent::IntoProvider;
use cheliped::host::{self, Assembly};
use cheliped::provider::ScriptedProvider;
use pyo3::prelude::*;
use std::sync::Arc;

/// A tool with its compiled schema; made once, shared by agents.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Tool(Arc<dyn cheliped::tool::Tool>);

#[pymethods]
impl Tool {
    #[new]
    fn new(py: Python<'_>, definition: &str, number: u64) -> PyResult<Self> {
        host::tool(definition, Arc::new(Callable(number))).map(Self).map_err(|error| exception(py, &error))
    }
}

/// A scripted model.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Script(ScriptedProvider);

#[pymethods]
impl Script {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        host::script(json).map(Self).map_err(|error| exception(py, &error))
    }

    /// What it was asked, as JSON.
    fn requests(&self) -> String {
        host::requests(&self.0)
    }
}

/// A conversation, whose messages live here.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Conversation(pub(crate) cheliped::agent::Conversation);

#[pymethods]
impl Conversation {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        host::conversation(json).map(Self).map_err(|error| exception(py, &error))
    }

    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    #[getter]
    fn turns(&self) -> usize {
        self.0.turns()
    }

    /// The whole conversation as JSON, which `Conversation` reads again.
    fn json(&self) -> String {
        host::written_conversation(&self.0)
    }

    /// The conversation with one more message, given as JSON.
    fn with_message(&self, py: Python<'_>, json: &str) -> PyResult<Self> {
        let message = host::message(json).map_err(|error| exception(py, &error))?;
        Ok(Self(self.0.clone().with_message(message)))
    }

    fn __len__(&self) -> usize {
        self.0.message_count()
    }
}

/// A provider as Python gives it: a script, settings as JSON, or the settings and the number of a callable.
#[derive(FromPyObject)]
enum Provider<'py> {
    Script(PyRef<'py, Script>),
    Settings(String),
    Function(String, u64),
}

/// An agent.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Agent(cheliped::Agent);

#[pymethods]
impl Agent {
    /// Options and skills are JSON; of the providers the first is asked first, and none in its place is the default; a function is its kind, its settings as JSON and its number; hooks of the engine are JSON.
    #[new]
    fn new(
        py: Python<'_>,
        options: &str,
        providers: Vec<Option<Provider<'_>>>,
        tools: Vec<PyRef<'_, Tool>>,
        skills: Vec<String>,
        functions: Vec<(String, String, u64)>,
        hooks: Vec<String>,
    ) -> PyResult<Self> {
        let build = || {
            let mut assembly = Assembly::new(options)?;
            for provider in providers {
                match provider {
                    None => assembly.default_provider(),
                    Some(Provider::Script(script)) => assembly.provider(script.0.clone().into_choice()),
                    Some(Provider::Settings(json)) => assembly.provider(host::provider(&json)?),
                    Some(Provider::Function(settings, number)) => {
                        assembly.function("provider", &settings, Arc::new(Callable(number)))?;
                    }
                }
            }
            for tool in tools {
                assembly.tool(Arc::clone(&tool.0));
            }
            for skill in skills {
                assembly.skill(&skill)?;
            }
            for (kind, settings, number) in functions {
                assembly.function(&kind, &settings, Arc::new(Callable(number)))?;
            }
            for hook in hooks {
                assembly.hook(&hook)?;
            }
            assembly.build()
        };
        build().map(Self).map_err(|error| exception(py, &error))
    }

    #[getter]
    fn provider_name(&self) -> &str {
        self.0.provider_name()
    }

    #[getter]
    fn model_name(&self) -> &str {
        self.0.model_name()
    }

    #[getter]
    fn system_prompt(&self) -> &str {
        self.0.system_prompt()
    }

    #[getter]
    fn tool_names(&self) -> Vec<String> {
        self.0.tool_names().iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        self.0.fingerprint()
    }

    /// Sends a message. `done` gets the response as JSON, the new conversation and the exception, on another thread.
    fn send(
        &self,
        py: Python<'_>,
        request: &str,
        conversation: Option<PyRef<'_, Conversation>>,
        run: Py<PyAny>,
        done: Py<PyAny>,
    ) -> PyResult<Handle> {
        let message = Message::new(py, request, conversation.as_deref(), run)?;
        crate::run::send(self.0.clone(), message, done)
    }

    /// Streams a message. `deliver` gets batches of events, or pieces of plain text, as JSON, whether it was the last
    /// batch, the new conversation and the exception, on another thread.
    fn stream(
        &self,
        py: Python<'_>,
        request: &str,
        conversation: Option<PyRef<'_, Conversation>>,
        plain: bool,
        run: Py<PyAny>,
        deliver: Py<PyAny>,
    ) -> PyResult<Handle> {
        let message = Message::new(py, request, conversation.as_deref(), run)?;
        crate::run::stream(self.0.clone(), message, plain, deliver)
    }

    /// Goes on with a saved run, given as JSON; `done` as for `send`.
    fn resume(&self, py: Python<'_>, request: &str, run: Py<PyAny>, done: Py<PyAny>) -> PyResult<Handle> {
        let resumption = host::resumption(request).map_err(|error| exception(py, &error))?;
        crate::run::resume(self.0.clone(), resumption, run, done)
    }
}
