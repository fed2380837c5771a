//! Checks of what a call returned. Each costs a compare and a branch.

use operation::Failure;

/// Fails for this reason unless the work was done.
#[inline(always)]
pub(crate) fn ensure<S: Into<String>>(done: bool, why: impl FnOnce() -> S) -> Result<(), Failure> {
    if done { Ok(()) } else { Err(Failure::wrong(why())) }
}

/// Fails unless a call returned the expected value. Costs a compare and a branch.
#[inline(always)]
pub(crate) fn exactly(wanted: usize, returned: usize) -> Result<(), Failure> {
    if returned == wanted { Ok(()) } else { Err(other_result(wanted, returned)) }
}

#[cold]
fn other_result(wanted: usize, returned: usize) -> Failure {
    Failure::wrong(format!("a call returned {returned} instead of {wanted}"))
}

/// Fails unless a call failed with this error.
#[inline(always)]
pub(crate) fn answered(errno: i32, result: Result<usize, Failure>) -> Result<(), Failure> {
    match result {
        Err(Failure::Errno { errno: answer }) if answer == errno => Ok(()),
        Err(other) => Err(other),
        Ok(returned) => Err(let_through(returned)),
    }
}

#[cold]
fn let_through(returned: usize) -> Failure {
    Failure::wrong(format!("a call returned {returned}, but must be refused"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_result_is_a_failure() {
        assert_eq!(exactly(1, 1), Ok(()));
        assert!(matches!(exactly(1, 0), Err(Failure::Wrong(_))));
    }
}
