//! What changed between two bills, such as those of a program before and after a change.

/// What changed in one call between two bills.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRow {
    /// The call.
    pub what: String,
    /// How often, before and after.
    pub count: [u64; 2],
    /// Its processor time in ns, before and after, where both have a price.
    pub cpu_ns: Option<[f64; 2]>,
}

/// What changed between two bills, as calls with their count and processor time, the largest change of time first.
pub fn changes(before: &[(String, u64, Option<f64>)], after: &[(String, u64, Option<f64>)]) -> Vec<ChangedRow> {
    let mut rows: Vec<ChangedRow> = Vec::new();
    let find = |rows: &[(String, u64, Option<f64>)], what: &str| rows.iter().find(|row| row.0 == what).cloned();
    let mut names: Vec<&String> = before.iter().chain(after).map(|row| &row.0).collect();
    names.sort_unstable();
    names.dedup();
    for what in names {
        let (one, other) = (find(before, what), find(after, what));
        let count = [one.as_ref().map_or(0, |row| row.1), other.as_ref().map_or(0, |row| row.1)];
        let time = |row: Option<(String, u64, Option<f64>)>| row.map_or(Some(0.0), |row| row.2);
        let cpu_ns = time(one).zip(time(other)).map(|(one, other)| [one, other]);
        if count[0] != count[1] || cpu_ns.is_some_and(|[one, other]| one != other) {
            rows.push(ChangedRow { what: what.clone(), count, cpu_ns });
        }
    }
    let size = |row: &ChangedRow| row.cpu_ns.map_or(0.0, |[one, other]| (other - one).abs());
    let calls = |row: &ChangedRow| row.count[1].abs_diff(row.count[0]);
    rows.sort_by(|one, other| size(other).total_cmp(&size(one)).then(calls(other).cmp(&calls(one))));
    rows
}
