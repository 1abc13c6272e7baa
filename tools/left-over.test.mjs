import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { endLeftOvers, RUN_VARIABLE } from './left-over.mjs'

const noProc = process.platform !== 'linux' && 'only Linux shows the environment of processes'

/** A process in a group of its own that runs until it is killed, once it runs. */
async function running(t, run) {
  const code = 'console.log("runs"); setInterval(() => {}, 1000)'
  const env = { ...process.env, [RUN_VARIABLE]: run }
  const child = spawn(process.execPath, ['-e', code], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return { child, ended: new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal))) }
}

test('what a run has left behind is ended and named, and what others have started runs on', {
  skip: noProc,
}, async (t) => {
  const [mine, other] = [`mine-${process.pid}`, `other-${process.pid}`]
  const left = await running(t, mine)
  const stranger = await running(t, other)
  const [command, ...more] = await endLeftOvers(mine, 0)
  assert.match(command, /runs/)
  assert.deepEqual(more, [])
  assert.equal(await left.ended, 'SIGKILL')
  assert.equal(stranger.child.exitCode ?? stranger.child.signalCode, null)
})

test('what ends by itself is waited for, and not named', { skip: noProc }, async (t) => {
  const run = `brief-${process.pid}`
  const { child, ended } = await running(t, run)
  const nothing = endLeftOvers(run, 60_000)
  child.kill('SIGTERM')
  assert.deepEqual(await nothing, [])
  assert.equal(await ended, 'SIGTERM')
})
