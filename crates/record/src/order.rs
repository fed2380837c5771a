//! Sorting rows by a number. Only the numbers and places are sorted, since each sort that is generic in its rows makes the program
//! some 4 kB larger, and there are as many as tables.

/// Sorts rows by a number of each, ascending, as [`f64::total_cmp`] does. Rows of equal numbers keep their order.
pub fn smallest_first<T>(rows: &mut Vec<T>, number: impl Fn(&T) -> f64) {
    let places = ascending(&rows.iter().map(number).collect::<Vec<f64>>());
    arrange(rows, &places);
}

/// Sorts rows by a number of each, descending, as [`f64::total_cmp`] does. Rows of equal numbers keep their order.
pub fn largest_first<T>(rows: &mut Vec<T>, number: impl Fn(&T) -> f64) {
    let places = ascending(&rows.iter().map(|row| -number(row)).collect::<Vec<f64>>());
    arrange(rows, &places);
}

fn ascending(numbers: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    places.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    places
}

fn arrange<T>(rows: &mut Vec<T>, places: &[usize]) {
    let mut taken: Vec<Option<T>> = rows.drain(..).map(Some).collect();
    rows.extend(places.iter().filter_map(|&place| taken[place].take()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_as_by_comparing_them() {
        let numbers = [f64::NAN, -f64::NAN, f64::INFINITY, 0.0, -0.0, 1.5, -2.5];
        for length in 0..60 {
            let rows: Vec<(f64, usize)> =
                (0..length).map(|place| (numbers[(place * place + length) % numbers.len()], place)).collect();
            let bits = |rows: &[(f64, usize)]| {
                rows.iter().map(|(number, place)| (number.to_bits(), *place)).collect::<Vec<_>>()
            };
            let (mut up, mut down, mut known) = (rows.clone(), rows.clone(), rows);
            smallest_first(&mut up, |row| row.0);
            known.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert_eq!(bits(&up), bits(&known));
            largest_first(&mut down, |row| row.0);
            known.sort_by_key(|row| row.1);
            known.sort_by(|one, other| other.0.total_cmp(&one.0));
            assert_eq!(bits(&down), bits(&known));
        }
    }
}
