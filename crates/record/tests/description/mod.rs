//! Writes `docs/FORMAT.md` from the JSON Schema of the run document, whose descriptions are the doc comments of the types.

use std::collections::VecDeque;
use std::fmt::Write;

use serde_json::{Map, Value};

const HEAD: &str = "\
# The run document, `howslow-run/2`

Read this page to use a run in a program of your own. `howslow --json` prints a run document, `-o FILE` writes it,
`howslow show RUN --json` prints a kept one. It is one JSON object in UTF-8 with the machine, the settings, every cost with its
samples, and what was not measured. For tables see [GUIDE.md](GUIDE.md#exchange-data).

This page is generated from the types, as is the JSON Schema [howslow-run-2.schema.json](howslow-run-2.schema.json), which
`howslow schema` prints. The schemas of what other verbs print are in [schemas](schemas).

- Times are in nanoseconds, sizes in bytes, shares between 0 and 1, unless the list says otherwise.
- A field with a star may be missing, which means its empty value; older runs lack some. A fact that could not be determined is `null`.
- Numbers are finite, because JSON has no NaN. A net cost may be negative: then its baseline cost more than the whole.
- Readers ignore fields that they do not know, and refuse versions that they do not know. A new field keeps the version. A field whose
  meaning changes makes a new version. The order of fields has no meaning.
- howslow refuses a file above 256 MiB or with more than 20000 costs, replaces control characters, and cuts every text at 2000 characters.
- `howslow-run/1` is still read. There, `low` and `high` were the ends of the figure's own median (now: where the cost lies),
  `cycle_ns` was the best clock that the machine had ever shown (now: the one that prevailed in the run), and `band` was the largest
  difference of all twins (now: what nine in ten stay below).
";

/// The page: the document, then every type in the order in which it is first named.
pub fn of_schema(schema: &Value) -> String {
    let types = &schema["$defs"];
    let mut page = format!("{HEAD}\n## The document\n\n");
    let (mut waiting, mut described) = (VecDeque::new(), Vec::new());
    object(schema, &mut page, &mut waiting);
    while let Some(name) = waiting.pop_front() {
        if described.contains(&name) {
            continue;
        }
        let description = types[&name]["description"].as_str().unwrap_or_default();
        let _ = write!(page, "\n## {name}\n\n{description}\n");
        for variants in ["oneOf", "anyOf"].iter().filter_map(|key| types[&name][*key].as_array()) {
            choices(variants, &mut page, &mut waiting);
        }
        if types[&name]["properties"].is_object() {
            page.push('\n');
            object(&types[&name], &mut page, &mut waiting);
        }
        described.push(name);
    }
    page
}

/// A list of the fields of an object.
fn object(schema: &Value, page: &mut String, waiting: &mut VecDeque<String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in properties(schema) {
        let star = if required.contains(&Value::from(name.as_str())) { "" } else { " *" };
        let kind = kind(field, waiting);
        item(page, &format!("`{name}`{star} ({kind}): {}", text(field)));
    }
}

/// A list of the words of an enumeration, or of the kinds of a tagged one with their fields.
fn choices(variants: &[Value], page: &mut String, waiting: &mut VecDeque<String>) {
    let is_tagged = variants.iter().any(|variant| variant["properties"].is_object());
    page.push('\n');
    for variant in variants {
        if !is_tagged {
            let value = variant["const"].as_str().map(|word| format!("`{word}`"));
            let value = value.unwrap_or_else(|| kind(variant, waiting));
            item(page, &format!("{value}: {}", text(variant)));
            continue;
        }
        let fields = properties(variant).filter(|(name, _)| *name != "kind");
        let fields: Vec<String> =
            fields.map(|(name, field)| format!("`{name}` ({}): {}", kind(field, waiting), text(field))).collect();
        let word = variant["properties"]["kind"]["const"].as_str().unwrap_or_default();
        let fields = fields.join("; ").replace(".;", ";");
        item(page, &format!("`{word}`: {} {fields}", text(variant)));
    }
}

/// An item of a list, on lines of at most 130 columns.
fn item(page: &mut String, text: &str) {
    let mut line = String::from("-");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 130 {
            page.push_str(&std::mem::replace(&mut line, "\n ".into()));
        }
        line.push(' ');
        line.push_str(word);
    }
    page.push_str(&line);
    page.push('\n');
}

/// The type of a field in words, with a link to the section of a type that has one.
fn kind(field: &Value, waiting: &mut VecDeque<String>) -> String {
    if let Some(variants) = field["anyOf"].as_array() {
        let kinds: Vec<String> = variants.iter().map(|variant| kind(variant, waiting)).collect();
        return kinds.join(" or ");
    }
    if let Some(name) = field["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return match name {
            "Nanoseconds" => "ns".into(),
            "Bytes" => "bytes".into(),
            _ => {
                waiting.push_back(name.into());
                format!("[{name}](#{})", name.to_lowercase())
            }
        };
    }
    let words: Vec<&str> = match &field["type"] {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let words = words.iter().map(|word| match *word {
        "string" => "text".into(),
        "array" => match field["prefixItems"].as_array() {
            Some(items) => {
                let kinds: Vec<String> = items.iter().map(|item| kind(item, waiting)).collect();
                format!("[{}]", kinds.join(", "))
            }
            None => format!("list of {}", kind(&field["items"], waiting)),
        },
        "object" => format!("object of {}", kind(&field["additionalProperties"], waiting)),
        other => other.into(),
    });
    words.collect::<Vec<String>>().join(" or ")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

/// A description on one line.
fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}
