//! cheliped itself.
pub struct Maker;
pub struct Agent;
impl Maker {
    pub fn new(_: &str) -> Self {
        Self
    }
    pub fn agent(&self, _: &str, _: usize) -> Agent {
        Agent
    }
}
impl Agent {
    pub async fn run(&self) -> String {
        todo!()
    }
    pub async fn stream(&self) -> (String, usize) {
        todo!()
    }
}
pub fn conversation(texts: impl Iterator<Item = String>) -> Vec<cheliped::message::Message> {
    let message = |(index, text): (usize, String)| match index % 2 {
        0 => cheliped::message::Message::user(text),
        _ => cheliped::message::Message::assistant(text),
    };
    texts.enumerate().map(message).collect()
}
