#!/bin/sh
# Gate a pull request on what a system call costs: three commands. Run the first on the old kernel and the others on the new one,
# with the same howslow, and carry before.json over. docs/GUIDE.md explains the verdicts.
#
#   CALLS    what to measure: system calls, operations or families   (default: those below)
#   BUDGET   time of each run                                        (default: 20s)
#   LEAST    a smaller change does not fail                          (default: 5%)
#
# The exit status is that of the gate: 0 passed, 3 incomplete (a call has no verdict), 4 failed; or 1, not measured. comment.md is for
# the pull request.
set -u
CALLS=${CALLS:-syscall.getppid syscall.read.null syscall.open.close}

# On the old kernel.
# shellcheck disable=SC2086
howslow run $CALLS --budget "${BUDGET:-20s}" -o before.json > /dev/null || [ $? = 3 ] || exit 1

# On the new kernel.
# shellcheck disable=SC2086
howslow run $CALLS --budget "${BUDGET:-20s}" -o after.json > /dev/null || [ $? = 3 ] || exit 1

# shellcheck disable=SC2046,SC2086
howslow compare before.json after.json $(printf -- '--only %s ' $CALLS) \
    --fail-on slower --at-least "${LEAST:-5%}" --markdown > comment.md
