import assert from 'node:assert/strict'
import { createHmac, scryptSync } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { consumerOf, type Eventual, type Exchange, type Outcome } from '@sluice/core'
import fc from 'fast-check'
import { basicToken, parseBasicToken } from '../../identity/consumers/basic-credentials.js'
import { equalDigests, KeyedDigest } from '../../identity/consumers/keyed-digest.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { MAX_WAIT_MS } from './password-queue.js'
import { basicAuth } from './policy.js'
import type { basicAuthSchema } from './schema.js'

type BasicAuthConfig = Static<typeof basicAuthSchema>

/** A hash of low cost, so that tests spend no time on it. */
function cheapHash(password: string, salt = 'saltsalt'): string {
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 })
  return `$scrypt$ln=10,r=8,p=1$${unpadded(Buffer.from(salt))}$${unpadded(key)}`
}

const ACME = { name: 'acme', password: cheapHash('s3:cret'), groups: ['partners'] }

function basic(credentials: string | Buffer): string[] {
  return ['authorization', `Basic ${Buffer.from(credentials).toString('base64')}`]
}

/** The policy over one table of shared state, so that the next gate with the same table is a reload. */
function gate(
  config: Partial<BasicAuthConfig> = {},
  table = new Map<string, unknown>(),
): (x: Exchange) => Eventual {
  const step = basicAuth.compile({ users: [ACME], ...config }, testEnv(table))
  assert.ok(step !== null && !(step instanceof Promise) && step.onRequest !== undefined)
  return step.onRequest.bind(step)
}

function code(outcome: Outcome): string {
  return outcome?.problem?.code ?? ''
}

test('right credentials name the consumer and are removed before the upstream', async () => {
  const x = exchange({ headers: ['a', '1', ...basic('acme:s3:cret')] })
  assert.equal(await gate()(x), null)
  assert.deepEqual(x.consumer, consumerOf('basic-auth', 'acme', { groups: ['partners'] }))
  assert.deepEqual(x.headers, ['a', '1'])
})

test('stripCredentials: false leaves them', async () => {
  const x = exchange({ headers: basic('acme:s3:cret') })
  assert.equal(await gate({ stripCredentials: false })(x), null)
  assert.equal(x.headers.length, 2)
})

test('the scheme is compared without case and may be followed by several spaces', async () => {
  for (const scheme of ['basic', 'BASIC', 'Basic  ']) {
    const [name, value] = basic('acme:s3:cret')
    const x = exchange({ headers: [name!, value!.replace('Basic', scheme)] })
    assert.equal(await gate()(x), null, scheme)
  }
})

test('without credentials, or with those of another scheme, the answer is a challenge', () => {
  const missing = gate({ realm: 'a "b" \\' })(exchange())
  assert.ok(missing !== null && !(missing instanceof Promise))
  assert.equal(missing.status, 401)
  assert.deepEqual(missing.headers, [
    'x-gw-error',
    'GW_AUTH_MISSING',
    'www-authenticate',
    'Basic realm="a \\"b\\" \\\\", charset="UTF-8"',
  ])
  const bearer = gate()(exchange({ headers: ['authorization', 'Bearer abc'] }))
  assert.ok(!(bearer instanceof Promise))
  assert.equal(code(bearer), 'GW_AUTH_MISSING')
})

test('an unknown user and a wrong password get the same answer', async () => {
  const admit = gate()
  const wrong = await admit(exchange({ headers: basic('acme:wrong') }))
  const unknown = await admit(exchange({ headers: basic('nobody:s3:cret') }))
  assert.equal(code(wrong), 'GW_AUTH_INVALID')
  assert.equal(unknown, wrong)
  assert.deepEqual(wrong?.headers.slice(2), ['www-authenticate', 'Basic realm="Restricted", charset="UTF-8"'])
  assert.doesNotMatch(JSON.stringify(wrong), /acme|wrong/)
})

