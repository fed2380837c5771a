#!/bin/sh
# Runs howslow on one node, some times, and leaves its documents in a folder. It is given words only, no text to evaluate:
#   FOLDER MARK NAME LIMIT REPETITIONS PROGRAM ARGUMENTS...
# FOLDER receives NAME.started, NAME.rN.json, NAME.log and at last NAME.exit: a status and the reason. MARK begins the name
# of the private folder on the node. LIMIT is the seconds that one run may take. REPETITIONS are numbers: 1,2,3.
# PROGRAM is `sent` (FOLDER/howslow-ARCHITECTURE) or a command. Statuses of its own: 71 to 76, and 137 if the run was killed.
folder=$1 mark=$2 name=$3 limit=$4 repetitions=$5 program=$6
shift 6
umask 077
[ -d "$folder" ] && [ -w "$folder" ] || exit 71
cd / || exit 71

place() {
    printf '%s\n' "$2" >"$folder/.$name.$1.part" && mv -f "$folder/.$name.$1.part" "$folder/$name.$1"
}
private='' child=''
finish() {
    trap '' TERM INT HUP
    [ -z "$child" ] || { kill -TERM "$child" 2>/dev/null; wait "$child" 2>/dev/null; }
    [ -z "$private" ] || rm -rf "$private"
    place exit "$1 $2" || exit 71
    exit "$1"
}
trap 'finish 143 "ended by a signal"' TERM INT HUP

architecture=$(uname -m)
# What an attempt left that was killed. A fleet of another folder may have the same name; its process is there.
for old in "${TMPDIR:-/tmp}/$mark".*; do
    process=${old#"${TMPDIR:-/tmp}/$mark."}
    [ ! -d "$old" ] || [ ! -O "$old" ] || kill -0 "${process%%.*}" 2>/dev/null || rm -rf "$old"
done
private=$(mktemp -d "${TMPDIR:-/tmp}/$mark.$$.XXXXXX") || finish 75 "no private folder in ${TMPDIR:-/tmp}"
if [ "$program" = sent ]; then
    [ -f "$folder/howslow-$architecture" ] || finish 72 "no program for $architecture was sent"
    cp "$folder/howslow-$architecture" "$private/howslow" && chmod 700 "$private/howslow" ||
        finish 75 "the program does not fit into $private"
    program=$private/howslow
    # A folder on which nothing may be executed.
    "$program" --version >/dev/null 2>&1 || program=$folder/howslow-$architecture
fi
version=$("$program" --version 2>&1) || finish 73 "howslow cannot run here: $version"
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
place started "$(uname -n) $architecture ${boot:--} $version" || exit 71
HOWSLOW_DATA=$private/data
# A container may be given a store. In one that the node's user has set, each run would be kept twice.
HOWSLOW_STORE=${HOWSLOW_FLEET_STORE:-files}
export HOWSLOW_DATA HOWSLOW_STORE
guard=
timeout -k 5 5 true 2>/dev/null && guard="timeout -k 5 $limit"

IFS=,
for number in $repetitions; do
    IFS=' '
    begun=$(date +%s)
    $guard "$program" "$@" ${HOWSLOW_FLEET_STORE:+--keep} -o "$private/run.json" >/dev/null 2>>"$folder/$name.log" &
    child=$!
    wait "$child"
    status=$?
    child=''
    case $status in
    # 3: something that was named is skipped here. The document says so.
    0 | 3) ;;
    124) finish 74 "run $number took longer than $limit s" ;;
    # By `timeout`, because it did not end in time, or by somebody else before.
    137)
        [ $(($(date +%s) - begun)) -lt "$limit" ] || finish 74 "run $number took longer than $limit s"
        finish 137 "run $number was killed, as it is if memory runs out"
        ;;
    *) finish 76 "howslow ended with status $status" ;;
    esac
    cp "$private/run.json" "$folder/.$name.r$number.part" && mv -f "$folder/.$name.r$number.part" "$folder/$name.r$number.json" ||
        finish 75 "the document cannot be written to $folder"
    rm -f "$private/run.json"
    # Below the private folder, a run waits for a store in vain.
    for waiting in "$private"/data/waiting/*/*.json; do
        [ ! -f "$waiting" ] || finish 76 "the store did not take run $number"
    done
done
finish 0 done
