import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { letGo, takeAlong, temporaryFolder, temporaryGroup } from './last-will.js'
import { isRunning, processTree } from './measure/process-use.js'

/** Takes along a process, a group and a folder, and leaves another process alone that it took along before. */
const TESTATOR = `const { spawn } = await import('node:child_process')
  const { writeFileSync } = await import('node:fs')
  const { takeAlong, letGo, temporaryFolder, temporaryGroup } = await import(process.argv[1])
  const folder = temporaryFolder('sluice-will-').path
  const group = temporaryGroup(process.argv[2]).path
  writeFileSync(group + '/member', 'text')
  writeFileSync(folder + '/file', 'text')
  const started = [false, true, false].map((detached) => spawn('sleep', ['600'], { detached }))
  const [one, many, other] = started.map(({ pid }) => pid)
  for (const target of [one, -many, other]) takeAlong(target)
  await letGo(other)
  console.log(JSON.stringify({ folder, pids: [one, many], other }))
  process.on('message', () => process.exit(0))`

interface Estate {
  readonly testator: ChildProcess
  readonly folder: string
  readonly pids: readonly number[]
  readonly other: number
}

/** A folder can stand for a control group: it cannot be removed either as long as something is in it. */
async function estate(t: TestContext, group: string): Promise<Estate> {
  const program = new URL('./last-will.js', import.meta.url).href
  const testator = spawn(process.execPath, ['--input-type=module', '-e', TESTATOR, program, group], {
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
    const around = temporaryFolder('sluice-will-groups-')
    t.after(() => around.remove())
    const group = join(around.path, 'group')
    const { testator, folder, pids, other } = await estate(t, group)
    assert.ok(existsSync(folder) && pids.every(isRunning))
    if (way === 'it exits') testator.send('exit')
    else testator.kill('SIGKILL')
    await once(testator, 'exit')
    if (way === 'it exits') assert.equal(existsSync(folder), false, 'nobody has to wait for it')
    await until(() => !existsSync(folder) && !pids.some(isRunning), 'all has gone')
    assert.ok(isRunning(other))
    assert.ok(existsSync(group), 'somebody is in it')
    rmSync(join(group, 'member'))
    await until(() => !existsSync(group), 'it goes when nobody is in it')
  })
}

test('a group goes when nobody is in it any more', async (t) => {
  const around = temporaryFolder('sluice-will-groups-')
  t.after(() => around.remove())
  const path = join(around.path, 'group')
  const group = temporaryGroup(path)
  writeFileSync(join(path, 'member'), 'text')
  const removed = group.remove()
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.ok(existsSync(path))
  rmSync(join(path, 'member'))
  await removed
  assert.equal(existsSync(path), false)
  await group.remove()
})

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
