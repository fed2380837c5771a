//! Charts: what they look like, that odd numbers do no harm, and that their SVG is sound.

use howslow_report::chart::{Axis, Chart, Heat, Series, Unit};

fn two_methods() -> Chart {
    let sizes = (6..=16).map(|power| f64::from(1 << power));
    let read: Vec<(f64, f64)> = sizes.clone().map(|size| (size, 300.0 + size / 12.0)).collect();
    let mapped: Vec<(f64, f64)> = sizes.map(|size| (size, 1200.0 + size / 40.0)).collect();
    let intervals = read.iter().map(|point| (point.1 * 0.8, point.1 * 1.3)).collect();
    Chart {
        title: "read and mmap".into(),
        x: Axis::log("size", Unit::Bytes),
        y: Axis::log("cost", Unit::Nanoseconds),
        series: vec![Series::new("read", read).with_intervals(intervals), Series::new("mmap", mapped)],
    }
}

fn slow_downs() -> Heat {
    let names = ["compute", "memory", "switches & calls"].map(String::from);
    Heat {
        title: "slow-down of rows beside columns".into(),
        rows: names.to_vec(),
        columns: names.to_vec(),
        cells: vec![
            vec![Some(0.004), Some(0.12), Some(0.0)],
            vec![Some(0.35), Some(0.98), None],
            vec![Some(f64::NAN), Some(-0.01)],
        ],
        absent: "not measured",
        unit: Unit::Share,
    }
}

#[test]
fn a_chart() {
    insta::assert_snapshot!(two_methods().text(80));
}

#[test]
fn a_chart_as_svg() {
    let svg = two_methods().svg();
    sound(&svg);
    insta::assert_snapshot!(svg);
}

#[test]
fn a_linear_chart() {
    let points = (0..=10).map(|rate| (f64::from(rate) * 1e6, 1.0 - f64::from(rate) * 0.08));
    let chart = Chart {
        title: "CPU left".into(),
        x: Axis::linear("output", Unit::BytesPerSecond),
        y: Axis::linear("CPU left", Unit::Share),
        series: vec![Series::new("", points.collect())],
    };
    insta::assert_snapshot!(chart.text(60));
}

#[test]
fn a_matrix() {
    insta::assert_snapshot!(slow_downs().text(80));
}

#[test]
fn every_column_of_a_matrix_is_shown_in_parts_if_need_be() {
    let columns: Vec<String> = (1..=46).map(|number| format!("family {number}")).collect();
    let cells = vec![(1..=46).map(|number| Some(f64::from(number))).collect(); 2];
    let heat = Heat { rows: vec!["one".into(), "two".into()], columns, cells, ..slow_downs() };
    let text = heat.text(40);
    let heads = text.lines().filter(|line| line.starts_with("    ")).flat_map(str::split_whitespace);
    assert_eq!(heads.collect::<Vec<_>>(), (1..=46).map(|number| number.to_string()).collect::<Vec<_>>(), "{text}");
    let shades = text.lines().filter(|line| line.starts_with("two")).flat_map(|row| row.split_whitespace().skip(1));
    assert_eq!(shades.count(), 46, "{text}");
}

#[test]
fn a_matrix_with_little_room() {
    insta::assert_snapshot!(format!("{}---\n{}", slow_downs().text(46), slow_downs().text(24)));
}

#[test]
fn a_matrix_as_svg() {
    let svg = slow_downs().svg();
    sound(&svg);
    insta::assert_snapshot!(svg);
}

/// Points that no axis shows, and the ends of what numbers hold.
fn odd_charts() -> Vec<Chart> {
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -5.0, 1e-320, 1e308, -1e308, 7.0];
    let mut sets: Vec<Vec<(f64, f64)>> = vec![vec![], vec![(3.0, 3.0)], vec![(1.0, 2.0); 5]];
    sets.extend(numbers.iter().map(|&odd| vec![(odd, 1.0), (1.0, odd), (2.0, 2.0), (odd, odd)]));
    sets.push((0..5000).map(|index| (f64::from(index), f64::from(index % 77))).collect());
    let units = [Unit::Count, Unit::Nanoseconds, Unit::Bytes, Unit::BytesPerSecond, Unit::PerSecond, Unit::Share];
    let axes = units.iter().flat_map(|&unit| [Axis::linear("a <b> & \"c\"", unit), Axis::log("\u{1}\u{7}d]]>", unit)]);
    let axes: Vec<Axis> = axes.collect();
    let mut charts = Vec::new();
    for points in sets {
        for x in &axes {
            let open = points.iter().map(|_| (f64::NEG_INFINITY, f64::INFINITY)).collect();
            let series = vec![
                Series::new("<script>alert(1)</script>", points.clone()).with_intervals(open),
                Series::new(
                    "漢字 and a name that is longer than most terminals are wide, as names of commands may be",
                    points.clone(),
                ),
            ];
            charts.push(Chart { title: "t\n<&>".into(), x: x.clone(), y: x.clone(), series });
        }
    }
    charts.push(Chart::default());
    charts
}

#[test]
fn odd_numbers_and_names_keep_the_page_and_the_document_whole() {
    for chart in odd_charts() {
        for width in [0, 1, 7, 40, 80, 1000] {
            for line in chart.text(width).lines() {
                let wide = textwrap::core::display_width(line);
                assert!(wide <= width.max(1), "{wide} of {width}: {line:?}");
                assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
            }
        }
        sound(&chart.svg());
    }
}

/// Parses the document, and finds nothing in it that runs or that is loaded from elsewhere.
fn sound(svg: &str) -> roxmltree::Document<'_> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}:\n{svg}"));
    let allowed = ["svg", "title", "style", "rect", "text", "path", "line", "circle"];
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        assert!(allowed.contains(&name), "{name}");
        for attribute in node.attributes() {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name} {} = {value}", attribute.name());
            assert!(!attribute.name().starts_with("on") && !attribute.name().contains("href"), "{name}");
        }
    }
    document
}

#[test]
fn a_line_is_interrupted_where_a_point_is_missing() {
    let points = vec![(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 2.0)];
    let chart = Chart {
        title: "gap".into(),
        x: Axis::linear("x", Unit::Count),
        y: Axis::linear("y", Unit::Count),
        series: vec![Series::new("one", points)],
    };
    let svg = chart.svg();
    let document = sound(&svg);
    let path = document.descendants().find_map(|node| node.attribute("stroke-dasharray").and(node.attribute("d")));
    assert_eq!(path.expect("a curve").matches('M').count(), 2);
    assert!(chart.text(80).contains("1 point is not shown"));
}

#[test]
fn series_that_share_a_place_are_named_together() {
    let same = vec![(1.0, 1.0), (2.0, 2.0)];
    let series = ["one", "other"].map(|name| Series::new(name, same.clone())).to_vec();
    let text = Chart { series, ..Chart::default() }.text(60);
    assert!(text.contains("* several of them") && text.contains("a one   b other"), "{text}");
}

#[test]
fn a_matrix_of_nothing_is_described_as_such() {
    assert_eq!(Heat::default().text(80), "No cells.\n");
    sound(&Heat::default().svg());
    let odd = Heat { rows: vec!["a\u{0}".into(); 2], columns: vec!["<".into()], ..slow_downs() };
    for width in [0, 1, 5, 30] {
        assert!(odd.text(width).lines().all(|line| textwrap::core::display_width(line) <= width.max(1)));
    }
    sound(&odd.svg());
}
