//! Calls of functions that run what they are given.
//!
//! A call is judged by its name, by what it is called on, and by what it is given: input of a stranger and commands
//! weigh most, an empty pair of parentheses or a number is a mention of the function or a page of a manual.

use super::Hit;
use super::rule::{Shape, Weight};
use std::borrow::Cow;

/// Bytes of the arguments that are looked at.
const ARGUMENTS: usize = 200;
/// Bytes before a parenthesis in which a name is looked for.
const PATH: usize = 80;

/// What a function does with what it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Runs a command; hardly anything else is called so.
    Shell,
    /// Runs a command; an everyday word too.
    System,
    /// Starts a program with arguments, as ordinary programs do.
    Spawn,
    /// Runs code.
    Eval,
    /// Makes objects of bytes.
    Revive,
    /// Reads a file.
    Read,
    /// Deletes a folder with all that is in it.
    Delete,
    /// Loads a module by name.
    Import,
    /// Tells about the server.
    Probe,
}

/// What a call is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Nothing,
    Number,
    /// Input of a stranger, or something decoded.
    Untrusted,
    /// A command that destroys, spies or carries away.
    Danger,
    /// A command.
    Command,
    /// A string.
    Text,
    Other,
}

/// Tells of every call worth telling.
pub(super) fn calls(text: &str, tell: &mut impl FnMut(Hit) -> bool) {
    let bytes = text.as_bytes();
    for open in memchr::memchr_iter(b'(', bytes) {
        let Some((start, end)) = path(bytes, open) else { continue };
        let path = text.get(start..end).unwrap_or_default();
        let cut = path.rfind(['.', ':', '>', '\\']).map_or(0, |at| at + 1);
        let (on, name) = (path.get(..cut).unwrap_or_default(), path.get(cut..).unwrap_or_default());
        let on = on.trim_end_matches(['.', ':', '>', '-', '\\']);
        let Some(does) = does(on, name) else { continue };
        let mut limit = bytes.len().min(open + 1 + ARGUMENTS);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let arguments = text.get(open + 1..limit).unwrap_or_default();
        let given = given(arguments.as_bytes());
        let Some((score, weight)) = judged(does, name, given, arguments) else { continue };
        let language = language(on, name, arguments);
        let shown = if on.is_empty() { format!("{name}(") } else { format!("{}(", shown(path)) };
        let hit = Hit { rule: language, pattern: Cow::Owned(shown), score, weight, range: start..open + 1 };
        if !tell(hit) {
            return;
        }
    }
}

/// The last two names of a path: `os.system`.
fn shown(path: &str) -> &str {
    let mut dots = path.rmatch_indices(['.', ':', '>', '\\']).map(|(at, _)| at);
    dots.next();
    let before = dots.find(|at| path.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphanumeric));
    before.map_or(path, |at| path.get(at + 1..).unwrap_or(path)).trim_start_matches(['$', ':', '.', '>', '-'])
}

/// The name before a parenthesis, with what it is called on. Spaces and comments may stand between.
fn path(bytes: &[u8], open: usize) -> Option<(usize, usize)> {
    let floor = open.saturating_sub(PATH);
    let mut end = open;
    loop {
        let before = bytes.get(floor..end)?;
        match before {
            [.., b' ' | b'\t'] => end -= 1,
            [.., b'*', b'/'] => end = floor + memchr::memmem::rfind(before, b"/*")?,
            _ => break,
        }
    }
    let mut start = end;
    while start > floor {
        match bytes.get(floor..start)? {
            [.., b':', b':'] | [.., b'-', b'>'] => start -= 2,
            [.., byte] if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'\\') => start -= 1,
            _ => break,
        }
    }
    // A name that is cut off is no name.
    (start < end && !(start <= floor && floor > 0)).then_some((start, end))
}

