#!/usr/bin/env node
// `npm create sluice DIR` is `gw init DIR`, with the same options, messages and exit codes.
process.argv.splice(2, 0, 'init')
await import('@sluice/cli/gw')
