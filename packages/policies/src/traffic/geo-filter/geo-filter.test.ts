import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Step } from '@sluice/core'
import { databaseOf, type PlaceEntry, pointer } from '@sluice/core/testing'
import { exchange, schemaMistakes, type TestEnv, testEnv } from '../../testing.js'
import { geoFilter } from './policy.js'

type Config = Partial<Parameters<typeof geoFilter.compile>[0]>

const PLACES: readonly PlaceEntry[] = [
  [
    '203.0.113.0/25',
    { continent: { code: 'AS' }, country: { iso_code: 'TR' }, city: { names: { en: 'Istanbul' } } },
  ],
  [
    '203.0.113.128/25',
    { continent: { code: 'EU' }, country: { iso_code: 'DE' }, city: { names: { en: 'Berlin' } } },
  ],
  ['198.51.100.0/25', { country: { iso_code: 'FR' } }],
  ['198.51.100.128/25', pointer(0xffffff)],
  ['2001:db8::/32', { continent: { code: 'OC' }, country: { iso_code: 'NZ' } }],
]
const NETWORKS: readonly PlaceEntry[] = [['203.0.113.0/26', { autonomous_system_number: 64_500 }]]

const ISTANBUL = '203.0.113.100'
const HOSTED = '203.0.113.1'
const BERLIN = '203.0.113.200'
const FRANCE = '198.51.100.1'
const DAMAGED = '198.51.100.200'
const NEW_ZEALAND = '2001:db8::1'
const NOWHERE = '192.0.2.1'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-geo-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function fileOf(t: TestContext, entries: readonly PlaceEntry[]): string {
  const file = join(folder(t), 'places.mmdb')
  writeFileSync(file, databaseOf(entries))
  return file
}

interface Filter {
  readonly env: TestEnv
  /** What passes each minute. */
  readonly minute: () => Promise<void>
  readonly isAllowed: (clientIp: string) => boolean
}

async function filterOf(t: TestContext, config: Config): Promise<Filter> {
  const jobs: (() => unknown)[] = []
  const env = testEnv()
  const schedule = (_: number, job: () => unknown): void => void jobs.push(job)
  const full = { database: { file: fileOf(t, PLACES) }, ...config }
  const step = (await geoFilter.compile(full, { ...env, schedule })) as Step
  return {
    env,
    async minute() {
      for (const job of jobs) await job()
    },
    isAllowed(clientIp) {
      const refused = step.onRequest!(exchange({ clientIp }))
      if (refused === null) return true
      assert.equal((refused as { status: number }).status, 403)
      return false
    },
  }
}

async function verdicts(t: TestContext, config: Config, addresses: readonly string[]): Promise<boolean[]> {
  const { isAllowed } = await filterOf(t, config)
  return addresses.map((address) => isAllowed(address))
}

test('an allow list allows only its places, a deny list denies its places', async (t) => {
  const addresses = [ISTANBUL, BERLIN, FRANCE, NEW_ZEALAND, NOWHERE, '']
  const allowed = { allow: { countries: ['TR'], continents: ['OC' as const] } }
  assert.deepEqual(await verdicts(t, allowed, addresses), [true, false, false, true, false, false])
  assert.deepEqual(await verdicts(t, { ...allowed, unknown: 'allow' }, addresses), [
    true,
    false,
    true,
    true,
    true,
    true,
  ])
  const denied = { deny: { countries: ['TR'] } }
  assert.deepEqual(await verdicts(t, denied, addresses), [false, true, true, true, true, true])
  assert.deepEqual(await verdicts(t, { ...denied, unknown: 'deny' }, addresses), [
    false,
    true,
    true,
    true,
    false,
    false,
  ])
})

test('deny wins; networks come from a file of their own; cities are those of their country', async (t) => {
  const networkDatabase = { file: fileOf(t, NETWORKS) }
  const config = {
    networkDatabase,
    allow: { countries: ['TR'] },
    deny: { networks: ['AS64500'] },
    unknown: 'allow' as const,
  }
  assert.deepEqual(await verdicts(t, config, [ISTANBUL, HOSTED, BERLIN]), [true, false, true])
  const cities = { allow: { cities: ['DE/berlin', 'FR/Istanbul'] } }
  assert.deepEqual(await verdicts(t, cities, [BERLIN, ISTANBUL, FRANCE]), [true, false, false])
})

