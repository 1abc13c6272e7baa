import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerOf, type Exchange, type Outcome, type Step } from '@sluice/core'
import { exchange, makeCertificate, schemaMistakes, testEnv } from '@sluice/policies/testing'
import { signatureMethod, signatureOf } from './algorithms.js'
import { wsSecurity } from './policy.js'
import type { WsSecurityConfig } from './schema.js'
import { added, signWith, trust } from './testing/run.js'
import { largeContent, soapMessage } from './testing/soap.js'

const rsa = makeCertificate({ name: 'client' })
const server = makeCertificate({ name: 'server' })
const user = { name: 'ana', password: 'correct horse' }
const SOAP11 = ['content-type', 'text/xml; charset="iso-8859-1"', 'soapaction', '""']
const SOAP12 = ['content-type', 'application/soap+xml']

async function compiled(config: WsSecurityConfig, table?: Map<string, unknown>): Promise<Step> {
  const step = await wsSecurity.compile(config, testEnv(table))
  assert.ok(step !== null)
  return step
}

function soap(headers = SOAP11): Exchange {
  return exchange({ method: 'POST', headers: headers.slice() })
}

async function send(step: Step, text: string, x = soap()): Promise<Outcome> {
  const refused = (await step.onRequest?.(x)) ?? null
  if (refused !== null) return refused
  return (await step.onRequestBody?.(x, Buffer.from(text))) ?? null
}

async function receive(step: Step, text: string, x = soap()): Promise<Outcome> {
  x.responseHeaders = x.headers.slice()
  const refused = (await step.onResponse?.(x)) ?? null
  if (refused !== null) return refused
  return (await step.onResponseBody?.(x, Buffer.from(text))) ?? null
}

const passwords = { request: { check: { usernameToken: { users: [user] } } } }

test('the consumer is identified, the header removed, and the result is UTF-8', async () => {
  const step = await compiled(passwords)
  const x = soap()
  assert.equal(await send(step, added(soapMessage(), { usernameToken: user }), x), null)
  assert.deepEqual(x.consumer, consumerOf('ws-security', 'ana'))
  assert.match(Buffer.from(x.body!).toString(), /<s:Header\/><s:Body>/)
  assert.equal(x.headers[1], 'text/xml; charset=utf-8')
})

test('a fault has the SOAP version of the message, with its status and code', async () => {
  const step = await compiled(passwords)
  const soap11 = await send(step, soapMessage())
  assert.equal(soap11?.status, 500)
  assert.deepEqual(soap11?.headers, [
    'x-gw-error',
    'GW_WSS_FAILED',
    'content-type',
    'text/xml; charset=utf-8',
  ])
  assert.equal(soap11?.problem?.code, 'GW_WSS_FAILED')
  const text = Buffer.from(soap11!.body!).toString()
  assert.match(
    text,
    /<soap:Fault xmlns:wsse="[^"]+secext-1.0.xsd"><faultcode>wsse:InvalidSecurity<\/faultcode>/,
  )
  const soap12 = await send(step, soapMessage({ version: '1.2' }), soap(SOAP12))
  assert.equal(soap12?.status, 400)
  assert.match(
    Buffer.from(soap12!.body!).toString(),
    /env:Sender<\/env:Value><env:Subcode><env:Value>wsse:InvalidSecurity</,
  )
  const timely = await compiled({ request: { check: { timestamp: {} } } })
  const old = added(soapMessage(), { timestamp: {} }, Date.now() - 3_600_000)
  assert.match(Buffer.from((await send(timely, old))!.body!).toString(), /<faultcode>wsu:MessageExpired</)
})

test('a fault quotes neither the message nor the configuration', async () => {
  const step = await compiled(passwords)
  const wrong = added(soapMessage(), { usernameToken: { name: 'guess-1', password: 'guess-2' } })
  const reply = await send(step, wrong)
  assert.doesNotMatch(Buffer.from(reply!.body!).toString(), /guess|ana|correct/)
  const x = soap()
  await send(step, wrong, x)
  assert.equal(x.consumer, null)
})

