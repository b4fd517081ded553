use super::*;
use crate::Agent;
use crate::agent::StreamEvent;
use crate::message::Outcome;
use crate::provider::ScriptedProvider;
use serde_json::{Value, json};
use std::fs;

/// A folder for one test, with the project in `inside`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("inside/src")).unwrap();
        Self(folder)
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(path), content).unwrap();
    }

    fn root(&self) -> ProjectRoot {
        ProjectRoot::open(self.path("inside")).unwrap()
    }
}

async fn call(root: &ProjectRoot, name: &str, arguments: Value) -> (Outcome, String) {
    let model = ScriptedProvider::new().call(name, arguments).reply("done");
    let agent = Agent::builder().provider(model).tools(tools(root).unwrap()).build().unwrap();
    let mut stream = agent.stream("go");
    while let Some(event) = stream.next().await {
        if let StreamEvent::ToolCallFinished { outcome, result, .. } = event.unwrap() {
            return (outcome, result.to_string());
        }
    }
    panic!("no call was made");
}

#[tokio::test]
async fn a_file_is_read_in_pages() {
    let folder = Folder::new();
    let lines: String = (1..=450).map(|n| format!("line {n}\n")).collect();
    folder.write("inside/long.txt", lines);
    let root = folder.root();
    let (outcome, text) = call(&root, "file_read", json!({"path": "long.txt"})).await;
    assert_eq!(outcome, Outcome::Ok);
    assert!(text.starts_with("long.txt: 450 lines, here 1 to 200\n1: line 1\n"), "{text}");
    assert!(text.ends_with("200: line 200\n[there is more: ask with offset 201]\n"), "{text}");
    let (_, text) = call(&root, "file_read", json!({"path": "./long.txt", "offset": 449, "limit": 9})).await;
    assert_eq!(text, "long.txt: 450 lines, here 449 to 450\n449: line 449\n450: line 450\n");
    let (_, text) = call(&root, "file_read", json!({"path": "long.txt", "offset": 451})).await;
    assert_eq!(text, "long.txt: 450 lines; none from number 451 on\n");
    let (outcome, _) = call(&root, "file_read", json!({"path": "long.txt", "offset": 0})).await;
    assert_eq!(outcome, Outcome::Error);
}

#[tokio::test]
async fn lines_are_searched_and_counted() {
    let folder = Folder::new();
    folder.write("inside/app.log", "INFO a\r\nERROR b\r\nINFO c\r\nERROR d\r\nerror e");
    let root = folder.root();
    let (_, text) = call(&root, "file_read", json!({"path": "app.log", "search": "ERROR"})).await;
    assert_eq!(text, "app.log: 2 of 5 lines contain \"ERROR\"\n2: ERROR b\n4: ERROR d\n");
    let (_, text) =
        call(&root, "file_read", json!({"path": "app.log", "search": "error", "limit": 1, "offset": 2})).await;
    assert_eq!(
        text,
        "app.log: 3 of 5 lines contain \"error\", here 2 to 2\n4: ERROR d\n[there is more: ask with offset 3]\n"
    );
    let (_, text) = call(&root, "file_read", json!({"path": "app.log", "search": "fatal"})).await;
    assert_eq!(text, "app.log: 0 of 5 lines contain \"fatal\"\n");
}

#[tokio::test]
async fn a_folder_is_searched() {
    let folder = Folder::new();
    folder.write("inside/a.txt", "TODO one\nnothing\n");
    folder.write("inside/src/b.rs", "fn main() {}\n// TODO two\n");
    folder.write("inside/src/c.bin", b"TODO\0");
    folder.write("inside/.env", "TODO secret");
    folder.write("outside.txt", "TODO outside");
    let root = folder.root();
    let (outcome, text) = call(&root, "file_read", json!({"path": ".", "search": "TODO"})).await;
    assert_eq!(outcome, Outcome::Ok, "{text}");
    assert_eq!(text, ".: 2 lines contain \"TODO\", in 2 files\nsrc/b.rs:2: // TODO two\na.txt:1: TODO one\n");
    let (_, text) = call(&root, "file_read", json!({"path": "src", "search": "TODO"})).await;
    assert_eq!(text, "src: 1 line contains \"TODO\", in 1 files\nsrc/b.rs:2: // TODO two\n");
    let (_, text) = call(&root, "file_read", json!({"path": ".", "search": "todo", "limit": 1})).await;
    assert_eq!(
        text,
        ".: 2 lines contain \"todo\", in 2 files\nsrc/b.rs:2: // TODO two\n[there is more: ask with offset 2]\n"
    );
}

