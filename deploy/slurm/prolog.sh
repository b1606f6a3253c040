#!/bin/sh
# Slurm prolog: writes down which GPUs a job holds from now on, by UUID. For slurm.conf: Prolog=.../prolog.sh
#
# Two things are written to the folder of jobs: a line to the journal that flopwitness reads (jobs.jsonl), and
# dcgm-exporter's map, a file a GPU with the ids of the jobs that hold it now. User and command are not kept.
# It opens no GPU, takes milliseconds, and never fails a job: whatever goes wrong is said on standard error.

JOBS=${FLOPWITNESS_JOBS:-/var/lib/flopwitness-jobs}
DRIVER=${FLOPWITNESS_DRIVER:-/proc/driver/nvidia}
LC_ALL=C
export LC_ALL
umask 022

warn() { printf 'flopwitness prolog: %s\n' "$*" >&2; }

# held MINOR: whether Slurm gave this GPU to the job; its numbers are those of /dev/nvidiaN, such as 0,2-3.
held() {
    rest=$SLURM_JOB_GPUS,
    while [ -n "$rest" ]; do
        part=${rest%%,*}
        rest=${rest#*,}
        if [ "$1" -ge "${part%%-*}" ] && [ "$1" -le "${part##*-}" ]; then return 0; fi
    done 2>/dev/null
    return 1
}

# count: how many GPUs Slurm names.
count() {
    rest=$SLURM_JOB_GPUS,
    n_named=0
    while [ -n "$rest" ]; do
        part=${rest%%,*}
        rest=${rest#*,}
        n_named=$((n_named + ${part##*-} - ${part%%-*} + 1))
    done
}

# find_gpus: the job's GPUs as UUIDs for JSON, and their places on the bus, which are NVML's indexes.
find_gpus() {
    uuids='' places='' n_found=0 place=0
    for file in "$DRIVER"/gpus/*/information; do
        uuid='' minor=''
        while IFS=' 	' read -r first second value _; do
            case "$first $second" in
            'GPU UUID:') uuid=$value ;;
            'Device Minor:') minor=$value ;;
            esac
        done <"$file"
        case $uuid in *[!A-Za-z0-9:_-]* | '') uuid='' ;; esac
        if [ -n "$uuid" ] && [ -n "$minor" ] && held "$minor"; then
            uuids="$uuids${uuids:+,}\"$uuid\""
            places="$places $place"
            n_found=$((n_found + 1))
        fi
        place=$((place + 1))
    done
}

# append LINE: to the journal in one write; a line that a crash cut off is ended first.
append() {
    journal=$JOBS/jobs.jsonl
    if [ -s "$journal" ] && [ -n "$(tail -c 1 "$journal")" ]; then printf '\n' >>"$journal"; fi
    printf '%s\n' "$1" >>"$journal"
}

# mark PLACE: add the job to dcgm-exporter's file of a GPU, which is whole at any time.
mark() {
    new=$JOBS/.$1.$$
    { if [ -f "$JOBS/$1" ]; then cat "$JOBS/$1"; fi && printf '%s\n' "$SLURM_JOB_ID"; } >"$new" &&
        mv -f "$new" "$JOBS/$1"
}

write_down() {
    host=${SLURMD_NODENAME:-}
    case $host in *[!A-Za-z0-9._-]*) host='' ;; esac
    now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    append "{\"event\":\"start\",\"job_id\":\"$SLURM_JOB_ID\",\"at\":\"$now\",\"host\":\"$host\",\"gpus\":[$uuids]}"
    for one in $places; do mark "$one"; done
}

main() {
    case ${SLURM_JOB_ID:-} in '' | *[!0-9]*) warn 'no job id' && return ;; esac
    case ${SLURM_JOB_GPUS:-} in
    '') return ;; # a job without GPUs
    *[!0-9,-]* | *,,* | *-*-* | -* | ,* | *, | *- | *,-* | *-,*) warn "GPUs '$SLURM_JOB_GPUS'" && return ;;
    esac
    for slice in "$DRIVER"/capabilities/gpu*/mig/gi*; do
        if [ -e "$slice" ]; then warn 'GPUs are partitioned (MIG): a number may be any slice' && return; fi
    done
    count
    find_gpus
    if [ "$n_found" -ne "$n_named" ]; then
        warn "$n_found of $n_named GPUs found under $DRIVER/gpus: nothing is written" && return
    fi
    if command -v flock >/dev/null 2>&1; then flock -w 2 9; fi
    write_down
}

if mkdir -p "$JOBS" 2>/dev/null && [ -w "$JOBS" ]; then
    main 9>"$JOBS/.lock"
else
    warn "cannot write to $JOBS"
fi
exit 0
