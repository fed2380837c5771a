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
