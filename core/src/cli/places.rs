//! Where the command keeps its files, by the conventions of the system.

use crate::env::Variables;
use std::path::PathBuf;

/// The user's configuration file: `config.toml` in `$XDG_CONFIG_HOME/cheliped` or `~/.config/cheliped`, on Windows in
/// `%APPDATA%\cheliped`.
pub(super) fn user_config(variables: &dyn Variables) -> Option<PathBuf> {
    Some(folder(variables, "XDG_CONFIG_HOME", ".config")?.join("config.toml"))
}

/// The history of `chat`: `chat_history` in `$XDG_DATA_HOME/cheliped` or `~/.local/share/cheliped`, on Windows in
/// `%APPDATA%\cheliped`.
pub(super) fn chat_history(variables: &dyn Variables) -> Option<PathBuf> {
    Some(folder(variables, "XDG_DATA_HOME", ".local/share")?.join("chat_history"))
}

fn folder(variables: &dyn Variables, variable: &str, in_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_windows = || if cfg!(windows) { absolute("APPDATA") } else { None };
    let base = absolute(variable).or_else(in_windows).or_else(|| Some(absolute("HOME")?.join(in_home)))?;
    Some(base.join("cheliped"))
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

    #[cfg(unix)]
    #[test]
    fn the_conventions_are_followed() {
        let home = Fixed(&[("HOME", "/home/ada")]);
        assert_eq!(user_config(&home), Some("/home/ada/.config/cheliped/config.toml".into()));
        assert_eq!(chat_history(&home), Some("/home/ada/.local/share/cheliped/chat_history".into()));
        let own = Fixed(&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/conf"), ("XDG_DATA_HOME", "relative")]);
        assert_eq!(user_config(&own), Some("/conf/cheliped/config.toml".into()));
        assert_eq!(chat_history(&own), Some("/home/ada/.local/share/cheliped/chat_history".into()));
        assert_eq!(user_config(&Fixed(&[])), None);
    }
}
