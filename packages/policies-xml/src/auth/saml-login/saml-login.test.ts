import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { type Exchange, headerValue, type Outcome, type Reply, type Step } from '@sluice/core'
import { exchange, testEnv, type Written } from '@sluice/policies/testing'
import {
  ACS,
  type AssertionParts,
  AUDIENCE,
  ENTITY,
  goodAssertion,
  idp,
  responseXml,
  stranger,
} from '../saml/testing/issuer.js'
import { samlLogin } from './policy.js'

type SamlLoginConfig = Written<typeof samlLogin>

const SSO = 'https://idp.example.com/sso?realm=shop'
const CONFIG: SamlLoginConfig = {
  idp: { entityId: ENTITY, certificates: [idp.certificatePem], ssoUrl: SSO },
  audience: AUDIENCE,
  acsUrl: ACS,
  session: { secrets: ['a secret of the gateway, which is long enough'] },
  groupsClaim: 'groups',
  forwardClaims: { email: 'x-email' },
}

/** Creates both uses of the policy in one gateway. */
async function site(config: Partial<SamlLoginConfig> = {}) {
  const table = new Map<string, unknown>()
  const compiled = (more: object): Promise<Step> =>
    samlLogin.compile({ ...CONFIG, ...config, ...more }, testEnv(table)) as Promise<Step>
  return { pages: await compiled({}), acs: await compiled({ acs: true }) }
}

/** The cookies of a browser. */
class Jar {
  readonly cookies = new Map<string, string>()

  take(headers: readonly string[]): void {
    headers.forEach((value, i) => {
      if (i % 2 === 0 || headers[i - 1] !== 'set-cookie') return
      const [, name, text] = /^([^=]+)=([^;]*)/.exec(value)!
      if (value.includes('Max-Age=0')) this.cookies.delete(name!)
      else this.cookies.set(name!, text!)
    })
  }

