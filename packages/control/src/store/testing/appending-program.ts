import { randomUUID } from 'node:crypto'
import { FolderStore } from '../folder-store.js'

/**
 * Program that appends entries to the store in the folder of its argument until it fails or is killed. It prints the
 * number of each acknowledged entry to stderr.
 */
const store = await FolderStore.open(process.argv[2]!)
let seq = (await store.entriesAfter(0, 1_000_000)).length
process.stderr.write(`open ${seq}\n`)
const head = { at: '2026-11-30T00:00:00.000Z', actor: 'test', address: null, controller: 'a' }
try {
  for (;;) {
    const digest = randomUUID().replaceAll('-', '').padEnd(64, '0')
    await store.putChunks(new Map([[digest, Buffer.alloc(500)]]))
    const event = {
      type: 'token.created',
      token: 'x'.repeat(200),
      name: 'n',
      role: 'viewer',
      groups: [],
      sha256: digest,
    } as const
    const appended = await store.append({ id: randomUUID(), ...head, ...event }, seq)
    if (appended === null) throw new Error('conflict')
    seq = appended
    process.stderr.write(`${seq}\n`)
  }
} catch (error) {
  const { length } = await store.entriesAfter(0, 1_000_000)
  process.stderr.write(`failed ${(error as NodeJS.ErrnoException).code} with ${length}\n`)
  await store.close()
}