test('the first check of an unknown user also runs the hash, and the next one is remembered', async () => {
  const admit = gate()
  for (const credentials of ['nobody:x', 'acme:x']) {
    const first = admit(exchange({ headers: basic(credentials) }))
    assert.ok(first instanceof Promise, credentials)
    await first
    assert.ok(!(admit(exchange({ headers: basic(credentials) })) instanceof Promise), credentials)
  }
})

test('a refused request keeps its header and gets no consumer', async () => {
  const x = exchange({ headers: basic('acme:wrong') })
  await gate()(x)
  assert.equal(x.consumer, null)
  assert.equal(x.headers.length, 2)
})

test('malformed credentials are refused without a hash', () => {
  const [, good] = basic('acme:s3:cret')
  const values = [
    'Basic ',
    'Basic',
    'Basic !!!!',
    `${good}=`,
    'Basic YWNtZQ',
    'Basic YWNt\tZTpz',
    basic('acme')[1]!,
    basic('acme:')[1]!,
    basic(':s3:cret')[1]!,
    basic('acme:s3\0cret')[1]!,
    basic('ac\nme:a')[1]!,
    basic(Buffer.from([0x61, 0x3a, 0xff]))[1]!,
    basic(`acme:${'x'.repeat(8192)}`)[1]!,
  ]
  const admit = gate()
  for (const value of values) {
    const outcome = admit(exchange({ headers: ['authorization', value] }))
    assert.ok(outcome !== null && !(outcome instanceof Promise), value)
    assert.equal(outcome.status, 401, value)
  }
})

test('two Authorization fields are refused, even when both are right', async () => {
  const outcome = await gate()(exchange({ headers: [...basic('acme:s3:cret'), ...basic('acme:s3:cret')] }))
  assert.equal(code(outcome), 'GW_AUTH_INVALID')
})

test('names and passwords are UTF-8, composed or not', async () => {
  const users = [{ name: 'Ünal', password: cheapHash('şifre €') }]
  assert.equal(await gate({ users })(exchange({ headers: basic('Ünal:şifre €') })), null)
  assert.equal(await gate({ users })(exchange({ headers: basic('U\u0308nal:s\u0327ifre €') })), null)
})

test('a verified password is answered without a promise until cacheTtl has passed', async () => {
  const admit = gate({ cacheTtl: '10s' })
  const at = (startedMono: number) => exchange({ startedMono, headers: basic('acme:s3:cret') })
  assert.equal(await admit(at(1000)), null)
  const hit = at(10_999)
  assert.equal(admit(hit), null)
  assert.equal(hit.consumer?.id, 'acme')
  assert.deepEqual(hit.headers, [])
  const late = admit(at(11_000))
  assert.ok(late instanceof Promise)
  assert.equal(await late, null)
})

test('a verified login does not authenticate another password, name or case', async () => {
  const admit = gate({ users: [ACME, { name: 'other', password: cheapHash('s3:cret', 'another salt') }] })
  assert.equal(await admit(exchange({ headers: basic('acme:s3:cret') })), null)
  for (const credentials of ['acme:s3:cre', 'acme:s3:crett', 'Acme:s3:cret', 'acme:S3:cret']) {
    assert.equal(code(await admit(exchange({ headers: basic(credentials) }))), 'GW_AUTH_INVALID', credentials)
  }
  assert.ok(admit(exchange({ headers: basic('other:s3:cret') })) instanceof Promise)
})

test('verified logins survive a reload, but not a change or removal of the user', async () => {
  const table = new Map<string, unknown>()
  const request = () => exchange({ headers: basic('acme:s3:cret') })
  assert.equal(await gate({}, table)(request()), null)
  assert.equal(gate({}, table)(request()), null)
  const changed = gate({ users: [{ name: 'acme', password: cheapHash('new') }] }, table)
  assert.equal(code(await changed(request())), 'GW_AUTH_INVALID')
  assert.equal(await changed(exchange({ headers: basic('acme:new') })), null)
  const removed = gate({ users: [{ name: 'other', password: ACME.password }] }, table)
  assert.equal(code(await removed(request())), 'GW_AUTH_INVALID')
})

