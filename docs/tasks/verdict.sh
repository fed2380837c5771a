#!/bin/sh
# Is this machine good, and what is odd here? Three commands: the headline costs and the verdict, each cost beside a reference
# machine, and what can be done about it. docs/REFERENCES.md explains the verdict.
#
#   BUDGET      time to measure                       (default: 9s)
#   REFERENCE   the machine that this one is held against (default: zen-4-kvm)
set -eu
howslow --budget "${BUDGET:-9s}"
howslow show @1 --against "${REFERENCE:-zen-4-kvm}"
howslow doctor