#[tokio::test]
async fn nothing_outside_is_shown() {
    let folder = Folder::new();
    folder.write("secret.txt", "outside");
    folder.write("inside/a.txt", "inside");
    folder.write("inside/.env", "TOKEN=1");
    folder.write("inside/server.pem", "key");
    let root = folder.root();
    let outside = folder.path("secret.txt");
    let outside = outside.to_str().unwrap();
    for path in [
        "../secret.txt",
        "src/../../secret.txt",
        "src/../a.txt",
        outside,
        "/etc/passwd",
        ".env",
        "./.env",
        "server.pem",
        "",
        "a\0.txt",
    ] {
        let (outcome, text) = call(&root, "file_read", json!({"path": path})).await;
        assert_eq!(outcome, Outcome::Error, "{path:?}: {text}");
        assert!(!text.contains("outside\n") && !text.contains("TOKEN"), "{path:?}: {text}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_pipes_are_no_way_out() {
    let folder = Folder::new();
    folder.write("secret.txt", "outside");
    folder.write("inside/a.txt", "hello");
    folder.write("inside/.env", "TOKEN=1");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
    link("../secret.txt", "inside/out.txt");
    link("..", "inside/up");
    link("a.txt", "inside/in.txt");
    link(".env", "inside/env.txt");
    let root = folder.root();
    for path in ["out.txt", "up/secret.txt", "up", "env.txt"] {
        let (outcome, text) = call(&root, "file_read", json!({"path": path})).await;
        assert_eq!(outcome, Outcome::Error, "{path}: {text}");
    }
    let (_, text) = call(&root, "file_read", json!({"path": "in.txt"})).await;
    assert_eq!(text, "in.txt: 1 line\n1: hello\n");
    let (_, text) = call(&root, "project_info", json!({})).await;
    assert!(text.contains("project files: 1 in 1 folders"), "links are not followed: {text}");
    assert!(std::process::Command::new("mkfifo").arg(folder.path("inside/pipe")).status().unwrap().success());
    let (outcome, text) = call(&root, "file_read", json!({"path": "pipe"})).await;
    assert_eq!((outcome, text.contains("no ordinary file")), (Outcome::Error, true), "{text}");
}

#[tokio::test]
async fn what_is_no_text_is_said_so() {
    let folder = Folder::new();
    folder.write("inside/a.bin", [1, 0, 2]);
    folder.write("inside/latin.txt", b"caf\xe9\n");
    folder.write("inside/long.txt", "x".repeat(5000));
    fs::File::create(folder.path("inside/huge.txt")).unwrap().set_len(33 << 20).unwrap();
    let root = folder.root();
    let (outcome, text) = call(&root, "file_read", json!({"path": "a.bin"})).await;
    assert_eq!((outcome, text.as_str()), (Outcome::Ok, "a.bin: a binary file of 3 bytes; its bytes are not shown"));
    let (_, text) = call(&root, "file_read", json!({"path": "latin.txt"})).await;
    assert_eq!(text, "latin.txt: 1 line\n1: caf\u{fffd}\n");
    let (_, text) = call(&root, "file_read", json!({"path": "long.txt"})).await;
    assert!(text.len() < 1100 && text.contains("[line cut]"), "{text}");
    let (outcome, text) = call(&root, "file_read", json!({"path": "huge.txt"})).await;
    assert_eq!((outcome, text.contains("33.0 MiB")), (Outcome::Error, true), "{text}");
    let (_, text) = call(&root, "file_read", json!({"path": "src"})).await;
    assert_eq!(text, "src is a folder with 0 entries\n\n");
}

#[tokio::test]
async fn a_project_is_described() {
    let folder = Folder::new();
    folder.write("inside/README.md", "\n# Kettle\n\nBoils water.\n");
    folder.write("inside/Cargo.toml", "[package]\n");
    folder.write("inside/src/main.rs", "fn main() {}\n");
    folder.write("inside/src/lib.rs", "\n");
    fs::create_dir_all(folder.path("inside/target/debug")).unwrap();
    folder.write("inside/target/debug/made.rs", "\n");
    let (_, text) = call(&folder.root(), "project_info", json!({})).await;
    assert_eq!(
        text,
        "project: inside\nproject title: Kettle\nproject kind: Rust package\nproject files: 4 in 2 folders, 48 bytes in all\n\
         largest file: README.md, 24 bytes\nproject languages, with files: Rust 2, Markdown 1, TOML 1\ntree:\n  src/\n    \
         lib.rs (1 byte)\n    main.rs (13 bytes)\n  target/ (not looked into)\n  Cargo.toml (10 bytes)\n  \
         README.md (24 bytes)\n"
    );
    let (_, text) = call(&folder.root(), "project_info", json!({"depth": 1})).await;
    assert!(!text.contains("main.rs"), "{text}");
}

#[test]
fn the_whole_file_system_is_no_project() {
    for (path, says) in [("/", "root of the file system"), ("/no/such/folder", "--root")] {
        let error = ProjectRoot::open(path).unwrap_err();
        assert_eq!(error.code(), "configuration");
        assert!(error.to_string().contains(says), "{error}");
    }
}
