use super::*;
use crate::Agent;
use crate::cli::console::Sink;
use crate::provider::{ProviderErrorKind, ScriptedProvider, Step};
use crate::tool::{ToolError, tool_fn};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

const COLOURED: Sink = Sink::Terminal { colours: true };
const COLOURLESS: Sink = Sink::Terminal { colours: false };

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

struct Screen {
    out: Paper,
    err: Paper,
    console: Console,
}

impl Screen {
    fn new(out_sink: Sink, err_sink: Sink) -> Self {
        let (out, err) = (Paper::default(), Paper::default());
        let console = Console::new(Box::new(out.clone()), out_sink, Box::new(err.clone()), err_sink);
        Self { out, err, console }
    }

    /// Both handles lead to one terminal.
    fn shared(sink: Sink) -> Self {
        let paper = Paper::default();
        let console = Console::new(Box::new(paper.clone()), sink, Box::new(paper.clone()), sink);
        Self { out: paper.clone(), err: paper, console }
    }
}

fn agent(model: ScriptedProvider, tools: bool) -> Agent {
    let builder = Agent::builder().provider(model);
    let echo = |arguments: Value, _| async move {
        match arguments["say"].as_str() {
            Some("fail") => Err(ToolError::failed("it \x1b[2J failed")),
            said => Ok(format!("said {}", said.unwrap_or("nothing"))),
        }
    };
    let builder = if tools { builder.tool(tool_fn("echo", "Repeats.", echo).unwrap()) } else { builder };
    builder.build().unwrap()
}

/// Shows a whole run; durations are zero.
async fn show(screen: &mut Screen, agent: &Agent, detail: Detail) -> Result<(), crate::Error> {
    let offers_tools = !agent.tool_names().is_empty();
    let mut view = View::new(&mut screen.console, detail, offers_tools);
    let mut stream = agent.stream("go");
    while let Some(event) = stream.next().await {
        match event {
            Ok(mut event) => {
                if let StreamEvent::ToolCallFinished { duration_ms, .. } = &mut event {
                    *duration_ms = 12;
                }
                view.event(&event, Duration::ZERO).unwrap();
            }
            Err(error) => {
                view.abandon();
                return Err(error);
            }
        }
    }
    Ok(())
}

fn with_a_call() -> ScriptedProvider {
    let call = Step::text("Let me look.").call("echo", json!({"say": "hello"}));
    ScriptedProvider::new().step(call).reply("It says hello.")
}

#[tokio::test]
async fn a_pipe_gets_the_answer_and_nothing_else() {
    let mut screen = Screen::new(Sink::Plain, Sink::Plain);
    show(&mut screen, &agent(with_a_call(), true), Detail::Normal).await.unwrap();
    assert_eq!(screen.out.text(), "It says hello.\n");
    assert_eq!(screen.err.text(), "tool echo say=hello: ok, 10 B, 12 ms\n");
}

#[tokio::test]
async fn without_tools_a_pipe_gets_the_text_at_once() {
    let mut screen = Screen::new(Sink::Plain, Sink::Plain);
    let model =
        ScriptedProvider::new().step(Step::default().chunks(["taba", " two"]).fail_after(1, ProviderErrorKind::Server));
    let error = show(&mut screen, &agent(model, false), Detail::Normal).await.unwrap_err();
    assert_eq!((error.code(), screen.out.text().as_str()), ("provider", "taba\n"));
}

#[tokio::test]
async fn with_tools_a_pipe_gets_nothing_of_an_answer_that_breaks_off() {
    let mut screen = Screen::new(Sink::Plain, Sink::Plain);
    let model =
        ScriptedProvider::new().step(Step::default().chunks(["taba", " two"]).fail_after(1, ProviderErrorKind::Server));
    show(&mut screen, &agent(model, true), Detail::Normal).await.unwrap_err();
    assert_eq!(screen.out.text(), "");
}

#[tokio::test]
async fn a_terminal_sees_the_text_and_that_it_was_taken_back() {
    let mut screen = Screen::shared(COLOURLESS);
    show(&mut screen, &agent(with_a_call(), true), Detail::Normal).await.unwrap();
    let text = screen.out.text();
    let shown: Vec<&str> = text.split('\n').map(|line| line.rsplit("\x1b[K").next().unwrap()).collect();
    assert_eq!(
        shown,
        [
            "Let me look.",
            "(the text above was taken back: it is not part of the answer)",
            "✓ echo say=hello · 10 B · 12 ms",
            "It says hello.",
            "",
        ],
        "{text:?}"
    );
    assert!(!text.contains("\x1b[3") && !text.contains("\x1b[2m"), "no colours: {text:?}");
}

