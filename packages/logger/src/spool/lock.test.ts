import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { scratchDir } from '../testing.js'
import { isOwnerAlive, OwnerLock } from './lock.js'

const LOCK = new URL('./lock.js', import.meta.url).href
const NOW_MS = 100_000_000
/** Time of a heartbeat that is too old for an owner on another machine. */
const SILENT_MS = NOW_MS - 3_600_000

/** Starts a thread that owns a part of a spool. */
async function startOwner(root: string, name: string, isMade: boolean): Promise<Worker> {
  const code = `
    import { parentPort } from 'node:worker_threads'
    import { OwnerLock } from '${LOCK}'
    new OwnerLock(${JSON.stringify(root)}, '${name}', ${isMade})
    parentPort.postMessage('locked')
    setInterval(() => {}, 60_000)`
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
  await once(thread, 'message')
  return thread
}

for (const isMade of [false, true]) {
  test(`a thread of this process is alive until it ends, whatever its heartbeat, lock exists: ${isMade}`, {
    skip: process.platform !== 'linux' && 'only Linux shows threads',
  }, async (t) => {
    const root = scratchDir()
    if (isMade) {
      new OwnerLock(root, 'a', false)
      // Until the thread runs, only the heartbeat counts.
      assert.deepEqual(
        [isOwnerAlive(root, 'a', NOW_MS, NOW_MS), isOwnerAlive(root, 'a', NOW_MS, SILENT_MS)],
        [true, false],
      )
    }
    const thread = await startOwner(root, 'a', isMade)
    t.after(() => thread.terminate())
    assert.equal(isOwnerAlive(root, 'a', NOW_MS, SILENT_MS), true)
    await thread.terminate()
    assert.equal(isOwnerAlive(root, 'a', NOW_MS, NOW_MS), false)
  })
}
