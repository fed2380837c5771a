//! Pseudo-terminals of howslow's own, under load: output by path, size and rate, keystrokes, transfers and editors. Every
//! measurement is a guarded process of its own in a scratch folder; the user's terminal is not touched.

mod cells;
mod editor;
mod flow;
mod keystroke;
mod transfer;
mod used;

use analysis::terminal::pseudo::{Missing, PseudoTerminals, Used};
use measure::{Progress, Scratch};

use crate::error::TerminalError;
use cells::Cells;

pub use cells::Request;

/// Measures all of it. Fails if there is no scratch folder. Parts that cannot be measured are reported as missing.
pub fn measure(request: &Request<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<PseudoTerminals, TerminalError> {
    let scratch = Scratch::make(request.scratch_root).map_err(|error| TerminalError::Scratch(error.to_string()))?;
    let mut cells = Cells {
        request,
        scratch: &scratch,
        progress,
        began: std::time::Instant::now(),
        number: 0,
        missing: Vec::new(),
    };
    // The shares add up to less than the budget: each cell also takes time to set up.
    let highest = flow::highest(&mut cells, request.budget.mul_f64(0.2));
    let paced = flow::paced(&mut cells, request.budget.mul_f64(0.35));
    let keystrokes = keystroke::all(&mut cells, request.budget.mul_f64(0.15));
    let transfers = transfer::all(&mut cells);
    let editors = editor::all(&mut cells);
    let mut missing = cells.missing;
    let used = highest.iter().chain(&paced).map(|flow| flow.used).chain(transfers.iter().map(|transfer| transfer.used));
    missing.extend(unseen(used));
    Ok(PseudoTerminals { cpu: request.cpu, highest, paced, keystrokes, transfers, editors, missing })
}

/// What is said where the kernel's threads could not be seen: they carry the bytes, and are in no figure then.
fn unseen(mut used: impl Iterator<Item = Used>) -> Option<Missing> {
    used.any(|used| used.kernel_threads_s.is_none()).then(|| Missing {
        what: "processor time of kernel threads".into(),
        reason: "they cannot be seen from this container, so it is in no figure".into(),
        remedy: "run it outside of the container".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_that_cannot_be_seen_are_reported() {
        let used = |kernel_threads_s| Used { tasks_s: 1.0, kernel_threads_s };
        assert_eq!(unseen([used(Some(0.0)), used(Some(0.2))].into_iter()), None);
        let missing = unseen([used(Some(0.0)), used(None)].into_iter()).expect("one is unseen");
        assert!(missing.what.contains("kernel threads") && !missing.remedy.is_empty());
    }
}
