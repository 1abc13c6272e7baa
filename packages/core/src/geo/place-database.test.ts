import assert from 'node:assert/strict'
import { test } from 'node:test'
import { autonomousSystemOf, cityOf, continentOf, countryOf } from './place.js'
import { PlaceDatabase } from './place-database.js'
import { control, databaseOf, pointer, valueBytes } from './testing/database-file.js'

const BERLIN = {
  continent: { code: 'EU', names: { en: 'Europe', de: 'Europa' } },
  country: { iso_code: 'DE', is_in_european_union: true },
  city: { geoname_id: 2_950_159, names: { en: 'Berlin' } },
  location: { latitude: 52.5, longitude: -0.25 },
  subdivisions: [{ iso_code: 'BE' }],
  text: 'x'.repeat(300),
}

/** Copies a value, because decoded objects have no prototype and would not equal those of the test. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

for (const recordSize of [24, 28, 32] as const) {
  test(`records of ${recordSize} bits: addresses of both versions are found by their longest prefix`, () => {
    const entries = [
      ['203.0.113.0/24', BERLIN],
      ['198.51.100.0/25', { country_code: 'LK' }],
      ['2001:db8::/32', { asn: 'AS64500', country: 'NZ' }],
    ] as const
    const database = new PlaceDatabase(databaseOf(entries, { recordSize }))
    assert.deepEqual(plain(database.get('203.0.113.77')), BERLIN)
    assert.deepEqual(plain(database.get('::ffff:203.0.113.77')), BERLIN)
    assert.equal(countryOf(database.get('198.51.100.127')), 'LK')
    assert.equal(database.get('198.51.100.128'), null)
    assert.equal(autonomousSystemOf(database.get('2001:db8:ffff::1')), 64_500)
    for (const nothing of ['2001:db9::1', '', 'unix', '203.0.113.77:80', '1.2.3'])
      assert.equal(database.get(nothing), null)
    const old = new PlaceDatabase(
      databaseOf([['32.1.13.0/24', { country_code: 'US' }]], { recordSize, ipVersion: 4 }),
    )
    assert.equal(countryOf(old.get('32.1.13.9')), 'US')
    assert.equal(old.get('2001:db8::1'), null)
  })
}

test('country, continent, city and network are read in the formats of several vendors', () => {
  assert.deepEqual([countryOf(BERLIN), continentOf(BERLIN), cityOf(BERLIN)], ['DE', 'EU', 'Berlin'])
  assert.equal(countryOf({ registered_country: { iso_code: 'FR' } }), 'FR')
  assert.equal(continentOf({ continent_code: 'AS' }), 'AS')
  assert.equal(cityOf({ city: 'Colombo' }), 'Colombo')
  assert.equal(autonomousSystemOf({ autonomous_system_number: 5 }), 5)
  for (const damaged of [
    null,
    7,
    'TR',
    {},
    { country: { iso_code: 'x"y' } },
    { country: { iso_code: ['DE'] }, asn: 'AS', city: 7 },
  ])
    assert.deepEqual(
      [countryOf(damaged), continentOf(damaged), cityOf(damaged), autonomousSystemOf(damaged)],
      [null, null, null, null],
    )
})

/** Returns a database with one network and these record bytes. */
function hostile(...parts: readonly Buffer[]): PlaceDatabase {
  return new PlaceDatabase(databaseOf([['203.0.113.0/24', Buffer.concat(parts)]]))
}