test('a password that was refused is accepted as soon as a reload brings its hash', async () => {
  const table = new Map<string, unknown>()
  const request = () => exchange({ headers: basic('acme:new') })
  assert.equal(code(await gate({}, table)(request())), 'GW_AUTH_INVALID')
  assert.equal(await gate({ users: [{ name: 'acme', password: cheapHash('new') }] }, table)(request()), null)
})

test('a reload does not distinguish an unknown user from a wrong password', async () => {
  for (const credentials of ['nobody:x', 'acme:x']) {
    const table = new Map<string, unknown>()
    await gate({}, table)(exchange({ headers: basic(credentials) }))
    assert.ok(!(gate({}, table)(exchange({ headers: basic(credentials) })) instanceof Promise), credentials)
  }
})

test('a refusal is forgotten after ten seconds', async () => {
  const admit = gate()
  const at = (startedMono: number) => exchange({ startedMono, headers: basic('acme:wrong') })
  await admit(at(1000))
  assert.ok(!(admit(at(10_999)) instanceof Promise))
  const late = admit(at(11_000))
  assert.ok(late instanceof Promise)
  assert.equal(code(await late), 'GW_AUTH_INVALID')
})

test('equal questions asked at once share one hash, and a client with too many different ones is asked to come back', async () => {
  const admit = gate()
  const same = Array.from({ length: 200 }, () => admit(exchange({ headers: basic('acme:s3:cret') })))
  const others = Array.from({ length: 170 }, (_, i) => admit(exchange({ headers: basic(`acme:x${i}`) })))
  assert.ok([...same, ...others].every((outcome) => outcome instanceof Promise))
  for (const credentials of ['acme:more', 'nobody:more']) {
    const overloaded = admit(exchange({ headers: basic(credentials) }))
    assert.ok(overloaded !== null && !(overloaded instanceof Promise))
    assert.equal(overloaded.status, 503)
    assert.deepEqual(overloaded.headers, ['x-gw-error', 'GW_AUTH_OVERLOADED', 'retry-after', '1'])
  }
  assert.ok(admit(exchange({ headers: basic('acme:s3:cret'), clientIp: '192.0.2.2' })) instanceof Promise)
  for (const outcome of await Promise.all(same)) assert.equal(outcome, null)
  for (const outcome of await Promise.all(others)) assert.equal(code(outcome), 'GW_AUTH_INVALID')
  assert.equal(code(await admit(exchange({ headers: basic('acme:more') }))), 'GW_AUTH_INVALID')
})

test('80 clients with random users do not block 60 real users, even from the same address', async () => {
  const users = Array.from({ length: 60 }, (_, i) => ({ name: `user${i}`, password: ACME.password }))
  const admit = gate({ users })
  let guesses = 0
  const guess = async (): Promise<string> =>
    code(await admit(exchange({ headers: basic(`nobody${guesses++}:x`) })))
  let isOver = false
  const attackers = Array.from({ length: 80 }, async () => {
    while (!isOver) assert.equal(await guess(), 'GW_AUTH_INVALID')
  })
  for (const { name } of users)
    assert.equal(await admit(exchange({ headers: basic(`${name}:s3:cret`) })), null)
  isOver = true
  await Promise.all(attackers)
  assert.ok(guesses > 80)
})

test('a flood of wrong passwords does not block users whose password was correct before', async () => {
  const admit = gate({ cacheTtl: '1s' })
  const ask = (credentials: string, startedMono: number) =>
    admit(exchange({ headers: basic(credentials), startedMono }))
  assert.equal(await ask('acme:s3:cret', 0), null)
  const flood = Array.from({ length: 300 }, (_, i) => ask(`acme:x${i}`, 2000))
  assert.equal(await ask('acme:s3:cret', 2000), null)
  await Promise.all(flood)
})

test('the addresses of one IPv6 network are one client', async () => {
  const admit = gate({ maxFailuresPerMinute: 1 })
  const ask = (clientIp: string) => admit(exchange({ headers: basic('acme:a'), clientIp }))
  assert.equal(code(await ask('2001:db8::1')), 'GW_AUTH_INVALID')
  assert.equal(code(await ask('2001:db8::ffff:2')), 'GW_RATE_LIMITED')
  assert.equal(code(await ask('2001:db8:0:1::1')), 'GW_AUTH_INVALID')
})

