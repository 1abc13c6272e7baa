import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { testDirectory } from '../testing/gateway-process.js'

const PRELOAD = createRequire(import.meta.url).resolve('@sluice/gateway/worker-preload')

/** A primary that is killed before its worker can send the first message. */
const PROGRAM = `import cluster from 'node:cluster'
if (cluster.isPrimary) {
  cluster.setupPrimary({ execArgv: ['--require', ${JSON.stringify(PRELOAD)}] })
  cluster.fork()
  process.kill(process.pid, 'SIGKILL')
}`

test('a worker whose supervisor is killed while it starts exits without a stack trace', async () => {
  const file = join(testDirectory(), 'primary.mjs')
  writeFileSync(file, PROGRAM)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  // The worker inherits the pipe, so it ends with the worker.
  assert.equal(await text(child.stderr), '')
})
