# What the tests of packages share: other roots, as root of this machine. Nothing stays mounted beyond a command.
# shellcheck shell=sh

# in_root DIRECTORY COMMAND...: there, with this machine's /proc and /sys, and a home of its own below /tmp.
in_root()
{
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount sh -c 'mkdir -p "$1/proc" "$1/sys" "$1/tmp" && mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" &&
        root=$1 && shift && exec chroot "$root" "$@"' sh "$@"
}
