//! The tool by which a model loads the instructions of a skill.

use super::{Effect, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
use crate::message::Arguments;
use crate::schema::{Schema, SchemaError};
use crate::skills::Skill;
use futures::future::BoxFuture;
use serde_json::json;
use std::sync::Arc;

/// `load_skill`: gives the instructions of one skill by its exact name. It is registered when there are skills, and
/// always offered.
pub struct LoadSkill {
    definition: ToolDefinition,
    skills: Arc<[Skill]>,
}

impl LoadSkill {
    /// The tool's name.
    pub const NAME: &'static str = "load_skill";

    /// The tool over these skills.
    ///
    /// # Errors
    /// None in practice: the schema is a constant.
    pub fn new(skills: Arc<[Skill]>) -> Result<Self, SchemaError> {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The exact name of the skill."}},
            "required": ["name"],
            "additionalProperties": false,
        }))?;
        let definition = ToolDefinition::new(Self::NAME, "Loads the instructions of a skill by its name.", schema);
        Ok(Self { definition: definition.idempotent(), skills })
    }
}

impl Tool for LoadSkill {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn effect(&self, _: &Arguments) -> Effect {
        Effect::ReadOnly
    }

    fn call<'a>(&'a self, arguments: Arguments, _: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let value = arguments.value();
        let name = value.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let output = match self.skills.iter().find(|skill| skill.name == name) {
            Some(skill) => json!({
                "success": true,
                "data": {"name": skill.name, "instructions": skill.instructions},
                "meta": {"mode": "load_skill"},
                "warnings": [],
            })
            .into(),
            None => {
                let message = format!("there is no skill {name:?}");
                let available: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
                let envelope = json!({
                    "success": false,
                    "error": {"code": "UNKNOWN_SKILL", "message": message, "available": available},
                    "data": null,
                    "meta": {"mode": "error"},
                    "warnings": [],
                });
                ToolOutput::refusal(envelope.to_string(), message)
            }
        };
        Box::pin(std::future::ready(Ok(output)))
    }
}
