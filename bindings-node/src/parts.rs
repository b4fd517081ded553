//! What an agent is built of, as JavaScript holds it.

use crate::border::function;
use crate::wire::exception;
use cheliped::agent::IntoProvider;
use cheliped::host;
use cheliped::provider::ScriptedProvider;
use napi_derive::napi;
use std::sync::Arc;

/// A tool whose schema is compiled.
#[napi]
pub struct Tool(Arc<dyn cheliped::tool::Tool>);

#[napi]
impl Tool {
    /// Reads a definition; `number` is the function's.
    #[napi(constructor, catch_unwind)]
    pub fn new(definition: String, number: u32) -> napi::Result<Self> {
        host::tool(&definition, function(number)).map(Self).map_err(exception)
    }
}

/// A scripted provider.
#[napi]
pub struct Script(ScriptedProvider);

#[napi]
impl Script {
    /// Reads a script.
    #[napi(constructor, catch_unwind)]
    pub fn new(json: String) -> napi::Result<Self> {
        host::script(&json).map(Self).map_err(exception)
    }

    /// What it was asked so far, as JSON.
    #[napi(catch_unwind)]
    pub fn requests(&self) -> String {
        host::requests(&self.0)
    }
}

/// An agent that is being put together.
#[napi]
pub struct Assembly(Option<host::Assembly>);

#[napi]
impl Assembly {
    /// Reads the options.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> napi::Result<Self> {
        host::Assembly::new(&options).map(Some).map(Self).map_err(exception)
    }

    /// Adds a tool.
    #[napi(catch_unwind)]
    pub fn tool(&mut self, tool: &Tool) -> napi::Result<()> {
        self.open()?.tool(Arc::clone(&tool.0));
        Ok(())
    }

    /// Adds a provider of settings; the first is asked first, and nothing in its place is the default.
    #[napi(catch_unwind)]
    pub fn provider(&mut self, json: Option<String>) -> napi::Result<()> {
        match json.map(|json| host::provider(&json).map_err(exception)).transpose()? {
            Some(provider) => self.open()?.provider(provider),
            None => self.open()?.default_provider(),
        }
        Ok(())
    }

    /// Adds a scripted provider.
    #[napi(catch_unwind)]
    pub fn script(&mut self, script: &Script) -> napi::Result<()> {
        self.open()?.provider(script.0.clone().into_choice());
        Ok(())
    }

    /// Adds a skill.
    #[napi(catch_unwind)]
    pub fn skill(&mut self, json: String) -> napi::Result<()> {
        self.open()?.skill(&json).map_err(exception)
    }

    /// Adds a hook of the engine.
    #[napi(catch_unwind)]
    pub fn hook(&mut self, json: String) -> napi::Result<()> {
        self.open()?.hook(&json).map_err(exception)
    }

    /// Adds a function of a kind.
    #[napi(catch_unwind)]
    pub fn function(&mut self, kind: String, settings: String, number: u32) -> napi::Result<()> {
        self.open()?.function(&kind, &settings, function(number)).map_err(exception)
    }

    /// Makes the agent; nothing can be added afterwards.
    #[napi(catch_unwind)]
    pub fn build(&mut self) -> napi::Result<Agent> {
        self.open()?;
        let built = self.0.take().map(host::Assembly::build);
        built.ok_or_else(used)?.map(Agent).map_err(exception)
    }

    fn open(&mut self) -> napi::Result<&mut host::Assembly> {
        self.0.as_mut().ok_or_else(used)
    }
}

fn used() -> napi::Error {
    napi::Error::from_reason("the agent is built already")
}

/// An agent.
#[napi]
pub struct Agent(pub(crate) cheliped::Agent);

#[napi]
impl Agent {
    /// The composed system prompt.
    #[napi(getter)]
    pub fn system_prompt(&self) -> String {
        self.0.system_prompt().to_owned()
    }

    /// Name of the provider that is asked first.
    #[napi(getter)]
    pub fn provider(&self) -> String {
        self.0.provider_name().to_owned()
    }

    /// The model that is asked first.
    #[napi(getter)]
    pub fn model(&self) -> String {
        self.0.model_name().to_owned()
    }

    /// Identifies prompt, model and tools.
    #[napi(getter)]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint().to_owned()
    }
}
