#!/bin/sh
# Slurm epilog: writes down that a job holds its GPUs no longer. For slurm.conf: Epilog=.../epilog.sh
#
# The other half of prolog.sh: a line to the journal that flopwitness reads, and the job's id taken out of
# dcgm-exporter's map. It takes milliseconds and never fails: a failing epilog would drain the node.

JOBS=${FLOPWITNESS_JOBS:-/var/lib/flopwitness-jobs}
LC_ALL=C
export LC_ALL
umask 022

warn() { printf 'flopwitness epilog: %s\n' "$*" >&2; }

# append LINE: to the journal in one write; a line that a crash cut off is ended first.
append() {
    journal=$JOBS/jobs.jsonl
    if [ -s "$journal" ] && [ -n "$(tail -c 1 "$journal")" ]; then printf '\n' >>"$journal"; fi
    printf '%s\n' "$1" >>"$journal"
}

# unmark FILE: take the job out of dcgm-exporter's file of a GPU; one without jobs goes.
unmark() {
    others='' is_there=''
    while IFS= read -r line; do
        if [ "$line" = "$SLURM_JOB_ID" ]; then is_there=yes; else others="$others$line
"; fi
    done <"$1"
    if [ -z "$is_there" ]; then return; fi
    if [ -z "$others" ]; then
        rm -f "$1"
    else
        new=$JOBS/.${1##*/}.$$
        printf '%s' "$others" >"$new" && mv -f "$new" "$1"
    fi
}

main() {
    case ${SLURM_JOB_ID:-} in '' | *[!0-9]*) warn 'no job id' && return ;; esac
    if [ -z "${SLURM_JOB_GPUS:-}" ]; then return; fi # a job without GPUs
    if command -v flock >/dev/null 2>&1; then flock -w 2 9; fi
    host=${SLURMD_NODENAME:-}
    case $host in *[!A-Za-z0-9._-]*) host='' ;; esac
    now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    append "{\"event\":\"end\",\"job_id\":\"$SLURM_JOB_ID\",\"at\":\"$now\",\"host\":\"$host\"}"
    for file in "$JOBS"/[0-9]*; do
        if [ -f "$file" ]; then unmark "$file"; fi
    done
}

if [ -d "$JOBS" ] && [ -w "$JOBS" ]; then
    main 9>"$JOBS/.lock"
else
    warn "cannot write to $JOBS"
fi
exit 0
