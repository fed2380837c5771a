//! A mix priced by a run: what one unit of work is predicted to take, by operation and family, beside what it was
//! measured to take.

use record::{Cost, Estimate, Mix, MixLine, Point, Run, WholeAs};

use crate::derived::net;
use crate::estimate::interval;
use crate::mix::{Lack, Names, Source, Sum, cost_of};
use crate::statistics::{Interval, weighted_sum};

/// The cost that a line is priced by.
#[derive(Clone, Debug, PartialEq)]
pub struct By {
    /// What it is in sums.
    pub source: Source,
    /// Its id.
    pub operation: String,
    /// Its point.
    pub at: Point,
}

/// One line of a mix with its price.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line.
    pub line: MixLine,
    /// The cost it is priced by; `None` where it is lacking, or done 0 times and not in the run.
    pub by: Option<By>,
    /// One of it.
    pub each: Sum,
    /// The part of its time that a CPU works on it, above 1 where several do; `None` where the cost does not tell.
    pub busy: Option<f64>,
}

impl Row {
    /// All of it in one unit of work.
    pub fn total(&self) -> Sum {
        Sum::default().plus(self.line.times, &self.each)
    }
}

/// The operations of one family together.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its name.
    pub family: String,
    /// Its operations in one unit of work.
    pub total: Sum,
}

/// Processor time and waiting of one unit of work, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// CPUs work on it.
    pub cpu: f64,
    /// Nobody does; negative where several CPUs worked at once.
    pub wait: f64,
}

/// What one unit of a mix's work is predicted to take on the machine of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// In the order of the mix.
    pub rows: Vec<Row>,
    /// Lines that have no price here.
    pub lacking: Vec<(MixLine, Lack)>,
    /// What one unit was measured to take, in ns.
    pub measured: Option<Interval>,
}

/// Prices a mix. `place` tells the run from others at hand. What is lacking is told, not left out in silence.
pub fn predict(mix: &Mix, run: &Run, place: usize, names: Names) -> Prediction {
    let mut lacking = Vec::new();
    let mut rows = Vec::new();
    for line in &mix.lines {
        let mut row = Row { line: line.clone(), by: None, each: Sum::default(), busy: Some(0.0) };
        match cost_of(run, line, names) {
            Ok(cost) => {
                let source = (place, cost.name());
                row.each = Sum::once(source.clone(), net(cost));
                row.by = Some(By { source, operation: cost.operation.clone(), at: cost.at.clone() });
                row.busy = busy(cost);
            }
            // What is never done costs nothing, whatever it would cost.
            Err(_) if line.times == 0.0 => {}
            Err(lack) => lacking.push((line.clone(), lack)),
        }
        rows.push(row);
    }
    Prediction { rows, lacking, measured: whole(mix, run) }
}

/// The part of a cost's time that is processor time. One that does not give the CPU up is worked on all the time: whatever its
/// batches waited, other programs had the CPU, and the quiet figure is taken without that. Of the others the means over all
/// batches tell.
fn busy(cost: &Cost) -> Option<f64> {
    /// More than housekeeping between iterations makes.
    const GIVES_UP: f64 = 0.01;
    let cpu = cost.cpu_ns.user.0 + cost.cpu_ns.system.0;
    let elapsed = cpu + cost.wait_ns.0;
    let told = cpu > 0.0 && elapsed > 0.0;
    let never_waits = cost.headline != Estimate::Typical && cost.switches.voluntary < GIVES_UP;
    told.then(|| if never_waits { 1.0 } else { cpu / elapsed })
}

/// What one unit took by the cost that the mix names as its whole, if the run has it.
pub fn whole(mix: &Mix, run: &Run) -> Option<Interval> {
    let name = mix.whole.as_ref()?;
    let cost = run.costs.iter().find(|cost| cost.operation == *name || cost.name() == *name)?;
    let all = match mix.whole_as {
        WholeAs::Net => net(cost),
        WholeAs::Gross => interval(&cost.gross_ns, cost.headline),
    };
    Some(weighted_sum(&[(1.0 / mix.whole_units, all)]))
}

impl Prediction {
    /// All rows together; at least this, where something is lacking.
    pub fn total(&self) -> Sum {
        self.rows.iter().fold(Sum::default(), |sum, row| sum.plus(row.line.times, &row.each))
    }

    /// Families in the order of the mix.
    pub fn families(&self) -> Vec<Family> {
        let mut families: Vec<Family> = Vec::new();
        for row in &self.rows {
            let place = families.iter().position(|family| family.family == row.line.family).unwrap_or_else(|| {
                families.push(Family { family: row.line.family.clone(), total: Sum::default() });
                families.len() - 1
            });
            let total = std::mem::take(&mut families[place].total);
            families[place].total = total.plus(row.line.times, &row.each);
        }
        families
    }

    /// A part over the total; `None` where the total is not positive.
    pub fn share(&self, part: &Sum) -> Option<f64> {
        let total = self.total().figure().value;
        (total > 0.0).then(|| part.figure().value / total)
    }

    /// What was measured less the total: what the mix and the costs leave unexplained.
    pub fn residual(&self) -> Option<Interval> {
        Some(weighted_sum(&[(1.0, self.measured?), (-1.0, self.total().figure())]))
    }

    /// Processor time and waiting, where every cost tells.
    pub fn split(&self) -> Option<Split> {
        let mut split = Split { cpu: 0.0, wait: 0.0 };
        for row in self.rows.iter().filter(|row| row.line.times > 0.0) {
            let total = row.total().figure().value;
            let busy = row.busy?;
            split.cpu += total * busy;
            split.wait += total * (1.0 - busy);
        }
        (self.lacking.is_empty()).then_some(split)
    }
}
