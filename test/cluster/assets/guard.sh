# Arguments: the directory of a cluster. Waits for the end of standard input, then ends every process that recorded
# itself in the directory's pids, and removes the directory.
dir=$1
cat >/dev/null
[ -d "$dir" ] || exit 0

# Taking the record away keeps anything more from starting: a component that cannot record itself gives up.
[ ! -d "$dir/pids" ] || mv "$dir/pids" "$dir/ending"

# command_line PID: what runs under this id; nothing for a process that ended and was not waited for.
command_line() {
  if [ -d /proc/self ]; then tr '\0' ' ' <"/proc/$1/cmdline"; else ps -o command= -p "$1"; fi 2>/dev/null
}

# The command line of every component names the directory: an id that was given to another process since is let be.
tries=0
while :; do
  left=
  for record in "$dir"/ending/*; do
    pid=${record##*/}
    case $(command_line "$pid") in *"$dir/"*) left="$left $pid" && kill -KILL "$pid" 2>/dev/null ;; esac
  done
  [ -n "$left" ] || break
  tries=$((tries + 1))
  if [ "$tries" -gt 400 ]; then
    echo "still running after SIGKILL:$left" >&2
    exit 1
  fi
  sleep 0.05
done
rm -rf "$dir"
