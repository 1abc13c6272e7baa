#!/usr/bin/env node
import { unsuitableNode } from './node-version.mjs'

const problem = unsuitableNode('gw', process.versions.node)
if (problem !== null) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
if (process.argv[2] === 'start' && process.env.GW_PARENT === undefined) {
  // The parent of the supervisor. The supervisor runs this command again, and checks the arguments.
  const { LOG_FORMAT_ENV, runParent } = await import('@sluice/gateway/parent')
  const [, format] = /\0--log-format[=\0]([^\0]+)/.exec(process.argv.join('\0')) ?? []
  if (format !== undefined) process.env[LOG_FORMAT_ENV] = format
  process.exitCode = await runParent()
} else {
  const { main } = await import('../dist/bundle/main.js')
  await main(process.argv)
}
