//! The model that a command asks, made of what was said about it.

use super::settings::ModelChoice;
use crate::env::Variables;
use crate::error::Error;
use crate::provider::{OfflineProvider, Provider, ProviderConfig, ScriptedProvider};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Largest script, in bytes.
const MAX_SCRIPT: u64 = 64 << 20;

/// Makes the provider.
///
/// # Errors
/// [`Error::Configuration`]: nothing was said and the environment has no key, the provider is unknown, a key or a
/// model is missing, the script cannot be read.
pub(super) fn provider(
    choice: &ModelChoice,
    timeout: Option<Duration>,
    directory: &Path,
    variables: &dyn Variables,
) -> Result<Arc<dyn Provider>, Error> {
    let spec = choice.provider.as_deref().map(str::trim);
    match spec.map(|spec| spec.split_once(':').unwrap_or((spec, ""))) {
        Some((name, file)) if name.eq_ignore_ascii_case("scripted") => scripted(file, directory),
        Some((name, _)) if name.eq_ignore_ascii_case("offline") => Ok(Arc::new(OfflineProvider::new())),
        Some(_) | None => real(choice, spec, timeout, variables),
    }
}

fn scripted(file: &str, directory: &Path) -> Result<Arc<dyn Provider>, Error> {
    if file.is_empty() {
        return Err(Error::configuration("--provider scripted needs a file of replies: write scripted:FILE"));
    }
    let refuse = |why: String| Error::configuration(format!("cannot use the script {file}: {why}"));
    let path = directory.join(file);
    let metadata = std::fs::metadata(&path).map_err(|error| refuse(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > MAX_SCRIPT {
        return Err(refuse(format!("it must be an ordinary file of up to {MAX_SCRIPT} bytes")));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| refuse(error.to_string()))?;
    let script = ScriptedProvider::from_json(&text).map_err(|error| refuse(error.to_string()))?;
    Ok(Arc::new(script))
}

fn real(
    choice: &ModelChoice,
    spec: Option<&str>,
    timeout: Option<Duration>,
    variables: &dyn Variables,
) -> Result<Arc<dyn Provider>, Error> {
    let mut config = match (spec, &choice.base_url) {
        (Some(spec), _) => ProviderConfig::parse(spec),
        // An address alone is a server of the user's own: no key of somebody else's service may go there.
        (None, Some(_)) => ProviderConfig::named("custom"),
        (None, None) => {
            let found = ProviderConfig::detect(variables);
            if !is_found(&found, variables) {
                return Err(no_model());
            }
            found
        }
    };
    if let Some(model) = &choice.model {
        config = config.model(model);
    }
    if let Some(limit) = timeout {
        // Answers are streamed, so these are the waits that there are.
        config = config.first_byte_timeout(limit).idle_timeout(limit);
    }
    if let Some(url) = &choice.base_url {
        config = config.base_url(url);
    }
    if choice.keyless {
        // An explicit word keeps the environment's key from being looked up.
        config = config.api_key("none");
    } else if let Some(name) = &choice.api_key_env {
        let key = variables.get(name).ok_or_else(|| {
            Error::configuration(format!(
                "the environment variable {name}, which api_key_env names, is not set: set it to the key"
            ))
        })?;
        config = config.api_key(key);
    }
    config.build(variables)
}

/// Whether the environment led to a provider. With nothing in it, detection falls back to `anthropic`, which then has
/// no key.
fn is_found(config: &ProviderConfig, variables: &dyn Variables) -> bool {
    config.provider_name() != "anthropic"
        || ["CHELIPED_PROVIDER", "ANTHROPIC_API_KEY"].iter().any(|name| variables.get(name).is_some())
}

fn no_model() -> Error {
    Error::configuration(
        "no model to ask: set an API key in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY, \
         GEMINI_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY or OPENROUTER_API_KEY), or name a model of this machine \
         with --provider ollama:MODEL. To try the command without a key or a network, use --provider offline",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static [(&'static str, &'static str)]);

    impl Variables for Fixed {
        fn get(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }
    }

    fn choose(choice: ModelChoice, variables: &Fixed) -> Result<(String, String), String> {
        provider(&choice, None, Path::new("/nowhere"), variables)
            .map(|provider| (provider.name().to_owned(), provider.model().to_owned()))
            .map_err(|error| error.to_string())
    }

    fn named(spec: &str) -> ModelChoice {
        ModelChoice { provider: Some(spec.to_owned()), ..ModelChoice::default() }
    }

    #[test]
    fn nothing_said_and_nothing_set_is_told() {
        let problem = choose(ModelChoice::default(), &Fixed(&[])).unwrap_err();
        assert!(problem.contains("ANTHROPIC_API_KEY") && problem.contains("--provider offline"), "{problem}");
    }

    #[test]
    fn a_model_is_found_by_name_by_key_or_by_address() {
        assert_eq!(choose(named("Offline"), &Fixed(&[])).unwrap().0, "offline");
        let keys = Fixed(&[("GROQ_API_KEY", "g"), ("OPENAI_API_KEY", "o")]);
        assert_eq!(choose(ModelChoice::default(), &keys).unwrap().0, "openai");
        assert_eq!(choose(named("groq:llama"), &keys).unwrap(), ("groq".into(), "llama".into()));
        let with_model = ModelChoice { model: Some("other".into()), ..named("groq:llama") };
        assert_eq!(choose(with_model, &keys).unwrap(), ("groq".into(), "other".into()));
        let local = ModelChoice {
            base_url: Some("http://127.0.0.1:8080/v1".into()),
            model: Some("m".into()),
            ..ModelChoice::default()
        };
        assert_eq!(choose(local, &Fixed(&[("ANTHROPIC_API_KEY", "a")])).unwrap().0, "custom");
    }

    #[test]
    fn what_is_missing_is_named() {
        for (choice, says) in [
            (named("nobody"), "nobody"),
            (named("groq"), "GROQ_API_KEY"),
            (named("scripted"), "scripted:FILE"),
            (named("scripted:none.json"), "none.json"),
            (ModelChoice { api_key_env: Some("MY_KEY".into()), ..named("openai") }, "MY_KEY"),
        ] {
            let problem = choose(choice, &Fixed(&[])).unwrap_err();
            assert!(problem.contains(says), "{problem}");
        }
    }
}
