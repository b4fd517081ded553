//! `cargo xtask fuzz`: feeds every parser with broken input for a set time, on the stable toolchain.
//!
//! Inputs grow out of the written exchanges by mutations from a seeded generator, so a run with the same seed tries
//! the same inputs in the same order. A panic, a violated promise or an input that takes seconds is a failure: its
//! shortest form that still fails is printed as hex.

mod mutate;
mod seeds;

use cheliped::fuzzing::{TARGETS, Target};
use mutate::Mutator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most that one input may take.
const SLOW: Duration = Duration::from_secs(5);
/// Most inputs that shortening tries.
const SHORTENING: usize = 2000;

/// What one target went through.
pub(crate) struct Fuzzed {
    pub(crate) target: &'static str,
    pub(crate) inputs: u64,
    /// What went wrong and with which input.
    pub(crate) failure: Option<String>,
}

/// Fuzzes one target or all, prints how it went.
pub(crate) fn fuzz(name: Option<&str>, seconds: u64, seed: u64) -> ExitCode {
    let chosen: Vec<&Target> = TARGETS.iter().filter(|target| name.is_none_or(|name| target.name == name)).collect();
    if chosen.is_empty() {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("fuzz: there is no target {:?}; there are {}", name.unwrap_or_default(), known.join(", "));
        return ExitCode::from(2);
    }
    let (mut passed, mut failed) = (0, 0);
    for target in chosen {
        let fuzzed = fuzz_one(target, Duration::from_secs(seconds), seed);
        match fuzzed.failure {
            None => {
                passed += 1;
                println!("ok   {} ({seconds} s, {} inputs)", fuzzed.target, fuzzed.inputs);
            }
            Some(failure) => {
                failed += 1;
                println!("FAIL {} after {} inputs: {failure}", fuzzed.target, fuzzed.inputs);
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fuzzes one target for a time.
pub(crate) fn fuzz_one(target: &Target, time: Duration, seed: u64) -> Fuzzed {
    let seeds = seeds::of(target.name);
    let mut mutator = Mutator::new(seed ^ seeds::number_of(target.name), seeds);
    let silence = Silence::begin();
    // What is read once, such as word packs, is no part of an input's time.
    let _ = attempt(target, b"warm up", &silence);
    let guard = Watchdog::start(target.name);
    let started = Instant::now();
    let mut inputs = 0;
    let mut failure = None;
    while started.elapsed() < time {
        let input = mutator.next();
        inputs += 1;
        guard.begin(&input);
        let ran = attempt(target, &input, &silence);
        guard.end();
        if let Err(problem) = ran {
            let short = shorten(target, input, &silence);
            failure = Some(format!("{problem}\n     input ({} bytes, hex): {}", short.len(), hex(&short)));
            break;
        }
    }
    Fuzzed { target: target.name, inputs, failure }
}

fn attempt(target: &Target, input: &[u8], silence: &Silence) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| silence.last_panic())
}

/// Cuts pieces out of a failing input while it still fails.
fn shorten(target: &Target, mut input: Vec<u8>, silence: &Silence) -> Vec<u8> {
    let mut tries = 0;
    let mut piece = input.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && tries < SHORTENING {
            tries += 1;
            let end = input.len().min(at + piece);
            let shorter: Vec<u8> = input.iter().take(at).chain(input.iter().skip(end)).copied().collect();
            match attempt(target, &shorter, silence) {
                Err(_) => input = shorter,
                Ok(()) => at += piece,
            }
        }
        piece /= 2;
    }
    input
}

/// Keeps panics from being printed and remembers the last one.
struct Silence {
    last: Arc<Mutex<String>>,
}

impl Silence {
    fn begin() -> Self {
        let last = Arc::new(Mutex::new(String::new()));
        let written = last.clone();
        std::panic::set_hook(Box::new(move |info| {
            *written.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
        }));
        Self { last }
    }

    fn last_panic(&self) -> String {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        drop(std::panic::take_hook());
    }
}

/// Ends the process with the input when one input takes too long: a loop without end cannot be caught otherwise.
struct Watchdog {
    started: Instant,
    /// Milliseconds from `started` to the start of the running input, plus one; 0 for none.
    running: Arc<AtomicU64>,
    input: Arc<Mutex<Vec<u8>>>,
}

impl Watchdog {
    fn start(target: &'static str) -> Self {
        let started = Instant::now();
        let running = Arc::new(AtomicU64::new(0));
        let input = Arc::new(Mutex::new(Vec::new()));
        let (seen, kept) = (Arc::downgrade(&running), input.clone());
        std::thread::spawn(move || {
            while let Some(running) = seen.upgrade() {
                let since = running.load(Ordering::SeqCst);
                let now = millis(started.elapsed());
                if since > 0 && now.saturating_sub(since) > millis(SLOW) {
                    let input = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    println!("FAIL {target}: an input takes longer than {} s", SLOW.as_secs());
                    println!("     input ({} bytes, hex): {}", input.len(), hex(&input));
                    std::process::exit(1);
                }
                drop(running);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Self { started, running, input }
    }

    fn begin(&self, input: &[u8]) {
        let mut kept = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
        kept.extend_from_slice(input);
        self.running.store(millis(self.started.elapsed()) + 1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.running.store(0, Ordering::SeqCst);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_input_is_found_and_shortened() {
        fn refuses_brackets(input: &[u8]) {
            assert!(!input.windows(2).any(|pair| pair == b"[["), "two brackets");
        }
        let target = Target { name: "arguments", run: refuses_brackets };
        let fuzzed = fuzz_one(&target, Duration::from_secs(60), 1);
        let failure = fuzzed.failure.unwrap();
        assert!(failure.contains("two brackets") && failure.ends_with("input (2 bytes, hex): 5b5b"), "{failure}");
    }
}
