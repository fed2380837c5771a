//! What stands in the brackets of the attribute.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// The options, as code.
#[derive(Default)]
pub(crate) struct Options {
    pub args: Option<String>,
    pub types: Option<Vec<String>>,
    pub consts: Option<Vec<String>>,
    pub threads: Option<String>,
    pub block_on: Option<String>,
    pub name: Option<String>,
    pub ignored: bool,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// What is wrong, for the compiler to report.
    pub fn read(attribute: TokenStream) -> Result<Options, String> {
        let mut options = Options::default();
        for part in split(attribute, Depth::OF_VALUES) {
            let mut tokens = part.into_iter();
            let key = tokens.next().map(|token| token.to_string()).unwrap_or_default();
            let equals = tokens.next().map(|token| token.to_string());
            let value: TokenStream = tokens.collect();
            match (key.as_str(), equals.as_deref(), value.is_empty()) {
                ("ignore", None, _) => options.ignored = true,
                ("args", Some("="), false) => options.args = Some(value.to_string()),
                ("types", Some("="), false) => options.types = Some(listed("types", value, Depth::OF_TYPES)?),
                ("consts", Some("="), false) => options.consts = Some(listed("consts", value, Depth::OF_VALUES)?),
                ("threads", Some("="), false) => options.threads = Some(list_or_one(value)),
                ("block_on", Some("="), false) => options.block_on = Some(value.to_string()),
                ("name", Some("="), false) => options.name = Some(value.to_string()),
                _ => {
                    return Err(format!(
                        "`{key}` is no option of this attribute, or lacks its value; there are args, types, consts, threads, \
                         block_on, name = ..., and ignore"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// The parts between commas outside of all brackets, without empty ones. Angle brackets count as `depth` says.
pub(crate) fn split(tokens: TokenStream, mut depth: Depth) -> Vec<TokenStream> {
    let (mut parts, mut part) = (Vec::new(), Vec::<TokenTree>::new());
    for token in tokens {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') && depth.is_outside() {
            parts.push(std::mem::take(&mut part).into_iter().collect());
            continue;
        }
        depth.pass(&token);
        part.push(token);
    }
    parts.push(part.into_iter().collect());
    parts.retain(|part: &TokenStream| !part.is_empty());
    parts
}

/// How many angle brackets are open.
pub(crate) struct Depth {
    open: u32,
    /// True where < only opens behind ::, because it also compares and shifts.
    of_values: bool,
    /// How many colons have just been passed.
    colons: u32,
    /// True behind the first half of -> or =>.
    arrow: bool,
}

impl Depth {
    pub const OF_TYPES: Depth = Depth { open: 0, of_values: false, colons: 0, arrow: false };
    pub const OF_VALUES: Depth = Depth { of_values: true, ..Depth::OF_TYPES };

    pub fn is_outside(&self) -> bool {
        self.open == 0
    }

    pub fn pass(&mut self, token: &TokenTree) {
        let sign = if let TokenTree::Punct(punct) = token { punct.as_char() } else { ' ' };
        match sign {
            '<' if !self.of_values || self.colons == 2 || self.open > 0 => self.open += 1,
            '>' if !self.arrow => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.colons = if sign == ':' { self.colons + 1 } else { 0 };
        self.arrow = matches!(sign, '-' | '=');
    }
}

/// The elements of a list in square brackets.
fn listed(key: &str, value: TokenStream, depth: Depth) -> Result<Vec<String>, String> {
    let mut tokens = value.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
            Ok(split(group.stream(), depth).into_iter().map(|part| part.to_string()).collect())
        }
        _ => Err(format!("{key} = [...] takes a list in square brackets")),
    }
}

/// A list, also of what is given alone.
fn list_or_one(value: TokenStream) -> String {
    let is_list = matches!(value.clone().into_iter().next(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
    if is_list { value.to_string() } else { format!("[{value}]") }
}
