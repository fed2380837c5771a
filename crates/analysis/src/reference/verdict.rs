//! The verdict in words: one line that always stands there, then a sentence for each oddity.

use record::Run;
use record::units::counted;

use super::held::{Direction, rounded};
use super::oddities::{CLEAR, OddCost, Oddity, ReferenceVerdict, WIDEST};
use super::remedy::Place;

/// The verdict on a run of this place, as sentences: first what there is, then each oddity. Empty if no reference has any of
/// its costs.
pub fn sentences(verdict: &ReferenceVerdict<'_>, place: Place) -> Vec<String> {
    let mut sentences: Vec<String> = summary(verdict).into_iter().chain(open(verdict)).collect();
    sentences.extend(verdict.odd.iter().map(|oddity| oddity.sentence(place)));
    sentences
}

fn summary(verdict: &ReferenceVerdict<'_>) -> Option<String> {
    /// With more open costs than this, and a greater share of all, "nothing odd" would be reported of a run that could not know.
    const OPEN: (usize, f64) = (2, 0.1);
    if verdict.references.is_empty() {
        return None;
    }
    let (odd, judged) = (verdict.odd_costs(), verdict.odd_costs() + verdict.cheaper + verdict.within);
    let all = judged + verdict.open.len();
    let references = listed(&verdict.references);
    let within = if odd > 0 { verdict.within } else { 0 };
    let rest = [
        (within, "within it".to_string()),
        (verdict.cheaper, format!("below 1/{CLEAR} of them")),
        (verdict.open.len(), "open".to_string()),
    ];
    let rest: String =
        rest.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}")).collect();
    let (within, of) = (verdict.within, counted(all as u64, "cost"));
    let furthest =
        verdict.furthest.filter(|_| odd == 0).map_or_else(String::new, |OddCost { cost, nearest, .. }| {
            format!(
                " The slowest of these: {}, {} times {}.",
                cost.typed(),
                rounded(nearest.times),
                nearest.reference.id
            )
        });
    let first = match (odd, judged) {
        (_, 0) => format!("None of {of} is certain enough to be held against {references}."),
        (0, _) if verdict.open.len() > OPEN.0 && verdict.open.len() as f64 > OPEN.1 * all as f64 => {
            format!("Cannot tell yet: of {of}, {within} within a factor of {CLEAR} of {references}{rest}.")
        }
        (0, _) => format!("Nothing odd: of {of}, {within} within a factor of {CLEAR} of {references}{rest}."),
        _ => format!("Odd here: of {of}, {odd} beyond a factor of {CLEAR} of {references}{rest}."),
    };
    Some(first + &furthest)
}

/// What is open, in one sentence.
fn open(verdict: &ReferenceVerdict<'_>) -> Option<String> {
    const NAMED: usize = 3;
    if verdict.open.is_empty() {
        return None;
    }
    let names: Vec<String> = verdict.open.iter().take(NAMED).map(|cost| cost.typed()).collect();
    let more = match verdict.open.len() - names.len() {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "more cost")),
    };
    Some(format!(
        "Open: {}{more}, whose intervals or doubts neither end within a factor of {WIDEST} of a reference nor leave a factor of \
         {CLEAR}; a longer --budget narrows intervals.",
        names.join(", ")
    ))
}

/// `the only reference, zen-4-kvm (AMD EPYC, Linux 6.18.44, KVM guest)`, `the references a, b and c`.
fn listed(references: &[&Run]) -> String {
    match references {
        [] => "any reference".into(),
        [only] => format!("the only reference, {}", described(only)),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(|reference| reference.id.as_str()).collect();
            format!("the references {} and {}", first.join(", "), last.id)
        }
    }
}

fn described(reference: &Run) -> String {
    let machine = &reference.machine;
    let guest = machine.virtualization.hypervisor.as_ref().map(|name| format!("{name} guest"));
    let kernel = format!("{} {}", machine.kernel.name, machine.kernel.release).trim().to_string();
    let parts = [Some(machine.cpu.model.clone()), Some(kernel), guest];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { reference.id.clone() } else { format!("{} ({})", reference.id, parts.join(", ")) }
}

impl Oddity<'_> {
    /// `Waking a task on another CPU costs 55 µs (futex.roundtrip other), 7 times the slowest of 3 references
    /// (zen-4-kvm); 5 more like it: ...; try ...`
    pub fn sentence(&self, place: Place) -> String {
        let why = match (&self.reason, self.remedy) {
            (Some(reason), Some(remedy)) => format!(" Likely: {reason}; {}.", remedy.text(place)),
            (Some(reason), None) => format!(" Likely: {reason}."),
            _ => " No setting of this machine explains it; howslow explain RUN shows its parts.".into(),
        };
        format!("{}.{why}", self.claim())
    }

    /// What is odd and by how much, without the reason.
    pub fn claim(&self) -> String {
        let Some(OddCost { cost, nearest: held, references }) = self.costs.first() else { return self.title.into() };
        let extreme = if self.direction == Direction::Slower { "slowest" } else { "fastest" };
        let reference = match references {
            0 | 1 => format!("the reference ({})", held.reference.id),
            many => format!("the {extreme} of {many} references ({})", held.reference.id),
        };
        let compared = match self.direction {
            Direction::Slower => format!("{} times {reference}", rounded(held.times)),
            Direction::Faster => format!("1/{} of {reference}", rounded(held.times.under(1.0))),
        };
        let name = format!("{} {}", cost.operation, cost.at.values());
        let more = match self.costs.len() {
            1 => String::new(),
            2 => "; 1 more cost like it".into(),
            more => format!("; {} more costs like it", more - 1),
        };
        format!("{} costs {} ({}), {compared}{more}", self.title, cost.quoted(), name.trim())
    }
}
