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
        for part in split(attribute) {
            let mut tokens = part.into_iter();
            let key = tokens.next().map(|token| token.to_string()).unwrap_or_default();
            let equals = tokens.next().map(|token| token.to_string());
            let value: TokenStream = tokens.collect();
            match (key.as_str(), equals.as_deref(), value.is_empty()) {
                ("ignore", None, _) => options.ignored = true,
                ("args", Some("="), false) => options.args = Some(value.to_string()),
                ("types", Some("="), false) => options.types = Some(listed("types", value)?),
                ("consts", Some("="), false) => options.consts = Some(listed("consts", value)?),
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

/// The parts between commas outside of all brackets, without empty ones. The angle brackets of types count as well.
pub(crate) fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let (mut parts, mut part, mut depth) = (Vec::new(), Vec::<TokenTree>::new(), Depth::default());
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
#[derive(Default)]
pub(crate) struct Depth {
    open: i32,
    /// True behind the first half of -> or =>.
    arrow: bool,
}

impl Depth {
    pub fn is_outside(&self) -> bool {
        self.open == 0
    }

    pub fn pass(&mut self, token: &TokenTree) {
        let sign = if let TokenTree::Punct(punct) = token { punct.as_char() } else { ' ' };
        match sign {
            '<' => self.open += 1,
            '>' if !self.arrow => self.open -= 1,
            _ => {}
        }
        self.arrow = matches!(sign, '-' | '=');
    }
}

/// The elements of a list in square brackets.
fn listed(key: &str, value: TokenStream) -> Result<Vec<String>, String> {
    let mut tokens = value.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
            Ok(split(group.stream()).into_iter().map(|part| part.to_string()).collect())
        }
        _ => Err(format!("{key} = [...] takes a list in square brackets")),
    }
}

/// A list, also of what is given alone.
fn list_or_one(value: TokenStream) -> String {
    let is_list = matches!(value.clone().into_iter().next(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
    if is_list { value.to_string() } else { format!("[{value}]") }
}