#[tokio::test]
async fn colours_and_what_turns_are_for_terminals() {
    let mut screen = Screen::shared(COLOURED);
    show(&mut screen, &agent(with_a_call(), true), Detail::Normal).await.unwrap();
    let text = screen.out.text();
    assert!(text.contains("\x1b[32m✓\x1b[0m echo say=hello"), "{text:?}");
    assert!(text.contains("waiting for the model"), "{text:?}");
    assert!(text.contains("echo say=hello · 0 ms\x1b[0m\x1b[K"), "{text:?}");
}

#[tokio::test]
async fn an_answer_in_a_file_is_plain_while_progress_is_on_a_terminal() {
    let mut screen = Screen::new(Sink::Plain, COLOURED);
    let model = ScriptedProvider::new().call("echo", json!({"say": "hi"})).reply("a\x1b[31mb");
    show(&mut screen, &agent(model, true), Detail::Normal).await.unwrap();
    assert_eq!(screen.out.text(), "a\x1b[31mb\n", "a pipe gets the bytes as they are");
    assert!(screen.err.text().contains("✓"));
}

#[tokio::test]
async fn text_of_models_and_tools_cannot_move_the_cursor() {
    let mut screen = Screen::shared(COLOURLESS);
    let model = ScriptedProvider::new()
        .call("echo", json!({"say": "fail", "x\x1b]0;t\x07": "\x1b[H"}))
        .step(Step::text("\x1b[2Jclear\u{9b}1m").chunks(["\x1b", "[2Jclear", "\u{9b}1m"]));
    show(&mut screen, &agent(model, true), Detail::Verbose).await.unwrap();
    let text = screen.out.text();
    for bad in ["\x1b[2J", "\x1b]0", "\x1b[H", "\u{9b}", "\x07"] {
        assert!(!text.contains(bad), "{bad:?} in {text:?}");
    }
    assert!(text.contains("\\u{1b}[2Jclear\\u{9b}1m\n"), "{text:?}");
    // What the model and the screen get of a tool has no terminal sequences.
    assert!(text.contains("error: it  failed"), "{text:?}");
}

#[tokio::test]
async fn quiet_is_quiet_and_verbose_tells_more() {
    let mut screen = Screen::new(Sink::Plain, COLOURED);
    show(&mut screen, &agent(with_a_call(), true), Detail::Quiet).await.unwrap();
    assert_eq!((screen.out.text().as_str(), screen.err.text().as_str()), ("It says hello.\n", ""));
    let mut screen = Screen::new(Sink::Plain, Sink::Plain);
    let model = ScriptedProvider::new()
        .step(Step::default().thinking("first\nthen").call("echo", json!({"say": "hello"})))
        .reply("Done.");
    show(&mut screen, &agent(model, true), Detail::Verbose).await.unwrap();
    let err = screen.err.text();
    for wanted in [
        "reasoning:\n  first\n  then\n",
        "call echo {\"say\":\"hello\"}\n",
        "  | said hello\n",
        "scripted/scripted-1: 2 model calls, 1 tool calls",
    ] {
        assert!(err.contains(wanted), "{wanted:?} in {err}");
    }
}

#[tokio::test]
async fn a_failure_in_place_of_an_answer_is_said_so() {
    let mut screen = Screen::new(Sink::Plain, Sink::Plain);
    let model = ScriptedProvider::new().call("echo", json!({"say": "fail"})).call("echo", json!({"say": "fail"}));
    show(&mut screen, &agent(model, true), Detail::Normal).await.unwrap();
    assert!(screen.err.text().contains("not an answer"), "{}", screen.err.text());
}

#[test]
fn what_is_waited_for_turns_and_does_not_wrap() {
    let mut screen = Screen::new(COLOURLESS, COLOURLESS);
    let mut view = View::new(&mut screen.console, Detail::Normal, true);
    for id in ["a", "b"] {
        let arguments = serde_json::value::to_raw_value(&json!({"path": "x".repeat(500)})).unwrap();
        let event = StreamEvent::ToolCallStarted {
            call_id: id.into(),
            name: "a_tool_with_a_very_long_name_that_goes_on_and_on_and_on_and_on".into(),
            arguments,
            iteration: 1,
        };
        view.event(&event, Duration::from_secs(1)).unwrap();
    }
    view.tick(Duration::from_millis(3500));
    let text = screen.err.text();
    let last = text.rsplit('\r').next().unwrap();
    assert!(last.starts_with("⠙ 2 calls: ") && last.contains("· 2.5 s"), "{last:?}");
    for line in text.split('\r') {
        assert!(line.trim_end_matches("\x1b[K").chars().count() <= COLUMNS + 2, "{line:?}");
    }
}