test('private addresses are no place', async (t) => {
  const addresses = [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
  ]
  const allow = { countries: ['TR'] }
  assert.ok((await verdicts(t, { allow }, addresses)).every((isAllowed) => isAllowed))
  assert.ok((await verdicts(t, { allow, private: 'deny' }, addresses)).every((isAllowed) => !isAllowed))
})

test('a damaged database makes the policy fail closed', async (t) => {
  const { isAllowed } = await filterOf(t, { deny: { countries: ['TR'] } })
  for (let i = 0; i < 2; i++) assert.throws(() => isAllowed(DAMAGED), /extends past the end/)
  assert.ok(isAllowed(BERLIN))
})

test('a new file is used, also for addresses that were met before; a broken one is reported and not used', async (t) => {
  const file = fileOf(t, PLACES)
  const { env, minute, isAllowed } = await filterOf(t, { database: { file }, allow: { countries: ['TR'] } })
  assert.ok(isAllowed(ISTANBUL))
  const replace = (bytes: Buffer): void => {
    writeFileSync(`${file}.new`, bytes)
    renameSync(`${file}.new`, file)
  }
  replace(databaseOf([['203.0.113.0/24', { country: { iso_code: 'DE' } }]]))
  assert.ok(isAllowed(ISTANBUL))
  await minute()
  assert.ok(!isAllowed(ISTANBUL))
  replace(Buffer.from('no database'))
  await minute()
  await minute()
  assert.ok(!isAllowed(ISTANBUL))
  assert.deepEqual(
    env.reports.map(({ event }) => event),
    ['geo_database'],
  )
})

test('uses of one file share its memory', async (t) => {
  const file = fileOf(t, PLACES)
  const table = new Map<string, unknown>()
  for (const country of ['TR', 'DE'])
    await geoFilter.compile({ database: { file }, allow: { countries: [country] } }, testEnv(table))
  assert.equal([...table.keys()].filter((key) => key.startsWith('places ')).length, 1)
})

test('a dry run denies no request and marks requests it would have denied', async (t) => {
  const config = { database: { file: fileOf(t, PLACES) }, deny: { countries: ['TR'] }, dryRun: true }
  const step = (await geoFilter.compile(config, testEnv())) as Step
  const x = exchange({ clientIp: ISTANBUL })
  assert.equal(step.onRequest!(x), null)
  assert.equal(x.vars?.get('geo-filter'), 'would-deny')
})

test('a missing or invalid database is rejected at load', async (t) => {
  const allow = { countries: ['TR'] }
  const broken = join(folder(t), 'broken.mmdb')
  writeFileSync(broken, 'no database')
  await assert.rejects(filterOf(t, { database: { file: broken }, allow }), /not a database/)
  await assert.rejects(filterOf(t, { database: { file: join(folder(t), 'none.mmdb') }, allow }), /ENOENT/)
  await assert.rejects(filterOf(t, { database: { file: folder(t) }, allow }), /not a regular file/)
  await assert.rejects(filterOf(t, {}), /neither 'allow' nor 'deny'/)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const database = { file: 'a.mmdb' }
  assert.deepEqual(
    schemaMistakes(geoFilter, {
      database,
      allow: { countries: ['TR'], networks: ['AS1'], cities: ['DE/Bonn'] },
    }),
    [],
  )
  for (const config of [
    { allow: { countries: ['TR'] } },
    { database, allow: { countries: ['tr'] } },
    { database, allow: { continents: ['XX'] } },
    { database, deny: { networks: ['64500'] } },
    { database, deny: { cities: ['Berlin'] } },
    { database, deny: { planets: [] } },
  ])
    assert.notDeepEqual(schemaMistakes(geoFilter, config), [], JSON.stringify(config))
})
