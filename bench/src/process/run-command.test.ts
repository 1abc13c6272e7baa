import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch } from '@sluice/cli/testing'
import { isRunning } from './process-use.js'
import { childrenMicros, coreCount, runProgram, runToSuccess } from './run-command.js'

const ANYWHERE = { cpu: null, limitSeconds: 60 }

test('the output, the status and the CPU time of a program are reported, threads included', async () => {
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
    runToSuccess(program('console.log("Running @ http://u:s3cret@a/b?c=s3cret"); process.exit(1)'), ANYWHERE),
    /^Error: node failed with status 1:\nRunning @ http:\/\/\*\*\*@a\/b\?c=\*\*\*$/,
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

test('a program does not outlive the process that runs it', async (t) => {
  const file = join(scratch(t), 'pid')
  const runner = `const { runProgram } = await import(process.argv[1])
    runProgram(['sh', '-c', 'echo $$ > "$0"; exec sleep 60', process.argv[2]], { cpu: null, limitSeconds: 60 })
    const { existsSync, readFileSync } = await import('node:fs')
    const isStarted = () => existsSync(process.argv[2]) && readFileSync(process.argv[2], 'utf8').endsWith('\\n')
    setInterval(() => isStarted() && process.exit(), 20)`
  const program = new URL('./run-command.js', import.meta.url).href
  const child = spawn(process.execPath, ['--input-type=module', '-e', runner, program, file])
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'close')
  const pid = Number(readFileSync(file, 'utf8'))
  const giveUpMono = performance.now() + 20_000
  while (isRunning(pid)) {
    assert.ok(performance.now() < giveUpMono, 'it must end with the process that ran it')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

test('a pinned program runs on its cores', async () => {
  const { stdout } = await runToSuccess(['taskset', '-c', '-p', String(process.pid)], ANYWHERE)
  const first = /list: (\d+)/.exec(stdout)![1]!
  const pinned = await runToSuccess(['sh', '-c', 'taskset -c -p $$'], { cpu: first, limitSeconds: 60 })
  assert.match(pinned.stdout, new RegExp(`list: ${first}$`, 'm'))
})

test('cores are counted from the list', () => {
  assert.equal(coreCount('0'), 1)
  assert.equal(coreCount('0,2'), 2)
})
