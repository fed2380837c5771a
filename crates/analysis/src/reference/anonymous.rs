//! A run without what identifies its host, for a page that is passed on: the rules of `contribute`, but with its samples.

use std::collections::BTreeMap;

use record::{Cost, Doubt, Point, Run, Settings, Skip, Value};

use super::contributed::{plain, stripped_machine};

/// The id of a run without a name.
pub const NAMELESS: &str = "anonymous";

/// The run without the names of host, user, labels, files and own commands, without its id, day and build. Books are published already.
/// `known` says whether an operation is one of howslow's, `selects` whether a pattern selects any of them; all others lose their names.
pub fn anonymous(run: &Run, known: &dyn Fn(&str) -> bool, selects: &dyn Fn(&str) -> bool) -> Run {
    if run.is_book() {
        return run.clone();
    }
    let names = Renamed::of(run, known);
    let mut clean = Run {
        id: NAMELESS.into(),
        // The month is enough.
        started: run.started.get(..7).unwrap_or_default().into(),
        finished: String::new(),
        tool: plain(&run.tool),
        howslow: plain(&run.howslow),
        build: String::new(),
        machine: stripped_machine(&run.machine),
        settings: settings(run, selects),
        noise: noise(run, &names),
        costs: run.costs.iter().map(|cost| names.cost(cost)).collect(),
        skipped: run.skipped.iter().map(|skip| names.skip(skip)).collect(),
        ratios: run.ratios.iter().map(|ratio| names.ratio(ratio)).collect(),
        ..run.clone()
    };
    clean.note_units();
    clean
}

fn settings(run: &Run, selects: &dyn Fn(&str) -> bool) -> Settings {
    // Without a pattern it would be a run of the headline operations.
    let pattern = |text: &String| if selects(text) { text.clone() } else { "own".into() };
    let patterns = run.settings.patterns.iter().map(pattern).collect();
    Settings { label: None, patterns, cpu: None, seed: 0, ..run.settings.clone() }
}

fn noise(run: &Run, names: &Renamed<'_>) -> record::Noise {
    let mut noise = run.noise.clone();
    noise.cpus.iter_mut().for_each(|cpu| cpu.cpu = names.cpu(cpu.cpu));
    noise.earlier_unused = noise.earlier_unused.as_deref().map(plain);
    if let Some(band) = &mut noise.band {
        band.operations.iter_mut().for_each(|(name, _)| *name = names.named(name));
    }
    noise
}

/// The names that replace others.
struct Renamed<'a> {
    known: &'a dyn Fn(&str) -> bool,
    own: BTreeMap<&'a str, String>,
    cpus: BTreeMap<u32, u32>,
    host: &'a str,
}

