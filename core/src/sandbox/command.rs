//! Which commands may run: the rules in front of the confinement, which would hold what they miss.
//!
//! There is no shell: a command is split at white space and started as it stands. The rules are applied in the documented
//! order, and the first that fits is the answer.

use super::blocks::{self, EXTENSIONS, FOLDERS};

/// Commands that may run when an application says nothing else.
pub const DEFAULT_ALLOWED: [&str; 8] = ["ls", "pwd", "df", "wc", "date", "uptime", "hostname", "whoami"];

/// Commands that change nothing, so that nobody is asked about them.
const READ_ONLY: [&str; 12] =
    ["ls", "pwd", "df", "cat", "head", "tail", "grep", "wc", "date", "uptime", "hostname", "whoami"];

/// Characters that mean something to shells.
const META: [char; 18] = [';', '&', '|', '>', '<', '`', '$', '(', ')', '{', '}', '[', ']', '\\', '"', '\'', '!', '\0'];

/// Commands that never run, whatever is allowed.
const NEVER: &str = "rm mv dd mkfs fdisk shred mkfifo mknod chmod chown chattr curl wget nc ncat netcat socat ssh scp sftp ftp \
    rsync kill killall pkill reboot shutdown halt poweroff init sudo su doas pkexec newgrp chroot bash sh zsh fish csh ksh tcsh \
    dash python python2 python3 ruby perl node npx npm pip pip3 at batch nohup crontab gdb strace ltrace ptrace ps pstree top \
    htop du find env printenv set export artisan";

/// Commands that show what is in a file.
const READERS: &str =
    "cat head tail less more tac nl grep egrep fgrep awk sed wc sort uniq cut paste tr strings xxd hexdump od";

/// Files of the system that are not shown, and folders of which nothing is.
const SYSTEM_FILES: [&str; 12] = [
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/hosts",
    "/etc/fstab",
    "/etc/crontab",
    "/etc/passwd-",
    "/etc/shadow-",
    "/etc/gshadow-",
    "/etc/group-",
];
const SYSTEM_FOLDERS: [&str; 5] = ["/etc/ssh", "/etc/ssl", "/proc", "/sys", "/dev"];

/// Why a command may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Denied {
    /// In one word, for the event `shell.denied`: `metacharacter`, `hard_blocked`, `not_in_allowlist`, `sensitive_file` …
    pub reason: &'static str,
    /// The command's name, as far as it was looked at.
    pub command: String,
    /// The character or the file that it is about.
    pub about: String,
    message: String,
}

/// A command that the rules let run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The program and its arguments.
    pub words: Vec<&'a str>,
    /// Whether it may change something, so that a person is asked.
    pub mutating: bool,
}

/// Looks at a command. `allowed` are the names of programs that may run, compared exactly.
///
/// ```
/// use cheliped::sandbox::command::{DEFAULT_ALLOWED, check};
/// let command = check("ls -la src", &DEFAULT_ALLOWED)?;
/// assert_eq!((command.words, command.mutating), (vec!["ls", "-la", "src"], false));
/// let denied = check("wc /etc/passwd", &DEFAULT_ALLOWED).unwrap_err();
/// assert_eq!(denied.to_string(), "Access to '/etc/passwd' is blocked: system file.");
/// # Ok::<(), cheliped::sandbox::command::Denied>(())
/// ```
///
/// # Errors
/// The first rule that refuses it.
pub fn check<'a>(command: &'a str, allowed: &[impl AsRef<str>]) -> Result<Command<'a>, Denied> {
    let deny = |reason, command: &str, about: &str, message: String| {
        Err(Denied { reason, command: command.to_owned(), about: about.to_owned(), message })
    };
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some(first) = words.first().copied() else {
        return deny("empty", "", "", "No command provided.".into());
    };
    if let Some(meta) = command.chars().find(|c| META.contains(c)) {
        let message = "Command contains a disallowed shell metacharacter.".into();
        return deny("metacharacter", "", &meta.to_string(), message);
    }
    let name = first.rsplit('/').next().unwrap_or(first).to_lowercase();
    if NEVER.split(' ').any(|never| never == name) {
        let message = format!("Command '{first}' is permanently blocked and cannot be executed.");
        return deny("hard_blocked", first, "", message);
    }
    if !allowed.iter().any(|allowed| allowed.as_ref() == first) {
        return deny("not_in_allowlist", first, "", format!("Command '{first}' is not in the shell allowlist."));
    }
    // A path to a reader is one, too.
    if READERS.split(' ').any(|reader| reader == name) {
        for word in words.iter().skip(1) {
            let file = match word.strip_prefix('-') {
                Some(option) => match option.split_once('=') {
                    Some((_, value)) => value,
                    None => continue,
                },
                None => word,
            };
            if let Some((reason, message)) = sensitive(file) {
                return deny(reason, first, file, message);
            }
        }
    }
    Ok(Command { mutating: !READ_ONLY.contains(&first), words })
}

