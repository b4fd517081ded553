//! Choosing a provider by name and settings, and making it.
//!
//! Settings are collected without complaint; [`ProviderConfig::build`] reports all their problems together. Keys are
//! held as secrets and never printed.

use super::client::ClientSettings;
use super::http::{HttpProvider, HttpSettings};
use super::presets::{self, PRESETS, Preset};
use super::wire::Wire;
use super::wire::anthropic::Anthropic;
use super::wire::chat::Chat;
use super::wire::chat::dialect::Dialect;
use super::wire::gemini::Gemini;
use super::wire::ollama::Ollama;
use super::wire::responses::Responses;
use super::{OfflineProvider, Provider};
use crate::env::Variables;
use crate::error::Error;
use reqwest::Url;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

mod connection;
mod settings;

/// Names the provider when the code does not, for example `anthropic` or `openai:gpt-4o`.
const PROVIDER_VARIABLE: &str = "CHELIPED_PROVIDER";
/// Names the model when the code does not.
const MODEL_VARIABLE: &str = "CHELIPED_MODEL";

/// The API that a provider is spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's chat completions, which most servers speak.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Gemini's `generateContent`.
    GenerateContent,
    /// Ollama's own chat.
    OllamaChat,
}

impl Api {
    /// Every API.
    pub const ALL: &'static [Self] =
        &[Self::Messages, Self::Chat, Self::Responses, Self::GenerateContent, Self::OllamaChat];

    /// Its name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::GenerateContent => "generate_content",
            Self::OllamaChat => "ollama_chat",
        }
    }
}

/// Settings of a model behind an API.
///
/// What is not set comes from environment variables: the key from the provider's own (such as `ANTHROPIC_API_KEY`),
/// the model from `CHELIPED_MODEL`, times from `CHELIPED_HTTP_TIMEOUT` and `CHELIPED_HTTP_CONNECT_TIMEOUT` (seconds),
/// the proxy from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. Variables are read through
/// [`Variables`] when the provider is built and never afterwards.
///
/// ```
/// use cheliped::provider::ProviderConfig;
/// # struct Nothing;
/// # impl cheliped::env::Variables for Nothing { fn get(&self, _: &str) -> Option<String> { None } }
/// # let variables = Nothing;
/// let provider = ProviderConfig::parse("openai:gpt-4o").api_key("sk-123").build(&variables)?;
/// assert_eq!((provider.name(), provider.model()), ("openai", "gpt-4o"));
///
/// let local = ProviderConfig::named("custom").base_url("http://127.0.0.1:8080").model("llama").build(&variables)?;
/// assert_eq!(local.name(), "custom");
///
/// let error = ProviderConfig::named("groq").build(&variables).err().unwrap();
/// assert!(error.to_string().contains("GROQ_API_KEY"));
/// # Ok::<(), cheliped::Error>(())
/// ```
#[derive(Clone)]
pub struct ProviderConfig {
    name: String,
    /// Nobody named a provider and no variable did.
    is_guess: bool,
    model: Option<String>,
    api_key: Option<SecretString>,
    base_url: Option<String>,
    headers: Vec<(String, SecretString)>,
    proxy: Option<SecretString>,
    ca_file: Option<PathBuf>,
    connect_timeout: Option<Duration>,
    first_byte_timeout: Option<Option<Duration>>,
    idle_timeout: Option<Option<Duration>>,
    call_timeout: Option<Option<Duration>>,
    api: Option<Api>,
    text_calls: Option<bool>,
}

impl std::fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An address may hold a key in its query, so only its host is shown.
        let host = |text: &str| Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
        f.debug_struct("ProviderConfig")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("api_key", &self.api_key)
            .field("base_url", &self.base_url.as_deref().map(host))
            .field("headers", &self.headers)
            .field("proxy", &self.proxy)
            .field("ca_file", &self.ca_file)
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