test('a hostile record causes an error: pointer loops, invalid sizes, exponential expansion', () => {
  const many = (value: Buffer, times: number): Buffer[] => Array.from({ length: times }, () => value)
  const laughs: Buffer[] = []
  let at = 0
  for (let level = 0; level < 10; level++) {
    const before = laughs.length === 0 ? valueBytes('ha') : pointer(at)
    at = laughs.reduce((bytes, laugh) => bytes + laugh.length, 0)
    laughs.push(Buffer.concat([control(11, 28), ...many(before, 28)]))
  }
  const cases: Record<string, PlaceDatabase> = {
    'a pointer to itself': hostile(pointer(0)),
    'pointers in a circle': hostile(pointer(5), pointer(0)),
    'a map in itself': hostile(control(7, 1), valueBytes('a'), pointer(0)),
    'a pointer out of the data': hostile(pointer(0xffffffff)),
    'an array of sixteen million': hostile(control(11, 16_000_000)),
    'arrays of sixteen million in each other': hostile(...many(control(11, 16_000_000), 1000)),
    'a map of sixteen million': hostile(control(7, 16_000_000)),
    'a text that is longer than the file': hostile(control(2, 16_000_000)),
    'ten thousand values': hostile(control(11, 10_000), ...many(valueBytes(true), 10_000)),
    'arrays in arrays': hostile(...many(control(11, 1), 10_000)),
    'laughs by the billion': new PlaceDatabase(
      databaseOf([
        ['10.0.0.0/8', Buffer.concat(laughs.slice(0, -1))],
        ['203.0.113.0/24', laughs.at(-1)!],
      ]),
    ),
    'a key that is no text': hostile(control(7, 1), valueBytes(1), valueBytes(1)),
    'a type that is none': hostile(control(13, 0)),
    'a container': hostile(control(12, 0)),
    'long texts, again and again': hostile(
      control(11, 1000),
      ...many(pointer(5100), 1000),
      Buffer.alloc(200),
      control(2, 60_000),
      Buffer.alloc(60_000),
    ),
    'nothing at all': hostile(),
  }
  for (const [name, database] of Object.entries(cases))
    assert.throws(() => database.get('203.0.113.1'), Error, name)
})

test('a key cannot reach the prototype of objects', () => {
  const record = Buffer.concat([control(7, 1), valueBytes('__proto__'), valueBytes({ country_code: 'DE' })])
  assert.equal(countryOf(hostile(record).get('203.0.113.1')), null)
  assert.equal(countryOf({}), null)
})

test('invalid metadata is rejected when the file is read', () => {
  const lying = (metadata: Record<string, unknown>) => () =>
    new PlaceDatabase(databaseOf([['10.0.0.0/8', {}]], { metadata }))
  for (const metadata of [
    { node_count: 4_000_000_000 },
    { node_count: 0 },
    { node_count: 'many' },
    { record_size: 25 },
    { ip_version: 5 },
  ])
    assert.throws(lying(metadata), Error, JSON.stringify(metadata))
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(300_000),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
  ])
    assert.throws(() => new PlaceDatabase(bytes), Error)
})

test('a truncated or damaged file never causes more than an error', () => {
  const sound = databaseOf([
    ['203.0.113.0/24', BERLIN],
    ['2001:db8::/32', BERLIN],
  ])
  const addresses = ['203.0.113.1', '2001:db8::1', '8.8.8.8', '::1']
  const outcomes = { refused: 0, damaged: 0, answered: 0 }
  const attempt = (bytes: Buffer): void => {
    let database: PlaceDatabase
    try {
      database = new PlaceDatabase(bytes)
    } catch (error) {
      assert.ok(error instanceof Error)
      outcomes.refused++
      return
    }
    for (const address of addresses) {
      try {
        countryOf(database.get(address))
        outcomes.answered++
      } catch (error) {
        assert.ok(error instanceof Error && !(error instanceof TypeError), String(error))
        outcomes.damaged++
      }
    }
  }
  for (let length = 0; length < sound.length; length += 7) attempt(sound.subarray(0, length))
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let i = 0; i < 20_000; i++) {
    const damaged = Buffer.from(sound)
    for (let j = 0; j <= random(4); j++) damaged[random(damaged.length)] = random(256)
    attempt(damaged)
  }
  assert.ok(outcomes.refused > 0 && outcomes.damaged > 0 && outcomes.answered > 0, JSON.stringify(outcomes))
})
