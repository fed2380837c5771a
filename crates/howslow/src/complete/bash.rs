//! The completion of bash. Bash breaks a word at `@`, `=`, `:` and `,`, which points and labels contain: its script puts
//! such a word together again before it asks, and takes off what bash has kept from each answer.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap_complete::env::{Bash as Plain, EnvCompleter};

/// The script that a user sources.
const SCRIPT: &str = r#"
_clap_complete_NAME() {
    # What stands without a blank between is one word.
    local rest=$COMP_LINE piece place index=0
    local -a words=()
    for place in "${!COMP_WORDS[@]}"; do
        piece=${COMP_WORDS[place]}
        if (( place > 0 )) && [[ $rest != [[:space:]]* ]] && [[ -n $rest || -z $piece ]]; then
            words[${#words[@]}-1]+=$piece
        else
            rest=${rest#"${rest%%[![:space:]]*}"}
            words+=("$piece")
        fi
        rest=${rest#"$piece"}
        if (( place == COMP_CWORD )); then
            index=$(( ${#words[@]} - 1 ))
            break
        fi
    done
    local kept=${words[index]%"$2"}
    local IFS=$'\013'
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$index" \
        _CLAP_COMPLETE_COMP_TYPE="$COMP_TYPE" \
        VAR="bash" \
        "COMPLETER" -- "${words[@]}" \
    ) )
    if [[ $? != 0 ]]; then
        unset COMPREPLY
        return
    fi
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    if [[ ${#COMPREPLY[@]} == 1 && ! "${COMPREPLY[0]}" =~ [=/:@,]$ ]]; then
        compopt +o nospace 2> /dev/null
    fi
}
complete -o nospace -o bashdefault -F _clap_complete_NAME BIN
"#;

/// The completion of bash, for words with points.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        Plain.name()
    }

    fn is(&self, name: &str) -> bool {
        Plain.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        let function = name.replace('-', "_");
        let completer = completer.replace(['"', '$', '`', '\\'], "");
        let script = SCRIPT.replace("NAME", &function).replace("BIN", bin);
        write!(buf, "{}", script.replace("COMPLETER", &completer).replace("VAR", var))
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        Plain.write_complete(cmd, args, current_dir, buf)
    }
}
