#!/bin/sh
# Installs what the lock file names. The settings for a registry of your own come as a secret, so that they are in no layer.
set -eu
if [ -f /run/secrets/npmrc ]; then export NPM_CONFIG_USERCONFIG=/run/secrets/npmrc; fi
if [ -f /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi
exec npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --cache /tmp/npm "$@"
