//! `#[derive(JsonSchema)]` for builds that make no JSON Schemas: it derives nothing, and takes the attributes of the real one.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Derives nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
