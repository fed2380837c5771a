//! Resolves the names in arguments before a verb begins, by the same rules for every verb.

use std::time::Duration;

use jiff::{Timestamp, Zoned, civil};
use record::{ReadError, Run};
use store::{PriceBook, Store, StoreError};

use crate::kin::Kin;
use crate::output::{Misuse, print_note};
use crate::pattern::Pattern;

/// A run and the name it was called by.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub name: &'a str,
    pub run: &'a Run,
}

/// At each start so much time may go into taking in runs that wait in files.
const PATIENCE: Duration = Duration::from_secs(20);

/// The user's store, with the runs taken in that wait in files for it.
/// Fails if no folder is known, or the address of the database makes no sense.
pub(crate) fn store() -> anyhow::Result<Store> {
    let store = Store::of_user().map_err(misuse)?;
    match store.take_in_waiting(PATIENCE) {
        Ok(None) => {}
        Ok(Some(text)) => print_note(&text),
        // Whatever opens the store reports that.
        Err(StoreError::Damaged { .. }) => {}
        Err(error) => print_note(&format!("warning: runs that wait in files are not taken in: {error}")),
    }
    Ok(store)
}

/// Makes this the user's store, if there is such an argument.
pub(crate) fn choose_store(address: Option<&str>) -> anyhow::Result<()> {
    let address = address.map(store::Address::parse).transpose().map_err(misuse)?;
    Ok(address.map_or(Ok(()), store::choose)?)
}

/// `3d`, `12h`, `2026-11-20`, as RFC 3339 in UTC.
pub(crate) fn since(text: &str) -> Result<String, Misuse> {
    let ago = || {
        let span: jiff::Span = text.trim().parse().ok()?;
        // A day has 24 hours here, and a month is taken back in the calendar.
        let then = Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).checked_sub(span.abs()).ok()?;
        Some(then.timestamp())
    };
    let date = || text.trim().parse::<civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let exact = || text.trim().parse::<Timestamp>().ok();
    let then = exact().or_else(ago).or_else(|| date().as_ref().map(Zoned::timestamp));
    then.map(|then| format!("{then:.0}")).ok_or_else(|| {
        let text = record::printable(text);
        Misuse(format!("--since {text}: give a time back, such as 3d, 12h or 2w, or a date, such as 2026-11-20"))
    })
}

/// The run with this name. An unknown name is misuse; a run that cannot be read is a failure.
pub(crate) fn run(name: &str) -> anyhow::Result<Run> {
    let base = if name == "@all" { Some("@1") } else { name.strip_prefix("all:") };
    if let Some(base) = base {
        return together(base);
    }
    if let Some(run) = Store::without_store(name) {
        return run.map_err(misuse);
    }
    let store = store()?;
    PriceBook::called(&store, name).map_or_else(|| store.open(name).map_err(misuse), Ok)
}

/// The run with this name, with all that agree with it, as one run.
fn together(name: &str) -> anyhow::Result<Run> {
    let kin = Kin::of(run(name)?, &store()?)?;
    kin.together().ok_or_else(|| Misuse(format!("{name}: no run")).into())
}

/// What the user can mend by other arguments is misuse; anything else is a failure.
pub(crate) fn misuse(error: StoreError) -> anyhow::Error {
    match &error {
        StoreError::Unknown { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::SharedId { .. }
        | StoreError::NoRun { .. }
        | StoreError::Address
        | StoreError::Url => Misuse(error.to_string()).into(),
        StoreError::Read { source: ReadError::Io(why), .. } | StoreError::Io { source: why, .. }
            if why.kind() == std::io::ErrorKind::NotFound =>
        {
            Misuse(error.to_string()).into()
        }
        _ => error.into(),
    }
}

/// The runs with these names.
pub(crate) fn runs(names: &[String]) -> anyhow::Result<Vec<Run>> {
    names.iter().map(|name| run(name)).collect()
}

/// The runs with these names, which are taken together. A run that is named twice is misuse: it is no more data.
pub(crate) fn distinct(names: &[String]) -> anyhow::Result<Vec<Run>> {
    let runs = runs(names)?;
    let first = |place: usize| runs[..place].iter().position(|other| *other == runs[place]);
    if let Some((place, first)) = (0..runs.len()).find_map(|place| Some((place, first(place)?))) {
        let [name, first] = [place, first].map(|place| record::printable(&names[place]));
        return Err(Misuse(format!("{name} is the same run as {first}; name each run once")).into());
    }
    Ok(runs)
}

pub(crate) fn named<'a>(names: &'a [String], runs: &'a [Run]) -> Vec<Named<'a>> {
    names.iter().zip(runs).map(|(name, run)| Named { name, run }).collect()
}

/// Parses these texts as patterns.
pub(crate) fn patterns(texts: &[String]) -> Result<Vec<Pattern>, Misuse> {
    texts.iter().map(|text| Pattern::parse(text)).collect()
}
