//! `howslow list --syscalls`: every system call, with the operation that times it or the reason why none does.

use catalogue::{Call, every_call};
use report::ListedCall;

use crate::output::{self, Misuse, Outcome};
use crate::pattern::{Pattern, nearest_of};
use crate::resolve;

pub(crate) fn list(patterns: &[String], json: bool) -> anyhow::Result<Outcome> {
    let calls = chosen(every_call(), patterns)?;
    let listed: Vec<ListedCall> = calls.iter().map(listed).collect();
    if json {
        output::print_json(&listed)?;
    } else {
        output::print_page(&report::syscalls(&listed, output::style()))?;
    }
    Ok(Outcome::Done)
}

/// The calls that the patterns select; without a pattern, all.
fn chosen(mut calls: Vec<Call>, patterns: &[String]) -> Result<Vec<Call>, Misuse> {
    let patterns = resolve::patterns(patterns)?;
    for pattern in &patterns {
        let text = record::printable(pattern.text());
        if pattern.has_point() {
            return Err(Misuse(format!("'{text}': a system call has no points; omit the part after the @")));
        }
        if !calls.iter().any(|call| means(pattern, call)) {
            let near = nearest_of(pattern.text(), calls.iter().map(|call| call.name).collect());
            return Err(Misuse(format!("no system call matches '{text}'; {near}`howslow list --syscalls` shows all")));
        }
    }
    calls.retain(|call| patterns.is_empty() || patterns.iter().any(|pattern| means(pattern, call)));
    Ok(calls)
}

/// By its number, its name, or the operation that times it.
fn means(pattern: &Pattern, call: &Call) -> bool {
    pattern.text() == call.number.to_string()
        || pattern.matches(call.name)
        || pattern.text().strip_prefix("call.") == Some(call.name)
        || call.operation.is_some_and(|operation| pattern.names(operation.id))
}

fn listed(call: &Call) -> ListedCall {
    ListedCall {
        number: call.number,
        call: call.name.into(),
        operation: call.operation.map(|operation| operation.id.into()),
        path: call.operation.map(|operation| if operation.refused { "refused" } else { "works" }.into()),
        reason: call.reason.map(Into::into),
    }
}
