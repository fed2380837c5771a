//! Where a bill is printed, and how it looks there.

use report::Style;

use super::args::BillArgs;
use crate::output;

/// True if the bill goes to stderr, because stdout is a command's own.
pub(super) fn is_beside_a_command(args: &BillArgs) -> bool {
    is_page(args) && !args.words.is_empty()
}

/// True if a person reads what is printed.
pub(super) fn is_page(args: &BillArgs) -> bool {
    !args.json && !args.markdown && args.format.is_none()
}

/// The look of what is printed.
pub(super) fn style(args: &BillArgs) -> Style {
    if is_beside_a_command(args) { output::error_style() } else { output::style() }
}