test('too many failures of one address are throttled for a minute, verified callers there are not', async () => {
  const admit = gate({ maxFailuresPerMinute: 2 })
  const ask = (credentials: string, startedMono: number, clientIp = '192.0.2.1') =>
    admit(exchange({ headers: basic(credentials), startedMono, clientIp }))
  assert.equal(await ask('acme:s3:cret', 1000), null)
  assert.equal(code(await ask('acme:a', 1000)), 'GW_AUTH_INVALID')
  assert.equal(code(await ask('acme:a', 1001)), 'GW_AUTH_INVALID')
  const throttled = await ask('acme:b', 1002)
  assert.equal(throttled?.status, 429)
  assert.deepEqual(throttled?.headers, ['x-gw-error', 'GW_RATE_LIMITED', 'retry-after', '60'])
  assert.equal(await ask('acme:s3:cret', 1003), null)
  assert.equal(code(await ask('acme:b', 1003, '192.0.2.2')), 'GW_AUTH_INVALID')
  assert.equal(code(await ask('acme:c', 61_000)), 'GW_AUTH_INVALID')
})

test('guesses that come at once do not pass the limit, and equal logins are no guesses', async () => {
  const admit = gate({ maxFailuresPerMinute: 3 })
  const ask = async (credentials: string, startedMono = 0) =>
    code(await admit(exchange({ headers: basic(credentials), startedMono })))
  const same = Array.from({ length: 10 }, () => ask('acme:s3:cret'))
  assert.deepEqual(await Promise.all(same), Array(10).fill(''))
  const codes = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(`acme:x${i}`)))
  const busy = Array(37).fill('GW_AUTH_OVERLOADED')
  assert.deepEqual(codes.toSorted(), [...Array(3).fill('GW_AUTH_INVALID'), ...busy])
  assert.equal(await ask('acme:x40'), 'GW_RATE_LIMITED')
  assert.equal(await ask('acme:s3:cret'), '')
  assert.equal(await ask('acme:x41', 61_000), 'GW_AUTH_INVALID')
})

test('failed logins count for all uses of the same users, also with another hash, and for no other', async () => {
  const table = new Map<string, unknown>()
  const bob = { name: 'bob', password: ACME.password }
  const changed = { ...ACME, password: cheapHash('new', 'saltsal2') }
  const [first, second, other] = [
    gate({ users: [ACME, bob], maxFailuresPerMinute: 1 }, table),
    gate({ users: [bob, changed], maxFailuresPerMinute: 1, realm: 'b' }, table),
    gate({ users: [bob], maxFailuresPerMinute: 1 }, table),
  ]
  const ask = (admit: typeof first, credentials: string) => admit!(exchange({ headers: basic(credentials) }))
  assert.equal(code(await ask(first, 'acme:a')), 'GW_AUTH_INVALID')
  assert.equal(code(await ask(second, 'acme:b')), 'GW_RATE_LIMITED')
  assert.equal(code(await ask(other, 'bob:c')), 'GW_AUTH_INVALID')
})

test('guesses that are not hashed in time get an overload response, not an error', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const admit = gate()
  const asked = Array.from({ length: 200 }, (_, i) => admit(exchange({ headers: basic(`acme:x${i}`) })))
  t.mock.timers.tick(MAX_WAIT_MS)
  const outcomes = await Promise.all(asked)
  for (const outcome of outcomes) {
    assert.deepEqual([outcome?.status, code(outcome)], [503, 'GW_AUTH_OVERLOADED'])
    assert.ok(outcome?.headers.includes('retry-after'))
  }
  assert.equal(await admit(exchange({ headers: basic('acme:s3:cret') })), null, 'and the queue goes on')
})

