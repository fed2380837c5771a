//! `--parameter NAME=V1,V2`: values that stand for `{NAME}`, and their combinations.

use record::printable;

use crate::output::Misuse;

/// The parameters of the command line, in the order given.
#[derive(Debug, Default)]
pub(super) struct Parameters(Vec<Parameter>);

#[derive(Debug)]
struct Parameter {
    name: String,
    values: Vec<String>,
}

/// One value for each of some parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen<'p>(Vec<(&'p str, &'p str)>);

/// More combinations would take hours.
const MOST: usize = 1000;

impl Parameters {
    /// Reads `size=1,2,4`. Refuses a text of another form, a name or a value given twice, and too many combinations.
    pub(super) fn read(texts: &[String]) -> Result<Parameters, Misuse> {
        let mut parameters = Vec::<Parameter>::new();
        for text in texts {
            let bad = |why: &str| Misuse(format!("--parameter {}: {why}", printable(text)));
            let (name, values) = text.split_once('=').ok_or_else(|| bad("say NAME=V1,V2,..., such as size=1,2,4"))?;
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(bad("a name has letters, digits, _ and - only"));
            }
            let values: Vec<String> = values.split(',').map(String::from).collect();
            if values.iter().any(String::is_empty) {
                return Err(bad("a value is empty"));
            }
            if let Some((_, twice)) = values.iter().enumerate().find(|(place, one)| values[..*place].contains(one)) {
                return Err(bad(&format!("the value {} is given twice", printable(twice))));
            }
            if parameters.iter().any(|one| one.name == name) {
                return Err(bad("the parameter is given twice; say all values in one"));
            }
            parameters.push(Parameter { name: name.into(), values });
        }
        let count = parameters.iter().fold(1, |count: usize, one| count.saturating_mul(one.values.len()));
        if count > MOST {
            return Err(Misuse(format!("--parameter: {count} combinations; at most {MOST} are possible")));
        }
        Ok(Parameters(parameters))
    }

    /// Checks that each of them stands in one of these texts.
    pub(super) fn are_used(&self, texts: &[&str]) -> Result<(), Misuse> {
        match self.0.iter().find(|one| !one.is_in(texts)) {
            Some(one) => Err(Misuse(format!("--parameter {0}: no command and no routine contains {{{0}}}", one.name))),
            None => Ok(()),
        }
    }

    /// The combinations of those that stand in these texts, the last one varying fastest. One without values if none does.
    pub(super) fn combinations(&self, texts: &[&str]) -> Vec<Chosen<'_>> {
        let mut all = vec![Chosen::default()];
        for one in self.0.iter().filter(|one| one.is_in(texts)) {
            all = all.iter().flat_map(|chosen| one.with(chosen)).collect();
        }
        all
    }
}

impl Parameter {
    /// A combination with each of its values.
    fn with<'p>(&'p self, chosen: &Chosen<'p>) -> Vec<Chosen<'p>> {
        let more = |value: &'p String| Chosen([&chosen.0[..], &[(self.name.as_str(), value.as_str())]].concat());
        self.values.iter().map(more).collect()
    }

    fn is_in(&self, texts: &[&str]) -> bool {
        let place = format!("{{{}}}", self.name);
        texts.iter().any(|text| text.contains(&place))
    }
}

impl<'p> Chosen<'p> {
    /// The text with the values in place of the names. What a value contains is not filled again.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            filled += &rest[..open];
            rest = &rest[open..];
            let met = self.0.iter().find_map(|(name, value)| {
                let after = rest.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
                Some((*value, after))
            });
            let (text, after) = met.unwrap_or(("{", &rest[1..]));
            filled += text;
            rest = after;
        }
        filled + rest
    }

    /// Names and values.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'p str, &'p str)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Parameters, Misuse> {
        Parameters::read(&texts.iter().map(|text| text.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn parameters_make_their_product() {
        let parameters = read(&["size=1,2", "level=fast,best"]).expect("parameters");
        let filled = |text: &str| -> Vec<String> {
            parameters.combinations(&[text]).iter().map(|chosen| chosen.fill(text)).collect()
        };
        assert_eq!(filled("a {size} {level}"), ["a 1 fast", "a 1 best", "a 2 fast", "a 2 best"]);
        assert_eq!(filled("a {size}{size} {other} {"), ["a 11 {other} {", "a 22 {other} {"]);
        assert_eq!(filled("a"), ["a"]);
        assert!(parameters.are_used(&["{size}", "x{level}"]).is_ok());
        assert!(parameters.are_used(&["{size}"]).is_err_and(|why| why.0.contains("contains {level}")));
        let braces = read(&["a={b}", "b=1"]).expect("parameters");
        assert_eq!(braces.combinations(&["{a} {b}"])[0].fill("{a} {b}"), "{b} 1");
    }
}
