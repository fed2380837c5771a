//! A document without what identifies the host, its users and what they run.

use std::collections::BTreeMap;

use analysis::reference::without_paths;
use record::COMMAND;
use serde_json::Value;

/// A document without the names of nodes, processes, files, commands, control groups and runs.
pub struct AnonymousDocument {
    names: BTreeMap<String, String>,
}

impl AnonymousDocument {
    /// Removes them.
    pub fn of(document: &Value) -> Value {
        let mut names = AnonymousDocument { names: BTreeMap::new() };
        names.collect(document, "");
        names.clean(document, "")
    }

    /// Finds the names that stand for nodes and processes.
    fn collect(&mut self, value: &Value, key: &str) {
        match value {
            Value::String(text) => {
                if let Some((kind, name)) = kind_of(key, text)
                    && !self.names.contains_key(name)
                {
                    let known = self.names.values().filter(|known| known.starts_with(kind)).count();
                    self.names.insert(name.into(), format!("{kind} {}", known + 1));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, key)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    let named = match key {
                        "processes" | "threads" | "accounts" => "process",
                        "nodes" => "node",
                        "runs" | "only_in" => "run name",
                        _ => name,
                    };
                    self.collect(field, if name == "name" { named } else { name });
                }
            }
            _ => {}
        }
    }

    fn clean(&self, value: &Value, key: &str) -> Value {
        match value {
            // What a bill is of is a command line; what a row of it is, a call.
            Value::Object(fields) if key == "seen" && fields.contains_key("what") => {
                let mut rest = fields.clone();
                rest.remove("what");
                let mut clean = self.clean(&Value::Object(rest), "");
                clean["what"] = Value::String("a command".into());
                clean
            }
            Value::String(_) if DROPPED.split(' ').any(|dropped| dropped == key) => Value::Null,
            Value::String(text) if COMMANDS.contains(&key) => {
                Value::String(self.known(text).unwrap_or_else(|| "the command".into()))
            }
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.clean(item, key)).collect()),
            Value::Object(fields) => {
                let kept = fields.iter().filter(|(name, _)| !NUMBERS.contains(&name.as_str()));
                // The path of a flow is one through the kernel, and no file's.
                let is_flow = fields.contains_key("write_bytes");
                // The place of a habit is a function of the program, that of a load is a CPU.
                let is_habit = fields.contains_key("saves_ms_per_second");
                // A fact that differs, by its field in a run.
                let fact = fields.get("field").and_then(Value::as_str).and_then(|field| field.rsplit('.').next());
                let key = |name| match name {
                    "path" if is_flow => "",
                    "place" if is_habit => "function",
                    "values" => fact.unwrap_or(name),
                    _ => name,
                };
                Value::Object(kept.map(|(name, field)| (self.text(name), self.clean(field, key(name)))).collect())
            }
            other => other.clone(),
        }
    }

    fn known(&self, text: &str) -> Option<String> {
        self.names.get(text).cloned()
    }

    /// The text with names replaced, whether they are all of it or a word of it.
    fn text(&self, text: &str) -> String {
        if let Some(name) = self.known(text) {
            return name;
        }
        if let Some(name) = text.strip_prefix(TASK).and_then(|name| self.known(name)) {
            return name;
        }
        let own = |word: &str| word.starts_with("imported.") || word.contains(".so:");
        let hidden = |word: &str| is_run_id(word) || own(word) || self.names.contains_key(word);
        // Nothing shows where a command line ends.
        match text.split_once(COMMAND) {
            Some((before, _)) => without_paths(before, hidden) + "the command",
            None => without_paths(text, hidden),
        }
    }
}

/// What a task is called in causes.
const TASK: &str = "task: ";
/// Fields whose texts are places, times, a cluster's accounts or functions of a program.
const DROPPED: &str = "host cgroup run id started finished since command_line version path label build patterns function line file boot \
                       created submitted job documents shared account partition constraint further";
/// Fields that hold command lines.
const COMMANDS: [&str; 2] = ["bills", "command"];
/// Fields with numbers of the host.
const NUMBERS: [&str; 5] = ["pid", "tid", "parent", "usable", "shared_by"];

/// The kind of thing that a text names, and its name.
fn kind_of<'t>(key: &str, text: &'t str) -> Option<(&'static str, &'t str)> {
    match key {
        "node" | "nodes" | "slower" | "host" => Some(("node", text)),
        "process" => Some(("process", text)),
        "run name" => Some(("run", text)),
        "name" | "cause" => text.strip_prefix(TASK).map(|name| ("task", name)),
        _ => None,
    }
}

/// `20261124-090514-gdyp`, alone or with a mark behind it.
fn is_run_id(word: &str) -> bool {
    let mut parts = word.split('-');
    let digits = |part: Option<&str>, count| {
        part.is_some_and(|part: &str| part.len() == count && part.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(parts.next(), 8) && digits(parts.next(), 6) && parts.next().is_some_and(|part| part.len() == 4)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_replaced_and_figures_stay() {
        let document = json!({
            "seen": { "what": "sh -c 'zeta /home/zeta/x'", "processes": [{ "name": "zeta", "pid": 12, "cgroup": "/zeta", "count": 3 }] },
            "machine": { "host": "zeta-host", "kernel": { "command_line": "root=zeta", "version": "#1 zeta@host" } },
            "slow": [{ "node": "zeta7", "causes": [{ "because": "zeta7 has an older kernel than run 20261124-090514-gdyp" }] }],
            "classes": [{ "nodes": ["zeta7", "zeta8"] }],
            "causes": [{ "name": "task: zeta", "share": 0.25 }],
            "runs": [{ "name": "zeta.json", "settings": { "patterns": ["zeta*"] } }],
            "differences": [
                { "field": "machine.host", "values": ["zeta1", null] },
                { "field": "machine.kernel.command_line", "values": ["zeta=1", "zeta=2"] },
                { "field": "settings.patterns", "values": [["command: zeta"], ["pipe"]] },
                { "field": "machine.kernel.release", "values": ["6.1", "6.2"] },
            ],
            "rows": [{ "operation": "command: zeta -x" }, { "operation": "imported.zeta.x" }, { "operation": "libzeta.so:f" }],
            "sentences": ["dearer than zeta.json: command: zeta -x"],
            "nodes": [{ "name": "zeta9", "attempts": [{ "reason": "no route to zeta9", "job": "zeta" }] }],
            "accounts": [{ "name": "zeta-d", "cgroup": null }],
            "findings": [{ "habit": "small", "saves_ms_per_second": 2, "place": "zeta_main" }],
            "cells": [{ "beside": [{ "kind": "compute", "place": "same" }] }],
            "stacks": [{ "process": "zeta", "call": "read", "frames": [{ "function": "zeta_main", "line": "zeta.c:3" }] }],
            "notes": ["/srv/zeta is full; see /proc/sys/vm/swappiness"],
        });
        let clean = AnonymousDocument::of(&document);
        let text = clean.to_string();
        assert!(!text.contains("zeta") && !text.contains("gdyp"), "{text}");
        assert!(text.contains("/proc/sys/vm/swappiness") && text.contains("0.25"), "{text}");
        assert_eq!(
            (&clean["runs"][0]["name"], &clean["differences"][3]["values"][1]),
            (&json!("run 1"), &json!("6.2"))
        );
        assert_eq!(clean["cells"], document["cells"]);
        assert_eq!(clean["slow"][0]["node"], clean["classes"][0]["nodes"][0]);
        assert_ne!(clean["classes"][0]["nodes"][0], clean["classes"][0]["nodes"][1]);
    }
}
