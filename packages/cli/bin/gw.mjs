#!/usr/bin/env node
import { unsuitableNode } from './node-version.mjs'

const problem = unsuitableNode('gw', process.versions.node)
if (problem !== null) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
const { main } = await import('../dist/bundle/main.js')
await main(process.argv)
