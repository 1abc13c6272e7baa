#!/bin/sh
# Installs what the lock file names. The settings for a registry of your own come as a secret, so that they are in no layer.
set -eu
if [ -f /run/secrets/npmrc ]; then export NPM_CONFIG_USERCONFIG=/run/secrets/npmrc; fi
if [ -f /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --cache /tmp/npm "$@"

# The engine comes compiled for every system and every version of Node.js.
native="uws_linux_$(node -p 'process.arch')_$(node -p 'process.versions.modules').node"
find node_modules/uWebSockets.js -name '*.node' ! -name "$native" -delete
test -f "node_modules/uWebSockets.js/dist/bin/$native"
rm -rf /tmp/npm
# What only compilers, debuggers and the tests of packages read. The compiler here needs it.
if [ "${1:-}" = --omit=dev ]; then strip-files node_modules; fi
# The volume, empty.
mkdir -p /data
