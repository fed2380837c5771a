//! What a page shows a run beside: the reference machines of its architecture, and the one that `--against` names.

use analysis::Surroundings;
use analysis::reference::{NotHeld, hold};
use record::{Present, Run};
use report::PageView;

use crate::output::{Misuse, print_note};
use crate::resolve;

/// The run or reference machine that `--against` names. Refuses an unknown name, and a book of published costs, which `compare` compares.
pub(crate) fn named(name: Option<&str>) -> anyhow::Result<Option<Run>> {
    let Some(name) = name else { return Ok(None) };
    let reference = resolve::run(name)?;
    if reference.is_published() {
        let known = store::reference_names().collect::<Vec<_>>().join(", ");
        let why = format!("--against {}: a book of published costs is no reference machine", record::printable(name));
        return Err(Misuse(format!("{why}; `howslow compare` compares with it, the references are {known}")).into());
    }
    Ok(Some(reference))
}

/// The same, before this machine is measured: it must be of the same architecture.
pub(crate) fn check(name: Option<&str>) -> anyhow::Result<Option<Run>> {
    let named = named(name)?;
    if let Some(reference) = &named {
        same_architecture(reference, std::env::consts::ARCH)?;
    }
    Ok(named)
}

/// What a page shows a run beside.
pub(crate) struct References {
    references: Vec<Run>,
    present: Option<Present>,
    against: Option<Run>,
}

impl References {
    /// The references for a run, and the one that was named. `present` is the machine's state, if the run is of now.
    /// Fails if nothing of the named one can be held against the run.
    pub(crate) fn of(run: &Run, against: Option<Run>, present: Option<Present>) -> anyhow::Result<References> {
        if let Some(reference) = &against {
            has_common(run, reference)?;
        }
        Ok(References { references: references(run), present, against })
    }

    /// In the form that a page takes.
    pub(crate) fn view(&self) -> PageView<'_> {
        let around = Surroundings { references: &self.references, present: self.present.as_ref() };
        PageView { around, against: self.against.as_ref() }
    }
}

/// The references that a run can be held against: none for a book.
pub(crate) fn references(run: &Run) -> Vec<Run> {
    if run.is_book() { Vec::new() } else { store::references(&run.machine.architecture) }
}

fn same_architecture(reference: &Run, architecture: &str) -> anyhow::Result<()> {
    let other = reference.machine.architecture.as_str();
    if other.is_empty() || architecture.is_empty() || other == architecture {
        return Ok(());
    }
    let why = format!("it is a machine of another architecture ({other}, not {architecture})");
    Err(Misuse(format!("--against {}: {why}; `howslow compare` compares them", reference.id)).into())
}

/// A column without a figure would show nothing, so the reason is printed instead.
fn has_common(run: &Run, reference: &Run) -> anyhow::Result<()> {
    same_architecture(reference, &run.machine.architecture)?;
    let held: Vec<Option<NotHeld>> = run.costs.iter().map(|cost| hold(cost, reference).err()).collect();
    let any = |wanted: Option<NotHeld>| held.contains(&wanted);
    if any(None) || run.costs.is_empty() {
        return Ok(());
    }
    if any(Some(NotHeld::Open)) {
        print_note(&format!("the costs in common with {} are too uncertain for a ratio", reference.id));
        return Ok(());
    }
    let why = if any(Some(NotHeld::OtherVersion)) { "only costs of other versions" } else { "no cost" };
    let id = &reference.id;
    Err(Misuse(format!("--against {id}: {why} in common with this run; `howslow show {id}` lists what it has")).into())
}
