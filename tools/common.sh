# Functions that run, setup, test, tidy and windows share. Sourced, not run. run and setup are for macOS, too, whose bash is 3.2.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# A message to the person at the keyboard; standard output belongs to results.
say() { printf '%s\n' "streamsim: $*" >&2; }

# The folder of builds: .build/ of the repository, or the user's cache where the repository is not ours to write in.
build_root() {
    if [ -O "$repo" ] && [ -w "$repo" ] && { [ ! -e "$repo/.build" ] || [ -w "$repo/.build" ]; }; then
        printf '%s\n' "$repo/.build"
    else
        local key
        key=$(printf '%s' "$repo" | cksum | cut -d ' ' -f 1)
        printf '%s\n' "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/streamsim/$key"
    fi
}

# How many compilers run at once: one for each 1.5 GB of free memory, at most one a processor.
compile_jobs() {
    local jobs by_memory
    jobs=$(nproc 2>/dev/null || sysctl -n hw.ncpu)
    by_memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo 2>/dev/null || echo "$jobs")
    [ "$by_memory" -ge "$jobs" ] || jobs=$((by_memory > 0 ? by_memory : 1))
    printf '%s\n' "$jobs"
}

# The script that HTML reports embed, as tools/setup fetches it where the system has no package of it.
chart_js() { printf '%s\n' "$(build_root)/chart.js/package/dist/chart.min.js"; }

# configure <preset> <build dir> [cmake options]
configure() {
    local preset=$1 dir=$2 options=()
    shift 2
    if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    # Warnings stop the builds of tools/test (whose options follow), not that of someone who has another compiler.
    if [ "$preset" = release ]; then options+=(-DSTREAMSIM_WERROR=OFF); fi
    if [ -e "$(chart_js)" ]; then options+=("-DCHART_JS=$(chart_js)"); fi
    (cd "$repo" && cmake --preset "$preset" -B "$dir" ${options[@]+"${options[@]}"} "$@")
}

# show_progress <what>: reads the output of ninja and tells how many of its steps are done, on standard error: in one line
# that is written anew each second where that is a terminal, else each half minute. A build of few steps is not told.
show_progress() {
    local what=$1 began=$SECONDS told=$SECONDS done=0 total=0 line status wait="-t 1"
    # Bash 3 does not tell that the second is over from the end of the output: it waits for a line.
    if [ "${BASH_VERSINFO[0]}" -lt 4 ]; then wait=""; fi
    while true; do
        status=0
        IFS= read -r $wait line || status=$?
        if [ "$status" -eq 0 ] && [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
        fi
        if [ -t 2 ]; then
            # Ended, or nothing worth a line.
            if [ "$status" -gt 0 ] && [ "$status" -le 128 ]; then printf '\r\033[K' >&2; return 0; fi
            if [ "$total" -gt 4 ]; then
                printf '\r\033[Kstreamsim: %s: %d of %d steps, %d s' "$what" "$done" "$total" "$((SECONDS - began))" >&2
            fi
        elif [ "$status" -gt 0 ] && [ "$status" -le 128 ]; then
            if [ "$total" -gt 4 ]; then say "$what: $done of $total steps, $((SECONDS - began)) s"; fi
            return 0
        elif [ "$((SECONDS - told))" -ge 30 ] && [ "$total" -gt 4 ]; then
            told=$SECONDS
            say "$what: $done of $total steps, $((SECONDS - began)) s"
        fi
    done
}

# build <build dir> [cmake --build options]: builds with progress; the compilers' output is shown only when it fails.
build() {
    local dir=$1 log status=0
    shift
    log=$(mktemp)
    cmake --build "$dir" -j "$(compile_jobs)" "$@" </dev/null 2>&1 | tee "$log" | show_progress "building" || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$log" >&2
        say "the build failed (status $status)"
    fi
    rm -f "$log"
    return "$status"
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