test('credentials decode like a Buffer, or not at all', () => {
  const parse = (value: string) => parseBasicToken(basicToken(value)!)
  const part = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(part, part, (name, password) => {
      const written = `${name}:${password}`
      const isSendable = name !== '' && password !== '' && !/[\u0000-\u001f\u007f]/.test(written)
      const text = written.normalize('NFC')
      const colon = text.indexOf(':')
      const expected =
        isSendable && colon > 0 ? { name: text.slice(0, colon), password: text.slice(colon + 1) } : null
      assert.deepEqual(parse(basic(written)[1]!), expected)
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => assert.doesNotThrow(() => parse(`Basic ${text}`))))
})

test('a verified user is recognised by the header, and by other spellings of it', async () => {
  const admit = gate({})
  const ask = (value: string) => admit(exchange({ headers: ['authorization', value] }))
  const value = basic('acme:s3:cret')[1]!
  assert.equal(await ask(value), null)
  assert.equal(ask(value), null, 'without a promise')
  assert.equal(ask(value.replace('Basic ', 'bASIC   ')), null)
  assert.equal(code(await ask(`${value}=`)), 'GW_AUTH_INVALID', 'not what an encoder writes')
  assert.equal(code(await ask(`${value}A`)), 'GW_AUTH_INVALID')
})

test('the keyed digest is HMAC-SHA256, and no two processes share a key', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 64, maxLength: 64, max: 127 }),
      fc.string({ unit: 'grapheme' }),
      (key, message) => {
        const expected = createHmac('sha256', key).update(message, 'utf8').digest('binary')
        assert.equal(new KeyedDigest(key).of(message), expected)
      },
    ),
  )
  assert.notEqual(new KeyedDigest().of('a'), new KeyedDigest().of('a'))
})

test('digests are equal when every character is', () => {
  const digest = new KeyedDigest().of('a')
  assert.equal(equalDigests(digest, `${digest}`), true)
  for (const other of [
    '',
    digest.slice(1),
    `${digest}x`,
    `\u0100${digest.slice(1)}`,
    `${digest.slice(0, 31)}\u0100`,
  ]) {
    assert.equal(equalDigests(digest, other), false)
  }
})

test('a plain password is refused with the remedy, and not repeated', () => {
  const compile = (password: string) => () =>
    basicAuth.compile({ users: [{ name: 'acme', password }] }, testEnv())
  const isSilent = (error: Error) => !error.message.includes('hunter2')
  assert.throws(
    compile('hunter2'),
    (error: Error) =>
      /password of user 'acme' is plain text; replace it with the output of 'gw hash-password'/.test(
        error.message,
      ) && isSilent(error),
  )
  assert.throws(
    compile('$2b$10$hunter2'),
    (error: Error) => /'acme' is not a scrypt hash/.test(error.message) && isSilent(error),
  )
})

test('names that cannot be sent, repeated names, no users and a bad realm are refused', () => {
  const compile = (config: Partial<BasicAuthConfig>) => () => gate(config)
  const named = (name: string) => ({ name, password: ACME.password })
  assert.throws(compile({ users: [named('a:b')] }), /remove colons/)
  assert.throws(compile({ users: [named('a\nb')] }), /cannot be used/)
  assert.throws(compile({ users: [named('\u00e9'), named('e\u0301')] }), /duplicate user/)
  assert.throws(compile({ users: [] }), /'users' is empty/)
  assert.throws(compile({ realm: 'a\r\nb' }), /'realm' contains a character/)
})

test('the schema accepts what is documented, marks the password as secret and rejects everything else', () => {
  const defaulted = { users: [{ name: 'a', password: 'b' }] }
  assert.deepEqual(schemaMistakes(basicAuth, defaulted), [])
  assert.deepEqual(defaulted, {
    users: [{ name: 'a', password: 'b' }],
    realm: 'Restricted',
    stripCredentials: true,
    cacheTtl: '60s',
  })
  assert.equal(basicAuth.schema.properties.users.items.properties.password['secret'], true)
  const { users } = defaulted
  for (const config of [
    { users: [] },
    { users: [{ name: 'a' }] },
    { users, cacheTtl: '1 m' },
    { users, maxFailuresPerMinute: 0 },
    { users, hash: 1 },
  ]) {
    assert.notDeepEqual(schemaMistakes(basicAuth, config), [], JSON.stringify(config))
  }
})
