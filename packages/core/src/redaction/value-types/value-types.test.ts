import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../../testing/cpu-time.js'
import { findCards } from './card.js'
import { VALUE_TYPES, type ValueTypeName } from './value-types.js'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----'

function found(type: ValueTypeName, text: string, isCut = false): string[] {
  const spans = VALUE_TYPES[type](text, isCut)
  return Array.from({ length: spans.length / 2 }, (_, i) => text.slice(spans[2 * i], spans[2 * i + 1]))
}

/** Texts that are exactly one value, by type. */
const VALUES: Readonly<Record<ValueTypeName, readonly string[]>> = {
  card: [
    '4111111111111111',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    '378282246310005',
    '6011111111111117',
    '9792030394440796',
  ],
  iban: [
    'TR330006100519786457841326',
    'TR33 0006 1005 1978 6457 8413 26',
    'de89370400440532013000',
    'GB29NWBK60161331926819',
  ],
  tckn: ['10000000146', '12345678950'],
  email: [
    'john@example.com',
    'a.b+c@sub.example.co',
    'jörg@münchen.example',
    'a@b.xn--p1ai',
    '"john doe"@example.com',
    '"john\\"x"@example.com',
    'john@[192.0.2.1]',
    'john@[IPv6:2001:db8::1]',
    '"a@b"@[192.0.2.1]',
  ],
  phone: [
    '+905551112233',
    '+90 555 111 22 33',
    '0555 111 22 33',
    '(415) 555-2671',
    '0044 20 7946 0958',
    '555-123-4567',
    '(555) 123-4567',
    '(555) 1234567',
    '(555)123-4567',
    '555.123.4567',
    '555 123 4567',
    '555\u2011123\u20114567',
    '020 7946 0958',
    '(020) 7946 0958',
    '0161 496 0123',
    '01632 960 983',
    '01 23 45 67 89',
  ],
  jwt: [JWT, 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0.AAAA.BBBB.CCCC.DDDD'],
  'private-key': [PEM, PEM.replaceAll('RSA ', ''), '-----BEGIN PRIVATE KEY-----\nwithout an end'],
  'aws-key': ['AKIAIOSFODNN7EXAMPLE', 'ASIAIOSFODNN7EXAMPLE'],
}

/** Texts that only resemble a value, by type. */
const OTHERS: Readonly<Record<ValueTypeName, readonly string[]>> = {
  card: ['4111111111111112', '1763712345678', '411111111111', '41111111111111111111', '0.4111111111111111'],
  iban: ['TR330006100519786457841327', 'ZZ33000610051978645784', 'TR3300061005197864578413', 'XTR33abc'],
  tckn: ['10000000147', '00000000146', '100000001461', '1000000014'],
  email: [
    '@example.com',
    'john@',
    'john@localhost',
    'a@b.1',
    'a @ b.com',
    '""@example.com',
    'a@[b]',
    'a@[1.2.3]',
    'say "a" @example.com',
  ],
  phone: [
    '2026-11-21',
    '1763712345678',
    '12:30:45',
    '+12',
    '10.20.30.40',
    '01-02-2026',
    '2026-01-02 03:04',
    '123-456-7890',
    '0.125',
    '05/11/2026',
    '1.234.567,89',
    '555-12-4567',
    '555-123-45678',
  ],
  jwt: ['eyJhbGciOiJIUzI1NiJ9', 'eyJub25lIjoxfQ.eyJzdWIiOiIxIn0.x', 'eyJxx.yyy.zzz'],
  'private-key': ['-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----', 'PRIVATE KEY'],
  'aws-key': ['AKIAIOSFODNN7EXAMPL', 'XAKIAIOSFODNN7EXAMPLE', 'akiaiosfodnn7example'],
}

test('a telephone number may begin with a parenthesis behind a word', () => {
  assert.deepEqual(found('phone', 'call(555)123-4567'), ['(555)123-4567'])
  assert.deepEqual(found('phone', 'Tel(0532) 123 45 67'), ['(0532) 123 45 67'])
  assert.deepEqual(found('phone', 'f(123)456-7890, x5551234567'), [])
})

for (const type of Object.keys(VALUES) as ValueTypeName[]) {
  test(`values of the type ${type} are found, alone and within text`, () => {
    for (const value of VALUES[type]) {
      assert.deepEqual(found(type, value), [value])
      if (value.startsWith('-----BEGIN PRIVATE KEY-----\nwithout')) continue
      assert.deepEqual(found(type, `see ${value}, "${value}"`), [value, value], value)
    }
  })

  test(`texts that only resemble the type ${type} are not matched`, () => {
    for (const text of OTHERS[type]) assert.deepEqual(found(type, text), [], text)
  })
}

test('digits of a UUID are not a card number, but one next to it is', () => {
  const digits = '4000-7000-9492-0003'
  const uuid = `01a2aaaa-${digits}aaaaaaaa`
  assert.deepEqual(found('card', digits), [digits])
  for (const text of [uuid, `"id":"${uuid}"`, uuid.toUpperCase(), `${uuid} ${uuid}`]) {
    assert.deepEqual(found('card', text), [], text)
  }
  assert.deepEqual(found('card', `${uuid} 4111111111111111`), ['4111111111111111'])
  // Not UUIDs: too long, without a valid variant, or without a letter.
  assert.deepEqual(found('card', `${uuid}a`), [digits])
  assert.deepEqual(found('card', '0aaaaaaa-4111-1111-1111-1111aaaaaaaa'), ['4111-1111-1111-1111'])
  assert.equal(
    found('card', `${'0'.repeat(8)}-${digits}${'0'.repeat(8)}`).length,
    found('card', `-${digits}${'0'.repeat(8)}`).length,
  )
})

test('a card number is found among other groups of digits', () => {
  assert.deepEqual(found('card', '12 4111 1111 1111 1111 99'), ['4111 1111 1111 1111'])
  assert.deepEqual(found('card', '4111111111111111 378282246310005'), ['4111111111111111', '378282246310005'])
})

test('the beginning of a value is found at the end of truncated text', () => {
  const cases: readonly (readonly [ValueTypeName, string])[] = [
    ['card', '4111 1111 1'],
    ['iban', 'TR33 0006 10'],
    ['tckn', '1000000'],
    ['email', 'john@exam'],
    ['phone', '+90 555 1'],
    ['jwt', 'eyJhbGciOiJIUzI1NiJ9.eyJz'],
    ['aws-key', 'AKIAIOSFOD'],
  ]
  for (const [type, beginning] of cases) {
    assert.deepEqual(found(type, `see ${beginning}`, true), [beginning])
    assert.deepEqual(found(type, `see ${beginning}`, false), [])
    assert.deepEqual(found(type, `see ${beginning}, and`, true), [])
  }
})

test('hostile texts are scanned quickly', () => {
  const texts = [
    'a',
    '1',
    '1 ',
    'eyJ',
    '-eyJaaaaaaaa.',
    '@',
    'a@',
    '+1(',
    'TR33',
    '-----BEGIN PRIVATE KEY-----',
    '.a@b.',
  ]
  for (const type of Object.keys(VALUE_TYPES) as ValueTypeName[]) {
    for (const text of texts) {
      const beforeMs = cpuMs()
      found(type, text.repeat(65_536 / text.length), true)
      // Quadratic time would take minutes.
      assert.ok(cpuMs() - beforeMs < 10_000, `${type} ${text}`)
    }
  }
})

test('scanning many digits and separators takes linear time', () => {
  const texts = ['1', '4 ', '4111 ', '4111.', '2-2', 'TR33 ', '+1 ', '%34', '&#52;', '%2534-', '\uff14 ']
  for (const type of Object.keys(VALUE_TYPES) as ValueTypeName[]) {
    for (const text of texts) {
      const beforeMs = cpuMs()
      found(type, text.repeat(2 ** 18 / text.length), true)
      // About 100 ms. Quadratic time would take minutes.
      assert.ok(cpuMs() - beforeMs < 60_000, `${type} ${text}`)
    }
  }
})

test('searching for cards reads each character a bounded number of times', () => {
  for (const unit of ['2 ', '4', '4111 ', '4111.', '2\n', '4  ', '411111 11', '2 2 2 2 2 2 2 2 2 2 2 2 x']) {
    const text = unit.repeat(Math.ceil(2 ** 14 / unit.length))
    let reads = 0
    const counted = {
      length: text.length,
      toString: () => text,
      slice: (start: number, end: number) => text.slice(start, end),
      charCodeAt(at: number) {
        reads++
        return text.charCodeAt(at)
      },
    }
    findCards({ text: counted as unknown as string, hasDigits: true, origins: null }, false)
    assert.ok(reads <= 100 * text.length, `${unit}: ${reads / text.length} reads per character`)
  }
})
