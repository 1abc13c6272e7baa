#!/bin/sh
# Puts prometheus and promtool into the current folder: those in the path, or else those of the Debian package. Installs
# no service, and needs no root.
set -e
if prometheus=$(command -v prometheus) && promtool=$(command -v promtool); then
  ln -s "$prometheus" "$promtool" .
  exit
fi
if ! command -v apt-get dpkg >/dev/null; then
  echo 'install prometheus and promtool, and add them to the path' >&2
  exit 1
fi
if ! apt-get download -qq prometheus 2>apt.log; then
  # A new machine has no package lists.
  apt-get update -qq || { cat apt.log >&2; exit 1; }
  apt-get download -qq prometheus
fi
dpkg -x prometheus_*.deb unpacked
mv unpacked/usr/bin/prometheus unpacked/usr/bin/promtool .
rm -r unpacked prometheus_*.deb apt.log
