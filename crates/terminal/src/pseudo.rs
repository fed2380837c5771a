//! Pseudo-terminals of howslow's own, under load: output by path, size and rate, keystrokes, transfers and editors. Every
//! measurement is a guarded process of its own in a scratch folder; the user's terminal is not touched.

mod cells;
mod editor;
mod flow;
mod keystroke;
mod transfer;
mod used;

use analysis::terminal::pseudo::PseudoTerminals;
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
    let missing = cells.missing;
    Ok(PseudoTerminals { cpu: request.cpu, highest, paced, keystrokes, transfers, editors, missing })
}
