import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogPlan } from '@sluice/config'
import { RecordSearch } from './record-search.js'

const QUERY = { sinceMs: null, limit: 10 }

/** Returns the settings of a log with one target that writes files, and a folder with two records. */
function logIn(t: TestContext, sink: LogPlan['sink'] = 'file'): LogPlan {
  const dir = mkdtempSync(join(tmpdir(), 'records-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const lines = ['fast', 'slow'].map((id, i) =>
    JSON.stringify({ '@timestamp': `2026-01-31T08:00:0${i}.000Z`, id, t: { total: i * 500 } }),
  )
  writeFileSync(join(dir, 'traffic-0-1769846400000-000000.ndjson'), `${lines.join('\n')}\n`)
  return { sink, file: { dir }, elasticsearch: null, outputs: [] } as unknown as LogPlan
}

test('the first target that can be read is searched', async (t) => {
  const log = logIn(t)
  const outputs = [{ ...log, id: 'a' }] as unknown as LogPlan['outputs']
  const search = new RecordSearch(() => ({ ...log, sink: 'none', outputs }))
  const answer = await search.search(QUERY)
  assert.ok(answer.ok, JSON.stringify(answer))
  assert.deepEqual(
    answer.records.map(({ id }) => id),
    ['slow', 'fast'],
  )
  assert.deepEqual(answer.searched, { kind: 'file', where: log.file.dir, isComplete: true })
})

test('records are filtered by duration and id', async (t) => {
  const log = logIn(t)
  const search = new RecordSearch(() => log)
  for (const query of [{ minMs: 100 }, { id: 'slow' }, { id: 's*w' }]) {
    const answer = await search.search({ ...QUERY, ...query })
    assert.deepEqual(answer.ok && answer.records.map(({ id }) => id), ['slow'])
  }
})

test('a log without a readable target, a missing folder and an invalid filter are answers', async (t) => {
  const log = logIn(t, 'none')
  const faultOf = async (plan: LogPlan | null, query = {}) => {
    const answer = await new RecordSearch(() => plan).search({ ...QUERY, ...query })
    return answer.ok ? 'none' : answer.fault
  }
  assert.equal(await faultOf(null), 'unreadable')
  assert.equal(await faultOf(log), 'unreadable')
  assert.equal(await faultOf({ ...log, sink: 'file', file: { ...log.file, dir: '/nowhere' } }), 'unreadable')
  assert.equal(await faultOf(log, { status: 'many' }), 'invalid')
})

test('only two searches run at a time', async (t) => {
  const log = logIn(t)
  const search = new RecordSearch(() => log)
  const answers = await Promise.all([1, 2, 3].map(() => search.search(QUERY)))
  assert.deepEqual(
    answers.map((answer) => (answer.ok ? 'ok' : answer.fault)),
    ['ok', 'ok', 'busy'],
  )
  assert.ok((await search.search(QUERY)).ok)
})
