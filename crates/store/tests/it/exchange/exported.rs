//! What is written, without the programs that read it.

use howslow_store::exchange::{EXPORTERS, ExportError, IMPORTERS, exporter};

use super::support::{example, hostile, text, written};

#[test]
fn nothing_writes_a_number_that_is_none() {
    let book = record::Book::from_toml(include_str!("../../../../../books/pdp-11-24.toml")).expect("a book").run();
    for format in EXPORTERS.iter().filter(|format| format.is_text) {
        for run in [example(), hostile(), book.clone()] {
            let text = text(format.name, std::slice::from_ref(&run));
            // `nan` alone is also a part of `nanoseconds`.
            for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
                assert!(!matches!(word, "NaN" | "inf" | "-inf" | "Infinity"), "{}: {word} in\n{text}", format.name);
            }
        }
    }
}

#[test]
fn runs_with_other_axes_share_a_table() {
    let runs = [example(), hostile()];
    let table = howslow_store::exchange::cost_table(&runs);
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    assert_eq!(table.rows.len(), runs[0].costs.len() + runs[1].costs.len());
    for name in ["id", "ns", "axis_ns", "2 axes", "size", "run"] {
        assert_eq!(table.columns.iter().filter(|column| *column == name).count(), 1, "{name}: {:?}", table.columns);
    }
}

#[test]
fn a_format_for_one_run_refuses_two() {
    for name in ["bencher", "github-action", "lmbench"] {
        let format = exporter(name).expect("a format");
        let refused = (format.write)(&[example(), example()], &mut Vec::new());
        assert!(matches!(refused, Err(ExportError::OneRun { runs: 2, .. })), "{name}: {refused:?}");
    }
}

#[test]
fn a_run_in_the_format_of_another_tool_is_read_as_that_tools() {
    let run = example();
    let again = howslow_store::exchange::import(&text("hyperfine", std::slice::from_ref(&run)), None)
        .expect("hyperfine's JSON");
    assert_eq!((again.tool.as_str(), again.costs.len()), ("hyperfine", run.costs.len()));
    for (one, other) in run.costs.iter().zip(&again.costs) {
        let (one, other) = (one.quoted().0, other.quoted().0);
        assert!((one - other).abs() <= 0.05 * one.abs() + 1e-3, "{one} {other}");
    }
    let reported = text("lmbench", std::slice::from_ref(&run));
    let again = howslow_store::exchange::import(&reported, None).expect("lmbench's text");
    let null = again.costs.iter().find(|cost| cost.operation == "imported.lmbench.simple.syscall").expect("a line");
    let own = run.cost("syscall.getppid", &[]).expect("a cost").quoted().0;
    assert!((null.quoted().0 - own).abs() <= 0.1, "four digits of a microsecond: {} {own}", null.quoted().0);
    assert_eq!(null.like, ["syscall.getppid"]);
}

#[test]
fn the_page_of_formats_names_each() {
    let page = include_str!("../../../../../docs/GUIDE.md");
    let names = EXPORTERS.iter().map(|exporter| exporter.name).chain(IMPORTERS.iter().map(|importer| importer.name));
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "docs/GUIDE.md has no line for {name}");
    }
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    for format in EXPORTERS {
        let run = example();
        assert_eq!(written(format.name, std::slice::from_ref(&run)), written(format.name, &[run]), "{}", format.name);
    }
}
