//! Configuration files: `cheliped.toml` of a project, `config.toml` of a user, or one named on the command line.
//!
//! The keys are listed in the documentation of [`cli`](super).
//!
//! A file never holds a key. A project's file is found, not named, and may come from a stranger: it must not decide
//! where a key or a folder outside the project goes to. Every problem is told with file, line and column.

use super::options::duration;
use crate::env::Variables;
use crate::error::Error;
use crate::screening::GuardOptions;
use reqwest::Url;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest configuration file, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The file that is looked for in the working directory.
const PROJECT_FILE: &str = "cheliped.toml";
/// The keys, as messages list them.
const KEYS: [&str; 15] = [
    "provider",
    "model",
    "base_url",
    "api_key_env",
    "system",
    "max_iterations",
    "max_tokens",
    "max_retries",
    "tools",
    "root",
    "history",
    "guards",
    "timeout_seconds",
    "model_timeout_seconds",
    "tool_timeout_seconds",
];

/// What a file says. `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Config {
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) api_key_env: Option<String>,
    /// The address was chosen by a project: no key goes there.
    pub(super) keyless: bool,
    pub(super) system: Option<String>,
    pub(super) max_iterations: Option<u32>,
    pub(super) max_tokens: Option<u32>,
    pub(super) max_retries: Option<u32>,
    pub(super) tools: Option<bool>,
    pub(super) root: Option<PathBuf>,
    pub(super) history: Option<bool>,
    pub(super) guards: Option<GuardOptions>,
    pub(super) timeout: Option<Duration>,
    pub(super) model_timeout: Option<Duration>,
    pub(super) tool_timeout: Option<Duration>,
}

/// Who chose a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user, by name or by putting it into their own folder.
    User,
    /// Nobody: it was found in the working directory.
    Project,
}

/// The files that count, strongest first.
///
/// # Errors
/// [`Error::Configuration`] with every problem of every file.
pub(super) fn load(named: Option<&Path>, directory: &Path, variables: &dyn Variables) -> Result<Vec<Config>, Error> {
    let mut problems = Vec::new();
    let mut configs = Vec::new();
    let mut take = |path: &Path, shown: &str, origin, required: bool| match read(path) {
        Ok(text) => match parse(&text, shown, path.parent().unwrap_or(directory), origin) {
            Ok(config) => configs.push(config),
            Err(found) => problems.extend(found),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => {}
        Err(error) => problems.push(format!("cannot read the configuration file {shown}: {error}")),
    };
    match named {
        Some(path) => take(&directory.join(path), &path.to_string_lossy(), Origin::User, true),
        None => {
            take(&directory.join(PROJECT_FILE), PROJECT_FILE, Origin::Project, false);
            if let Some(path) = super::places::user_config(variables) {
                take(&path, &path.to_string_lossy(), Origin::User, false);
            }
        }
    }
    if problems.is_empty() { Ok(configs) } else { Err(Error::Configuration { problems }) }
}

fn read(path: &Path) -> std::io::Result<String> {
    let other = |why: String| std::io::Error::other(why);
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(other("it is no ordinary file".to_owned()));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(other(format!("it has over {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..place).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        other(format!("line {line} is not UTF-8: save the file as UTF-8"))
    })
}

/// Reads a file's text.
///
/// # Errors
/// Every problem, each with `file:line:column` and what to do.
pub(super) fn parse(text: &str, file: &str, folder: &Path, origin: Origin) -> Result<Config, Vec<String>> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or(0, |span| span.start);
        let message = error.message().replace('\n', "; ");
        vec![format!("{}: {message}: check the TOML here", at(file, text, place))]
    })?;
    let mut reading = Reading { text, file, problems: Vec::new() };
    let mut config = Config::default();
    for (key, value) in table.get_ref() {
        let place = key.span().start;
        let name: &str = key.get_ref();
        match name {
            "provider" => config.provider = reading.text(name, value),
            "model" => config.model = reading.text(name, value),
            "base_url" => config.base_url = reading.base_url(name, value, origin),
            "api_key_env" => config.api_key_env = reading.variable(name, value, origin),
            "system" => config.system = reading.text(name, value),
            "max_iterations" => config.max_iterations = reading.whole(name, value, 1),
            "max_tokens" => config.max_tokens = reading.whole(name, value, 1),
            "max_retries" => config.max_retries = reading.whole(name, value, 0),
            "tools" => config.tools = reading.switch(name, value),
            "root" => config.root = reading.folder(name, value, folder, origin),
            "guards" => config.guards = reading.guards(place, origin),
            "history" => config.history = reading.switch(name, value),
            "timeout_seconds" => config.timeout = reading.seconds(name, value),
            "model_timeout_seconds" => config.model_timeout = reading.seconds(name, value),
            "tool_timeout_seconds" => config.tool_timeout = reading.seconds(name, value),
            "api_key" | "key" | "apikey" | "token" => reading.problem(
                place,
                format!(
                    "{name:?} does not belong into a file: put the key into an environment variable and name that \
                     with api_key_env"
                ),
            ),
            unknown => reading.unknown(place, unknown),
        }
    }
    config.keyless = origin == Origin::Project && config.base_url.is_some();
    match reading.problems.is_empty() {
        true => Ok(config),
        false => Err(reading.problems.into_iter().map(|(_, problem)| problem).collect()),
    }
}