fn does(on: &str, name: &str) -> Option<Does> {
    let last = on.rsplit(['.', ':', '>', '\\', '-']).next().unwrap_or_default();
    let bare = on.is_empty();
    Some(match name {
        "shell_exec" | "passthru" | "proc_open" | "pcntl_exec" if bare => Does::Shell,
        "create_function" if bare => Does::Eval,
        "system" if bare || matches!(last, "os" | "kernel" | "posix" | "commands") => Does::System,
        "popen" if bare || matches!(last, "os" | "io" | "posix" | "kernel") => Does::System,
        "popen2" | "popen3" | "popen4" | "getoutput" | "getstatusoutput" => Does::System,
        "popen" | "run" | "call" | "check_output" | "check_call" if last == "subprocess" => Does::Spawn,
        "exec"
            if bare || matches!(last, "child_process" | "cp" | "childprocess" | "kernel" | "shelljs" | "runtime") =>
        {
            Does::System
        }
        "execsync" | "spawnsync" | "execfilesync" => Does::Spawn,
        "spawn" if bare || matches!(last, "child_process" | "cp" | "pty" | "kernel" | "process") => Does::Spawn,
        "execl" | "execv" | "execve" | "execlp" | "execvp" | "spawnl" | "spawnlp" => Does::Spawn,
        "execute" if last == "os" => Does::System,
        "command" if last == "exec" => Does::Spawn,
        "processbuilder" | "shellexecute" | "winexec" => Does::Spawn,
        "start" if last == "process" => Does::Spawn,
        "eval"
            if bare
                || matches!(
                    last,
                    "window" | "self" | "globalthis" | "this" | "builtins" | "kernel" | "binding" | "top" | "parent"
                ) =>
        {
            Does::Eval
        }
        "exec" | "eval" if last == "__builtins__" => Does::Eval,
        "instance_eval" | "class_eval" | "module_eval" | "execscript" => Does::Eval,
        "runinnewcontext" | "runinthiscontext" | "runincontext" => Does::Eval,
        "assert"
        | "call_user_func"
        | "call_user_func_array"
        | "array_map"
        | "usort"
        | "preg_replace"
        | "settimeout"
        | "setinterval"
            if bare || last == "window" =>
        {
            Does::Eval
        }
        "function" if bare => Does::Eval,
        "write" | "writeln" if last == "document" => Does::Eval,
        "unserialize" | "deserialize" => Does::Revive,
        "loads" | "load"
            if matches!(last, "pickle" | "cpickle" | "marshal" | "dill" | "yaml" | "jsonpickle" | "shelve") =>
        {
            Does::Revive
        }
        "open" | "file_get_contents" | "readfile" | "readfilesync" | "fopen" | "include" | "require"
        | "show_source" | "highlight_file" | "read" | "file" | "include_once" | "require_once" => Does::Read,
        "rmtree" | "rmsync" | "rm_rf" | "rmdirsync" | "removedirs" | "remove_dir_all" | "rimraf" | "unlink" => {
            Does::Delete
        }
        "__import__" | "import_module" => Does::Import,
        "phpinfo" if bare => Does::Probe,
        _ => return None,
    })
}

