import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { bundleOf, type MemberState } from '@sluice/control-client'
import { testFolder, until } from '../testing/test-controller.js'
import type { ControlStore, MemberReport } from './control-store.js'
import type { LogEntry } from './log-entry.js'
import { openStore, StoreUnavailable } from './open-store.js'
import { PostgresServer, postgresSkip } from './testing/postgres-server.js'

const STATE: MemberState = {
  ...{ digest: null, deploy: 0, isReady: true, reason: null, workers: 2 },
  ...{ at: '2026-11-30T00:00:00.000Z', figures: null },
}

function entryOf(note: string): LogEntry {
  return {
    ...{ id: randomUUID(), at: '2026-11-30T00:00:00.000Z', actor: 'test', address: null, controller: 'a' },
    ...{ type: 'deploy.started', group: 'edge', digest: 'd', note, rollbackTo: null },
    ...{ quorumPercent: 50, deadlineMs: 1000 },
  }
}

function reportOf(member: string, changes: Partial<MemberReport> = {}): MemberReport {
  return {
    ...{
      member,
      group: 'edge',
      name: member,
      version: '1',
      adminUrl: null,
      controller: 'a',
      isConnected: true,
      owner: 'token',
    },
    ...{ state: STATE, clockDifferenceMs: 0, vote: null, driftReason: null, ...changes },
  }
}

/** Behaviour of every store. `open` opens a store at the same place again. */
const BEHAVIOURS: Readonly<Record<string, (open: () => Promise<ControlStore>) => Promise<void>>> = {
  'an append after an older entry is a conflict and changes nothing': async (open) => {
    const store = await open()
    assert.equal(await store.append(entryOf('one'), 0), 1)
    assert.equal(await store.append(entryOf('late'), 0), null)
    assert.equal(await store.append(entryOf('early'), 2), null)
    assert.equal(await store.append(entryOf('two "ü" \n'), 1), 2)
    const notes = (await store.entriesAfter(0, 10)).map((entry) => 'note' in entry && entry.note)
    assert.deepEqual(notes, ['one', 'two "ü" \n'])
    assert.deepEqual(
      (await store.entriesAfter(1, 10)).map(({ seq }) => seq),
      [2],
    )
    assert.deepEqual(
      (await store.entriesAfter(0, 1)).map(({ seq }) => seq),
      [1],
    )
  },
  'of many appends at once exactly one succeeds': async (open) => {
    const store = await open()
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => store.append(entryOf(`${i}`), 0)))
    assert.deepEqual(
      results.filter((seq) => seq !== null),
      [1],
    )
  },
  'entries, bundles and its id survive closing': async (open) => {
    const store = await open()
    const { digest, manifest, chunks } = bundleOf(new Map([['gateway.yaml', Buffer.from('version: 1')]]))
    await store.append(entryOf('kept'), 0)
    await store.putChunks(chunks)
    await store.putManifest(digest, manifest)
    await store.putManifest(digest, manifest)
    await store.report('a', [reportOf('m')])
    const { id } = store
    await store.close()
    const again = await open()
    assert.equal(again.id, id)
    assert.equal((await again.entriesAfter(0, 10)).length, 1)
    assert.deepEqual(await again.getManifest(digest), manifest)
    for (const [chunk, bytes] of chunks) assert.deepEqual(await again.getChunk(chunk), bytes)
    assert.deepEqual(await again.missingChunks([...chunks.keys(), 'f'.repeat(64)]), ['f'.repeat(64)])
    assert.equal(await again.getChunk('f'.repeat(64)), null)
    assert.equal(await again.getManifest('f'.repeat(64)), null)
    assert.deepEqual(
      (await again.reports()).members.map(({ member }) => member),
      ['m'],
    )
  },
  'reports replace each other, have an age, and can be forgotten': async (open) => {
    const store = await open()
    await store.report('a', [reportOf('m'), reportOf('n')])
    await store.report('b', [reportOf('m', { controller: 'b' })])
    const { controllers, members } = await store.reports()
    assert.deepEqual([...controllers.keys()].sort(), ['a', 'b'])
    for (const ageMs of [...controllers.values(), ...members.map((report) => report.ageMs)])
      assert.ok(ageMs >= 0 && ageMs < 600_000, `${ageMs}`)
    const places = members.map(({ member, controller }) => `${member} at ${controller}`)
    assert.deepEqual(places.sort(), ['m at b', 'n at a'])
    await store.forgetMember('edge', 'm')
    assert.deepEqual(
      (await store.reports()).members.map(({ member }) => member),
      ['n'],
    )
  },
  'changes are announced': async (open) => {
    const store = await open()
    const seen: string[] = []
    const stop = store.watch((change) => seen.push(change))
    await store.append(entryOf('one'), 0)
    await until(() => seen.includes('entries'))
    await store.report('a', [reportOf('m')])
    await until(() => seen.includes('reports'))
    stop()
  },
  'garbage collection keeps what kept bundles contain, and what is young': async (open) => {
    const store = await open()
    const bundles = ['kept', 'dropped'].map((text) =>
      bundleOf(
        new Map([
          ['gateway.yaml', Buffer.from('shared')],
          ['a.txt', Buffer.from(text)],
        ]),
      ),
    )
    for (const { digest, manifest, chunks } of bundles) {
      await store.putChunks(chunks)
      await store.putManifest(digest, manifest)
    }
    const [kept, dropped] = bundles as [(typeof bundles)[0], (typeof bundles)[0]]
    assert.equal(await store.collectGarbage(new Set([kept.digest]), 3_600_000), 0)
    assert.equal((await store.getManifest(dropped.digest)) !== null, true)
    await until(async () => (await store.collectGarbage(new Set([kept.digest]), 1)) === 1)
    assert.equal(await store.getManifest(dropped.digest), null)
    assert.deepEqual(await store.missingChunks([...kept.chunks.keys()]), [])
    assert.equal((await store.missingChunks([...dropped.chunks.keys()])).length, 1)
  },
}

