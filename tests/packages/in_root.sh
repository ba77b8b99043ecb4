#!/bin/sh
# "in_root.sh DIRECTORY COMMAND...": there, with this machine's /proc and /sys, which are mounted no longer than the command runs.
set -e
if [ "$1" != --mounted ]; then
    exec unshare --mount sh "$0" --mounted "$@"
fi
root=$2
shift 2
mkdir -p "$root/proc" "$root/sys"
mount --rbind /proc "$root/proc"
mount --rbind /sys "$root/sys"
exec chroot "$root" "$@"
