import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { type ExchangeFields, setFields } from '@sluice/core/testing'
import { ReplayCache } from '../../crypto/replay/replay-cache.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { hmacSignature } from './policy.js'
import type { hmacSignatureSchema } from './schema.js'

type HmacSignatureConfig = Static<typeof hmacSignatureSchema>

const SECRET = 'a secret of thirty-two bytes ....'
const BEFORE = 'the secret that was used before it'
const BODY = Buffer.from('{"a": 1,\r\n "b":"\u00e9\u0000"}')
const NOW = 1_900_000_000_000

function hmac(secret: string, ...pieces: (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', secret)
  for (const piece of pieces) mac.update(piece)
  return mac.digest()
}

function compile(config: Partial<HmacSignatureConfig>, table?: Map<string, unknown>): Step {
  const step = hmacSignature.compile({ preset: 'github', secrets: [SECRET], ...config }, testEnv(table))
  assert.ok(step !== null && !(step instanceof Promise))
  return step
}

function request(headers: string[], fields: ExchangeFields = {}): Exchange {
  return exchange({ method: 'POST', headers, contentLength: BODY.length, startedAt: NOW, ...fields })
}

function decide(step: Step, x: Exchange, body: Uint8Array = BODY): Outcome {
  const outcome = step.onRequest!(x) ?? step.onRequestBody?.(x, body) ?? null
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

/** The same where what was accepted is remembered. */
async function once(step: Step, x: Exchange, body: Uint8Array = BODY): Promise<Outcome> {
  return step.onRequest!(x) ?? (await step.onRequestBody?.(x, body)) ?? null
}

function code(config: Partial<HmacSignatureConfig>, headers: string[], body?: Uint8Array): string {
  return decide(compile(config), request(headers), body)?.problem?.code ?? ''
}

const HUB = 'x-hub-signature-256'

test('the example that GitHub documents', () => {
  const config = { secrets: ["It's a Secret to Everybody"] }
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  assert.equal(code(config, [HUB, signature], Buffer.from('Hello, World!')), '')
  assert.equal(code(config, [HUB, signature], Buffer.from('Hello, World?')), 'GW_SIGNATURE_INVALID')
})

test('the example that Slack documents', () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const headers = [
    'x-slack-signature',
    'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    'x-slack-request-timestamp',
    '1531420618',
  ]
  const step = compile({ preset: 'slack', secrets: ['8f742231b10e8888abcd99yyyzzz85a5'] })
  assert.equal(decide(step, request(headers, { startedAt: 1_531_420_618_000 }), Buffer.from(body)), null)
  assert.match(decide(step, request(headers), Buffer.from(body))?.problem?.detail ?? '', /too old/)
})

test('Shopify signs in Base64', () => {
  const header = 'x-shopify-hmac-sha256'
  const signature = hmac(SECRET, BODY)
  assert.equal(code({ preset: 'shopify' }, [header, signature.toString('base64')]), '')
  for (const other of [
    signature.toString('hex'),
    signature.toString('base64url'),
    signature.toString('base64').slice(0, -1),
    ` ${signature.toString('base64')}`,
    signature.subarray(0, 16).toString('base64'),
  ]) {
    assert.equal(code({ preset: 'shopify' }, [header, other]), 'GW_SIGNATURE_INVALID', other)
  }
})

test('Stripe signs a time, and with every secret while one is replaced', () => {
  const t = String(NOW / 1000)
  const right = hmac(SECRET, `${t}.`, BODY).toString('hex')
  const other = hmac(BEFORE, `${t}.`, BODY).toString('hex')
  const stripe = (value: string): string => code({ preset: 'stripe' }, ['stripe-signature', value])
  assert.equal(stripe(`t=${t},v1=${right}`), '')
  assert.equal(stripe(`t=${t},v1=${other},v1=${right},v0=abc`), '')
  assert.equal(stripe(`t=${t},v0=${right}`), 'GW_SIGNATURE_INVALID')
  assert.equal(stripe(`v1=${right}`), 'GW_SIGNATURE_INVALID')
  assert.equal(stripe(`t=${t},t=${t},v1=${right}`), 'GW_SIGNATURE_INVALID')
  assert.equal(stripe(`t=${Number(t) + 1},v1=${right}`), 'GW_SIGNATURE_INVALID')
  assert.equal(stripe(`t=${t},v1=${right},${'v1=00,'.repeat(50)}`), 'GW_SIGNATURE_INVALID')
  assert.equal(stripe(`t=${t},v1=${'0'.repeat(5000)}`), 'GW_SIGNATURE_INVALID')
  assert.equal(
    code({ preset: 'stripe', secrets: ['another secret, long enough', BEFORE] }, [
      'stripe-signature',
      `t=${t},v1=${other},v1=${right}`,
    ]),
    '',
  )
})

test('without a signature the body is not waited for', () => {
  const step = compile({})
  const outcome = step.onRequest!(request([])) as Outcome
  assert.equal(outcome?.problem?.code, 'GW_SIGNATURE_MISSING')
  assert.deepEqual(outcome?.headers, [
    'x-gw-error',
    'GW_SIGNATURE_MISSING',
    'www-authenticate',
    'Signature header="x-hub-signature-256"',
  ])
})

test('a shortened, lengthened, doubled or otherwise written signature is refused', () => {
  const hex = hmac(SECRET, BODY).toString('hex')
  assert.equal(code({}, [HUB, `sha256=${hex}`]), '')
  assert.equal(code({}, [HUB, `sha256=${hex.toUpperCase()}`]), '')
  const wrong = [
    hex,
    `sha1=${hex}`,
    `SHA256=${hex}`,
    `sha256=${hex.slice(0, 32)}`,
    'sha256=',
    `sha256=${hex}00`,
    `sha256=${hex.slice(0, -1)}`,
    `sha256=${hex},sha256=${hex}`,
    `sha256= ${hex}`,
    `sha256=${hex.replace(/./, 'g')}`,
  ]
  for (const value of wrong) assert.equal(code({}, [HUB, value]), 'GW_SIGNATURE_INVALID', value)
  assert.equal(code({}, [HUB, `sha256=${hex}`, HUB, `sha256=${hex}`]), 'GW_SIGNATURE_INVALID')
})

test('each secret of a rotation is tried, and the refusal is the same for all', () => {
  const config = { secrets: [SECRET, BEFORE] }
  assert.equal(code(config, [HUB, `sha256=${hmac(BEFORE, BODY).toString('hex')}`]), '')
  const refusals = ['some other secret entirely', ''].map((secret) =>
    decide(compile(config), request([HUB, `sha256=${hmac(secret, BODY).toString('hex')}`])),
  )
  assert.deepEqual(refusals[0], refusals[1])
})

const CUSTOM: Partial<HmacSignatureConfig> = {
  preset: 'custom',
  header: 'X-Sig',
  prefix: 'v1=',
  encoding: 'base64url',
  payload:
    '{{timestamp}}\n{{method}} {{path}}?{{query}}\n{{host}}\n{{header.X-Tenant}}\n{{body.sha256.base64}}',
  timestamp: { header: 'x-time', format: 'unix-ms' },
  tolerance: '2m',
}

function custom(fields: Partial<Exchange> = {}, atMs = NOW): Exchange {
  const digest = createHash('sha256').update(BODY).digest('base64')
  const text = `${atMs}\nPOST /caf%C3%A9/%2e?q=%zz+ü\nAPI.example.com\n\n${digest}`.replace('ü', '%FC')
  return request(['x-time', String(atMs), 'x-sig', `v1=${hmac(SECRET, text).toString('base64url')}`], {
    authority: 'API.example.com',
    rawPath: '/caf%C3%A9/%2e',
    path: '/café',
    query: 'q=%zz+%FC',
    ...fields,
  })
}

test('a way of signing of your own, over the bytes as they came', () => {
  const step = compile(CUSTOM)
  assert.equal(decide(step, custom()), null)
  for (const change of [
    { rawPath: '/caf%c3%a9/%2e' },
    { query: 'q=%zz+%fc' },
    { method: 'PUT' },
    { authority: 'api.example.com' },
  ]) {
    assert.equal(decide(step, custom(change))?.problem?.code, 'GW_SIGNATURE_INVALID', JSON.stringify(change))
  }
  const tenant = custom()
  tenant.headers.push('x-tenant', 'evil')
  assert.equal(decide(step, tenant)?.status, 401)
  assert.equal(decide(step, custom(), Buffer.from('x'))?.status, 401)
})

test('changes by later policies do not matter', () => {
  const step = compile(CUSTOM)
  const x = custom()
  assert.equal(step.onRequest!(x), null)
  x.query = 'changed'
  x.headers.length = 0
  assert.equal(step.onRequestBody!(x, BODY), null)
})

test('times outside the window are refused, also when they are signed', () => {
  const step = compile(CUSTOM)
  assert.equal(decide(step, custom({}, NOW - 119_000)), null)
  assert.match(decide(step, custom({}, NOW - 121_000))?.problem?.detail ?? '', /too old or in the future/)
  assert.equal(decide(step, custom({}, NOW + 59_000)), null)
  assert.match(decide(step, custom({}, NOW + 61_000))?.problem?.detail ?? '', /too old or in the future/)
  const formats: [HmacSignatureConfig['timestamp'], string][] = [
    [{ header: 'x-time' }, '1e9'],
    [{ header: 'x-time' }, '-1900000000'],
    [{ header: 'x-time' }, '1900000000.5'],
    [{ header: 'x-time' }, '9'.repeat(30)],
    [{ header: 'x-time', format: 'iso' }, '2030-03-17'],
    [{ header: 'x-time', format: 'iso' }, '2030-13-17T00:00:00Z'],
  ]
  for (const [timestamp, text] of formats) {
    const config = compile({ ...CUSTOM, payload: '{{timestamp}}', timestamp: timestamp! })
    const x = request(['x-time', text, 'x-sig', `v1=${hmac(SECRET, text).toString('base64url')}`])
    assert.equal(decide(config, x)?.status, 401, text)
  }
  const iso = new Date(NOW).toISOString()
  const config = compile({
    ...CUSTOM,
    payload: '{{timestamp}}',
    timestamp: { header: 'x-time', format: 'iso' },
  })
  const sign = (): string[] => ['x-sig', `v1=${hmac(SECRET, iso).toString('base64url')}`]
  assert.equal(decide(config, request(['x-time', iso, ...sign()])), null)
  assert.equal(decide(config, request(sign()))?.status, 401)
  assert.equal(decide(config, request(['x-time', iso, 'x-time', iso, ...sign()]))?.status, 401)
})

test('a payload without the body leaves the body alone', () => {
  const step = compile({ ...CUSTOM, payload: '{{timestamp}}{{method}}' })
  assert.equal(step.onRequestBody, undefined)
  const x = request([
    'x-time',
    String(NOW),
    'x-sig',
    `v1=${hmac(SECRET, `${NOW}POST`).toString('base64url')}`,
  ])
  assert.equal(decide(step, x), null)
})

test('an accepted signature is not accepted again, whichever secret signed it', async () => {
  const table = new Map<string, unknown>()
  const config = { secrets: [SECRET, BEFORE], replay: { maxEntries: 2, window: '1m' } }
  const hub = (secret: string, body: Uint8Array): string[] => [
    HUB,
    `sha256=${hmac(secret, body).toString('hex')}`,
  ]
  assert.equal(await once(compile(config, table), request(hub(SECRET, BODY))), null)
  const again = await once(compile(config, table), request(hub(BEFORE, BODY)))
  assert.match(again?.problem?.detail ?? '', /already been used/)
  const step = compile(config, table)
  assert.equal(await once(step, request(hub(SECRET, Buffer.from('2'))), Buffer.from('2')), null)
  const full = await once(step, request(hub(SECRET, Buffer.from('3'))), Buffer.from('3'))
  assert.equal(full?.problem?.code, 'GW_OVERLOADED')
  assert.deepEqual(full?.headers.slice(2), ['retry-after', '10'])
  assert.equal(
    decide(step, request([HUB, `sha256=${'0'.repeat(64)}`]))?.problem?.code,
    'GW_SIGNATURE_INVALID',
  )
})

test('a body so slow that its signature may have expired is refused', async () => {
  const step = compile({ ...CUSTOM, replay: {} })
  assert.equal(await once(step, custom()), null)
  const slow = custom()
  assert.equal(step.onRequest!(slow), null)
  setFields(slow, { startedMono: slow.startedMono - 7 * 60_000 })
  const outcome = step.onRequestBody!(slow, BODY) as Outcome
  assert.match(outcome?.problem?.detail ?? '', /too old/)
})

test('a nonce is known to its last millisecond', () => {
  const cache = new ReplayCache(2, 1000)
  assert.equal(cache.use('a', 0), 'first')
  assert.equal(cache.use('a', 1000), 'replayed')
  assert.equal(cache.use('a', 1001), 'first')
})

test('strip removes signature and time before the upstream', () => {
  const x = custom()
  x.headers.push('accept', '*/*')
  assert.equal(decide(compile({ ...CUSTOM, strip: true }), x), null)
  assert.deepEqual(x.headers, ['accept', '*/*'])
})

test('a large body is hashed elsewhere, to the same verdict', async () => {
  const body = Buffer.alloc(300_000, 'x')
  const config = { secrets: [SECRET, BEFORE], replay: {} }
  const step = compile(config)
  const send = async (signed: Uint8Array): Promise<string> => {
    const x = request([HUB, `sha256=${hmac(BEFORE, signed).toString('hex')}`])
    const outcome = step.onRequest!(x) ?? step.onRequestBody!(x, body)
    assert.ok(outcome instanceof Promise)
    return (await outcome)?.problem?.detail ?? ''
  }
  assert.match(await send(body.subarray(1)), /not valid/)
  assert.equal(await send(body), '')
  assert.match(await send(body), /already been used/)
  const digest = createHash('sha512').update(body).digest('base64')
  const custom: Partial<HmacSignatureConfig> = {
    preset: 'custom',
    header: 'x-s',
    payload: '{{body.sha512.base64}}',
  }
  const x = request(['x-s', hmac(SECRET, digest).toString('hex')])
  const own = compile(custom)
  assert.equal(own.onRequest!(x), null)
  assert.equal(await own.onRequestBody!(x, body), null)
})

test('a condition that turns true late does not let a body in unseen', () => {
  const outcome = compile({}).onRequestBody!(request([]), BODY) as Outcome
  assert.equal(outcome?.problem?.code, 'GW_SIGNATURE_MISSING')
})

test('requests to the upstream are signed as they are sent, again for each attempt', async () => {
  const { timestamp, ...rest } = CUSTOM
  const config = {
    ...rest,
    timestamp: { header: 'x-time' },
    payload: '{{timestamp}}.{{method}}.{{path}}.{{body}}',
  }
  const step = compile({ ...config, mode: 'sign' })
  assert.equal(step.onRequest, undefined)
  const x = request(['x-sig', 'forged', 'x-sig', 'forged'], {
    startedAt: Date.now(),
    attempts: { sentPath: '/v2/x' },
    body: BODY,
  })
  assert.equal(step.onRequestBody!(x, BODY), null)
  assert.equal(await step.onAttempt!(x), null)
  assert.equal(x.headers.length, 4)
  setFields(x, { rawPath: '/v2/x' })
  assert.equal(decide(compile(config), x), null)
  assert.equal(timestamp?.header, 'x-time')
})

test('invalid configurations are rejected with a remedy', () => {
  const bad: [Partial<HmacSignatureConfig>, RegExp][] = [
    [{ secrets: ['short'] }, /secret 1 has 5 bytes; a secret needs at least 16/],
    [{ secrets: [SECRET, 'zz'], secretEncoding: 'hex' }, /secret 1 is not valid hex/],
    [{ secrets: ['{"kty":"oct"}'] }, /without a secret/],
    [{ prefix: 'x' }, /fixed by the preset 'github'/],
    [{ preset: 'custom' }, /'header' is missing/],
    [{ preset: 'custom', header: 'host' }, /rewrite.host/],
    [{ preset: 'custom', header: 'x', algorithm: 'sha1' }, /'sha1' is weak/],
    [{ preset: 'custom', header: 'x', payload: 'fixed' }, /does not sign any part/],
    [{ preset: 'custom', header: 'x', payload: '{{bodyx}}' }, /unknown placeholder/],
    [{ preset: 'custom', header: 'x', payload: '{{body' }, /without '}}'/],
    [{ preset: 'custom', header: 'x', payload: '{{timestamp}}{{body}}' }, /name its header/],
    [{ preset: 'custom', header: 'x', timestamp: { header: 't' } }, /is not signed/],
    [{ mode: 'sign', replay: {} }, /'replay' is only for mode: verify/],
  ]
  for (const [config, expected] of bad) assert.throws(() => compile(config), expected)
  assert.doesNotThrow(() => compile({ preset: 'custom', header: 'x', algorithm: 'sha1', allowWeak: true }))
  assert.deepEqual(schemaMistakes(hmacSignature, { preset: 'github', secrets: ['x'] }), [])
  for (const config of [
    {},
    { preset: 'gitlab', secrets: ['x'] },
    { preset: 'github', secrets: [] },
    { preset: 'custom', secrets: ['x'], algorithm: 'md5' },
  ]) {
    assert.notDeepEqual(schemaMistakes(hmacSignature, config), [])
  }
})
