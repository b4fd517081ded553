//! `driver PEER WORKLOAD URL RUNS` measures one workload of one peer in a process of its own and prints one JSON line;
//! `driver serve` is the model that all of them talk to.

mod engine;
mod hand;
mod peer;

use cheliped_test_support::{Server, model};
use cpu_time::ProcessTime;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// What every agent is told.
const SYSTEM: &str = "You add numbers. Use the tool.";
/// What every agent is asked.
const MESSAGE: &str = "Add what the tool needs, then answer.";
/// Tokens of the streamed answer.
const TOKENS: usize = 2000;
/// Conversations and messages of each in F.
const CONVERSATIONS: (usize, usize) = (1000, 50);

/// A peer's agent.
enum Agent {
    Engine(engine::Agent),
    Hand(hand::Agent),
    Peer(peer::Agent),
}

/// What makes agents; made once, with everything that agents share.
enum Maker {
    Engine(engine::Maker),
    Hand(hand::Maker),
    Peer(peer::Maker),
}

impl Maker {
    fn new(peer: &str, url: &str) -> Self {
        match peer {
            "cheliped" => Self::Engine(engine::Maker::new(url)),
            "hand loop" => Self::Hand(hand::Maker::new(url)),
            "rig" => Self::Peer(peer::Maker::new(url)),
            other => panic!("no peer {other:?}"),
        }
    }

    fn agent(&self, model: &str, tools: usize) -> Agent {
        match self {
            Self::Engine(maker) => Agent::Engine(maker.agent(model, tools)),
            Self::Hand(maker) => Agent::Hand(maker.agent(model, tools)),
            Self::Peer(maker) => Agent::Peer(maker.agent(model, tools)),
        }
    }
}

impl Agent {
    async fn run(&self) -> String {
        match self {
            Self::Engine(agent) => agent.run().await,
            Self::Hand(agent) => agent.run().await,
            Self::Peer(agent) => agent.run().await,
        }
    }

    /// Text and number of pieces.
    async fn stream(&self) -> (String, usize) {
        match self {
            Self::Engine(agent) => agent.stream().await,
            Self::Hand(agent) => agent.stream().await,
            Self::Peer(agent) => agent.stream().await,
        }
    }
}

/// CPU and wall time of a piece of work, in seconds.
struct Watch(ProcessTime, Instant);

impl Watch {
    fn start() -> Self {
        Self(ProcessTime::now(), Instant::now())
    }

    fn report(self, memory_mb: f64) {
        let (cpu, wall) = (self.0.elapsed().as_secs_f64(), self.1.elapsed().as_secs_f64());
        println!("{}", json!({"cpu_s": cpu, "wall_s": wall, "memory_mb": memory_mb}));
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve"] => serve().await,
        [peer, workload, url, runs] => measure(peer, workload, url, runs.parse().expect("a number of runs")).await,
        _ => panic!("driver PEER WORKLOAD URL RUNS, or driver serve"),
    }
}

async fn serve() {
    let server = Server::start(model::answer).await.expect("a free port");
    println!("{}", server.url());
    std::future::pending::<()>().await;
}

async fn measure(peer: &str, workload: &str, url: &str, runs: usize) {
    let watch = Watch::start();
    let maker = Maker::new(peer, url);
    match workload {
        // One run after the other: three rounds of one call, then the answer.
        "A" => {
            let agent = maker.agent("tools-3", 1);
            for _ in 0..20 {
                assert_eq!(agent.run().await, model::ANSWER);
            }
            let watch = Watch::start();
            for _ in 0..runs {
                assert_eq!(agent.run().await, model::ANSWER);
            }
            watch.report(resident_mb());
        }
        // All at once against a model that takes 20 ms.
        "B" => {
            assert_eq!(maker.agent("tools-3", 1).run().await, model::ANSWER);
            let agent = Arc::new(maker.agent("tools-3-lat-20", 1));
            let watch = Watch::start();
            let spawn = |agent: Arc<Agent>| tokio::spawn(async move { agent.run().await });
            let running: Vec<_> = (0..runs).map(|_| spawn(agent.clone())).collect();
            for run in running {
                assert_eq!(run.await.expect("a run"), model::ANSWER);
            }
            watch.report(resident_mb());
        }
        // A long streamed answer.
        "C" => {
            let agent = maker.agent(&format!("stream-{TOKENS}"), 1);
            let expected = " tok".repeat(TOKENS);
            let streamed = async || {
                let (text, pieces) = agent.stream().await;
                // A finishing step may trim the answer; every token must have come as a piece.
                assert_eq!(text.trim(), expected.trim());
                assert!(pieces > TOKENS / 2, "{pieces} pieces");
            };
            streamed().await;
            let watch = Watch::start();
            for _ in 0..runs {
                streamed().await;
            }
            watch.report(resident_mb());
        }
        // What it costs to be there.
        "D" => watch.report(resident_mb()),
        // Agents of ten tools that exist already.
        "E" => {
            drop(maker.agent("answer", 10));
            let watch = Watch::start();
            let kept: Vec<Agent> = (0..runs).map(|_| maker.agent("answer", 10)).collect();
            watch.report(resident_mb());
            drop(kept);
        }
        // Conversations in memory.
        "F" => {
            let (conversations, messages) = CONVERSATIONS;
            let before = resident_mb();
            let watch = Watch::start();
            let texts = |conversation| (0..messages).map(move |message| text(conversation, message));
            match maker {
                Maker::Engine(_) => keep((0..conversations).map(|it| engine::conversation(texts(it))), before, watch),
                Maker::Hand(_) => keep((0..conversations).map(|it| hand::conversation(texts(it))), before, watch),
                Maker::Peer(_) => keep((0..conversations).map(|it| peer::conversation(texts(it))), before, watch),
            }
        }
        other => panic!("no workload {other:?}"),
    }
}

fn keep<T>(conversations: impl Iterator<Item = T>, before: f64, watch: Watch) {
    let kept: Vec<T> = conversations.collect();
    watch.report(resident_mb() - before);
    drop(kept);
}

/// About 126 characters, no two alike.
fn text(conversation: usize, message: usize) -> String {
    let number = format!("{:05} ", (message * 6151 + conversation * 31) % 99_991);
    format!("Conversation {conversation}, message {message}: {}", number.repeat(16))
}

/// Memory of this process that is in RAM, in MB; 0 where the system does not tell.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