impl ProviderConfig {
    /// Starts with a provider by name: `anthropic`, `openai`, `groq`, `gemini`, `mistral`, `deepseek`, `ollama`,
    /// `openrouter`, or `custom` for any server that speaks OpenAI's chat completions. Case does not matter. Another
    /// name works together with [`base_url`](Self::base_url).
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into().trim().to_lowercase(),
            is_guess: false,
            model: None,
            api_key: None,
            base_url: None,
            headers: Vec::new(),
            proxy: None,
            ca_file: None,
            connect_timeout: None,
            first_byte_timeout: None,
            idle_timeout: None,
            call_timeout: None,
            api: None,
            text_calls: None,
        }
    }

    /// Starts with `"provider:model"`, or with a provider alone. The model may hold colons itself.
    ///
    /// ```
    /// use cheliped::provider::ProviderConfig;
    /// let config = ProviderConfig::parse("ollama:qwen2.5:7b");
    /// assert_eq!((config.provider_name(), config.model_name()), ("ollama", Some("qwen2.5:7b")));
    /// ```
    pub fn parse(text: &str) -> Self {
        let (name, model) = text.split_once(':').unwrap_or((text, ""));
        let mut config = Self::named(name);
        config.model = Some(model.trim().to_owned()).filter(|model| !model.is_empty());
        config
    }

    /// Starts with the provider that the environment names: `CHELIPED_PROVIDER`, or the first that is set of
    /// `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GROQ_API_KEY`, `GEMINI_API_KEY`, `MISTRAL_API_KEY`,
    /// `DEEPSEEK_API_KEY`, `OLLAMA_HOST` and `OPENROUTER_API_KEY`; otherwise `anthropic`.
    pub fn detect(variables: &dyn Variables) -> Self {
        if let Some(named) = read(variables, PROVIDER_VARIABLE) {
            return Self::parse(&named);
        }
        let found = PRESETS.iter().find(|preset| preset.found_by.is_some_and(|name| read(variables, name).is_some()));
        match found {
            Some(preset) => Self::named(preset.name),
            None => Self { is_guess: true, ..Self::named("anthropic") },
        }
    }

    /// The provider's name.
    pub fn provider_name(&self) -> &str {
        &self.name
    }

    /// The model, if one is set here.
    pub fn model_name(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Sets the model. Default: `CHELIPED_MODEL`, then the provider's own default.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into()).filter(|model| !model.trim().is_empty());
        self
    }

    /// Sets the key. Default: the provider's variable.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<SecretString>) -> Self {
        self.api_key = Some(key.into()).filter(|key| !key.expose_secret().is_empty());
        self
    }

    /// Sets where the server is: its root, with or without `/v1`, or the whole address for requests. Default: the
    /// provider's own; for `ollama` the variable `OLLAMA_HOST`, for `custom` `OPENAI_BASE_URL`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into()).filter(|url| !url.trim().is_empty());
        self
    }

    /// Sends this header with every request, instead of one of the same name that the API wants.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Reaches the server through this http proxy. Default: the standard variables, which count for no server on
    /// this machine.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<SecretString>) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Trusts the certificates of this PEM bundle instead of the platform's.
    #[must_use]
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }

    /// Limits the time to reach the server. Default 10 s, or `CHELIPED_HTTP_CONNECT_TIMEOUT`.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Limits the time until the answer begins; `None` for no limit. Default 120 s, or `CHELIPED_HTTP_TIMEOUT`.
    #[must_use]
    pub fn first_byte_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_byte_timeout = Some(limit.into());
        self
    }

    /// Limits the silence between two pieces of an answer; `None` for no limit. Default 120 s, or
    /// `CHELIPED_HTTP_TIMEOUT`.
    #[must_use]
    pub fn idle_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle_timeout = Some(limit.into());
        self
    }

    /// Limits a whole call that is not streamed; `None` for no limit. Default 120 s, or `CHELIPED_HTTP_TIMEOUT`.
    #[must_use]
    pub fn call_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.call_timeout = Some(limit.into());
        self
    }

    /// Speaks another API than the provider's usual one, for example [`Api::Responses`] to OpenAI or
    /// [`Api::OllamaChat`] to Ollama.
    #[must_use]
    pub fn api(mut self, api: Api) -> Self {
        self.api = Some(api);
        self
    }

    /// Whether tool calls that the model writes as text are read as calls. Only a reply that is nothing but calls of
    /// offered tools with readable arguments counts. Default: for small local models that are known to need it.
    #[must_use]
    pub fn text_calls(mut self, read: bool) -> Self {
        self.text_calls = Some(read);
        self
    }

    /// Makes the provider. No connection is opened, and no certificate is read before the first call.
    ///
    /// # Errors
    /// [`Error::Configuration`] with every problem found: an unknown provider, a missing key, model or address, a
    /// header, key or proxy that cannot be used, a time limit of zero. Each names what to set.
    pub fn build(&self, variables: &dyn Variables) -> Result<Arc<dyn Provider>, Error> {
        if self.name == OfflineProvider::NAME && self.base_url.is_none() {
            return Ok(Arc::new(OfflineProvider::new()));
        }
        let preset = self.preset()?;
        let mut problems = Vec::new();
        let api = self.api.unwrap_or(preset.map_or(Api::Chat, |preset| preset.api));
        let key = self.key(preset, variables, &mut problems);
        let model = self.model_for(preset, variables, &mut problems);
        let target = self.target(preset, api, variables, &mut problems);
        let headers = self.header_map(&mut problems);
        let timeouts = self.timeouts(variables, &mut problems);
        let connect_timeout = self.connect(variables, &mut problems);
        let proxies = self.proxies(target.as_ref(), variables, &mut problems);
        let (Some(model), Some(target), true) = (model, target, problems.is_empty()) else {
            return Err(Error::Configuration { problems });
        };
        let secrets = key.iter().cloned().chain(self.secret_headers()).collect();
        let settings = HttpSettings {
            name: self.name.clone(),
            model: model.clone(),
            headers,
            client: Arc::new(ClientSettings { proxies, ca_file: self.ca_file.clone(), connect_timeout }),
            timeouts,
            secrets,
        };
        let address = String::from(target);
        Ok(match api {
            Api::Messages => over_http(Anthropic::new(&address, key, &model), settings),
            Api::GenerateContent => over_http(Gemini::new(&address, key, &model), settings),
            Api::Chat => {
                let chat = Chat::new(Dialect::of(&self.name), address, key, &model);
                over_http(chat.read_text_calls(self.text_calls), settings)
            }
            Api::Responses => over_http(Responses::new(address, key, &model), settings),
            Api::OllamaChat => over_http(Ollama::new(address, key, &model), settings),
        })
    }

    /// The preset, or `None` for a server of the user's own.
    fn preset(&self) -> Result<Option<&'static Preset>, Error> {
        let preset = presets::of(&self.name);
        if preset.is_some() || (self.base_url.is_some() && !self.name.is_empty()) {
            return Ok(preset);
        }
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        Err(Error::configuration(format!(
            "unknown provider {:?}: known are {}; any other server that speaks OpenAI's chat completions needs a base \
             URL",
            self.name,
            known.join(", ")
        )))
    }

    fn key(
        &self,
        preset: Option<&Preset>,
        variables: &dyn Variables,
        problems: &mut Vec<String>,
    ) -> Option<SecretString> {
        let variable = preset.and_then(|preset| preset.key_variable);
        let from_variable = || variable.and_then(|name| read(variables, name)).map(SecretString::from);
        let key = self.api_key.clone().or_else(from_variable);
        let source = if self.api_key.is_some() { "api_key" } else { variable.unwrap_or("api_key") };
        match &key {
            Some(key) if HeaderValue::from_str(key.expose_secret()).is_err() => {
                problems.push(format!("the key in {source} holds a line break or another character that no key has"));
            }
            None if preset.is_some_and(|preset| preset.needs_key) => problems.push(self.no_key(variable)),
            Some(_) | None => {}
        }
        key
    }

    fn no_key(&self, variable: Option<&str>) -> String {
        if self.is_guess {
            let keys: Vec<&str> = PRESETS.iter().filter_map(|preset| preset.found_by).collect();
            return format!(
                "no provider is named and no key was found: set one of {} (OLLAMA_HOST needs no key), or name a \
                 provider in the code or in {PROVIDER_VARIABLE}",
                keys.join(", ")
            );
        }
        format!(
            "no API key for provider {:?}: set {} in the environment, or give one with api_key",
            self.name,
            variable.unwrap_or_default()
        )
    }

    fn model_for(
        &self,
        preset: Option<&Preset>,
        variables: &dyn Variables,
        problems: &mut Vec<String>,
    ) -> Option<String> {
        if let Some(model) = &self.model {
            return Some(model.clone());
        }
        if let Some(model) = read(variables, MODEL_VARIABLE) {
            let maker = presets::maker_of(&model);
            let has_own_models = preset.is_some_and(|preset| {
                preset.found_by.is_some() && !matches!(preset.name, "groq" | "ollama" | "openrouter")
            });
            if has_own_models && maker.is_some_and(|maker| maker != self.name) {
                tracing::warn!(
                    provider = self.name,
                    model,
                    "{MODEL_VARIABLE} names a model of another provider; it is sent all the same"
                );
            }
            return Some(model);
        }
        let default = preset.and_then(|preset| preset.model).map(str::to_owned);
        if default.is_none() {
            problems.push(format!(
                "no model for provider {name:?}: set {MODEL_VARIABLE}, or write \"{name}:MODEL\"",
                name = self.name
            ));
        }
        default
    }
}

fn over_http<W: Wire + 'static>(wire: W, settings: HttpSettings) -> Arc<dyn Provider> {
    Arc::new(HttpProvider::new(wire, settings))
}

/// A variable that is set and not blank.
fn read(variables: &dyn Variables, name: &str) -> Option<String> {
    variables.get(name).filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests;
