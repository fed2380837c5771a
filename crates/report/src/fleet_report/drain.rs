//! The nodes to drain, as commands of Slurm's `scontrol`.

use analysis::fleet::{Found, SlowFamily};

use super::view::FleetView;
use crate::text::and_more;

/// One `scontrol update` for each slow node, with what it is slow in. A name that Slurm could not have is left out, and noted in a
/// comment: it would be a command of the shell.
pub fn drain_list(found: &Found, view: &FleetView<'_>) -> String {
    let mut lines = String::new();
    for node in found.slow.iter().filter(|node| view.has(&node.class)) {
        if !is_node_name(&node.node) {
            lines += &format!("# left out, no name of a node: {}\n", one_line(&node.node));
            continue;
        }
        let family =
            |family: &SlowFamily| format!("{} +{:.1}%", word(&family.family), (family.ratio.value - 1.0) * 100.0);
        let families = and_more(node.families.iter().map(family), 3);
        let cause = node.causes.first().map_or("unknown", |cause| cause.kind.word());
        let reason = format!("howslow: slow in {families}; likely {cause}");
        lines += &format!("scontrol update NodeName={} State=DRAIN Reason=\"{reason}\"\n", node.node);
    }
    lines
}

/// True for what is a host name, so that nothing in it means anything to a shell or to Slurm: no brackets, commas or blanks.
fn is_node_name(name: &str) -> bool {
    name.len() <= 253 && record::is_plain_name(name)
}

/// A name that a file gave, as letters that mean nothing within quotes.
fn word(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') { c } else { '_' })
        .collect()
}

fn one_line(text: &str) -> String {
    record::printable(text).chars().map(|c| if c.is_control() { ' ' } else { c }).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes_mean_nothing_to_a_shell() {
        for good in ["n1", "gpu-07.cluster.example", "node_3"] {
            assert!(is_node_name(good), "{good}");
        }
        for bad in ["", "n1;reboot", "$(reboot)", "n[1-3]", "a,b", "a b", "-n", "n\n", "ALL*", "é", "`x`", "a\"b"] {
            assert!(!is_node_name(bad), "{bad}");
        }
        assert_eq!(word("x\"; rm -rf $HOME\n"), "x__ rm -rf _HOME_");
        assert!(!one_line("a\nscontrol").contains('\n'));
    }
}