test('a nonce is accepted once, also after a reload', async () => {
  const table = new Map<string, unknown>()
  const text = added(soapMessage(), { usernameToken: user })
  const step = await compiled(passwords, table)
  assert.equal(await send(step, text), null)
  assert.match(Buffer.from((await send(step, text))!.body!).toString(), /wsse:FailedAuthentication/)
  const reloaded = await compiled(passwords, table)
  assert.equal((await send(reloaded, text))?.status, 500)
  assert.equal(await send(reloaded, added(soapMessage(), { usernameToken: user })), null)
})

test('a nonce is not accepted again by a policy with a longer ttl', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const table = new Map<string, unknown>()
  const within = (ttl: string) =>
    compiled({ request: { check: { timestamp: { ttl }, ...passwords.request.check } } }, table)
  const [strict, lenient] = [await within('1s'), await within('1h')]
  const text = added(soapMessage(), { timestamp: { ttl: '1h' }, usernameToken: user })
  assert.equal(await send(strict, text), null)
  t.mock.timers.tick(600_000)
  assert.equal((await send(lenient, text))?.status, 500)
})

test('with once, a signature is accepted once', async () => {
  const signature = { ...trust(rsa), once: true }
  const step = await compiled({ request: { check: { timestamp: {}, signature } } })
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(rsa) })
  assert.equal(await send(step, text), null)
  assert.equal((await send(step, text))?.status, 500)
  const often = await compiled({ request: { check: { timestamp: {}, signature: trust(rsa) } } })
  assert.equal(await send(often, text), null)
  assert.equal(await send(often, text), null)
})

test('a modified but still valid signature is not accepted again', async () => {
  const ec = makeCertificate({ name: 'curve', kind: 'ec' })
  const signature = { ...trust(ec), once: true }
  const step = await compiled({ request: { check: { timestamp: {}, signature } } })
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(ec) })
  const value = /<ds:SignatureValue>([^<]+)/.exec(text)![1]!
  const bytes = Buffer.from(value, 'base64')
  const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  // The order of P-256 (SEC 2 section 2.4.2): with (r, s) also (r, n - s) is valid.
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const other = Buffer.from((n - s).toString(16).padStart(64, '0'), 'hex')
  const twin = text.replace(value, Buffer.concat([bytes.subarray(0, 32), other]).toString('base64'))
  assert.equal(await send(await compiled({ request: { check: { signature: trust(ec) } } }), twin), null)
  assert.equal(await send(step, text), null)
  assert.equal((await send(step, twin))?.status, 500)
})

test('of several sufficient signatures, none is accepted again alone', async () => {
  const rules = { ...trust(rsa), once: true, maxSignatures: 2 }
  const step = await compiled({ request: { check: { timestamp: {}, signature: rules } } })
  const pss = signWith(rsa, { algorithm: 'rsa-pss-sha256' })
  const one = added(soapMessage(), { timestamp: {}, signature: pss })
  const signature = /<ds:Signature .*<\/ds:Signature>/s
  const first = signature.exec(one)![0]
  const signedInfo = /<ds:SignedInfo .*<\/ds:SignedInfo>/s.exec(first)![0]
  const again = signatureOf(rsa.key, signatureMethod('rsa-pss-sha256'), Buffer.from(signedInfo))
  const second = first.replace(/(<ds:SignatureValue>)[^<]+/, `$1${again.toString('base64')}`)
  assert.equal(await send(step, one.replace(signature, first + second)), null)
  assert.equal((await send(step, one.replace(signature, second)))?.status, 500)
  assert.equal((await send(step, one))?.status, 500)
})

