import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childrenMicros, coreCount, runProgram, runToSuccess, versionOf } from './program.js'

const ANYWHERE = { cpu: null, limitSeconds: 60 }

test('the output, the status and the CPU time of a program are told, threads included', async () => {
  const busy = `const { Worker } = require('node:worker_threads')
    const spin = 'while (process.cpuUsage().user < 300_000);'
    new Worker(spin, { eval: true }).on('exit', () => { console.log('done'); process.exitCode = 3 })`
  const end = await runProgram([process.execPath, '-e', busy], ANYWHERE)
  assert.equal(end.stdout, 'done\n')
  assert.equal(end.status, 3)
  assert.ok(childrenMicros(end.stderr) >= 300_000)
  assert.ok(end.coresUsed > 0)
})

test('a program that fails, is ended by somebody, or takes too long is an error with its last lines', async () => {
  const program = (text: string): string[] => [process.execPath, '-e', text]
  await assert.rejects(
    runToSuccess(program('console.error("no such thing"); process.exit(7)'), ANYWHERE),
    /^Error: node failed with status 7:\nno such thing$/,
  )
  await assert.rejects(
    runProgram(program('process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60_000)'), ANYWHERE),
    /node was ended by a signal: the load was aborted/,
  )
  await assert.rejects(
    runProgram(program('setTimeout(() => {}, 60_000)'), { cpu: null, limitSeconds: 0.2 }),
    /node was ended after 0.2 s/,
  )
})

test('a pinned program runs on its cores', async () => {
  const { stdout } = await runToSuccess(['taskset', '-c', '-p', String(process.pid)], ANYWHERE)
  const first = /list: (\d+)/.exec(stdout)![1]!
  const pinned = await runToSuccess(['sh', '-c', 'taskset -c -p $$'], { cpu: first, limitSeconds: 60 })
  assert.match(pinned.stdout, new RegExp(`list: ${first}$`, 'm'))
})

test('cores are counted from the list, and the version of a missing program is null', () => {
  assert.equal(coreCount('0'), 1)
  assert.equal(coreCount('0,2'), 2)
  assert.equal(coreCount('0-3,6'), 5)
  assert.equal(versionOf('no-such-load-generator', '-v', /(.)/), null)
})