/// `file:line:column` of a byte.
fn at(file: &str, text: &str, place: usize) -> String {
    let before = text.get(..place).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{file}:{line}:{column}")
}

/// The part of a file that is read as a whole.
#[derive(serde::Deserialize)]
struct Guarded {
    guards: GuardOptions,
}

struct Reading<'a> {
    text: &'a str,
    file: &'a str,
    /// In the order of the file.
    problems: Vec<(usize, String)>,
}

type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

impl Reading<'_> {
    fn problem(&mut self, place: usize, problem: String) {
        let problem = format!("{}: {problem}", at(self.file, self.text, place));
        let after = self.problems.partition_point(|(other, _)| *other <= place);
        self.problems.insert(after, (place, problem));
    }

    fn unknown(&mut self, place: usize, key: &str) {
        let near = KEYS.iter().min_by_key(|known| strsim::osa_distance(known, key));
        let near = near.filter(|known| strsim::osa_distance(known, key) <= 3);
        let hint = near.map_or(String::new(), |known| format!("did you mean {known:?}? "));
        self.problem(place, format!("unknown key {key:?}: {hint}known keys are {}", KEYS.join(", ")));
    }

    fn wrong(&mut self, key: &str, value: Value<'_, '_>, wanted: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "this number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.problem(value.span().start, format!("{key:?} must be {wanted}, not {found}"));
    }

    fn text(&mut self, key: &str, value: Value<'_, '_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => return Some(text.as_ref().to_owned()),
            DeValue::String(_) => self.problem(value.span().start, format!("{key:?} is empty: fill it or remove it")),
            _ => self.wrong(key, value, "a text in quotes"),
        }
        None
    }

    fn switch(&mut self, key: &str, value: Value<'_, '_>) -> Option<bool> {
        let switch = value.get_ref().as_bool();
        if switch.is_none() {
            self.wrong(key, value, "true or false, without quotes");
        }
        switch
    }

    /// The table of the guards. A project must not loosen what protects its user.
    fn guards(&mut self, place: usize, origin: Origin) -> Option<GuardOptions> {
        if origin == Origin::Project {
            self.problem(
                place,
                "\"guards\" does not belong into a project's file, which may come from a stranger: put it into your own \
                 configuration, or name this file with --config"
                    .to_owned(),
            );
            return None;
        }
        let read = toml::from_str::<Guarded>(self.text).map(|file| file.guards);
        match read {
            Ok(guards) => Some(guards),
            Err(error) => {
                let place = error.span().map_or(place, |span| span.start);
                self.problem(place, format!("guards: {}", error.message().replace('\n', "; ")));
                None
            }
        }
    }

    fn whole(&mut self, key: &str, value: Value<'_, '_>, least: u32) -> Option<u32> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let number = number.filter(|number| *number >= least);
        if number.is_none() {
            self.wrong(key, value, &format!("a whole number from {least} to {}", u32::MAX));
        }
        number
    }

    fn seconds(&mut self, key: &str, value: Value<'_, '_>) -> Option<Duration> {
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let limit = number.and_then(duration);
        if limit.is_none() {
            self.wrong(key, value, "a number of seconds over 0 and up to a year");
        }
        limit
    }

    fn variable(&mut self, key: &str, value: Value<'_, '_>, origin: Origin) -> Option<String> {
        let name = self.text(key, value)?;
        if origin == Origin::Project {
            let problem = "\"api_key_env\" must not stand in a file that was found in the working directory, so that no \
                           project decides which of your variables is sent: put it into your own configuration, or \
                           name the file with --config";
            self.problem(value.span().start, problem.to_owned());
            return None;
        }
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            // Not repeated, because it may be the key itself.
            let problem = "\"api_key_env\" must be the name of an environment variable, such as OPENAI_API_KEY, and \
                           not the key itself";
            self.problem(value.span().start, problem.to_owned());
            return None;
        }
        Some(name)
    }

    fn base_url(&mut self, key: &str, value: Value<'_, '_>, origin: Origin) -> Option<String> {
        let text = self.text(key, value)?;
        let allowed = match origin {
            Origin::User => true,
            Origin::Project => is_this_machine(&text),
        };
        if !allowed {
            let problem = format!(
                "{key:?} of a file that was found in the working directory may only be an address of this machine, so \
                 that no project decides where your key goes: give it with --base-url, or name the file with --config"
            );
            self.problem(value.span().start, problem);
            return None;
        }
        Some(text)
    }

    fn folder(&mut self, key: &str, value: Value<'_, '_>, folder: &Path, origin: Origin) -> Option<PathBuf> {
        let text = self.text(key, value)?;
        let inside = Path::new(&text).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        match origin {
            Origin::Project if !inside => {
                let problem = format!(
                    "{key:?} of a file that was found in the working directory must lie inside it: give it with \
                     --root, or name the file with --config"
                );
                self.problem(value.span().start, problem);
                None
            }
            Origin::Project | Origin::User => Some(folder.join(text)),
        }
    }
}