impl<'a> Renamed<'a> {
    fn of(run: &'a Run, known: &'a dyn Fn(&str) -> bool) -> Renamed<'a> {
        let mut own: BTreeMap<&str, String> = BTreeMap::new();
        let skipped = run.skipped.iter().map(|skip| skip.operation.as_str());
        for id in run.costs.iter().map(|cost| cost.operation.as_str()).chain(skipped).filter(|id| !known(id)) {
            let next = format!("own.{}", own.len() + 1);
            own.entry(id).or_insert(next);
        }
        let rounds = run.costs.iter().flat_map(|cost| &cost.rounds).map(|round| round.cpu);
        let used: std::collections::BTreeSet<u32> = run.noise.cpus.iter().map(|cpu| cpu.cpu).chain(rounds).collect();
        let cpus = used.into_iter().zip(0..).collect();
        Renamed { known, own, cpus, host: run.machine.host.as_deref().unwrap_or_default() }
    }

    fn cpu(&self, cpu: u32) -> u32 {
        self.cpus.get(&cpu).copied().unwrap_or(0)
    }

    /// The name of an operation, with its point if it has one.
    fn named(&self, name: &str) -> String {
        let id = name.split('@').next().unwrap_or_default();
        if (self.known)(id) { name.into() } else { self.own.get(id).cloned().unwrap_or_else(|| "own".into()) }
    }

    /// The point of an operation. Axes and values of the user's own are his words.
    fn point(&self, operation: &str, point: &Point) -> Point {
        if !(self.known)(operation) {
            return Point::default();
        }
        let plain_value = |value: &Value| match value {
            Value::Word(word) if plain(word) != *word => Value::Word("other".into()),
            value => value.clone(),
        };
        Point(point.0.iter().map(|(axis, value)| (plain(axis), plain_value(value))).collect())
    }

    fn cost(&self, cost: &Cost) -> Cost {
        let mut clean = cost.clone();
        clean.at = self.point(&cost.operation, &cost.at);
        let text = |text: &str| self.text(text, &cost.operation);
        clean.doubts = cost.doubts.iter().map(|doubt| self.doubt(doubt, &cost.operation)).collect();
        for round in &mut clean.rounds {
            round.cpu = self.cpu(round.cpu);
            round.lost = round.lost.as_deref().map(text);
        }
        if let Some(tails) = &mut clean.tails {
            tails.left_out = tails.left_out.as_deref().map(text);
        }
        for term in clean.terms.iter_mut().chain(&mut clean.explained_by) {
            term.at = self.point(&term.operation, &term.at);
            term.operation = self.named(&term.operation);
        }
        if !(self.known)(&cost.operation) {
            clean.operation = self.named(&cost.operation);
            (clean.summary, clean.group) = (String::new(), "own".into());
            (clean.like, clean.tallies, clean.per) = (Vec::new(), BTreeMap::new(), plain(&cost.per));
        }
        clean
    }

    fn skip(&self, skip: &Skip) -> Skip {
        Skip {
            operation: self.named(&skip.operation),
            at: self.point(&skip.operation, &skip.at),
            reason: self.text(&skip.reason, &skip.operation),
            remedy: self.text(&skip.remedy, &skip.operation),
        }
    }

    fn ratio(&self, ratio: &record::TimedRatio) -> record::TimedRatio {
        record::TimedRatio {
            operation: self.named(&ratio.operation),
            at: self.point(&ratio.operation, &ratio.at),
            base: self.named(&ratio.base),
            base_at: self.point(&ratio.base, &ratio.base_at),
            ..ratio.clone()
        }
    }

    /// A doubt of a cost of this operation.
    fn doubt(&self, doubt: &Doubt, operation: &str) -> Doubt {
        match doubt {
            Doubt::RoundLost { reason } => Doubt::RoundLost { reason: self.text(reason, operation) },
            Doubt::Implausible { than } => Doubt::Implausible { than: self.text(than, operation) },
            Doubt::Inherited { from, doubt } => {
                let id = from.split('@').next().unwrap_or_default();
                Doubt::Inherited { from: self.named(from), doubt: Box::new(self.doubt(doubt, id)) }
            }
            other => other.clone(),
        }
    }

    /// Words of howslow's own about an operation, without the paths and names that it put into them. Those about an operation of the
    /// user's may quote what he wrote, or what his program printed: none of them stay.
    fn text(&self, text: &str, operation: &str) -> String {
        match (self.known)(operation) {
            true => without_paths(text, |word| word == self.host || self.own.contains_key(word)),
            false => "…".into(),
        }
    }
}

