//! What operations are said to consist of is in the registry, at the very points that are named.

#[test]
fn every_term_is_an_operation_at_one_of_its_points() {
    let mut missing = Vec::new();
    for operation in operations::all() {
        for point in operation.points(false) {
            for term in operation.terms.iter().chain(operation.explained_by) {
                let term = term.resolve(&point);
                let known = operations::find(&term.operation).is_some_and(|part| part.points(false).contains(&term.at));
                if !known {
                    missing.push(format!("{}{point}: {}{}", operation.id, term.operation, term.at));
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