test('a body with another type or a content coding is not parsed', async () => {
  const step = await compiled(passwords)
  for (const headers of [
    [],
    ['content-type', 'application/json'],
    ['content-type', 'multipart/related; type="text/xml"'],
    ['content-type', 'text/xml; charset=utf-7'],
    ['content-type', 'application/soap+xml; action="; charset=utf-8"; charset=utf-7'],
    [...SOAP11, ...SOAP11],
  ]) {
    assert.equal((await send(step, '', soap(headers)))?.problem?.code, 'GW_MEDIA_TYPE')
  }
  const coded = await send(step, '', soap([...SOAP11, 'content-encoding', 'gzip']))
  assert.equal(coded?.problem?.code, 'GW_MEDIA_TYPE')
  assert.equal((await send(step, '<a', soap()))?.problem?.code, 'GW_BODY_UNPARSABLE')
  assert.equal((await send(step, '', soap()))?.problem?.code, 'GW_BODY_UNPARSABLE')
})

test('a large message is checked on a thread with the same results', async () => {
  const step = await compiled({ request: { check: { timestamp: {}, signature: trust(rsa) } } })
  const text = added(soapMessage({ content: largeContent(60_000) }), {
    timestamp: {},
    signature: signWith(rsa),
  })
  const x = soap()
  const pending = step.onRequestBody!(x, Buffer.from(text))
  assert.ok(pending instanceof Promise)
  assert.equal(await pending, null)
  assert.equal(x.consumer?.id, 'client')
  assert.equal((await send(step, text.replace('>100<', '>101<')))?.status, 500)
  const small = added(soapMessage(), { timestamp: {}, signature: signWith(rsa) })
  assert.ok(!(step.onRequestBody!(soap(), Buffer.from(small)) instanceof Promise))
})

test('security elements are translated between client and upstream', async () => {
  const step = await compiled({
    request: {
      check: { usernameToken: { users: [user] } },
      add: {
        timestamp: {},
        signature: signWith(server),
        encryption: { certificate: rsa.certificatePem },
      },
    },
    response: { check: { timestamp: {}, signature: trust(rsa) }, add: { timestamp: {} } },
  })
  const x = soap()
  assert.equal(await send(step, added(soapMessage(), { usernameToken: user }), x), null)
  const upstream = await compiled({
    request: {
      check: {
        timestamp: {},
        signature: trust(server),
        decryption: { keys: [{ key: rsa.keyPem }] },
      },
    },
  })
  const y = soap()
  assert.equal(await send(upstream, Buffer.from(x.body!).toString(), y), null)
  assert.match(Buffer.from(y.body!).toString(), /widget/)
  const answer = added(soapMessage(), { timestamp: {}, signature: signWith(rsa) })
  const z = soap()
  assert.equal(await receive(step, answer, z), null)
  assert.match(Buffer.from(z.responseBody!).toString(), /<wsu:Timestamp/)
  assert.doesNotMatch(Buffer.from(z.responseBody!).toString(), /Signature/)
  assert.equal(z.responseHeaders[1], 'text/xml; charset=utf-8')
})

test('an invalid response is an upstream error', async () => {
  const step = await compiled({ response: { check: { timestamp: {}, signature: trust(rsa) } } })
  assert.equal(step.onRequestBody, undefined)
  for (const text of [soapMessage(), '<html>', '{}']) {
    assert.equal((await receive(step, text))?.problem?.code, 'GW_RESPONSE_INVALID')
  }
  assert.equal(
    (await receive(step, 'x', soap(['content-type', 'text/html'])))?.problem?.code,
    'GW_RESPONSE_INVALID',
  )
  const coded = await receive(step, 'x', soap([...SOAP11, 'content-encoding', 'br']))
  assert.equal(coded?.problem?.code, 'GW_RESPONSE_INVALID')
  assert.equal(await receive(step, ''), null)
})

test('a message with such a header does not get a second one', async () => {
  const step = await compiled({ request: { add: { timestamp: {} } } })
  assert.equal(await send(step, soapMessage()), null)
  assert.equal((await send(step, added(soapMessage(), { timestamp: {} })))?.status, 500)
  const forOther = await compiled({ request: { add: { timestamp: {}, actor: 'urn:b"<c>' } } })
  const x = soap()
  assert.equal(await send(forOther, added(soapMessage(), { timestamp: {} }), x), null)
  assert.match(Buffer.from(x.body!).toString(), /env:actor="urn:b&quot;&lt;c(>|&gt;)"/)
})

