import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Capture, type CaptureRules } from '@sluice/core'
import fc from 'fast-check'
import { captureRules, encodeRecord, sampleExchange } from '../testing.js'
import { recordEnv } from './record-env.js'

const RULES = captureRules({ requestIn: { headers: true, body: true } })

interface Sent {
  readonly bytes: Uint8Array | string
  readonly type?: string
  readonly encoding?: string
  readonly rules?: Partial<CaptureRules>
}

/** Returns the record of an exchange with this request body. */
function lineOf({ bytes, type = '', encoding = '', rules = {} }: Sent): string {
  const headers = [
    ...(type === '' ? [] : ['content-type', type]),
    ...(encoding === '' ? [] : ['content-encoding', encoding]),
  ]
  const x = sampleExchange({ headers, contentLength: -1 })
  x.record.capture = new Capture({ ...RULES, ...rules }, x)
  x.record.capture.onRequestChunk(Buffer.from(bytes as string))
  const options = { fields: 'minimal', worker: 0, node: 'n', version: '1', configDigest: () => '' } as const
  return encodeRecord(x, recordEnv(options))
}

function bodyOf(sent: Sent) {
  return JSON.parse(lineOf(sent)).body?.req_in
}

test('whatever the bytes are, a record stays one line of printable ASCII JSON', () => {
  const types = [
    '',
    'text/plain',
    'application/json',
    'image/png',
    'multipart/form-data; boundary=b',
    'a"b\n',
  ]
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc
      .array(fc.constantFrom('--b', '\r\n', 'Content-Disposition: form-data; name="a"', 'x', '--', '"'))
      .map((parts) => Buffer.from(parts.join(''))),
  )
  const rules = fc.record({
    maxBodyBytes: fc.integer({ min: 1, max: 200 }),
    binary: fc.constantFrom('omit' as const, 'base64' as const),
    multipart: fc.constantFrom('names' as const, 'values' as const),
  })
  fc.assert(
    fc.property(bytes, fc.constantFrom(...types), rules, (body, type, chosen) => {
      const line = lineOf({ bytes: body, type, rules: chosen })
      assert.match(line, /^[ -~]+$/)
      const recorded = JSON.parse(line).body?.req_in
      assert.equal(recorded?.bytes ?? 0, body.length)
    }),
  )
})

test('text is recorded as text by its media type, or by its bytes where nothing is said', () => {
  const texts = [
    'text/html',
    'application/json; charset=utf-8',
    'application/problem+json',
    'Application/XML',
    '',
  ]
  for (const type of texts) assert.equal(bodyOf({ bytes: 'grün', type }).text, 'grün', type)
  assert.equal(bodyOf({ bytes: Buffer.from([0xfc]), type: 'text/plain; charset=ISO-8859-1' }).text, 'ü')
  assert.deepEqual(bodyOf({ bytes: 'abc', type: 'image/png' }), { bytes: 3, ct: 'image/png' })
  assert.deepEqual(bodyOf({ bytes: Buffer.from([0xff, 0xfe]) }), { bytes: 2 })
})

test('compressed bodies are not text', () => {
  assert.equal(bodyOf({ bytes: 'abc', type: 'text/plain', encoding: 'gzip' }).text, undefined)
  assert.equal(bodyOf({ bytes: 'abc', type: 'text/plain', encoding: 'identity' }).text, 'abc')
})

test('bytes that are not text are recorded as base64 if that was asked for', () => {
  const rules = { binary: 'base64' as const, maxBodyBytes: 4 }
  const recorded = bodyOf({ bytes: Buffer.from([0, 1, 2, 3, 4]), type: 'image/png', rules })
  assert.deepEqual(recorded, { bytes: 5, ct: 'image/png', base64: 'AAECAw==', truncated: true })
})

test('a character that the limit cuts is left out whole', () => {
  for (const [maxBodyBytes, text] of [
    [1, 'a'],
    [2, 'a'],
    [3, 'aü'],
    [6, 'aü'],
    [7, 'aü😀'],
  ] as const) {
    assert.equal(bodyOf({ bytes: 'aü😀b', type: 'text/plain', rules: { maxBodyBytes } }).text, text)
  }
})

