#!/bin/sh
# Makes base.tar in this folder, a Debian with Node.js, npm and tini such as the image is built on, and the settings of
# podman for the tests. The argument is the program node that the base gets.
set -eu
debootstrap --variant=minbase --include=ca-certificates,tini bookworm root
cp "$1" root/usr/local/bin/node
mkdir -p root/usr/local/lib/node_modules
cp -r "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" root/usr/local/lib/node_modules/npm
ln -s ../lib/node_modules/npm/bin/npm-cli.js root/usr/local/bin/npm
tar -C root --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' -cf base.tar .
rm -rf root

# A limit above that of this process takes a privilege that root in a container does not have.
bounded() {
  hard=$(prlimit "--$1" --output HARD --noheadings | tr -d ' ')
  if [ "$hard" = unlimited ] || [ "$hard" -gt 16384 ]; then hard=16384; fi
  echo "$1=$hard:$hard"
}
cat > containers.conf <<SETTINGS
[containers]
default_ulimits = ["$(bounded nofile)", "$(bounded nproc)"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
SETTINGS
