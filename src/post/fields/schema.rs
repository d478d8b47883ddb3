//! The table of known fields as a JSON Schema, for editors.

use serde_json::{Map, Value, json};

use super::table::{FieldSpec, LIFTED, Shape, TABLE};

/// The JSON Schema (draft 2020-12) of the front matter. It is made from the parser's own table.
///
/// Dates are checked by the parser alone: no schema can say all accepted forms. Names are listed as
/// in the table, though the parser also takes other case and `_` or `-` between words.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for spec in TABLE {
        for name in spec.names {
            add(&mut properties, spec, name);
        }
    }
    for name in LIFTED {
        properties.insert(
            (*name).to_owned(),
            json!({"description": "Its keys are stored in `extra`.", "type": ["object", "null"]}),
        );
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Front matter of a post",
        "description": "Keys match in any case and with `_`, `-` or nothing between words. Other keys are kept in `extra`.",
        "type": "object",
        "properties": properties,
        "additionalProperties": true,
    })
}

/// Adds one accepted name, inside its parent where it has one.
fn add(properties: &mut Map<String, Value>, spec: &FieldSpec, name: &str) {
    if let Some((parent, child)) = name.split_once('.') {
        let parent = properties.entry(parent).or_insert_with(
            || json!({"type": ["object", "null"], "properties": {}, "additionalProperties": true}),
        );
        if let Some(Value::Object(inner)) = parent.get_mut("properties") {
            add(inner, spec, child);
        }
    } else if let Some(list) = name.strip_suffix("[0]") {
        properties.insert(
            list.to_owned(),
            json!({"type": ["array", "null"], "description": format!("The first is `{}`. {}", spec.name, spec.about)}),
        );
    } else {
        let mut schema = shape(spec.shape, name);
        let about = if name == spec.name {
            spec.about.to_owned()
        } else {
            format!("Another name of `{}`. {}", spec.name, spec.about)
        };
        schema.insert("description".to_owned(), Value::String(about));
        properties.insert(name.to_owned(), Value::Object(schema));
    }
}

fn shape(shape: Shape, name: &str) -> Map<String, Value> {
    let text = json!({"type": ["string", "number", "boolean", "null"]});
    let objects = |keys: &[&str]| {
        let one_of: Vec<Value> = keys.iter().map(|key| json!({"required": [key]})).collect();
        json!({"type": "object", "anyOf": one_of})
    };
    let list = |objects: Value| {
        let item = json!({"anyOf": [text, objects]});
        json!({"anyOf": [text, objects, {"type": "array", "items": item}]})
    };
    let schema = match shape {
        Shape::Text => json!({"type": ["string", "number", "boolean", "null"], "pattern": "\\S"}),
        Shape::OptionalText | Shape::Status => text.clone(),
        Shape::Date if name == "published" => json!({"type": ["string", "boolean", "null"]}),
        Shape::Date => {
            json!({"type": ["string", "null"], "examples": ["2024-05-22", "2024-05-22T09:30:00Z"]})
        }
        Shape::Flag => json!({"type": ["boolean", "null"]}),
        Shape::Labels => list(objects(&["label", "name"])),
        Shape::Names => list(objects(&["name"])),
        Shape::Texts => json!({"anyOf": [text, {"type": "array", "items": text}]}),
        Shape::Image => json!({"anyOf": [text, objects(&["src", "url", "image", "path"])]}),
    };
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