/// A text in which each word that is a path, or that `identifies` the host, is replaced; `--file=NAME` is a word in two parts, each of
/// which may be one. Paths of the kernel's settings stay.
pub fn without_paths(text: &str, identifies: impl Fn(&str) -> bool) -> String {
    const KERNEL: [&str; 4] = ["/proc/sys/", "/proc/pressure", "/sys/kernel/", "/sys/devices/system/"];
    let hides = |part: &str| {
        let bare = part.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '~' && c != '.');
        let path =
            bare.starts_with(['/', '~']) || bare.starts_with("./") || bare.contains("../") || bare.contains("/home/");
        (path && bare.len() > 1 && !KERNEL.iter().any(|known| bare.starts_with(known)))
            || (!bare.is_empty() && identifies(bare))
    };
    let hidden = |word: &str| hides(word) || word.split(['=', ':', ',', '"', '\'']).any(hides);
    let shown = text.split_inclusive(char::is_whitespace).map(|piece| match piece.trim_end() {
        word if hidden(word) => piece.replacen(word, "…", 1),
        _ => piece.to_string(),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn known(id: &str) -> bool {
        id.starts_with("syscall") || id.starts_with("memory") || id.starts_with("loop")
    }

    fn run() -> Run {
        let mut run = example::run();
        run.machine.host = Some("builder-17".into());
        run.settings.label = Some("zeta-secret".into());
        run.settings.patterns = vec!["command: zeta-secret".into(), "syscall.*".into()];
        run.build = "zeta-secret".into();
        run.machine.kernel.command_line = Some("root=zeta-secret mitigations=off".into());
        let mut own = run.costs[0].clone();
        own.operation = "command: zeta-secret --key /home/zeta-secret/x".into();
        own.summary = own.operation.clone();
        let quoted = || "--prepare 'zeta-secret customer 7' ended with exit status 1".to_string();
        own.doubts = vec![Doubt::RoundLost { reason: quoted() }, Doubt::Implausible { than: own.operation.clone() }];
        own.rounds.iter_mut().for_each(|round| round.lost = Some(quoted()));
        run.costs[0].doubts = vec![
            Doubt::RoundLost { reason: "cannot open\n/srv/zeta-secret/file on builder-17".into() },
            Doubt::Inherited { from: own.name(), doubt: Box::new(own.doubts[0].clone()) },
        ];
        own.at = own.at.with("file", Value::Word("/srv/zeta-secret".into()));
        run.skipped.push(Skip {
            operation: run.costs[0].operation.clone(),
            at: own.at.clone(),
            reason: "zeta-secret is not at /home/zeta-secret/bin".replacen("zeta-secret", "builder-17", 1),
            remedy: "create ~/zeta-secret with --key=/zeta-secret,host=builder-17; see /proc/sys/vm/swappiness".into(),
        });
        run.skipped.push(Skip {
            operation: own.operation.clone(),
            at: Point::default().with("zeta-axis", Value::Word("zetacorp".into())),
            reason: quoted(),
            remedy: quoted(),
        });
        run.ratios.push(record::TimedRatio {
            operation: own.operation.clone(),
            at: Point::default().with("customer", Value::Word("zetabank".into())),
            base: run.costs[0].operation.clone(),
            ..record::TimedRatio::default()
        });
        run.units.insert("zeta-bytes".into(), record::Unit::Bytes);
        run.costs.push(own);
        run
    }

    #[test]
    fn nothing_that_identifies_a_host_is_left() {
        let run = run();
        let clean = anonymous(&run, &known, &known);
        let text = serde_json::to_string(&clean).expect("JSON");
        for name in ["zeta", "builder-17", run.id.as_str(), run.started.as_str()] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(text.contains("/proc/sys/vm/swappiness") && text.contains("mitigations=off"), "{text}");
        assert_eq!(clean.settings.patterns, ["own", "syscall.*"]);
        assert!(clean.costs.last().is_some_and(|cost| cost.operation.starts_with("own.")));
    }

    #[test]
    fn figures_and_samples_stay_and_the_run_can_be_read() {
        let run = run();
        let clean = anonymous(&run, &known, &known);
        for (one, other) in run.costs.iter().zip(&clean.costs) {
            assert_eq!((one.net_ns, one.cycles, one.rounds.len()), (other.net_ns, other.cycles, other.rounds.len()));
            assert!(one.rounds.iter().zip(&other.rounds).all(|(one, other)| one.ns == other.ns));
        }
        let read = record::run_from_bytes(&serde_json::to_vec(&clean).expect("JSON")).expect("a run");
        assert_eq!(anonymous(&read, &known, &known).costs.len(), run.costs.len());
    }
}
