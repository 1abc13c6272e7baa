import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { reapAtExit, release, temporaryFolder } from './process-reaper.js'
import { isRunning, processTree } from './process-use.js'

/** Registers a process, a group and a folder, and releases another process that it registered before. */
const PARENT = `const { spawn } = await import('node:child_process')
  const { writeFileSync } = await import('node:fs')
  const { reapAtExit, release, temporaryFolder } = await import(process.argv[1])
  const folder = temporaryFolder('sluice-reaper-').path
  writeFileSync(folder + '/file', 'text')
  const started = [false, true, false].map((detached) => spawn('sleep', ['600'], { detached }))
  const [one, many, other] = started.map(({ pid }) => pid)
  for (const target of [one, -many, other]) reapAtExit(target)
  await release(other)
  console.log(JSON.stringify({ folder, pids: [one, many], other }))
  process.on('message', () => process.exit(0))`

interface Started {
  readonly parent: ChildProcess
  readonly folder: string
  readonly pids: readonly number[]
  readonly other: number
}

async function startParent(t: TestContext): Promise<Started> {
  const program = new URL('./process-reaper.js', import.meta.url).href
  const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT, program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.after(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer]
  const left = JSON.parse(String(line)) as Omit<Started, 'parent'>
  t.after(() => isRunning(left.other) && process.kill(left.other, 'SIGKILL'))
  return { parent, ...left }
}

for (const way of ['it exits', 'it is killed']) {
  test(`what a process has registered goes when ${way}, and nothing else`, async (t) => {
    const { parent, folder, pids, other } = await startParent(t)
    assert.ok(existsSync(folder) && pids.every(isRunning))
    if (way === 'it exits') parent.send('exit')
    else parent.kill('SIGKILL')
    await once(parent, 'exit')
    if (way === 'it exits') assert.equal(existsSync(folder), false, 'nobody has to wait for it')
    await until(() => !existsSync(folder) && !pids.some(isRunning), 'all has gone')
    assert.ok(isRunning(other))
  })
}

test('with nothing registered there is no reaper', async () => {
  const folder = temporaryFolder('sluice-reaper-')
  reapAtExit(-4_194_303)
  assert.deepEqual(readdirSync(folder.path), [])
  assert.equal(processTree(process.pid).length, 2)
  await release(-4_194_303)
  assert.equal(processTree(process.pid).length, 2)
  await folder.remove()
  assert.deepEqual([existsSync(folder.path), processTree(process.pid)], [false, [process.pid]])
})
