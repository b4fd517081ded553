//! Skills: instructions for one kind of task, loaded by the model when it needs them.
//!
//! Only name and description stand in the system prompt; the instructions reach the model as the result of the
//! `load_skill` tool.

use serde::{Deserialize, Serialize};

/// Instructions for one kind of task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// The name by which it is loaded.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// The instructions.
    pub instructions: String,
}

impl Skill {
    /// A skill from its three texts.
    pub fn new(name: impl Into<String>, description: impl Into<String>, instructions: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), instructions: instructions.into() }
    }
}
