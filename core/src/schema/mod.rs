//! JSON Schema: checking a tool's schema once, checking arguments against it, tidying arguments.

mod tidy;
pub(crate) mod words;

use crate::message::Arguments;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

pub use tidy::tidy;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("schema cannot be used: {problem}")]
pub struct SchemaError {
    /// What is wrong and where.
    pub problem: String,
}

/// A JSON Schema for an object, checked and compiled once. Cloning copies references only.
///
/// ```
/// use cheliped::schema::Schema;
/// let schema = Schema::new(serde_json::json!({
///     "type": "object",
///     "properties": {"path": {"type": "string"}},
///     "required": ["path"],
/// }))?;
/// let arguments = r#"{"path": 7}"#.parse().unwrap();
/// assert!(schema.check(&arguments).unwrap_err().contains("path"));
/// assert!(Schema::new(serde_json::json!({"type": "array"})).is_err());
/// # Ok::<(), cheliped::schema::SchemaError>(())
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    value: Value,
    text: Arc<RawValue>,
    validator: jsonschema::Validator,
}

/// What is wrong, where it stands, and what to do where that is not plain.
fn told(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let hint = if place.ends_with("/pattern: ") {
        "; patterns run in linear time, so look-around and back-references cannot be used"
    } else {
        ""
    };
    format!("{place}{error}{hint}")
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.text.get())
    }
}

impl Schema {
    /// Checks and compiles a schema. Its root must be `type: object`; a missing type or missing `properties` are
    /// filled in. Patterns run on a linear-time engine.
    ///
    /// # Errors
    /// [`SchemaError`] when it is no object schema, no valid JSON Schema, refers to another document, or has a
    /// pattern that needs look-around or back-references.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        let Value::Object(mut root) = schema else {
            return Err(SchemaError { problem: format!("the root must be an object, got {schema}") });
        };
        match root.get("type") {
            None => {
                root.insert("type".into(), "object".into());
            }
            Some(Value::String(kind)) if kind == "object" => {}
            Some(other) => {
                return Err(SchemaError { problem: format!("the root must have \"type\": \"object\", got {other}") });
            }
        }
        match root.get("properties") {
            None => {
                root.insert("properties".into(), Value::Object(Map::new()));
            }
            Some(Value::Object(_)) => {}
            // An empty map written by a language whose empty map is an empty list.
            Some(Value::Array(list)) if list.is_empty() => {
                root.insert("properties".into(), Value::Object(Map::new()));
            }
            Some(other) => {
                return Err(SchemaError { problem: format!("\"properties\" must be an object, got {other}") });
            }
        }
        let value = Value::Object(root);
        let validator = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&value)
            .map_err(|error| SchemaError { problem: told(&error) })?;
        let text =
            RawValue::from_string(value.to_string()).map_err(|error| SchemaError { problem: error.to_string() })?;
        Ok(Self(Arc::new(Compiled { value, text: text.into(), validator })))
    }

    /// An object without properties.
    ///
    /// # Errors
    /// None in practice; the signature matches [`new`](Self::new).
    pub fn empty() -> Result<Self, SchemaError> {
        Self::new(Value::Object(Map::new()))
    }

    /// The schema as a value.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// The schema as JSON text, for wire formats.
    pub fn text(&self) -> &Arc<RawValue> {
        &self.0.text
    }

    /// Checks arguments. The message lists up to five problems with the place of each, for the model to read.
    ///
    /// # Errors
    /// The problems as text.
    pub fn check(&self, arguments: &Arguments) -> Result<(), String> {
        let value = arguments.value();
        if self.0.validator.is_valid(&value) {
            return Ok(());
        }
        let problems: Vec<String> = self
            .0
            .validator
            .iter_errors(&value)
            .take(5)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        Err(problems.join("; "))
    }
}
