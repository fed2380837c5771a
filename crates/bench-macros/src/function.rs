//! What the attribute must know of its function: name, generic parameters, parameters.

use proc_macro::{Delimiter, TokenStream, TokenTree};

use crate::options::{Depth, split};

/// A function.
pub(crate) struct Function {
    pub name: String,
    pub is_async: bool,
    /// Type parameters.
    pub types: usize,
    /// Const parameters.
    pub consts: usize,
    /// The types of its parameters, as code.
    pub parameters: Vec<String>,
}

impl Function {
    /// Reads one.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(item: TokenStream) -> Result<Function, String> {
        let other = || "the attribute stands before a function".to_owned();
        let mut tokens = item.into_iter().peekable();
        let mut is_async = false;
        loop {
            match tokens.next().ok_or_else(other)? {
                TokenTree::Ident(word) if word.to_string() == "fn" => break,
                TokenTree::Ident(word) => is_async |= word.to_string() == "async",
                _ => {}
            }
        }
        let Some(TokenTree::Ident(name)) = tokens.next() else { return Err(other()) };
        let (mut generics, mut depth) = (Vec::new(), Depth::OF_TYPES);
        let parameters = loop {
            match tokens.next().ok_or_else(other)? {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis && depth.is_outside() => {
                    break group.stream();
                }
                token => {
                    depth.pass(&token);
                    generics.push(token);
                }
            }
        };
        // Without the outer angle brackets.
        let inner = generics.len().saturating_sub(2);
        let generics = split(generics.into_iter().skip(1).take(inner).collect(), Depth::OF_TYPES);
        let begins = |part: &TokenStream| part.clone().into_iter().next().map(|token| token.to_string());
        let consts = generics.iter().filter(|part| begins(part).as_deref() == Some("const")).count();
        let lifetimes = generics.iter().filter(|part| begins(part).as_deref() == Some("'")).count();
        let kind = |part: TokenStream| {
            let after = part.into_iter().skip_while(|token| token.to_string() != ":").skip(1);
            after.collect::<TokenStream>().to_string()
        };
        Ok(Function {
            name: name.to_string(),
            is_async,
            types: generics.len() - consts - lifetimes,
            consts,
            parameters: split(parameters, Depth::OF_TYPES).into_iter().map(kind).collect(),
        })
    }
}