test('an invalid configuration is refused with a remedy', async () => {
  const pem = rsa.certificatePem
  const signature = signWith(rsa)
  const ec = makeCertificate({ name: 'curve', kind: 'ec' })
  const cases: [WsSecurityConfig, RegExp][] = [
    [{}, /nothing is configured/],
    [{ request: {} }, /nothing is configured/],
    [{ request: { check: {} } }, /'check' is empty/],
    [{ request: { add: {} } }, /'add' is empty/],
    [{ request: { check: { signature: {} } } }, /'signature' trusts no signer/],
    [
      { request: { check: { signature: { certificates: [{ id: 'a', certificate: 'x' }] } } } },
      /is not a PEM certificate/,
    ],
    [{ request: { check: { signature: { authorities: [pem] } } } }, /is not a CA certificate/],
    [
      { request: { check: { signature: { ...trust(rsa), once: true, parts: ['body'] } } } },
      /'signature.once' needs/,
    ],
    [{ request: { check: { usernameToken: { users: [user, user] } } } }, /duplicate user 'ana'/],
    [{ request: { check: { decryption: { keys: [{ key: pem }] } } } }, /is not a PEM private key/],
    [
      {
        request: {
          check: {
            decryption: { keys: [{ key: signature.key, certificate: server.certificatePem }] },
          },
        },
      },
      /does not match the key/,
    ],
    [
      { request: { check: { decryption: { keys: [{ key: signature.key }, { key: signature.key }] } } } },
      /needs 'certificate'/,
    ],
    [{ request: { add: { signature: { ...signature, parts: ['timestamp'] } } } }, /set 'timestamp'/],
    [{ request: { add: { signature: { ...signature, parts: ['username-token'] } } } }, /set 'usernameToken'/],
    [
      { request: { add: { signature: { ...signature, algorithm: 'ecdsa-sha256' } } } },
      /cannot sign with ecdsa-sha256/,
    ],
    [{ request: { add: { encryption: { certificate: ec.certificatePem } } } }, /must have an RSA key/],
    [
      { request: { add: { encryption: { certificate: pem, cipher: 'aes256-cbc' } } } },
      /does not protect the message from changes/,
    ],
    [
      { request: { check: { timestamp: {}, strip: [] }, add: { timestamp: {} } } },
      /strip the header or set an actor under 'add'/,
    ],
  ]
  for (const [config, expected] of cases) {
    await assert.rejects(
      async () => compiled(config),
      (error: Error) => {
        assert.match(error.message, expected)
        assert.doesNotMatch(error.message, /PRIVATE|MII/)
        return true
      },
    )
  }
})

test('the schema accepts documented options and refuses others', () => {
  const config = {
    request: { check: { timestamp: {}, usernameToken: { users: [user] }, signature: { certificates: [] } } },
  }
  assert.deepEqual(schemaMistakes(wsSecurity, config), [])
  for (const wrong of [
    { request: { check: { timestamp: { ttl: 300 } } } },
    { request: { check: { usernameToken: { users: [] } } } },
    { request: { check: { usernameToken: { users: [{ name: 'a' }] } } } },
    { request: { check: { signature: { algorithms: ['none'] } } } },
    { request: { check: { signature: { algorithms: ['rsa-sha1'] } } } },
    { request: { check: { signature: { secret: { id: 'a', value: 'short' } } } } },
    { request: { check: { unsecuredFaults: true } } },
    { request: { check: { strip: 'header' } } },
    { request: { add: { encryption: { certificate: {}, keyTransport: 'rsa-1_5' } } } },
    { response: { check: { allowWeak: ['md5'] } } },
  ]) {
    assert.notDeepEqual(schemaMistakes(wsSecurity, wrong), [], JSON.stringify(wrong))
  }
})
