//! Names in the data of studies and books, checked against the registry.

use std::collections::BTreeSet;
use std::fs;

use analysis::derived::{DERIVATIONS, Route};
use analysis::study::STUDIES;
use record::Point;

use crate::support::{EXAMPLE, folder, howslow};

/// Why this version does not measure what a book or study names.
fn missing(id: &str, point: &Point) -> Option<String> {
    match catalogue::find(id) {
        None => Some(format!("{id} is no operation")),
        Some(operation) if operation.points(false).contains(point) => None,
        Some(_) => Some(format!("{id} is not measured at '{point}'")),
    }
}

#[test]
fn every_operation_that_studies_and_derivations_name_exists() {
    let mut problems = BTreeSet::new();
    for study in STUDIES {
        let of_users = study.users.map_or_else(Vec::new, |users| (users.names)());
        for (id, point) in study.needs(true).into_iter().filter(|need| !of_users.contains(need)) {
            problems.extend(missing(id, &point));
        }
        let plans: Vec<&str> = load::SHIPPED.iter().map(|(name, _)| *name).collect();
        assert!(study.users.is_none_or(|users| plans.contains(&users.plan)), "{}", study.name);
    }
    let derivations = DERIVATIONS.derived.iter().chain(&DERIVATIONS.if_measured);
    for (_, part) in derivations.flat_map(|derivation| derivation.routes).flat_map(Route::parts) {
        problems.extend(missing(part.term.operation, &part.term.term().at));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_printed_cost_that_a_study_names_is_in_its_books_and_every_cost_of_its_books_is_shown() {
    for study in STUDIES {
        let books = study.books.iter().map(|name| store::book(name).expect("the book").expect("it can be read"));
        let books: Vec<record::Book> = books.collect();
        let run = record::Run { costs: Vec::new(), ..books[0].run() };
        let shown = |books: &[record::Book]| {
            let answer = study.follow(books, &run).expect("books");
            format!("{:?}", (answer.tables, answer.curves, answer.findings))
        };
        let whole = shown(&books);
        for (place, book) in books.iter().enumerate() {
            for entry in 0..book.costs.len() {
                let mut fewer = books.clone();
                let cost = fewer[place].costs.remove(entry);
                assert!(shown(&fewer) != whole, "{}: {} is not shown", book.name, cost.operation);
            }
        }
        let paper = study.paper(&books).expect("books");
        let pairs = study.data.claims.iter().flat_map(|claim| [&claim.there.one, &claim.there.other]);
        for (_, part) in pairs.flat_map(Route::parts) {
            let id = part.term.operation;
            assert!(paper.run.costs.iter().any(|cost| cost.operation == id), "{id}");
        }
    }
    let rsx = store::book("pdp-11-24").expect("the book").expect("it can be read");
    for (_, part) in DERIVATIONS.rsx.iter().flat_map(|derivation| derivation.routes).flat_map(Route::parts) {
        assert!(rsx.entry(part.term.operation).is_some(), "{}", part.term.operation);
    }
}

#[test]
fn the_analogues_of_every_book_exist() {
    let mut problems = BTreeSet::new();
    for name in store::book_names() {
        for entry in store::book(name).expect("listed").expect("a book").costs {
            for analogue in &entry.analogues {
                let (id, at) = analogue.split_once('@').unwrap_or((analogue, ""));
                problems.extend(missing(id, &Point::of_text(at)));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn the_books_of_todays_cores_use_the_ids_of_their_architectures_operations() {
    let mut problems = BTreeSet::new();
    let mut checked = 0;
    for name in store::book_names() {
        let book = store::book(name).expect("listed").expect("a book");
        if book.counted_in == record::CountedIn::Cycles && book.machine.architecture == std::env::consts::ARCH {
            for entry in &book.costs {
                problems.extend(missing(&entry.operation, &entry.at));
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn the_paper_of_rsx_is_read_to_its_last_digit() {
    let run = store::book("pdp-11-24").expect("the book").expect("it can be read").run();
    let figure = |id: &str| run.cost(id, &[]).map(|cost| cost.net_ns).expect("a cost");
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-6 * other, "{one} {other}");
    near(figure("rsx.gssw").typical.0, 1e9 / 2310.0);
    near(figure("rsx.gssw").low.0, 1e9 / 2310.5);
    near(figure("rsx.block.move").typical.0, 1e9 / 733.0);
    // 45 a second has fewer digits than 22.2 ms.
    near(figure("rsx.pfcs").typical.0, 22.2e6);
    near(figure("rsx.send.256.exit").high.0, 16.955e6);
}

/// A reader of today does not know the paper's abbreviations.
#[test]
fn the_legend_explains_every_abbreviation_of_the_pages() {
    /// Known to everyone who reads a cost, names of files and programs, and numerals.
    const KNOWN: [&str; 18] = [
        "CPU", "KVM", "MB", "ASCII", "BINARY", "NL", "SORT", "PUB", "SYS", "WASI", "MIX", "MPE", "VAX", "RSX", "II",
        "III", "XL", "PDP",
    ];
    let data = folder();
    let run = data.path().join("run.json");
    fs::write(&run, EXAMPLE).expect("written");
    for name in ["rsx", "6180", "mpe", "vax", "core"] {
        let page = howslow(&data).args(["study", name, "--run"]).arg(&run).assert().code(0);
        let page = String::from_utf8_lossy(&page.get_output().stdout).into_owned();
        let (head, body) = page.split_once("\n\n").expect("a legend and tables");
        let legend = head.lines().skip_while(|line| !line.starts_with("  now:")).skip(1).collect::<Vec<_>>().join("\n");
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric()).map(String::from);
            let short = words.filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()));
            short.collect::<BTreeSet<_>>()
        };
        assert!(legend.lines().count() > 3, "{head}");
        let known = words(&legend);
        let unknown: Vec<_> =
            words(body).into_iter().filter(|word| !known.contains(word) && !KNOWN.contains(&word.as_str())).collect();
        assert!(unknown.is_empty(), "{name} explains no {unknown:?}");
    }
}
