//! The demonstration: three questions about a sample project, answered with tools, in plain words.
//!
//! The model is `offline`, which follows rules and needs neither key nor network. With `--live` it is the one that the
//! environment has a key for.

use cheliped::Agent;
use cheliped::agent::StreamEvent;
use cheliped::message::Outcome;
use cheliped_examples::{ProjectRoot, project_tools, sample_project};
use std::io::{Write, stdout};
use std::process::ExitCode;

const QUESTIONS: [(&str, &str); 3] = [
    ("What kind of project is this?", "the agent has to look around first"),
    ("Which lines of logs/app.log contain \"ERROR\"?", "the answer is in a file that nobody has read to it"),
    ("What do I have to know from docs/notes.md?", "another file, read through the same tool"),
];

#[tokio::main]
async fn main() -> ExitCode {
    let live = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [only] if only == "--live" => true,
        other => {
            eprintln!("demo: unknown arguments {other:?}; the only option is --live, which asks a real model");
            return ExitCode::from(2);
        }
    };
    match run(live).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(live: bool) -> Result<(), Box<dyn std::error::Error>> {
    let root = ProjectRoot::open(sample_project())?;
    let mut builder = Agent::builder()
        .system_prompt("You answer questions about a software project, briefly and from its files.")
        .tools(project_tools(&root)?);
    // Without a provider the environment decides.
    if !live {
        builder = builder.provider("offline");
    }
    let agent = builder.build()?;

    println!("An agent is a model with tools. This one has two, both read-only and confined to examples/sample:");
    println!("{}.", agent.tool_names().join(" and "));
    match live {
        true => println!("It asks {}/{}, a real model.\n", agent.provider_name(), agent.model_name()),
        false => {
            println!(
                "Its model is \"offline\": rules instead of a language model, so no key and no network is needed."
            );
            println!("It picks the tool that fits the words of the question, and quotes the result.\n");
        }
    }
    for (number, (question, why)) in QUESTIONS.iter().enumerate() {
        println!("Question {}: {question}", number + 1);
        println!("  ({why})");
        answer(&agent, question).await?;
    }
    println!(
        "That was one loop, three times: the model asks for a tool, the engine checks and runs the call, the model"
    );
    println!("answers from the result. Next: examples/rust/examples/quickstart.rs, or ask for yourself with");
    println!("  cargo run -p cheliped --features cli -- agent --root examples/sample --provider offline \"...\"");
    Ok(())
}

/// Asks one question and tells what happens.
async fn answer(agent: &Agent, question: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut at_start = true;
    let mut stream = agent.stream(question);
    while let Some(event) = stream.next().await {
        match event? {
            StreamEvent::Iteration { iteration } => println!("  - model call {iteration}"),
            StreamEvent::ToolCallStarted { name, arguments, .. } => {
                println!("  - the model asks for {name} with {}", printable(arguments.get()));
            }
            StreamEvent::ToolCallFinished { result, outcome, duration_ms, .. } => {
                let lines = result.lines().count();
                let became = match outcome {
                    Outcome::Ok => "the engine ran it",
                    Outcome::Error => "it failed, and the model is told why",
                    Outcome::Denied => "it was denied",
                    Outcome::NotRun => "it was not run",
                };
                println!("  - {became}: {lines} lines of result after {duration_ms} ms");
            }
            StreamEvent::TextDelta { text, .. } => {
                // Each piece as it comes.
                for piece in printable(&text).split_inclusive('\n') {
                    print!("{}{piece}", if at_start { "  > " } else { "" });
                    at_start = piece.ends_with('\n');
                }
                stdout().flush()?;
            }
            StreamEvent::TextDiscarded { .. } => {
                println!("{}  (that was only talk before a tool call)", if at_start { "" } else { "\n" });
                at_start = true;
            }
            StreamEvent::Finished { response } => {
                let ending = if at_start { "" } else { "\n" };
                println!(
                    "{ending}  - done after {} ms and {} model calls\n",
                    response.duration_ms, response.iterations
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Text without characters that could move the cursor of a terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}
