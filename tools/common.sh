# What run, test and tidy share. Sourced, not run.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# A message to the person at the keyboard; standard output belongs to results.
say() { printf '%s\n' "streamsim: $*" >&2; }

# Where builds go: .build/ of the repository, or the user's cache where the repository is not ours to write in.
build_root() {
    if [ -O "$repo" ] && [ -w "$repo" ] && { [ ! -e "$repo/.build" ] || [ -w "$repo/.build" ]; }; then
        printf '%s\n' "$repo/.build"
    else
        local key
        key=$(printf '%s' "$repo" | cksum | cut -d ' ' -f 1)
        printf '%s\n' "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/streamsim/$key"
    fi
}

# configure <preset> <build dir> [cmake options]
configure() {
    local preset=$1 dir=$2 options=()
    shift 2
    if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    # Warnings stop our own builds with sanitizers, not the build of someone who has another compiler.
    if [ "$preset" = release ]; then options+=(-DSTREAMSIM_WERROR=OFF); fi
    (cd "$repo" && cmake --preset "$preset" -B "$dir" "${options[@]}" "$@")
}

# quietly <what> <command...>: the command's output is shown only when it fails, on standard error.
quietly() {
    local what=$1 log status=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$log" >&2
        say "$what failed (status $status)"
    fi
    rm -f "$log"
    return "$status"
}
