#!/bin/sh
# Becomes systemd on a copy of this machine, in namespaces of its own: the files are those of the machine, and what is
# written to them is kept in memory. Prints its process id, as the machine counts.
#   boot.sh FOLDER REPOSITORY NODE: an empty folder for mounts; the other two are seen as /opt/sluice and /opt/node
set -eu
folder=$1 repository=$2 node=$3
root=$folder/root
read -r pid rest < /proc/self/stat
echo "$pid"

mount --make-rprivate /
mount -t tmpfs -o mode=755,size=64m none "$folder"
mkdir "$folder/upper" "$folder/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" none "$root"

# What this machine starts, and what people keep on it, stays out.
for path in etc/systemd/system etc/init.d etc/modules-load.d home root run srv var/lib var/log var/spool; do
  mkdir -p "$root/$path"
  mount -t tmpfs -o mode=755,size=64m none "$root/$path"
done
for path in tmp var/tmp; do mount -t tmpfs -o mode=1777,size=64m none "$root/$path"; done
rm -rf "$root"/etc/rc?.d "$root/etc/fstab" "$root/etc/modules" "$root/etc/machine-id" "$root/etc/sluice"
: > "$root/etc/machine-id"
mkdir -p "$root/opt/sluice" "$root/opt/node"
mount --bind -o ro "$repository" "$root/opt/sluice"
mount --bind -o ro "${node%/node}" "$root/opt/node"

# The kernel is that of the machine: nothing of it may be set.
mount -t proc proc "$root/proc"
for path in sys sysrq-trigger; do
  if [ -e "$root/proc/$path" ]; then mount --bind -o ro "$root/proc/$path" "$root/proc/$path"; fi
done
mount -t sysfs -o ro sysfs "$root/sys"
for unit in dev-hugepages sys-fs-fuse-connections sys-kernel-config sys-kernel-debug sys-kernel-tracing; do
  ln -s /dev/null "$root/etc/systemd/system/$unit.mount"
done

# Version 2 of control groups has one hierarchy. Version 1 has one for each controller, and may have that of version 2 beside.
groups=$root/sys/fs/cgroup
mount -t tmpfs -o mode=755 none "$groups"
while IFS=: read -r _ controllers _; do
  case $controllers in
    '') type=cgroup2 name=unified options=rw ;;
    cpuset) continue ;;
    name=*) type=cgroup name=${controllers#name=} options=none,$controllers ;;
    *) type=cgroup name=$controllers options=$controllers ;;
  esac
  if [ "$(wc -l < /proc/self/cgroup)" = 1 ]; then name=.; fi
  mkdir -p "$groups/$name"
  mount -t "$type" -o "$options" none "$groups/$name"
done < /proc/self/cgroup

mount -t tmpfs -o mode=755 none "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"; done
mknod -m 666 "$root/dev/tty" c 5 0
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"

cd "$root"
mkdir .machine
pivot_root . .machine
umount -l .machine
exec env -i container=sluice PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time,-syslog /lib/systemd/systemd < /dev/null
