//! What a command works with: options, then environment variables, then files.
//!
//! Provider, model, address and key belong together: a level that names a provider takes none of them from the levels
//! below, so that a key never travels to an address that was meant for another one.

use super::config::Config;
use super::options::Common;
use super::project::ProjectRoot;
use crate::env::Variables;
use crate::error::Error;
use crate::screening::GuardOptions;
use std::path::Path;
use std::time::Duration;

/// The settings of one command.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) model: ModelChoice,
    pub(super) system: Option<String>,
    pub(super) max_iterations: Option<u32>,
    pub(super) max_tokens: Option<u32>,
    pub(super) max_retries: Option<u32>,
    /// The folder that tools may look into; `None` for no tools.
    pub(super) root: Option<ProjectRoot>,
    pub(super) history: bool,
    pub(super) guards: GuardOptions,
    pub(super) timeout: Option<Duration>,
    pub(super) model_timeout: Option<Duration>,
    pub(super) tool_timeout: Option<Duration>,
}

/// Which model is asked, as far as somebody said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelChoice {
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) api_key_env: Option<String>,
    /// A project chose the address: no key goes there.
    pub(super) keyless: bool,
}

impl ModelChoice {
    /// Fills what is open from a weaker level.
    fn or(self, weaker: Self) -> Self {
        // A model or an address that was said together with another provider does not fit this one.
        if self.provider.is_some() {
            return self;
        }
        Self {
            provider: weaker.provider,
            model: self.model.or(weaker.model),
            keyless: if self.base_url.is_some() { self.keyless } else { weaker.keyless },
            base_url: self.base_url.or(weaker.base_url),
            api_key_env: self.api_key_env.or(weaker.api_key_env),
        }
    }
}

impl Settings {
    /// Puts the levels together. `configs` are the files, strongest first.
    ///
    /// # Errors
    /// [`Error::Configuration`] when the folder for the tools cannot be used.
    pub(super) fn new(
        options: &Common,
        configs: Vec<Config>,
        directory: &Path,
        variables: &dyn Variables,
    ) -> Result<Self, Error> {
        let file = configs.iter().cloned().reduce(over).unwrap_or_default();
        let said = ModelChoice {
            provider: options.provider.clone(),
            model: options.model.clone(),
            base_url: options.base_url.clone(),
            api_key_env: None,
            keyless: false,
        };
        let environment = ModelChoice {
            provider: variables.get("CHELIPED_PROVIDER"),
            model: variables.get("CHELIPED_MODEL"),
            ..ModelChoice::default()
        };
        let model = configs
            .into_iter()
            .map(|config| ModelChoice {
                provider: config.provider,
                model: config.model,
                base_url: config.base_url,
                api_key_env: config.api_key_env,
                keyless: config.keyless,
            })
            .fold(said.or(environment), ModelChoice::or);
        let root = match options.no_tools || file.tools == Some(false) {
            true => None,
            false => {
                let root = options.root.as_ref().map(|root| directory.join(root)).or(file.root);
                Some(ProjectRoot::open(root.as_deref().unwrap_or(directory))?)
            }
        };
        Ok(Self {
            model,
            system: options.system.clone().or(file.system),
            max_iterations: options.max_iterations.or(file.max_iterations),
            max_tokens: file.max_tokens,
            max_retries: file.max_retries,
            root,
            history: file.history.unwrap_or(true),
            guards: options.guards.map(GuardOptions::preset).or(file.guards).unwrap_or_default(),
            timeout: options.timeout.or(file.timeout),
            model_timeout: options.model_timeout.or(file.model_timeout),
            tool_timeout: options.tool_timeout.or(file.tool_timeout),
        })
    }
}

/// One file over a weaker one, apart from what chooses the model.
fn over(strong: Config, weak: Config) -> Config {
    Config {
        provider: None,
        model: None,
        base_url: None,
        api_key_env: None,
        keyless: false,
        system: strong.system.or(weak.system),
        max_iterations: strong.max_iterations.or(weak.max_iterations),
        max_tokens: strong.max_tokens.or(weak.max_tokens),
        max_retries: strong.max_retries.or(weak.max_retries),
        tools: strong.tools.or(weak.tools),
        root: strong.root.or(weak.root),
        history: strong.history.or(weak.history),
        guards: strong.guards.or(weak.guards),
        timeout: strong.timeout.or(weak.timeout),
        model_timeout: strong.model_timeout.or(weak.model_timeout),
        tool_timeout: strong.tool_timeout.or(weak.tool_timeout),
    }
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

    fn choose(options: &Common, configs: Vec<Config>, variables: &Fixed) -> ModelChoice {
        Settings::new(options, configs, Path::new("/tmp"), variables).unwrap().model
    }

    fn file(provider: Option<&str>, model: &str, base_url: &str) -> Config {
        Config {
            provider: provider.map(str::to_owned),
            model: Some(model.to_owned()),
            base_url: Some(base_url.to_owned()),
            api_key_env: Some("KEY".to_owned()),
            ..Config::default()
        }
    }

    #[test]
    fn what_chooses_a_model_stays_together() {
        let nothing = Fixed(&[]);
        let say = |provider: &str| Common { provider: Some(provider.to_owned()), ..Common::default() };
        let config = file(Some("openai"), "m", "https://proxy");
        let chosen = choose(&say("groq"), vec![config.clone()], &nothing);
        assert_eq!(chosen, ModelChoice { provider: Some("groq".into()), ..ModelChoice::default() });
        let chosen = choose(&Common::default(), vec![config.clone()], &nothing);
        assert_eq!((chosen.provider.as_deref(), chosen.base_url.as_deref()), (Some("openai"), Some("https://proxy")));
        let model = Common { model: Some("other".to_owned()), ..Common::default() };
        let chosen = choose(&model, vec![config.clone()], &nothing);
        assert_eq!((chosen.provider.as_deref(), chosen.model.as_deref()), (Some("openai"), Some("other")));
        let chosen = choose(&Common::default(), vec![config.clone()], &Fixed(&[("CHELIPED_PROVIDER", "gemini")]));
        assert_eq!((chosen.provider.as_deref(), chosen.base_url, chosen.api_key_env), (Some("gemini"), None, None));
        let chosen = choose(&Common::default(), vec![file(Some("ollama"), "q", "http://localhost"), config], &nothing);
        assert_eq!((chosen.provider.as_deref(), chosen.model.as_deref()), (Some("ollama"), Some("q")));
        let url = Common { base_url: Some("http://127.0.0.1".to_owned()), ..Common::default() };
        let chosen = choose(&url, vec![file(Some("openai"), "m", "https://proxy")], &nothing);
        assert_eq!(
            (chosen.provider.as_deref(), chosen.base_url.as_deref()),
            (Some("openai"), Some("http://127.0.0.1"))
        );
    }

    #[test]
    fn options_win_over_files_and_strong_files_over_weak_ones() {
        let strong = Config { max_iterations: Some(3), ..Config::default() };
        let weak =
            Config { max_iterations: Some(4), system: Some("weak".into()), tools: Some(false), ..strong.clone() };
        let options = Common { timeout: Some(Duration::from_secs(9)), ..Common::default() };
        let settings = Settings::new(&options, vec![strong, weak], Path::new("/tmp"), &Fixed(&[])).unwrap();
        assert_eq!((settings.max_iterations, settings.system.as_deref()), (Some(3), Some("weak")));
        assert_eq!((settings.timeout, settings.root.is_none()), (Some(Duration::from_secs(9)), true));
    }
}