test('the record of a form holds no secret', () => {
  const type = 'application/x-www-form-urlencoded'
  const { text } = bodyOf({ bytes: 'user=ann&password=hunter2&client_secret=s', type })
  assert.equal(text, 'user=ann&password=***&client_secret=***')
})

const FORM = (parts: readonly string[]): string =>
  parts.map((part) => `--b\r\n${part}\r\n`).join('') + '--b--\r\n'
const FORM_TYPE = 'multipart/form-data; boundary="b"'

const MIXED_FORM = FORM([
  'Content-Disposition: form-data; name="title"\r\n\r\nHello',
  'Content-Disposition: form-data; name="f"; filename="cv.txt"\r\nContent-Type: text/plain\r\n\r\nFILE',
  'content-disposition: form-data; name="g"; FileName*=UTF-8\'\'x\r\n\r\nFILE',
  'Content-Disposition: form-data; name="h"\r\nContent-Type: application/octet-stream\r\n\r\nFILE',
  'Content-Disposition: form-data; name="i";\r\n filename="folded"\r\n\r\nFILE',
  'Content-Disposition: form-data; name="password"\r\n\r\nSECRET',
])

test('only the header lines of multipart forms are recorded by default', () => {
  const { text } = bodyOf({ bytes: MIXED_FORM, type: FORM_TYPE })
  assert.match(text, /name="title"\r\n\r\n\r\n--b/)
  assert.match(text, /filename="cv.txt"/)
  for (const held of ['Hello', 'FILE', 'SECRET']) assert.ok(!text.includes(held), text)
})

test('with values enabled, plain multipart fields are recorded, but no files or secrets', () => {
  const { text } = bodyOf({ bytes: MIXED_FORM, type: FORM_TYPE, rules: { multipart: 'values' } })
  assert.match(text, /name="title"\r\n\r\nHello\r\n--b/)
  assert.match(text, /filename="cv.txt"/)
  assert.ok(!text.includes('FILE') && !text.includes('SECRET'), text)
})

test('a multipart body that cannot be read with certainty is not recorded', () => {
  const part = 'Content-Disposition: form-data; name="f"; filename="x"\r\n\r\nFILE'
  for (const type of [
    'multipart/form-data',
    'multipart/mixed; boundary=b',
    'multipart/form-data; boundary=other',
  ])
    assert.equal(bodyOf({ bytes: FORM([part]), type }).text, undefined, type)
})

test('wherever the limit cuts a multipart form, no byte of a file is recorded', () => {
  const bytes = FORM(['Content-Disposition: form-data; name="f"; filename="x"\r\n\r\n\x01\x02\x03'])
  for (let maxBodyBytes = 1; maxBodyBytes <= bytes.length; maxBodyBytes++) {
    const recorded = bodyOf({ bytes, type: FORM_TYPE, rules: { maxBodyBytes } })
    assert.doesNotMatch(recorded.text ?? '', /[\x01-\x03]/)
  }
})

test('text is recorded in the encoding that it has, or not at all, so that rules see what it says', () => {
  const json = '{"password":"x"}'
  const turkish = Buffer.from('7b22fe22203a317d', 'hex')
  const type = (charset: string): string => `application/json; charset=${charset}`
  assert.equal(bodyOf({ bytes: turkish, type: type('iso-8859-9') }).text, '{"ş" :1}')
  assert.equal(bodyOf({ bytes: turkish, type: type('"Windows-1254"') }).text, '{"ş" :1}')
  assert.equal(bodyOf({ bytes: '{"ş":1}', type: type('windows-1254') }).text, '{"ş":1}')
  const xml = Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1254"?><a>'), turkish])
  assert.match(bodyOf({ bytes: xml, type: 'application/xml' }).text, /"ş"/)
  for (const unreported of [
    { bytes: Buffer.from(json, 'utf16le'), type: type('utf-16le') },
    { bytes: Buffer.from(json, 'utf16le'), type: 'application/json' },
    { bytes: Buffer.from(json, 'utf16le'), type: 'application/x-www-form-urlencoded' },
    { bytes: json, type: type('utf-16') },
    { bytes: '+AHs-"+AHA-assword":"x"}', type: type('utf-7') },
    { bytes: 'c07f', type: type('ibm037') },
  ])
    assert.equal(bodyOf(unreported).text, undefined, JSON.stringify(unreported))
})

