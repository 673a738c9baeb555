#!/bin/sh
# How many threads the tool uses: the option, else OMP_NUM_THREADS, else the processors that it may run on and the time that its control
# groups allow it. Field reports B117 and B118. Usage as cli.sh.
# shellcheck source=tests/support/cli.sh
. "$2/support/cli.sh"

ends 0 info
grep -q 'built without OpenMP' out.txt && exit 77
processors=$(nproc)

# threads N COMMAND...: the command, which runs the tool or a shell around it, says so many
threads() {
    wanted=$1
    shift
    last="$*"
    "$@" >out.txt 2>err.txt || bad "$last: failed"
    grep -qx "threads: $wanted (OpenMP)" out.txt || bad "$last: $(grep threads out.txt), expected $wanted"
}

# one_warning: the last run's, from whichever OpenMP it is (GCC's puts an empty line before it)
one_warning() {
    [ "$(grep -c . err.txt)" -eq 1 ] && grep -q OMP_NUM_THREADS err.txt || bad "$last: not one warning of OMP_NUM_THREADS"
}

threads "$processors" "$attn" info
silent
for n in 1 2 7 256; do
    threads $n env OMP_NUM_THREADS=$n "$attn" info
    silent
done
threads 4 env OMP_NUM_THREADS=4,2 "$attn" info
threads 256 env OMP_NUM_THREADS=10000 "$attn" info
for nonsense in abc -1 2x; do
    threads "$processors" env OMP_NUM_THREADS=$nonsense "$attn" info
    one_warning
done
OMP_NUM_THREADS=0 "$attn" info >out.txt 2>err.txt || bad 'OMP_NUM_THREADS=0: failed' # one thread to LLVM, nonsense to GCC
grep -q OMP_NUM_THREADS err.txt || bad 'OMP_NUM_THREADS=0: no warning'

# The option counts more than the variable, and nonsense in it is refused.
OMP_NUM_THREADS=2
export OMP_NUM_THREADS
ends 0 bench dot/forward/B1-H1-L8-d8 --seconds 0.001 --json
prints '"threads":2'
ends 0 bench dot/forward/B1-H1-L8-d8 --seconds 0.001 --threads 3 --json
prints '"threads":3'
unset OMP_NUM_THREADS
small_model
for nonsense in abc 0 -1 2x 1025 ''; do
    ends 2 predict m.safetensors 'the muddy bank' --threads "$nonsense"
    says "--threads is '$nonsense', expected a whole number from 1 to 1024"
done

# One processor, whatever the machine has.
if taskset -c 0 true 2>/dev/null; then
    threads 1 taskset -c 0 "$attn" info
    threads 2 env OMP_NUM_THREADS=2 taskset -c 0 "$attn" info
fi

# Control groups of a container: a folder of ours in the place of the machine's, for one command.
mkdir groups groups/cpu
# shellcheck disable=SC2016
in_groups='mount --bind groups /sys/fs/cgroup && exec "$0" "$@"'
if unshare -m sh -c "$in_groups" true 2>/dev/null; then
    echo '150000 100000' >groups/cpu.max
    threads 1 unshare -m sh -c "$in_groups" "$attn" info
    threads 2 env OMP_NUM_THREADS=2 unshare -m sh -c "$in_groups" "$attn" info
    echo 'max 100000' >groups/cpu.max
    threads "$processors" unshare -m sh -c "$in_groups" "$attn" info
    rm groups/cpu.max
    if grep -q '[:,]cpu[,:]' /proc/self/cgroup; then # this machine has version 1
        echo 100000 >groups/cpu/cpu.cfs_quota_us
        echo 100000 >groups/cpu/cpu.cfs_period_us
        threads 1 unshare -m sh -c "$in_groups" "$attn" info
    fi
fi

finish