/// Why a file is not shown.
fn sensitive(word: &str) -> Option<(&'static str, String)> {
    let lower = word.to_lowercase();
    let path = normalised(&lower);
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let name = segments.last().copied().unwrap_or_default();
    let shown = word.rsplit('/').next().unwrap_or(word);
    let bare = blocks::bare(name);
    if blocks::is_listed_file(name) || blocks::is_listed_file(bare) {
        return Some(("sensitive_file", format!("Access to '{shown}' is blocked: contains sensitive configuration.")));
    }
    let listed = [name, bare].into_iter().filter_map(blocks::extension).find(|found| EXTENSIONS.contains(found));
    if let Some(extension) = listed.filter(|_| !blocks::is_environment(name)) {
        let message = format!("Access to '.{extension}' files is blocked: may contain secrets.");
        return Some(("sensitive_extension", message));
    }
    if blocks::is_environment(name) {
        let message = format!("Access to '{shown}' is blocked: environment files contain secrets.");
        return Some(("sensitive_file", message));
    }
    if let Some(folder) = segments.iter().find(|segment| FOLDERS.contains(segment)) {
        return Some(("sensitive_directory", format!("Access to files in '{folder}/' is blocked.")));
    }
    let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if SYSTEM_FILES.contains(&path.as_str()) || SYSTEM_FOLDERS.iter().any(|folder| inside(folder)) {
        return Some(("sensitive_path", format!("Access to '{word}' is blocked: system file.")));
    }
    None
}

/// A path without empty parts, `.` and `..`, as far as that can be told without looking at files.
fn normalised(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_documented_messages() {
        let all = ["ls", "cat", "RM"];
        for (command, reason, message) in [
            (" \t", "empty", "No command provided."),
            ("ls; id", "metacharacter", "Command contains a disallowed shell metacharacter."),
            ("RM -rf x", "hard_blocked", "Command 'RM' is permanently blocked and cannot be executed."),
            ("/bin/rm x", "hard_blocked", "Command '/bin/rm' is permanently blocked and cannot be executed."),
            ("LS", "not_in_allowlist", "Command 'LS' is not in the shell allowlist."),
            ("cat id_rsa", "sensitive_file", "Access to 'id_rsa' is blocked: contains sensitive configuration."),
            ("cat a.pem", "sensitive_extension", "Access to '.pem' files is blocked: may contain secrets."),
            (
                "cat .env.local",
                "sensitive_file",
                "Access to '.env.local' is blocked: environment files contain secrets.",
            ),
            ("cat .git/config", "sensitive_directory", "Access to files in '.git/' is blocked."),
            ("cat /proc/1/maps", "sensitive_path", "Access to '/proc/1/maps' is blocked: system file."),
        ] {
            let denied = check(command, &all).unwrap_err();
            assert_eq!((denied.reason, denied.to_string().as_str()), (reason, message), "{command}");
        }
    }

    #[test]
    fn every_line_of_the_corpus() {
        let path = format!("{}/../tests/corpora/shell.jsonl", env!("CARGO_MANIFEST_DIR"));
        let (mut lines, mut wrong) = (0, Vec::new());
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let listed = line["allowlist"].as_array();
            let allowed: Vec<String> = match listed {
                Some(listed) => listed.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
                None => DEFAULT_ALLOWED.map(str::to_owned).to_vec(),
            };
            let got = match check(line["input"].as_str().unwrap(), &allowed) {
                Ok(command) if command.mutating => "mutating-needs-approval",
                Ok(_) => "runs",
                Err(denied) => match denied.reason {
                    "empty" => "refused-empty",
                    "metacharacter" => "refused-metachar",
                    "hard_blocked" => "refused-hard-block",
                    "not_in_allowlist" => "refused-not-allowlisted",
                    _ => "refused-path",
                },
            };
            lines += 1;
            let also = line["also_ok"].as_array().is_some_and(|also| also.iter().any(|other| other == got));
            if line["expect"] != got && !also {
                wrong.push(format!("{}: {} expected {} got {got}", line["id"], line["input"], line["expect"]));
            }
        }
        assert!(wrong.is_empty() && lines > 250, "{lines} lines\n{}", wrong.join("\n"));
    }
}