/// Whether a URL leads to this machine.
fn is_this_machine(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, origin: Origin) -> Result<Config, String> {
        parse(text, "cheliped.toml", Path::new("/project"), origin).map_err(|problems| problems.join("\n"))
    }

    #[test]
    fn every_key_is_read() {
        let text = "
            provider = 'openai'\nmodel = 'gpt-4o'\nbase_url = 'https://proxy.example/v1'\napi_key_env = 'MY_KEY'
            system = 'Be brief.'\nmax_iterations = 5\nmax_tokens = 0x100\nmax_retries = 0\ntools = false
            root = 'sub'\nhistory = false\ntimeout_seconds = 60\nmodel_timeout_seconds = 1.5
            tool_timeout_seconds = 2\n[guards]\npreset = 'balanced'\ninjection.threshold = 60";
        let config = read(text, Origin::User).unwrap();
        let expected = Config {
            provider: Some("openai".into()),
            model: Some("gpt-4o".into()),
            base_url: Some("https://proxy.example/v1".into()),
            api_key_env: Some("MY_KEY".into()),
            keyless: false,
            system: Some("Be brief.".into()),
            max_iterations: Some(5),
            max_tokens: Some(256),
            max_retries: Some(0),
            tools: Some(false),
            root: Some("/project/sub".into()),
            history: Some(false),
            guards: Some({
                let mut guards = GuardOptions::preset(crate::screening::Preset::Balanced);
                guards.injection.threshold = Some(60);
                guards
            }),
            timeout: Some(Duration::from_secs(60)),
            model_timeout: Some(Duration::from_millis(1500)),
            tool_timeout: Some(Duration::from_secs(2)),
        };
        assert_eq!(config, expected);
        assert_eq!(KEYS.iter().filter(|key| text.contains(*key)).count(), KEYS.len(), "the list of keys is complete");
        assert_eq!(read("", Origin::Project).unwrap(), Config::default());
    }

    #[test]
    fn problems_have_their_place() {
        for (text, says) in [
            ("model = 'x'\nmodle = 'y'", "cheliped.toml:2:1: unknown key \"modle\": did you mean \"model\"? known"),
            ("[anthropic]\nkey = 1", "cheliped.toml:1:2: unknown key \"anthropic\": known keys are provider,"),
            ("\n  max_iterations = 'ten'", "cheliped.toml:2:20: \"max_iterations\" must be a whole number from 1"),
            ("max_iterations = 0", "cheliped.toml:1:18: \"max_iterations\" must be a whole number"),
            ("max_tokens = -1", "cheliped.toml:1:14: \"max_tokens\" must be a whole number"),
            ("tools = 'no'", "cheliped.toml:1:9: \"tools\" must be true or false, without quotes, not a text"),
            ("timeout_seconds = 0", "cheliped.toml:1:19: \"timeout_seconds\" must be a number of seconds over 0"),
            ("timeout_seconds = inf", "cheliped.toml:1:19: \"timeout_seconds\" must be"),
            ("provider = ''", "cheliped.toml:1:12: \"provider\" is empty"),
            ("provider = ['a']", "cheliped.toml:1:12: \"provider\" must be a text in quotes, not a list"),
            ("# é\nsystem = \"é\" x", "cheliped.toml:2:14: "),
            ("model = 'a'\nmodel = 'b'", "cheliped.toml:2:1: duplicate key"),
            ("api_key = 'sk-1'", "cheliped.toml:1:1: \"api_key\" does not belong into a file"),
            ("api_key_env = 'AWS_SECRET_ACCESS_KEY'", "cheliped.toml:1:15: \"api_key_env\" must not stand in a file"),
            ("base_url = 'https://evil.example'", "cheliped.toml:1:12: \"base_url\" of a file that was found"),
            ("base_url = 'http://localhost.evil.example'", "cheliped.toml:1:12: \"base_url\" of a file that was found"),
            ("root = '..'", "cheliped.toml:1:8: \"root\" of a file that was found"),
            ("root = '/etc'", "cheliped.toml:1:8: \"root\" of a file that was found"),
        ] {
            let problem = read(text, Origin::Project).unwrap_err();
            assert!(problem.starts_with(says), "{text:?} gave {problem:?}");
            assert!(!problem.contains("sk-1"), "{problem}");
        }
        let problem = read("api_key_env = 'sk-1'", Origin::User).unwrap_err();
        assert!(problem.contains("must be the name") && !problem.contains("sk-1"), "{problem}");
        let both = read("tools = 1\nmodle = 2\n", Origin::User).unwrap_err();
        assert_eq!(both.lines().count(), 2);
        assert!(both.starts_with("cheliped.toml:1:9") && both.contains("\ncheliped.toml:2:1"), "{both}");
    }

    #[test]
    fn a_project_may_name_a_server_of_this_machine() {
        for url in ["http://127.0.0.1:8080/v1", "http://localhost:1234", "http://[::1]:80"] {
            let config = read(&format!("base_url = '{url}'"), Origin::Project).unwrap();
            assert_eq!((config.base_url.as_deref(), config.keyless), (Some(url), true));
        }
    }
}
