import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { readStat } from '@sluice/core/process-stat'
import { until } from '../testing/until.js'
import { ProcessClock, processTimeout } from './process-clock.js'

const skip = process.platform !== 'linux' && 'no procfs'
const TICK_MS = 10

function child(t: TestContext, code: string): ChildProcess & { readonly pid: number } {
  const started = spawn(process.execPath, ['-e', code], { stdio: 'ignore' })
  t.after(async () => {
    started.kill('SIGKILL')
    if (started.exitCode === null && started.signalCode === null) await once(started, 'exit')
  })
  assert.ok(started.pid !== undefined)
  return started as ChildProcess & { readonly pid: number }
}

function cpuMs(pid: number): number {
  const { fields } = readStat(`/proc/${pid}/stat`)
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

test('the clock of a runnable process advances by its CPU time', { skip }, async (t) => {
  const { pid } = child(t, 'for (;;);')
  await until(() => cpuMs(pid) > 500)
  const clock = new ProcessClock(pid)
  clock.now()
  clock.now()
  const [fromMs, cpuFromMs] = [clock.now(), cpuMs(pid)]
  await until(() => clock.now() - fromMs > 300)
  const [clockMs, usedMs] = [clock.now() - fromMs, cpuMs(pid) - cpuFromMs]
  assert.ok(clockMs <= usedMs + 2 * TICK_MS, `${clockMs} ms of the clock, ${usedMs} ms of CPU time`)
})

test('the clock of a stopped, waiting or exited process advances in real time', { skip }, async (t) => {
  const stopped = child(t, 'for (;;);')
  stopped.kill('SIGSTOP')
  const waiting = child(t, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)')
  for (const pid of [stopped.pid, waiting.pid, 2 ** 30]) {
    await new Promise<void>((resolve) => processTimeout(new ProcessClock(pid), 200, resolve))
  }
})

test('a clock that is read late adds half a second at most', async () => {
  const clock = new ProcessClock(2 ** 30)
  const beginMono = performance.now()
  while (performance.now() - beginMono < 1000);
  assert.ok(clock.now() <= 500)
})
