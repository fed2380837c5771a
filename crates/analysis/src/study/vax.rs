//! The VAX CPU: what loads a machine. Terminal output, neighbours, switches and a second CPU, on the paper's machines and here.

mod tables;

use super::definition::Study;

pub(super) static STUDY: Study = Study {
    name: "vax",
    title: "The VAX CPU",
    data: &tables::DATA,
    books: &["vax-1986"],
    parts: tables::parts,
    seconds: 90.0,
    // What passes through a kernel thread on any CPU scatters between rounds.
    rounds: Some(30),
    more: None,
    users: None,
    computed: None,
    curves: Some(tables::curves),
    tables: tables::tables,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::followed_through_nothing;

    #[test]
    fn a_run_without_costs_reports_what_is_missing() {
        let answer = followed_through_nothing(&STUDY);
        assert_eq!(answer.departures, [], "what is kept of the paper is right by its own arithmetic");
        for finding in &answer.findings {
            assert_eq!(finding.holds(), None, "{}", finding.claim);
            assert_ne!(finding.there.holds(), Some(false), "the paper contradicts itself: {}", finding.claim);
            for here in &finding.here {
                let why = here.one.figure.as_ref().expect_err("the run has no costs");
                assert!(why.contains("not in this run"), "{}", finding.claim);
            }
        }
        let printed = answer.findings.iter().filter(|finding| finding.there.holds() == Some(true)).count();
        assert!(printed >= 5, "{printed} sentences have figures in the paper");
    }
}