fn judged(does: Does, name: &str, given: Given, arguments: &str) -> Option<(u8, Weight)> {
    use Given::{Command, Danger, Nothing, Number, Other, Text, Untrusted};
    use Weight::{Hostile, Plain};
    let variable = arguments.trim_start().starts_with(['$', '@']);
    Some(match (does, given) {
        // "phpinfo()" is nothing but the call.
        (Does::Probe, _) => (if arguments.trim_start().starts_with(')') { 55 } else { 30 }, Plain),
        (_, Nothing | Number) => return None,
        (Does::Eval, _)
            if matches!(
                name,
                "array_map" | "usort" | "call_user_func" | "call_user_func_array" | "assert" | "preg_replace"
            ) =>
        {
            match given {
                Untrusted => (82, Hostile),
                Danger | Command | Text if RUNS.is_match(arguments.as_bytes()) => (80, Hostile),
                _ => return None,
            }
        }
        (Does::Eval, _) if matches!(name, "settimeout" | "setinterval" | "write" | "writeln" | "function") => {
            match given {
                Untrusted if name != "function" => (68, Hostile),
                Danger | Command | Text if name == "function" || ACTS.is_match(arguments.as_bytes()) => (60, Plain),
                _ => return None,
            }
        }
        (Does::Shell | Does::System | Does::Eval, Untrusted) => (86, Hostile),
        (Does::Spawn, Untrusted) => (70, Hostile),
        (Does::Shell | Does::System | Does::Spawn, Danger) => (86, Hostile),
        (Does::Eval, Danger) => (82, Hostile),
        (Does::Shell | Does::System, Command) => (76, Plain),
        (Does::Shell, _) => (73, Plain),
        (Does::System, Text) => (if name == "exec" { 60 } else { 68 }, Plain),
        (Does::System, Other) => (if variable { 62 } else { 42 }, Plain),
        (Does::Spawn, Command) => (55, Plain),
        (Does::Spawn, Text) if arguments.contains("shell=true") || matches!(name, "execsync") => (52, Plain),
        (Does::Spawn, _) => return None,
        (Does::Eval, Command | Text) => (if ACTS.is_match(arguments.as_bytes()) { 74 } else { 56 }, Plain),
        (Does::Eval, Other) if name == "create_function" => (74, Plain),
        (Does::Eval, Other) => (if variable { 64 } else { 44 }, Plain),
        (Does::Revive, Untrusted) => (76, Hostile),
        (Does::Revive, Danger) => (70, Hostile),
        (Does::Read, _) if SECRET_FILE.is_match(arguments.as_bytes()) => (68, Plain),
        (Does::Read, Untrusted) if matches!(name, "include" | "require" | "include_once" | "require_once") => {
            (76, Hostile)
        }
        (Does::Delete, _) if ROOT.is_match(arguments.as_bytes()) => (84, Hostile),
        (Does::Import, _) if MODULE.is_match(arguments.as_bytes()) => {
            if USED.is_match(arguments.as_bytes()) {
                (86, Hostile)
            } else {
                (62, Plain)
            }
        }
        (Does::Revive | Does::Read | Does::Delete | Does::Import, _) => return None,
    })
}

fn given(arguments: &[u8]) -> Given {
    let trimmed = arguments.trim_ascii_start();
    let Some(first) = trimmed.first() else { return Given::Other };
    if *first == b')' {
        return Given::Nothing;
    }
    // What belongs to the call ends with the statement or the line.
    let end = trimmed.iter().position(|byte| matches!(byte, b'\n')).unwrap_or(trimmed.len());
    let own = trimmed.get(..end).unwrap_or_default();
    if UNTRUSTED.is_match(own) {
        Given::Untrusted
    } else if first.is_ascii_digit() && own.iter().take(4).any(|byte| matches!(byte, b')')) {
        Given::Number
    } else if matches!(first, b'"' | b'\'' | b'`' | b'[' | b'f' | b'r' | b'b' | b'%')
        && own.iter().take(3).any(|byte| matches!(byte, b'"' | b'\'' | b'`'))
    {
        if DANGER.is_match(own) {
            Given::Danger
        } else if COMMAND.is_match(own) {
            Given::Command
        } else {
            Given::Text
        }
    } else {
        Given::Other
    }
}

fn language(on: &str, name: &str, arguments: &str) -> &'static str {
    let python = on.starts_with("os")
        || on.starts_with("subprocess")
        || matches!(
            on,
            "pty" | "shutil" | "pickle" | "cpickle" | "yaml" | "dill" | "commands" | "builtins" | "__builtins__"
        )
        || matches!(name, "__import__" | "rmtree" | "import_module" | "removedirs" | "loads" | "getoutput")
        || ["__import__", "b64decode", "input()", "input(", "compile(", "sys.argv", "import os", "requests.get"]
            .iter()
            .any(|sign| arguments.contains(sign) && !arguments.contains("php://"));
    let javascript =
        matches!(on, "child_process" | "cp" | "window" | "globalthis" | "document" | "fs" | "vm" | "process")
            || matches!(
                name,
                "execsync"
                    | "spawnsync"
                    | "settimeout"
                    | "setinterval"
                    | "function"
                    | "rmsync"
                    | "readfilesync"
                    | "write"
            )
            || ["atob(", "fromcharcode", "location.", "document.", "require("]
                .iter()
                .any(|sign| arguments.contains(sign));
    let ruby = matches!(name, "instance_eval" | "class_eval" | "module_eval" | "rm_rf")
        || matches!(on, "kernel" | "io")
        || arguments.contains("params[");
    if name == "execute" || name == "command" || name == "processbuilder" || name == "start" {
        "code.program.call"
    } else if python {
        "code.python.call"
    } else if javascript {
        "code.javascript.call"
    } else if ruby {
        "code.ruby.call"
    } else {
        "code.php.call"
    }
}

