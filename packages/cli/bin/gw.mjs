#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`gw needs Node.js 20.19 or newer; this is ${process.version}\n`)
  process.exit(1)
}
const { main } = await import('../dist/main.js')
await main(process.argv)
