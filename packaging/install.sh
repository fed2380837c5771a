#!/bin/sh
# Installs howslow for this user, without root: curl -fsSL ADDRESS/install.sh | sh
# In the environment:
#   HOWSLOW_FROM    the folder of a release: an address, or a folder that was downloaded (default: the newest release)
#   HOWSLOW_PREFIX  where to (default: ~/.local; /usr/local for root)
# `sh install.sh --remove` removes what it installed.
set -eu
umask 022

fail() {
    printf 'howslow: %s\n' "$1" >&2
    exit 1
}

# What a command complained of last. It cannot be written down on a full disk.
reason() { tail -n 1 "$work/why" | grep . || echo "is the disk of $work full? Set TMPDIR to another folder"; }

# Downloads, or copies, a file of the release.
fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl --fail --silent --show-error --location --retry 2 --connect-timeout 20 --output "$2" "$from/$1" 2>"$work/why"
        elif command -v wget >/dev/null; then
            # The busybox of Debian 12 crashes if it is given a time.
            wget -q -T 20 -O "$2" "$from/$1" 2>"$work/why" || { [ $? -gt 128 ] && wget -q -O "$2" "$from/$1" 2>"$work/why"; }
        else
            fail "curl or wget is needed; install one, or download the release and set HOWSLOW_FROM to its folder"
        fi
        ;;
    *) cp "$from/$1" "$2" 2>"$work/why" ;;
    esac || fail "cannot get $from/$1: $(reason). Nothing was installed. Behind a proxy, set https_proxy; else download the release elsewhere and set HOWSLOW_FROM to its folder"
}

sum() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Copies a file next to where it belongs.
place() {
    printf '%s\n' "$2" >>"$work/installed"
    if ! { mkdir -p "$(dirname "$prefix/$2")" && cp "$1" "$prefix/$2.howslow-part"; } 2>"$work/why"; then
        fail "cannot write $prefix/$2: $(reason); make room, or set HOWSLOW_PREFIX to another folder. Nothing was installed"
    fi
}

# What was not yet renamed goes, also after an interruption.
clean() {
    [ ! -f "$work/installed" ] || while read -r file; do rm -f "$prefix/$file.howslow-part"; done <"$work/installed"
    rm -rf "$work"
}

remove() {
    [ -f "$prefix/$list" ] || fail "nothing that this installer installed is in $prefix"
    while read -r file; do rm -f "$prefix/$file"; done <"$prefix/$list"
    rmdir "$prefix/share/howslow" 2>/dev/null || true
    echo "howslow is removed from $prefix; kept runs stay in ${HOWSLOW_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/howslow}"
}

main() {
    default=/usr/local
    [ "$(id -u)" = 0 ] || default=${HOME:?set HOME or HOWSLOW_PREFIX}/.local
    prefix=${HOWSLOW_PREFIX:-$default}
    list=share/howslow/installed
    [ "${1:-}" != --remove ] || { remove; exit 0; }
    [ $# = 0 ] || fail "unknown argument $1; there is only --remove"

    [ "$(uname -s)" = Linux ] || fail "howslow measures Linux, and this is $(uname -s)"
    case $(uname -m) in
    x86_64 | amd64) target=x86_64-unknown-linux-musl ;;
    aarch64 | arm64) target=aarch64-unknown-linux-musl ;;
    *) fail "there is no program for $(uname -m), only for x86_64 and aarch64" ;;
    esac
    from=${HOWSLOW_FROM:-@REPOSITORY@/releases/latest/download}
    from=${from%/}
    work=$(mktemp -d)
    trap clean EXIT
    trap 'exit 130' INT TERM

    fetch SHA256SUMS "$work/SHA256SUMS"
    line=$(grep -E "^[0-9a-f]{64}  howslow-[^/]*-$target.tar.gz\$" "$work/SHA256SUMS" | head -n 1)
    [ -n "$line" ] ||
        fail "$from/SHA256SUMS is no list of sums; a proxy may have answered instead. Nothing was installed"
    archive=${line#*  }
    fetch "$archive" "$work/$archive"
    [ "$(sum "$work/$archive")" = "${line%% *}" ] ||
        fail "$archive is not what was released: its SHA-256 differs, as after a download that was cut off. Nothing was installed; try again"
    { gzip -dc "$work/$archive" | tar -xf - -C "$work"; } 2>"$work/why" ||
        fail "cannot unpack $archive: $(reason). Nothing was installed; TMPDIR says where it is unpacked"
    new=$work/${archive%.tar.gz}
    version=$("$new/howslow" --version 2>"$work/why") ||
        fail "the program does not run here: $(reason). Is ${TMPDIR:-/tmp} mounted noexec? Set TMPDIR to another folder. Nothing was installed"

    [ ! -f "$prefix/$list" ] || cp "$prefix/$list" "$work/older"
    before=
    [ ! -x "$prefix/bin/howslow" ] || before=$("$prefix/bin/howslow" --version 2>/dev/null || echo "a howslow that does not run")
    place "$new/howslow" bin/howslow
    for page in "$new"/man/man1/*; do place "$page" "share/man/man1/${page##*/}"; done
    place "$new/completions/howslow" share/bash-completion/completions/howslow
    place "$new/completions/_howslow" share/zsh/site-functions/_howslow
    place "$new/completions/howslow.fish" share/fish/vendor_completions.d/howslow.fish
    printf '%s\n' "$list" >>"$work/installed"
    cp "$work/installed" "$work/files"
    place "$work/files" "$list"
    # Everything is there, so that it only has to be renamed.
    while read -r file; do mv -f "$prefix/$file.howslow-part" "$prefix/$file"; done <"$work/files"
    # What an older version had installed and this one has not.
    [ ! -f "$work/older" ] || grep -Fvx -f "$work/files" "$work/older" | while read -r file; do rm -f "$prefix/$file"; done

    echo "$version is in $prefix/bin, its SHA-256 verified${before:+; it replaces $before}"
    echo "manual pages and completions of bash, zsh and fish are in $prefix/share; 'sh install.sh --remove' removes all of it"
    case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "add $prefix/bin to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
}

# Only a script that arrived whole does anything.
main "$@"