/// Where input of strangers comes from, and what undoes a disguise.
static UNTRUSTED: Shape = Shape::new(
    r"\$_(?:get|post|request|cookie|server|files)|\$_?\{_|\brequest\.(?:args|form|get|post|params|query|body|getparameter|values|json|data|headers|cookies|files|querystring)|\breq\.(?:query|body|params|headers|cookies|url)|\bparams\[|getparameter\s*\(|sys\.argv|process\.argv|\b(?:raw_)?input\s*\(|location\.(?:hash|search|href)|document\.(?:url|cookie|referrer)|window\.name|base64_?decode|b64decode|b64_decode|frombase64|decode64|\batob\s*\(|unescape\s*\(|fromcharcode|codecs\.decode|gzinflate|gzuncompress|str_rot13|hex2bin|\.fromhex|unhexlify|php://input|urlopen\s*\(|requests\.get\s*\(|file_get_contents\s*\(\s*['\x22]?(?:https?:|php:)|downloadstring|zlib\.decompress|marshal\.loads|event\.data|user_?input|untrusted|message\.content|buffer\.from\s*\(|getallheaders",
);
/// Commands that destroy, spy or carry away.
static DANGER: Shape = Shape::new(
    r"\brm['\x22,\s]+-\w*[rf]|/etc/(?:passwd|shadow|sudoers)|\b(?:curl|wget)\b[^\n]{0,120}(?:[|;&]|http)|\bnc(?:at)?\s+-?\w|powershell|\bmkfs|/dev/tcp|\bdd\s+if=|:\(\)\s*\{|\bdel\s+/[fsq]|format\s+c:|\.ssh/|base64\s+-d|chmod\s+-?\w*\s*777|\bcalc(?:\.exe)?['\x22\s]|\|\s*(?:ba)?sh\b|\.aws/|/proc/self|net\s+user|shutdown\s+[-/]",
);
/// Strings that begin like a command.
static COMMAND: Shape = Shape::new(
    r"^\W{0,3}(?:/(?:usr/)?bin/)?(?:id|whoami|ls|cat|dir|uname|ifconfig|ipconfig|ping|touch|echo|ps|env|printenv|pwd|hostname|netstat|net|type|curl|wget|python\d?|perl|sleep|kill|chmod|rm|mv|cp|sudo|bash|sh|calc|notepad|cmd|whois|dig|nc|ncat|sed|tar|nslookup)\b",
);
/// Strings of code that do something.
static ACTS: Shape = Shape::new(r"^\s*.{0,120}?(?:[;(=]|\breturn\b|\balert\b|<script)");
/// Functions that run commands, named in a string or called in one.
static RUNS: Shape = Shape::new(
    r"['\x22](?:system|exec|passthru|shell_exec|eval|assert|popen|proc_open|phpinfo)['\x22]|['\x22]\s*(?:system|shell_exec|passthru|phpinfo|exec|eval)\s*\(|['\x22]/[^'\x22\n]{0,60}/[imsux]*e[imsux]*['\x22]",
);
/// What is done with a module right after it was loaded.
static USED: Shape = Shape::new(
    r"\)\s*\.\s*(?:system|popen|exec\w*|spawn\w*|call|run|check_output|remove|rmtree|environ|getenv|listdir|socket)\b",
);
/// Files that hold secrets, and sources that are no files.
static SECRET_FILE: Shape = Shape::new(
    r"/etc/(?:passwd|shadow|sudoers)|\.ssh/id_|\.aws/credentials|/proc/self/environ|boot\.ini|php://(?:filter|input)|expect://|data://text",
);
/// Folders that nobody deletes on purpose.
static ROOT: Shape = Shape::new(
    r"^\s*['\x22](?:/|/\*|~|~/|[a-z]:[\\/]*|/(?:etc|home|usr|var|bin|boot)/?)['\x22]|^\s*os\.path\.expanduser\(['\x22]~/?['\x22]\)",
);
/// Modules that reach out of the program.
static MODULE: Shape =
    Shape::new(r"^\s*['\x22](?:os|subprocess|pty|socket|commands|builtins|shutil|importlib|ctypes)['\x22]");
