# Prints what bash completes: bash complete.bash LINE PIECE... Bash breaks words at `@` and `=`, and replaces only the last piece.
source <(COMPLETE=bash "$HOWSLOW_PROGRAM")
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
typed=${!#}
case $typed in @ | =) typed='' ;; esac
_clap_complete_howslow howslow "$typed" ''
printf '%s\n' "${COMPREPLY[@]}"
