"""The fixed POSIX scripts that run on the host, one for each verb.

Each is folded to one line before it is sent, so a line here ends where its shell grammar
ends. They hold no single quote, backslash or exclamation mark: within single quotes every
login shell then takes them as they are. The words that `PREAMBLE` sets: `u` the libvirt
URI, `b` virsh, `s` sudo with its option or nothing, `n` an option of domstats, `t` the
time limit. `v` runs virsh with all of these.
"""

BEGIN = "<<</gpu-handoff>>>"
"""Printed before anything of ours: what comes earlier is somebody's banner."""

NO_SUCH_REQUEST = "gpu-handoff: no such request"
"""What an account with our forced command says to anything that is not a request."""

PREAMBLE = """
LC_ALL=C; export LC_ALL;
PATH="/run/wrappers/bin:${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"; export PATH;
u="%(uri)s"; b="%(virsh)s"; s="%(sudo)s"; n="%(nowait)s"; t="";
if command -v timeout >/dev/null 2>&1; then t="timeout %(timeout_s)d"; fi;
v() { $t $s "$b" -q -c "$u" "$@"; };
echo "<<</gpu-handoff>>>";
"""

PING = """
:
"""

HELLO = """
for f in /etc/machine-id /var/lib/dbus/machine-id; do
  if read -r x <"$f"; then echo "machine_id=$x"; break; fi;
done 2>/dev/null;
if read -r x </proc/sys/kernel/random/boot_id; then echo "boot_id=$x"; fi 2>/dev/null;
echo "hostname=$(uname -n)";
echo "uid=$(id -u)";
echo "user=$(id -un)";
for p in "$b" virsh; do
  p=$(command -v "$p" 2>/dev/null) || continue;
  echo "virsh=$p";
  echo "version=$($t "$p" --version 2>/dev/null)";
  case $($t "$p" help domstats 2>/dev/null) in
    *--nowait*) echo "nowait=yes";;
    *) echo "nowait=no";;
  esac;
  break;
done;
for p in /run/wrappers/bin/sudo /usr/local/bin/sudo /usr/bin/sudo /bin/sudo /run/current-system/sw/bin/sudo; do
  if [ -u "$p" ]; then echo "sudo=$p"; elif [ -e "$p" ]; then echo "powerless_sudo=$p"; fi;
done;
for p in /run/libvirt/virtqemud-sock /run/libvirt/libvirt-sock /var/run/libvirt/virtqemud-sock /var/run/libvirt/libvirt-sock; do
  if [ -S "$p" ]; then echo "socket=$p"; fi;
done
"""

REFRESH = """
if read -r x </proc/sys/kernel/random/boot_id; then echo "boot_id=$x"; fi 2>/dev/null;
c="echo <<</uri>>>; uri; echo <<</list>>>; list --all --uuid --name";
for i do
  c="$c; echo <<</state $i>>>; domstats --state --raw $n $i";
  c="$c; echo <<</live $i>>>; dumpxml --domain $i";
  c="$c; echo <<</inactive $i>>>; dumpxml --inactive --domain $i";
done;
v "$c; echo <<</end>>>"
"""

EVENTS = """
exec 3<&0;
( read -r x <&3; kill $$ ) >/dev/null 2>&1 &
exec $t $s "$b" -q -c "$u" "uri; event --all --loop --timestamp" </dev/null 3<&-
"""

START = """
v start --domain "$1"
"""

RESUME = """
v resume --domain "$1"
"""

WAKE = """
v dompmwakeup --domain "$1"
"""

SHUTDOWN_AGENT = """
v shutdown --domain "$1" --mode agent
"""

SHUTDOWN_ACPI = """
v shutdown --domain "$1" --mode acpi
"""

CARDS = """
cd /sys/bus/pci/devices 2>/dev/null || exit 0;
w=" ";
for d in *; do
  read -r c <"$d/class" || continue;
  case $c in 0x03*) ;; *) continue;; esac;
  for f in "${d%.*}".* "$d"/iommu_group/devices/*; do w="$w${f##*/} "; done;
done 2>/dev/null;
for d in *; do
  case $w in *" $d "*) ;; *) continue;; esac;
  g=$(readlink "$d/iommu_group" 2>/dev/null) && g=${g##*/} || g=-;
  o=$(readlink "$d/driver" 2>/dev/null) && o=${o##*/} || o=-;
  echo "function=$d";
  echo "driver=$o";
  echo "group=$g";
  for f in class vendor device subsystem_vendor subsystem_device power_state boot_vga; do
    if read -r x <"$d/$f"; then echo "$f=$x"; fi 2>/dev/null;
  done;
  for f in "$d"/drm/card* "$d"/drm/render*; do
    if [ -e "$f" ]; then echo "node=/dev/dri/${f##*/}"; fi;
  done;
  f="/proc/driver/nvidia/gpus/$d/information";
  if [ -r "$f" ]; then
    while read -r k l x; do
      case "$k $l" in "Device Minor:") echo "node=/dev/nvidia$x";; esac;
    done <"$f";
  fi;
  for f in "$d"/graphics/fb*; do
    [ -e "$f" ] || continue;
    for f in /sys/class/vtconsole/vtcon*; do
      read -r k <"$f/bind" && read -r l <"$f/name" || continue;
      case "$k $l" in 1*"frame buffer"*) echo "console=$l";; esac;
    done 2>/dev/null;
  done;
done;
[ $# -gt 0 ] || exit 0;
w=no;
for i do
  o=$(readlink "$i/driver" 2>/dev/null) || continue;
  case ${o##*/} in vfio-pci|pci-stub|pciback) ;; *) w=yes;; esac;
done;
[ "$w" = yes ] || exit 0;
f() { $t "$@" find /proc/[0-9]*/fd -lname "/dev/nvidia*" -o -lname "/dev/dri/*"; };
f $s 2>/dev/null | while read -r f; do
  k=${f#/proc/}; k=${k%%/*};
  if read -r x <"/proc/$k/comm" && l=$($s readlink "$f"); then echo "open=$l $k $x"; fi;
done 2>/dev/null;
:
"""

NAMES = """
command -v lspci >/dev/null 2>&1 || exit 0;
for i do $t lspci -D -mm -s "$i"; done 2>/dev/null;
:
"""

KUBECONFIG = """
k="/etc/rancher/k3s/k3s.yaml /etc/rancher/rke2/rke2.yaml /etc/kubernetes/admin.conf";
for f in $k; do
  if [ -r "$f" ]; then cat "$f"; exit; fi;
done;
for p in /run/wrappers/bin/sudo /usr/local/bin/sudo /usr/bin/sudo /bin/sudo; do
  [ -u "$p" ] || continue;
  for f in $k; do
    if $t "$p" -n cat "$f"; then exit 0; fi;
  done;
  exit 13;
done;
for f in $k; do
  if [ -e "$f" ]; then echo "$f: Permission denied" >&2; exit 13; fi;
done;
exit 2
"""