function closing(t: TestContext, place: string): () => Promise<ControlStore> {
  return async () => {
    const store = await openStore(place)
    t.after(() => store.close().catch(() => {}))
    return store
  }
}

for (const [behaviour, check] of Object.entries(BEHAVIOURS))
  test(`folder: ${behaviour}`, (t) => check(closing(t, testFolder(t))))

test('PostgreSQL', { skip: postgresSkip }, async (t) => {
  const server = await PostgresServer.start(t)
  for (const [behaviour, check] of Object.entries(BEHAVIOURS))
    await t.test(behaviour, async (ofBehaviour) => check(closing(ofBehaviour, await server.database())))

  await t.test(
    'two controllers see each other’s entries, and only one of two appends succeeds',
    async (pair) => {
      const place = await server.database()
      const [one, two] = await Promise.all([closing(pair, place)(), closing(pair, place)()])
      assert.equal(one.id, two.id)
      const seen = new Promise<string>((resolve) => void two.watch(resolve))
      const results = await Promise.all([one.append(entryOf('one'), 0), two.append(entryOf('two'), 0)])
      assert.deepEqual(
        results.filter((seq) => seq !== null),
        [1],
      )
      assert.match(await seen, /entries|reports/)
      assert.equal((await two.entriesAfter(0, 10)).length, 1)
    },
  )

  await t.test(
    'a killed server makes appends fail, and a restarted one has all acknowledged entries',
    async (outage) => {
      const store = await closing(outage, await server.database())()
      assert.equal(await store.append(entryOf('before'), 0), 1)
      await server.kill()
      await assert.rejects(store.append(entryOf('meanwhile'), 1), StoreUnavailable)
      await server.run()
      await until(async () => (await store.append(entryOf('after'), 1).catch(() => null)) === 2)
      const seen = new Promise((resolve) => void store.watch(resolve))
      await seen
      assert.deepEqual(
        (await store.entriesAfter(0, 10)).map((entry) => 'note' in entry && entry.note),
        ['before', 'after'],
      )
    },
  )
})
