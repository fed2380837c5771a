//! The terminal that howslow is run in, measured at `/dev/tty`: output is *parsed* when the terminal answers the question for
//! the cursor's place (`ESC[6n`) that follows it. A writer alone sees only when its bytes were accepted by a buffer.

mod answer;
mod device;
mod guardian;
mod payload;

use std::time::{Duration, Instant};

use analysis::statistics::median;
use analysis::terminal::{Between, Latency, OwnTerminal, Parsed, Pass};

use crate::error::TerminalError;
use device::{Device, PATIENCE};
use guardian::Held;
use payload::{PAYLOADS, Payload};

#[cfg(feature = "fuzz")]
pub use answer::fuzz_answers;
pub use guardian::{GUARD, Guardian, serve};

/// Questions without output before them, at most.
const MOST_QUESTIONS: usize = 1000;

/// The share of the time that they may take.
const QUESTIONS: f64 = 0.15;

/// The shortest time of a payload that counts: a terminal that draws 60 times a second has drawn a few times by then.
const SHORTEST: Duration = Duration::from_millis(60);

/// It is also this many times as long as an answer, which its time contains.
const ANSWERS: f64 = 20.0;

/// Bytes of the first payload, of the longest one, and of all of a kind.
const FIRST: usize = 256;
const LONGEST: usize = 8 << 20;
const MOST_BYTES: u64 = 256 << 20;

/// So many times each payload is sent, if time allows: fewer give no interval.
const WANTED: usize = 6;

/// Measures the terminal that this process belongs to. It takes little more than `budget`, and restores the terminal in any
/// case. The environment shows what lies between. Fails if there is none, it does not answer, it takes nothing, it is
/// closed, or a signal comes.
pub fn measure(budget: Duration, variable: impl Fn(&str) -> Option<String>) -> Result<OwnTerminal, TerminalError> {
    let device = Device::open()?;
    let size = device.size()?;
    let mut held = Held::new(device)?;
    let begin = Instant::now();
    held.device.write(b"howslow measures this terminal. Ctrl-C ends it.")?;
    let mut questions = Questions { device: &mut held.device, columns: size.1, requested: 0 };
    let latency = questions.latency(budget.mul_f64(QUESTIONS))?;
    let mut payloads = Vec::new();
    for (place, payload) in PAYLOADS.iter().enumerate() {
        let left = budget.saturating_sub(begin.elapsed());
        payloads.push(questions.parsed(payload, left / (PAYLOADS.len() - place) as u32, (size, &latency))?);
    }
    // A terminal that has become smaller has wrapped lines and moved the cursor's places.
    let resized = held.device.size()? != size;
    held.clean = true;
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let between = [
        (Between::TMUX, set("TMUX")),
        (Between::SCREEN, set("STY")),
        (Between::SSH, set("SSH_CONNECTION") || set("SSH_TTY")),
    ];
    Ok(OwnTerminal {
        term: variable("TERM").unwrap_or_default(),
        rows: size.0,
        columns: size.1,
        between: between.into_iter().filter(|(_, is)| *is).map(|(between, _)| between).collect(),
        resized,
        short: payloads.iter().any(|payload| payload.passes.len() < WANTED),
        latency: Latency::new(latency),
        payloads,
    })
}

/// Questions to the terminal, each with an answer of its own.
struct Questions<'a> {
    device: &'a mut Device,
    columns: u16,
    requested: u16,
}

impl Questions<'_> {
    /// Puts the cursor into another column of the first row than the last time, so that no answer is taken for another one.
    fn question(&mut self) -> (Vec<u8>, u16) {
        const APART: u16 = 60;
        self.requested = self.requested % self.columns.min(APART) + 1;
        (format!("\x1b[1;{}H\x1b[6n", self.requested).into_bytes(), self.requested)
    }

    /// Times from the question to the answer, in ns.
    fn latency(&mut self, time: Duration) -> Result<Vec<f64>, TerminalError> {
        let begin = Instant::now();
        let mut times = Vec::new();
        while times.len() < 10 || (times.len() < MOST_QUESTIONS && begin.elapsed() < time) {
            let (question, column) = self.question();
            let sent = Instant::now();
            self.device.write(&question)?;
            times.push((self.device.answer(1, column, PATIENCE)? - sent).as_secs_f64() * 1e9);
            if begin.elapsed() > PATIENCE.max(time) {
                break;
            }
        }
        Ok(times)
    }

    /// Sends payloads: longer ones until one takes long enough, then that one again and again.
    fn parsed(
        &mut self,
        payload: &Payload,
        time: Duration,
        ((rows, columns), latency): ((u16, u16), &[f64]),
    ) -> Result<Parsed, TerminalError> {
        let begin = Instant::now();
        let answer = Duration::from_secs_f64(median(latency.iter().copied()).unwrap_or(0.0) / 1e9);
        let enough = SHORTEST.max(answer.mul_f64(ANSWERS)).min(time / (WANTED as u32 + 1));
        let mut text = payload.text(FIRST, rows, columns);
        let (mut all, mut passes) = (0, Vec::new());
        loop {
            let pass = self.pass(&text, PATIENCE + enough * 10)?;
            all += text.len() as u64;
            let took = Duration::from_secs_f64(pass.parsed_s);
            let longer = took < enough && text.len() < LONGEST && begin.elapsed() < time / 2;
            if longer {
                // Up to eight times as long: the first ones are mostly the answer.
                let factor = enough.as_secs_f64() * 1.2 / pass.parsed_s.max(1e-9);
                let bytes = (text.len() as f64 * factor.clamp(2.0, 8.0)) as usize;
                text = payload.text(bytes.min(LONGEST), rows, columns);
                continue;
            }
            passes.push(pass);
            if begin.elapsed() + took > time || all + text.len() as u64 > MOST_BYTES {
                break;
            }
        }
        Ok(Parsed { name: payload.name, about: payload.about, bytes: text.len() as u64, passes })
    }

    /// One payload, the question after it, and its answer.
    fn pass(&mut self, text: &[u8], patience: Duration) -> Result<Pass, TerminalError> {
        let (question, column) = self.question();
        let sent = Instant::now();
        let written = self.device.write(text)?;
        self.device.write(&question)?;
        let answered = self.device.answer(1, column, patience)?;
        Ok(Pass { written_s: (written - sent).as_secs_f64().max(1e-9), parsed_s: (answered - sent).as_secs_f64() })
    }
}
