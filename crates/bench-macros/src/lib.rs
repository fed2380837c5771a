//! The attribute `#[howslow_bench::bench(...)]`: registers a function as a benchmark, once for each choice of types, constants,
//! arguments and threads. It reads tokens itself, so that it compiles in a moment.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod function;
mod options;

use proc_macro::TokenStream;

use function::Function;
use options::Options;

/// Registers a function as a benchmark. Without parameters, the function is what is timed. With a `Bencher`, it states what is timed.
///
/// | option | meaning |
/// | --- | --- |
/// | `args = [1, 10]` | runs once with each; the last parameter takes it |
/// | `types = [u32, u64]` | runs once for each as its type parameter |
/// | `consts = [1, 8]` | runs once for each as its const parameter |
/// | `threads = [1, 2]` | runs the work in so many threads at once; 0: one for each CPU |
/// | `block_on = path` | runs the futures of an `async fn` |
/// | `name = "text"` | another name |
/// | `ignore` | runs only if a filter names it |
#[proc_macro_attribute]
pub fn bench(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let code = Options::read(attribute).and_then(|options| generated(&options, &Function::read(item.clone())?));
    let added = code.unwrap_or_else(|why| format!("::core::compile_error!({why:?});"));
    let added: TokenStream = added.parse().unwrap_or_default();
    item.into_iter().chain(added).collect()
}

/// The code that registers the function.
fn generated(options: &Options, function: &Function) -> Result<String, String> {
    let name = &function.name;
    let shown = options.name.clone().unwrap_or_else(|| format!("{:?}", name.trim_start_matches("r#")));
    let mut cases = String::new();
    for (label, generics) in choices(options, function)? {
        cases += &pushed(options, function, &label, &generics)?;
    }
    let (threads, ignored) = (options.threads.as_deref(), options.ignored);
    let threads = threads.map_or("::std::vec::Vec::new()".into(), |all| format!("::std::vec::Vec::from({all})"));
    Ok(format!(
        "const _: () = {{
            static ENTRY: ::howslow_bench::private::Entry = ::howslow_bench::private::Entry {{
                module: ::core::module_path!(), name: {shown}, cases, threads: || {threads}, ignored: {ignored},
            }};
            fn cases() -> ::std::vec::Vec<::howslow_bench::private::Case> {{
                let mut cases = ::std::vec::Vec::new();
                {cases}
                cases
            }}
            // Runs before main.
            #[allow(unsafe_code)]
            #[used]
            #[cfg_attr(windows, unsafe(link_section = \".CRT$XCU\"))]
            #[cfg_attr(target_vendor = \"apple\", unsafe(link_section = \"__DATA,__mod_init_func\"))]
            #[cfg_attr(not(any(windows, target_vendor = \"apple\")), unsafe(link_section = \".init_array\"))]
            static REGISTER: extern \"C\" fn() = {{
                extern \"C\" fn register() {{
                    ::howslow_bench::private::register(&ENTRY);
                }}
                register
            }};
        }};"
    ))
}

/// The label and the generic arguments of each choice of types and constants.
fn choices(options: &Options, function: &Function) -> Result<Vec<(Vec<String>, String)>, String> {
    let wanted = (options.types.is_some(), options.consts.is_some());
    if wanted != (function.types > 0, function.consts > 0) || function.types > 1 || function.consts > 1 {
        return Err(
            "types = [...] needs one type parameter, consts = [...] one const parameter, and the reverse".into()
        );
    }
    let one = || vec![String::new()];
    let (types, consts) = (options.types.clone().unwrap_or_else(one), options.consts.clone().unwrap_or_else(one));
    let mut choices = Vec::new();
    for kind in &types {
        for constant in &consts {
            let given: Vec<String> = [kind, constant].into_iter().filter(|given| !given.is_empty()).cloned().collect();
            let generics = match (function.types, function.consts) {
                (0, 0) => String::new(),
                (0, _) => format!("::<{{ {constant} }}>"),
                (_, 0) => format!("::<{kind}>"),
                (_, _) => format!("::<{kind}, {{ {constant} }}>"),
            };
            choices.push((given, generics));
        }
    }
    Ok(choices)
}

/// The code that adds the cases of one choice.
fn pushed(options: &Options, function: &Function, label: &[String], generics: &str) -> Result<String, String> {
    let with_bencher = match (options.args.is_some(), function.parameters.len()) {
        (false, 0) | (true, 1) => false,
        (false, 1) | (true, 2) => true,
        (false, _) => return Err("a benchmark without args = [...] takes nothing, or a Bencher".into()),
        (true, _) => {
            return Err("a benchmark with args = [...] takes the argument, or a Bencher and the argument".into());
        }
    };
    let by_reference = function.parameters.last().is_some_and(|kind| kind.starts_with('&'));
    let by_value = options.args.is_some() && !by_reference;
    let argument = match (options.args.is_some(), by_reference) {
        (false, _) => "",
        (true, true) => "argument",
        (true, false) => "::core::clone::Clone::clone(argument)",
    };
    let call = format!("{}{generics}", function.name);
    let run = match (with_bencher, function.is_async, &options.block_on) {
        (_, false, Some(_)) => return Err("block_on = ... is for an async fn".into()),
        (true, true, _) => return Err("a Bencher is for a fn that is not async; use Bencher::bench_async in it".into()),
        (false, true, None) => {
            return Err("an async fn needs block_on = path, a function that runs a future to its end".into());
        }
        (true, false, None) if argument.is_empty() => format!("{call}(bencher)"),
        (true, false, None) => format!("{call}(bencher, {argument})"),
        (false, false, None) if by_value => {
            format!("bencher.bench_argument(argument, |input| {call}(input))")
        }
        (false, false, None) => format!("bencher.bench(|| {call}({argument}))"),
        (false, true, Some(_)) if options.threads.is_some() => {
            return Err("threads = ... is for a fn that is not async, since block_on runs in one thread".into());
        }
        (false, true, Some(block_on)) if by_value => {
            format!(
                "bencher.with_inputs(|| {argument}).bench_async(|future| ({block_on})(future), |input| {call}(input))"
            )
        }
        (false, true, Some(block_on)) => {
            format!("bencher.bench_async(|future| ({block_on})(future), || {call}({argument}))")
        }
    };
    let label: Vec<String> = label.iter().map(|part| format!("{:?}", closed_up(part))).collect();
    let case = format!("::howslow_bench::private::Case::new(&[{}], move |bencher| {run})", label.join(", "));
    Ok(match &options.args {
        None => format!("cases.push({case});"),
        // The arguments live as long as the program, which is started anew for each round.
        Some(args) => format!(
            "for argument in ::std::boxed::Box::leak(::std::iter::IntoIterator::into_iter({args})
                .collect::<::std::vec::Vec<_>>().into_boxed_slice()).iter() {{
                cases.push({case}.with(argument));
            }}"
        ),
    })
}

/// Tokens as one writes them: with a blank only between two words.
fn closed_up(code: &str) -> String {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut shown = String::new();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        let between = shown.chars().last().is_some_and(|last| is_word(&last)) && rest.peek().is_some_and(is_word);
        if c != ' ' || between {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_are_written_without_the_blanks_between_tokens() {
        let shown = ["Vec < u8 >", "& 'static str", "std :: sync :: Arc < dyn Fn () >", "7"].map(super::closed_up);
        assert_eq!(shown, ["Vec<u8>", "&'static str", "std::sync::Arc<dyn Fn()>", "7"]);
    }
}