const SAMPLED = { results: ['error'], slowMs: null, status: null, share: 0.25 } as const

/** Returns the record of the exchange with this ID, with a sample of one quarter. */
function sampledRecord(id: string, result: 'success' | 'error') {
  const x = sampleExchange({ id, result, headers: [], contentLength: -1 })
  x.record.capture = new Capture({ ...RULES, keepBodyOn: SAMPLED }, x)
  x.record.capture.onRequestChunk(Buffer.from('text'))
  const options = { fields: 'minimal', worker: 0, node: 'n', version: '1', configDigest: () => '' } as const
  return JSON.parse(encodeRecord(x, recordEnv(options)))
}

test('a sample holds its share of all exchanges, and says so also of those that are recorded for another reason', () => {
  const ids = Array.from({ length: 4000 }, (_, i) => `019aa3f0-6c1e-7b7e-9d6f-${String(i).padStart(12, '0')}`)
  const calls = ids.map((id) => sampledRecord(id, 'success'))
  const sample = calls.filter(({ sampled }) => sampled === true)
  assert.ok(sample.length > 900 && sample.length < 1100, String(sample.length))
  for (const { body, log, sampled } of calls) {
    assert.equal(body?.req_in.text, sampled ? 'text' : undefined)
    assert.equal(log?.reason, sampled ? 'sample' : undefined)
  }
  const failed = ids.map((id) => sampledRecord(id, 'error'))
  assert.deepEqual(
    failed.map(({ sampled }) => sampled),
    calls.map(({ sampled }) => sampled),
  )
  assert.ok(failed.every(({ body, log }) => body.req_in.text === 'text' && log.reason === 'error'))
})

test('the SHA-256 is that of the whole body, however little of it is recorded', () => {
  const rules = { sha256: true, maxBodyBytes: 2 }
  assert.deepEqual(bodyOf({ bytes: 'abc', type: 'text/plain', rules }), {
    bytes: 3,
    // One-block example of FIPS 180-4.
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    ct: 'text/plain',
    text: 'ab',
    truncated: true,
  })
  assert.equal(bodyOf({ bytes: 'abc', rules: {} }).sha256, undefined)
})

test('a form with hidden values has no SHA-256, which would confirm guesses', () => {
  const type = 'application/x-www-form-urlencoded'
  const digests = (bytes: string, rules: Partial<CaptureRules>, ct = type) =>
    bodyOf({ bytes, type: ct, rules: { sha256: true, ...rules } }).sha256 !== undefined
  assert.ok(digests('user=ann', {}))
  assert.ok(!digests('user=ann&password=hunter2', {}))
  assert.ok(!digests('user=ann&password=hunter2', { maxBodyBytes: 8 }), 'the secret is after what is kept')
  assert.ok(!digests('user=ann\0', {}), 'nobody can read it')
  assert.ok(digests('a\0', {}, 'image/png'))
  const field = 'Content-Disposition: form-data; name="title"\r\n\r\nHello'
  const secret = 'Content-Disposition: form-data; name="password"\r\n\r\nSECRET'
  const file = 'Content-Disposition: form-data; name="f"; filename="x"\r\n\r\nFILE'
  assert.ok(digests(FORM([file]), {}, FORM_TYPE))
  assert.ok(!digests(FORM([file, field]), {}, FORM_TYPE))
  assert.ok(digests(FORM([file, field]), { multipart: 'values' }, FORM_TYPE))
  assert.ok(!digests(FORM([file, secret]), { multipart: 'values' }, FORM_TYPE))
})
