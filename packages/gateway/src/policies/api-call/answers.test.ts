import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { hashKey } from '@sluice/policies'
import { until } from '../../testing/gateway.js'
import { callee, gatewayCalling, json, loggedGatewayCalling, recordsOf } from '../testing/calling-gateway.js'

/** Returns the name of the answer that a request got. */
const TELL = ["{ use: header, with: { response: { set: { x-n: '{{vars.n}}' } } } }"]
const save = [{ from: '$.n', to: 'vars.n' }]

test('1,000 requests that make the same call at once make one', async (t) => {
  const waiting: ServerResponse[] = []
  const other = await callee(t, (res) => void waiting.push(res))
  const call = { name: 'c', url: other.url, timeout: '20s', save }
  const gateway = await gatewayCalling(t, { uses: [{ calls: [call] }], behind: TELL })
  const all = Array.from({ length: 1000 }, async () => (await fetch(gateway.url)).headers.get('x-n'))
  await until(() => gateway.plane.inFlight === 1000)
  await until(() => waiting.length > 0)
  json({ n: 1 })(waiting[0]!)
  assert.deepEqual([...new Set(await Promise.all(all))], ['1'])
  assert.equal(other.calls.length, 1)
})

test('answers are cached by their inputs and per consumer, and personal ones are not cached', async (t) => {
  const other = await callee(t, () => {})
  const keys = ['ann', 'bob'].map((id) => ({ id, sha256: hashKey(`key-${id}`) }))
  const ask = async (more: object, paths: readonly string[], who = 'ann') => {
    other.calls.length = 0
    let n = 0
    other.answer = (res) => json({ n: ++n })(res)
    const uses = [
      { inputs: { p: 'req.path' }, calls: [{ name: 'c', url: `${other.url}/{{inputs.p}}`, save, ...more }] },
    ]
    const gateway = await gatewayCalling(t, { uses, behind: TELL })
    const seen: string[] = []
    for (const path of paths) {
      const response = await fetch(gateway.url + path, { headers: { 'x-api-key': `key-${who}` } })
      seen.push(response.headers.get('x-n') ?? '')
    }
    return seen.join('')
  }
  const paths = ['/a', '/b', '/a', '/a']
  assert.equal(await ask({}, paths), '1234')
  assert.equal(await ask({ cache: {} }, paths), '1211')
  assert.equal(await ask({ cache: { key: ['req.method'] } }, paths), '1111')
  assert.equal(await ask({ cache: {}, method: 'POST', body: 'b' }, paths), '1211')
  assert.equal(await ask({ cache: { maxEntries: 1 } }, paths), '1233')
  for (const field of [
    ['cache-control', 'private'],
    ['cache-control', 'max-age=0'],
    ['set-cookie', 's=1'],
  ] as const) {
    let n = 0
    other.answer = (res) => json({ n: ++n })(res.setHeader(field[0], field[1]))
    const gateway = await gatewayCalling(t, {
      ...{ uses: [{ calls: [{ name: 'c', url: other.url, save, cache: {} }] }], behind: TELL },
    })
    await fetch(gateway.url)
    assert.equal((await fetch(gateway.url)).headers.get('x-n'), '2', field.join())
  }
  let n = 0
  other.answer = (res) => json({ n: ++n })(res)
  const cache = { key: ['req.method'] }
  const call = (more: object) => ({ name: 'c', url: other.url, save, cache: { ...cache, ...more } })
  for (const [more, expected] of [
    [{}, '12'],
    [{ shared: true }, '33'],
  ] as const) {
    const auth = JSON.stringify({ use: 'api-key', with: { keys } })
    const use = JSON.stringify({ use: 'api-call', with: { calls: [call(more)] } })
    const gateway = await gatewayCalling(t, { uses: [], behind: [auth, use, ...TELL] })
    const of = async (who: string) =>
      (await fetch(gateway.url, { headers: { 'x-api-key': `key-${who}` } })).headers.get('x-n')
    assert.equal(`${await of('ann')}${await of('bob')}`, expected)
  }
})

test('lists and numbers beyond double precision are distinct keys', async (t) => {
  let n = 0
  const other = await callee(t, (res) => json({ n: ++n })(res))
  const cache = { key: ['req.body.json("$.id")'] }
  const call = { name: 'c', url: other.url, save, cache }
  const gateway = await gatewayCalling(t, { uses: [{ calls: [call] }], behind: TELL })
  const ask = async (body: string): Promise<string | null> =>
    (await fetch(gateway.url, { method: 'POST', body })).headers.get('x-n')
  const bodies = [
    '9007199254740992',
    '9007199254740993',
    '[1]',
    '[2]',
    '{"a":1}',
    '{"a":2}',
    '7',
    '8',
    'null',
  ]
  for (const [i, id] of bodies.entries()) assert.equal(await ask(`{"id":${id}}`), String(i + 1), id)
  assert.equal(await ask('{"id":7}'), '7')
})

test('a stale answer is used during a refresh and an outage, and the log shows it', async (t) => {
  let n = 0
  const other = await callee(t, (res) => json({ n: ++n })(res))
  const cache = { ttl: '1ms', revalidate: '1h' }
  const swr = await gatewayCalling(t, {
    uses: [{ calls: [{ name: 'c', url: other.url, save, cache }] }],
    behind: TELL,
  })
  const of = async (url: string) => (await fetch(url)).headers.get('x-n')
  assert.equal(await of(swr.url), '1')
  await until(async () => Number(await of(swr.url)) > 1)
  const stale = await loggedGatewayCalling(t, {
    uses: [{ calls: [{ name: 'c', url: other.url, save, cache: { ttl: '1ms', staleIfError: '1h' } }] }],
    behind: TELL,
  })
  const last = await of(stale.url)
  other.answer = (res) => res.destroy()
  const calls = other.calls.length
  let asked = 1
  await until(async () => {
    asked++
    assert.equal(await of(stale.url), last)
    return other.calls.length > calls
  })
  const froms = (await recordsOf(stale, asked)).flatMap(({ api_calls }) =>
    (api_calls as { from: string }[]).map(({ from }) => from),
  )
  assert.deepEqual([froms[0], froms.at(-1)], ['call', 'stale'])
})
