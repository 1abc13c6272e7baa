import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { scratchDir, until } from '../testing.js'
import { Places } from './places.js'

const SAMPLE = join(import.meta.dirname, '../../samples/places.mmdb')

/** Returns the `client` member of a record after adding its location. */
function clientOf(places: Places, ip: string): unknown {
  return JSON.parse(places.addedTo(Buffer.from(`{"client":{"ip":"${ip}","port":7}}`)).toString()).client
}

/** Opens a database whose file is checked constantly, and collects its reports. */
function watched(t: TestContext, file: string): { places: Places; reported: string[] } {
  const reported: string[] = []
  const places = new Places({ file, renewMs: 5 }, (problem) => reported.push(problem))
  t.after(() => places.close())
  return { places, reported }
}

/** Replaces a file atomically, as database updaters do. */
function replace(file: string, make: (fresh: string) => void): void {
  make(`${file}.new`)
  renameSync(`${file}.new`, file)
}

test('known and valid countries and coordinates are added after the address', (t) => {
  const { places, reported } = watched(t, SAMPLE)
  for (const [ip, place] of [
    ['203.0.113.7', { country: 'TR', geo: { lat: 41.0138, lon: 28.9497 } }],
    ['198.51.100.3', { country: 'LK', geo: { lat: 6.9319, lon: 79.8478 } }],
    ['198.51.100.200', { country: 'DE' }],
    ['2001:db8::1', { country: 'NZ', geo: { lat: -36.85, lon: 174.76 } }],
    ['::ffff:198.51.100.200', { country: 'DE' }],
    ['::FFFF:c633:64c8', { country: 'DE' }],
    ['198.51.100.200.9', {}],
    ['198.51.100.200x', {}],
    ['192.0.2.1', {}],
    ['127.0.0.1', {}],
    ['', {}],
    ['unix', {}],
  ] as const) {
    // Twice, because the second lookup uses the cache.
    for (let i = 0; i < 2; i++) assert.deepEqual(clientOf(places, ip), { ip, port: 7, ...place }, ip)
  }
  assert.deepEqual(reported, [])
})

test('an IPv4 database has no result for IPv6 addresses', (t) => {
  const { places } = watched(t, join(import.meta.dirname, '../../samples/places-ipv4.mmdb'))
  assert.deepEqual(clientOf(places, '32.1.13.184'), { ip: '32.1.13.184', port: 7, country: 'US' })
  assert.deepEqual(clientOf(places, '2001:db8::1'), { ip: '2001:db8::1', port: 7 })
})

test('each line gets its own location and is otherwise unchanged', (t) => {
  const { places } = watched(t, SAMPLE)
  const rest = { http: { method: 'GET' }, body: { req_in: { text: '"client":{"ip":"203.0.113.7"}' } } }
  const ips = ['203.0.113.1', '127.0.0.1', '198.51.100.129', '203.0.113.1']
  const gap = { event: { kind: 'gap' }, route: '-' }
  const records = [gap, ...ips.map((ip) => ({ client: { ip }, ...rest })), gap]
  const lines = `${records.map((record) => JSON.stringify(record)).join('\n')}\n`
  const added = places.addedTo(Buffer.from(lines)).toString()
  const [first, ...others] = added.trimEnd().split('\n')
  assert.equal(first, JSON.stringify(gap))
  assert.equal(others.pop(), JSON.stringify(gap))
  const reported = others.map((line) => JSON.parse(line))
  assert.deepEqual(
    reported.map(({ client }) => [client.ip, client.country]),
    [
      ['203.0.113.1', 'TR'],
      ['127.0.0.1', undefined],
      ['198.51.100.129', 'DE'],
      ['203.0.113.1', 'TR'],
    ],
  )
  for (const { client: _, ...other } of reported) assert.deepEqual(other, rest)
})

test('a database that is not there yet is used when it comes', async (t) => {
  const file = join(scratchDir(), 'late.mmdb')
  const { places, reported } = watched(t, file)
  assert.deepEqual(clientOf(places, '203.0.113.7'), { ip: '203.0.113.7', port: 7 })
  assert.match(reported[0]!, /cannot be read .*; records have no client locations$/)
  replace(file, (fresh) => copyFileSync(SAMPLE, fresh))
  await until(() => JSON.stringify(clientOf(places, '203.0.113.7')).includes('TR'), 'the database is used')
})

test('a file that could not be read is read again even if it seems unchanged', async (t) => {
  const file = join(scratchDir(), 'cured.mmdb')
  const sound = readFileSync(SAMPLE)
  const put = (content: Buffer): void => {
    writeFileSync(file, content)
    utimesSync(file, 1, 1)
  }
  put(Buffer.alloc(sound.length))
  const { places, reported } = watched(t, file)
  put(sound)
  await until(() => JSON.stringify(clientOf(places, '203.0.113.7')).includes('TR'), 'the database is used')
  assert.equal(reported.length, 1, reported.join('\n'))
})

test('addresses that are remembered do not keep the batches that they came in', async () => {
  const places = new URL('./places.js', import.meta.url).href
  const program = `
    const { Places } = await import(${JSON.stringify(places)})
    const places = new Places({ file: ${JSON.stringify(SAMPLE)} }, console.log)
    const rest = '","port":7},"pad":"' + 'x'.repeat(100_000) + '"}\\n'
    for (let i = 0; i < 1500; i++)
      places.addedTo(Buffer.from('{"client":{"ip":"185.123.' + (100 + (i >> 8)) + '.' + (i & 255) + rest))
    places.close()`
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: 64 } })
  const code = await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve))
  assert.equal(code, 0)
})

test('a database stays in use if its file becomes invalid or is deleted, and each is reported once', async (t) => {
  const file = join(scratchDir(), 'good.mmdb')
  copyFileSync(SAMPLE, file)
  const { places, reported } = watched(t, file)
  replace(file, (fresh) => writeFileSync(fresh, 'no database'))
  await until(() => reported.length > 0, 'the broken one is reported')
  assert.match(reported[0]!, /the previous database stays in use$/)
  rmSync(file)
  await until(() => reported.length > 1, 'the missing one is reported')
  replace(file, (fresh) => mkdirSync(fresh))
  await until(() => reported.length > 2, 'what is no file is reported')
  assert.deepEqual(
    reported.map((problem) => /not a database|ENOENT|regular/.test(problem)),
    [true, true, true],
    reported.join('\n'),
  )
  assert.deepEqual(clientOf(places, '198.51.100.200'), { ip: '198.51.100.200', port: 7, country: 'DE' })
})