  get fields(): string[] {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`)
    return pairs.length === 0 ? [] : ['cookie', pairs.join('; ')]
  }
}

function page(jar: Jar, headers: readonly string[] = [], path = '/orders'): Exchange {
  const fields = ['accept', 'text/html', ...jar.fields, ...headers]
  return exchange({ method: 'GET', path, rawPath: path, query: 'a=b', headers: fields })
}

async function ask(step: Step, x: Exchange, jar: Jar): Promise<Outcome> {
  const outcome = await step.onRequest!(x)
  if (outcome !== null) jar.take(outcome.headers)
  else await step.onResponse!(x)
  jar.take(x.responseHeaders)
  return outcome
}

/** Redirects a browser to the provider. */
async function begin(step: Step, jar: Jar) {
  const reply = (await ask(step, page(jar), jar)) as Reply
  assert.equal(reply.status, 302)
  const url = new URL(headerValue(reply.headers, 'location')!)
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString()
  return { url, xml, id: / ID="([^"]+)"/.exec(xml)![1]!, relayState: url.searchParams.get('RelayState')! }
}

/** Posts the response of the provider. */
async function post(
  step: Step,
  jar: Jar,
  fields: Record<string, string>,
  more: readonly string[] = [],
): Promise<Reply> {
  const body = Buffer.from(new URLSearchParams(fields).toString())
  const headers = ['content-type', 'application/x-www-form-urlencoded', ...jar.fields, ...more]
  const x = exchange({ method: 'POST', path: '/acs', headers, contentLength: body.length })
  const reply = ((await step.onRequest!(x)) ?? (await step.onRequestBody!(x, body))) as Reply
  jar.take(reply.headers)
  return reply
}

function response(parts: AssertionParts, keyPem?: string): string {
  const assertion = goodAssertion(parts, keyPem === undefined ? {} : { keyPem })
  return Buffer.from(responseXml(assertion)).toString('base64')
}

test('a browser logs in, returns to its page, and the upstream gets the user', async () => {
  const { pages, acs } = await site()
  const jar = new Jar()
  const { url, xml, id, relayState } = await begin(pages, jar)
  assert.equal(
    `${url.origin}${url.pathname}${url.searchParams.get('realm')}`,
    'https://idp.example.com/ssoshop',
  )
  assert.match(xml, /Destination="https:\/\/idp.example.com\/sso\?realm=shop"/)
  assert.match(xml, new RegExp(`AssertionConsumerServiceURL="${ACS}"`))
  assert.match(xml, new RegExp(`<saml:Issuer>${AUDIENCE}</saml:Issuer>`))
  const reply = await post(acs, jar, { SAMLResponse: response({ inResponseTo: id }), RelayState: relayState })
  assert.equal(headerValue(reply.headers, 'location'), 'https://shop.example.com/orders?a=b')
  assert.deepEqual([...jar.cookies.keys()], ['__Host-sluice-session'])
  const x = page(jar, ['x-email', 'boss@example.com'])
  assert.equal(await ask(pages, x, jar), null)
  assert.deepEqual([x.consumer!.id, x.consumer!.groups], ['ann', ['staff', 'readers']])
  assert.deepEqual(x.headers, ['accept', 'text/html', 'x-email', 'ann@example.com'])
})

test('the login cookie is sent with cross-site posts, the session cookie is not', async () => {
  const { pages, acs } = await site()
  const jar = new Jar()
  const reply = (await ask(pages, page(jar), jar)) as Reply
  assert.match(
    headerValue(reply.headers, 'set-cookie')!,
    /^__Host-sluice-session-login-.*HttpOnly; SameSite=None; Secure$/,
  )
  const { id, relayState } = await begin(pages, jar)
  const done = await post(acs, jar, { SAMLResponse: response({ inResponseTo: id }), RelayState: relayState })
  assert.match(done.headers.join('\n'), /__Host-sluice-session=1-.*HttpOnly; SameSite=Lax; Secure/)
})

test('requests are signed if a key is configured', async () => {
  const { pages } = await site({ signingKey: { key: idp.keyPem } })
  const { url } = await begin(pages, new Jar())
  const [signed, signature] = url.search.slice(1).replace('realm=shop&', '').split('&Signature=')
  const bytes = Buffer.from(decodeURIComponent(signature!), 'base64')
  assert.equal(verify('sha256', Buffer.from(signed!), idp.certificatePem, bytes), true)
  await assert.rejects(site({ signingKey: { key: 'x' } }), /not an RSA key/)
})

/** Only the signed part says which request is answered. */
function unaskedIn(id: string): string {
  return Buffer.from(responseXml(goodAssertion(), 'Success', ` InResponseTo="${id}"`)).toString('base64')
}

test('a session that has ended at the provider is not started', async () => {
  const { pages, acs } = await site()
  for (const [sessionEnd, status] of [
    [-1, 400],
    [600, 302],
  ] as const) {
    const jar = new Jar()
    const { id, relayState } = await begin(pages, jar)
    const SAMLResponse = response({ inResponseTo: id, sessionEnd })
    assert.equal((await post(acs, jar, { SAMLResponse, RelayState: relayState })).status, status)
  }
})

test('a response is refused in another browser, for another login, unsolicited, changed or repeated', async () => {
  const { pages, acs } = await site()
  const [ann, thief] = [new Jar(), new Jar()]
  const own = await begin(pages, ann)
  const other = await begin(pages, ann)
  await begin(pages, thief)
  const good = { SAMLResponse: response({ inResponseTo: own.id }), RelayState: own.relayState }
  const failed = async (jar: Jar, fields: Record<string, string>, what: string) => {
    const reply = await post(acs, jar, fields)
    assert.deepEqual([reply.status, reply.problem?.code], [400, 'GW_LOGIN_FAILED'], what)
    assert.equal(jar.cookies.has('__Host-sluice-session'), false)
  }
  await failed(thief, good, 'another browser')
  await failed(ann, { ...good, RelayState: 'https://evil.example.com/' }, 'an address as RelayState')
  await failed(ann, { SAMLResponse: good.SAMLResponse }, 'no RelayState')
  await failed(ann, { ...good, RelayState: other.relayState }, 'another login of this browser')
  const tried: readonly [string, string | ((id: string) => string)][] = [
    ['unasked', response({})],
    ['to another place', response({ recipient: 'https://evil.example.com/acs' })],
    ['of a stranger', response({}, stranger.keyPem)],
    ['unasked, in a response that says otherwise', unaskedIn],
    ['unsigned', Buffer.from(responseXml('<x/>')).toString('base64')],
    ['nothing', ''],
  ]
  for (const [what, xml] of tried) {
    const { id, relayState } = await begin(pages, ann)
    const text = typeof xml === 'string' ? xml : xml(id)
    await failed(ann, { SAMLResponse: text, RelayState: relayState }, what)
  }
  const last = await begin(pages, ann)
  const answer = { SAMLResponse: response({ inResponseTo: last.id }), RelayState: last.relayState }
  const copy = new Jar()
  for (const [name, value] of ann.cookies) copy.cookies.set(name, value)
  assert.equal((await post(acs, ann, answer)).status, 302)
  await failed(copy, answer, 'a copy of the browser: the assertion was used')
})

test('a response to an expired login restarts it', async (t) => {
  const { pages, acs } = await site()
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const jar = new Jar()
  const { id, relayState } = await begin(pages, jar)
  t.mock.timers.tick(600_000)
  const fields = { SAMLResponse: response({ inResponseTo: id }), RelayState: relayState }
  const reply = await post(acs, jar, fields, ['accept', 'text/html'])
  assert.ok(headerValue(reply.headers, 'location')?.startsWith(SSO))
})

test('redirects stay on the site, and pending logins per browser are limited', async () => {
  const { pages, acs } = await site()
  const jar = new Jar()
  for (let i = 0; i < 20; i++) await begin(pages, jar)
  assert.ok(jar.cookies.size <= 6, `${jar.cookies.size} cookies`)
  for (const path of ['//evil.example.com/', '/@evil.example.com', `/${'x'.repeat(2000)}`]) {
    const reply = (await ask(pages, page(jar, [], path), jar)) as Reply
    const url = new URL(headerValue(reply.headers, 'location')!)
    const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString()
    const [, id] = / ID="([^"]+)"/.exec(xml)!
    const relayState = url.searchParams.get('RelayState')!
    const done = await post(acs, jar, {
      SAMLResponse: response({ inResponseTo: id! }),
      RelayState: relayState,
    })
    assert.equal(new URL(headerValue(done.headers, 'location')!).origin, 'https://shop.example.com')
    jar.cookies.delete('__Host-sluice-session')
  }
})

test('logging out also ends copies of the session', async () => {
  const { pages, acs } = await site({ logout: { path: '/logout', returnTo: '/bye' } })
  const jar = new Jar()
  const { id, relayState } = await begin(pages, jar)
  await post(acs, jar, { SAMLResponse: response({ inResponseTo: id }), RelayState: relayState })
  const stolen = new Jar()
  for (const [name, value] of jar.cookies) stolen.cookies.set(name, value)
  const foreign = (await ask(pages, page(jar, ['sec-fetch-site', 'cross-site'], '/logout'), jar)) as Reply
  assert.equal(foreign.problem?.code, 'GW_ACCESS_DENIED')
  const reply = (await ask(pages, page(jar, ['sec-fetch-site', 'same-origin'], '/logout'), jar)) as Reply
  assert.equal(headerValue(reply.headers, 'location'), 'https://shop.example.com/bye')
  assert.equal(jar.cookies.size, 0)
  assert.equal((await ask(pages, page(stolen), stolen))?.status, 302, 'a copy ends, too')
})

test('an invalid configuration is refused', async () => {
  const { ssoUrl: _, ...nowhere } = CONFIG.idp
  for (const [config, message] of [
    [{ acsUrl: 'http://shop.example.com/acs' }, /does not use TLS/],
    [{ acsUrl: 'https://shop.example.com/acs?x' }, /'acsUrl' must be/],
    [{ idp: nowhere }, /has no login URL/],
    [{ idp: { ...nowhere, ssoUrl: 'javascript:alert(1)' } }, /is not a URL/],
  ] as const)
    await assert.rejects(site(config), message)
})

test('a request without a session gets 401 if it is not a page load', async () => {
  const { pages } = await site()
  const x = exchange({ method: 'POST', headers: ['accept', 'text/html'] })
  assert.equal(((await pages.onRequest!(x)) as Reply).problem?.code, 'GW_AUTH_MISSING')
})

test('with expired metadata, logins are refused and sessions continue', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-saml-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const [file, now] = [join(dir, 'idp.xml'), Date.now()]
  const certificate = idp.certificatePem.replaceAll(/-----[^-]+-----/g, '')
  writeFileSync(
    file,
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${ENTITY}" validUntil="${new Date(now + 30_000).toISOString()}"><IDPSSODescriptor><KeyDescriptor><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor></IDPSSODescriptor></EntityDescriptor>`,
  )
  const { pages, acs } = await site({ idp: { metadata: { file }, ssoUrl: SSO } })
  t.mock.timers.enable({ apis: ['Date'], now })
  const [ann, bob] = [new Jar(), new Jar()]
  const { id, relayState } = await begin(pages, ann)
  const { id: late, relayState: lateState } = await begin(pages, bob)
  assert.equal(
    (await post(acs, ann, { SAMLResponse: response({ inResponseTo: id }), RelayState: relayState })).status,
    302,
  )
  t.mock.timers.setTime(now + 31_000)
  const refused = await post(acs, bob, {
    SAMLResponse: response({ inResponseTo: late }),
    RelayState: lateState,
  })
  assert.equal(refused.problem?.code, 'GW_LOGIN_FAILED')
  assert.equal((await ask(pages, page(new Jar()), new Jar()))?.problem?.code, 'GW_AUTH_UNAVAILABLE')
  assert.equal(await ask(pages, page(ann), ann), null)
})
