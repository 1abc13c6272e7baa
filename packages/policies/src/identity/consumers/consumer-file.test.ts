import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey } from '../../auth/api-key/key.js'
import { apiKey } from '../../auth/api-key/policy.js'
import { basicAuth } from '../../auth/basic-auth/policy.js'
import { exchange, type TestEnv, testEnv } from '../../testing.js'
import { ConsumerFile } from './consumer-file.js'
import { hashPassword } from './password.js'

function fileOf(t: TestContext, ...entries: object[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'consumers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'consumers.jsonl')
  replace(file, ...entries)
  return file
}

/** Replaces the file atomically, like editors and `gw` do. */
function replace(file: string, ...entries: object[]): void {
  writeFileSync(`${file}.new`, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function keyOf(key: string, id = key): object {
  return { id, sha256: hashKey(key) }
}

function open(file: string): { readonly consumers: ConsumerFile; readonly problems: string[] } {
  const problems: string[] = []
  return { consumers: new ConsumerFile(file, (problem) => problems.push(problem)), problems }
}

async function callsWith(file: string, env: TestEnv): Promise<(key: string) => string> {
  const step = await apiKey.compile({ consumers: { file } }, env)
  return (key) => {
    const outcome = step!.onRequest!(exchange({ headers: ['x-api-key', key] }))
    return outcome === null ? '' : ((outcome as { problem: { code: string } }).problem.code ?? '')
  }
}

/** Runs the scheduled check, which normally runs every second. */
async function renewed(file: string, table: Map<string, unknown>): Promise<void> {
  await (table.get(`consumers ${file}`) as ConsumerFile).renew()
}

test('two keys of a consumer are valid while one replaces the other; a revoked one ends with the next reading', async (t) => {
  const acme = {
    id: 'acme',
    'x-ticket': 7,
    groups: ['partners'],
    scopes: ['read'],
    metadata: { plan: 'gold' },
  }
  const file = fileOf(t, { ...acme, keys: [keyOf('old'), keyOf('new')] })
  const table = new Map<string, unknown>()
  const env = testEnv(table)
  t.after(() => env.close())
  const call = await callsWith(file, env)
  assert.deepEqual([call('old'), call('new'), call('other')], ['', '', 'GW_AUTH_INVALID'])
  const step = await apiKey.compile({ consumers: { file } }, env)
  const x = exchange({ headers: ['x-api-key', 'new'] })
  step!.onRequest!(x)
  const { id, auth, credential, groups, scopes, claims } = x.consumer!
  assert.deepEqual(
    [id, auth, credential, groups, scopes, claims?.get('plan')],
    ['acme', 'api-key', 'new', ['partners'], ['read'], 'gold'],
  )
  replace(file, { ...acme, keys: [keyOf('new')] })
  await renewed(file, table)
  assert.deepEqual([call('old'), call('new')], ['GW_AUTH_INVALID', ''])
  replace(file, { ...acme, keys: [{ ...keyOf('new'), expires: '2020-01-01' }] })
  await renewed(file, table)
  assert.equal(call('new'), 'GW_AUTH_EXPIRED')
})

test('a cached password verification ends with its consumer', async (t) => {
  const file = fileOf(t, { id: 'ann', password: await hashPassword('open sesame') })
  const table = new Map<string, unknown>()
  const env = testEnv(table)
  t.after(() => env.close())
  const step = await basicAuth.compile({ consumers: { file } }, env)
  const value = `Basic ${Buffer.from('ann:open sesame').toString('base64')}`
  const login = async (): Promise<number> =>
    (await step!.onRequest!(exchange({ headers: ['authorization', value] })))?.status ?? 200
  assert.deepEqual([await login(), await login()], [200, 200])
  replace(file)
  await renewed(file, table)
  assert.equal(await login(), 401)
})

test('the last good content stays in use while the file is invalid or missing', async (t) => {
  const file = fileOf(t, { id: 'ann', keys: [keyOf('k')] })
  const { consumers, problems } = open(file)
  const hasKey = (): boolean => consumers.table!.keys.has(hashKey('k'))
  await consumers.renew()
  writeFileSync(file, '{"id":"ann","keys":[{"id":"k","sha256":"secret-in-the-wrong-place"}]}\n')
  await consumers.renew()
  await consumers.renew()
  rmSync(file)
  await consumers.renew()
  execFileSync('mkfifo', [file])
  await consumers.renew()
  rmSync(file)
  writeFileSync(file, '')
  chmodSync(file, 0o666)
  await consumers.renew()
  truncateSync(file, 200 * 1024 * 1024)
  chmodSync(file, 0o600)
  await consumers.renew()
  assert.ok(hasKey())
  assert.deepEqual(problems, [
    'line 1: sha256 of a key is not 64 lower-case hexadecimal digits',
    "the file does not exist; create it with 'gw consumer add'",
    'not a regular file',
    'the file is world-writable; run chmod o-w',
    'the file is larger than 134217728 bytes',
  ])
  replace(file)
  await consumers.renew()
  assert.deepEqual([consumers.problem, hasKey()], ['', false])
})

test('a symbolic link is followed, and read again when it leads elsewhere', async (t) => {
  const [a, b] = [fileOf(t, { id: 'a', keys: [keyOf('a')] }), fileOf(t, { id: 'b', keys: [keyOf('b')] })]
  const link = `${a}.link`
  symlinkSync(a, link)
  const { consumers } = open(link)
  await consumers.renew()
  symlinkSync(b, `${link}.new`)
  renameSync(`${link}.new`, link)
  await consumers.renew()
  assert.deepEqual([...consumers.table!.keys.keys()], [hashKey('b')])
})

test('invalid lines are refused without quoting them', async (t) => {
  const file = fileOf(t)
  const secret = 'gw_sesame-open'
  const sha256 = hashKey('k')
  for (const [line, expected] of [
    ['not json', /line 1: the line is not a JSON object/],
    [`{"id":"a","id":"${secret}"}`, /not a JSON object/],
    [`{"id":"a","${secret}":1}`, /unknown members/],
    ['{"id":"a","__proto__":{"groups":["admin"]}}', /unknown members|not a JSON object/],
    [`{"id":"a","keys":[{"id":"k","sha256":"${secret}"}]}`, /64 lower-case hexadecimal/],
    [`{"id":"a","keys":[{"id":"k","sha256":"${sha256}","key":"${secret}"}]}`, /allowed members/],
    [`{"id":"a","keys":[{"id":"k","sha256":"${sha256}","expires":"${secret}"}]}`, /not a date or time/],
    [`{"id":"a","password":"${secret}"}`, /plain text/],
    ['{"id":"e\u0301"}', /NFC/],
    ['{"id":" a"}', /spaces/],
    ['{"id":"a\\u0000"}', /control/],
    [`{"id":"${'a'.repeat(257)}"}`, /1 to 256/],
    ['{"id":"a"}\n{"id":"a"}', /line 2: duplicate consumer id/],
    [
      `{"id":"a","keys":[{"id":"1","sha256":"${sha256}"}]}\n{"id":"b","keys":[{"id":"1","sha256":"${sha256}"}]}`,
      /duplicate key/,
    ],
  ] as const) {
    writeFileSync(file, line, { mode: 0o600 })
    const { consumers } = open(file)
    await consumers.renew()
    assert.equal(consumers.table, null)
    assert.match(consumers.problem, expected, line)
    assert.ok(!consumers.problem.includes(secret), consumers.problem)
  }
})

test('names of prototypes are consumers like others', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const file = fileOf(t, ...names.map((id) => ({ id, keys: [keyOf(`key of ${id}`)] })))
  const { consumers } = open(file)
  await consumers.renew()
  for (const id of names) {
    assert.equal(consumers.table!.keys.get(hashKey(`key of ${id}`))?.consumer.id, id)
    assert.equal(consumers.table!.keys.get(id), undefined)
    assert.equal(consumers.table!.users.find(id).consumer, null)
  }
})

test('100,000 consumers are read, one more is not; the event loop gets its turns meanwhile', async (t) => {
  const file = fileOf(t)
  const lines = Array.from(
    { length: 100_000 },
    (_, i) =>
      `{"id":"c${i}","groups":["g"],"keys":[{"id":"1","sha256":"${i.toString(16).padStart(64, '0')}"}]}`,
  )
  writeFileSync(file, lines.join('\n'), { mode: 0o600 })
  const { consumers } = open(file)
  let turns = 0
  const turn = (): void => {
    turns++
    if (consumers.table === null && consumers.problem === '') setImmediate(turn)
  }
  setImmediate(turn)
  await consumers.renew()
  assert.equal(consumers.table?.keys.size, 100_000)
  assert.ok(turns > 100, `${turns} turns`)
  writeFileSync(file, `${lines.join('\n')}\n{"id":"one-more"}`)
  await consumers.renew()
  assert.equal(consumers.problem, 'line 100001: the file has more than 100000 consumers')
  assert.equal(consumers.table?.keys.size, 100_000)
})
