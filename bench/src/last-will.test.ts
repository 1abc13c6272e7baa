import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { letGo, takeAlong, temporaryFolder } from './last-will.js'
import { isRunning, processTree } from './measure/process-use.js'

/** Takes along a process, a group and a folder, and leaves another process alone that it took along before. */
const TESTATOR = `const { spawn } = await import('node:child_process')
  const { writeFileSync } = await import('node:fs')
  const { takeAlong, letGo, temporaryFolder } = await import(process.argv[1])
  const folder = temporaryFolder('sluice-will-').path
  writeFileSync(folder + '/file', 'text')
  const started = [false, true, false].map((detached) => spawn('sleep', ['600'], { detached }))
  const [one, group, other] = started.map(({ pid }) => pid)
  for (const target of [one, -group, other]) takeAlong(target)
  await letGo(other)
  console.log(JSON.stringify({ folder, pids: [one, group], other }))
  process.on('message', () => process.exit(0))`

interface Estate {
  readonly testator: ChildProcess
  readonly folder: string
  readonly pids: readonly number[]
  readonly other: number
}

async function estate(t: TestContext): Promise<Estate> {
  const program = new URL('./last-will.js', import.meta.url).href
  const testator = spawn(process.execPath, ['--input-type=module', '-e', TESTATOR, program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.after(() => testator.kill('SIGKILL'))
  const [line] = (await once(testator.stdout!, 'data')) as [Buffer]
  const left = JSON.parse(String(line)) as Omit<Estate, 'testator'>
  t.after(() => isRunning(left.other) && process.kill(left.other, 'SIGKILL'))
  return { testator, ...left }
}

for (const way of ['it exits', 'it is killed']) {
  test(`what a process takes along goes when ${way}, and nothing else`, async (t) => {
    const { testator, folder, pids, other } = await estate(t)
    assert.ok(existsSync(folder) && pids.every(isRunning))
    if (way === 'it exits') testator.send('exit')
    else testator.kill('SIGKILL')
    await once(testator, 'exit')
    if (way === 'it exits') assert.equal(existsSync(folder), false, 'nobody has to wait for it')
    await until(() => !existsSync(folder) && !pids.some(isRunning), 'all has gone')
    assert.ok(isRunning(other))
  })
}

test('who takes nothing along has no process for it', async () => {
  const folder = temporaryFolder('sluice-will-')
  takeAlong(-4_194_303)
  assert.deepEqual(readdirSync(folder.path), [])
  assert.equal(processTree(process.pid).length, 2)
  await letGo(-4_194_303)
  assert.equal(processTree(process.pid).length, 2)
  await folder.remove()
  assert.deepEqual([existsSync(folder.path), processTree(process.pid)], [false, [process.pid]])
})
