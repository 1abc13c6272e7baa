import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AssertionParts,
  assertionXml,
  goodAssertion,
  responseXml,
  stranger,
} from '@sluice/policies-xml/testing/saml-issuer'
import { ask, Browser, errorOf, shown } from './testing/browser.js'
import { answerTo, TARGETS } from './testing/request-lines.js'
import { answerOf, beginLogin, postForm, SSO, sentAway, startSamlSite } from './testing/saml-site.js'

const FAILED = [400, 'GW_LOGIN_FAILED']

test('a browser logs in, comes back to its page, keeps its session and logs out', async (t) => {
  const { url, acs } = await startSamlSite(t)
  const browser = new Browser()
  const page = `${url}/orders//a?x=%2F&y=1`
  const away = await beginLogin(browser, page)
  assert.match(away.xml, new RegExp(`AssertionConsumerServiceURL="${acs}"`))
  const back = await postForm(browser, acs, answerOf(acs, away))
  assert.deepEqual([back.status, back.headers.get('location')], [302, page])
  const [line] = back.headers.getSetCookie().filter((one) => one.startsWith('sluice-session=1'))
  assert.match(line!, /; Path=\/; HttpOnly; SameSite=Lax$/)
  assert.deepEqual([...browser.jarOf(url).keys()], ['sluice-session'], 'the cookie of the login has ended')
  const spoofed = { 'x-email': 'boss@example.com', X_Email: 'boss' }
  const { headers, url: asked } = await shown(await browser.ask(page, { headers: spoofed }))
  assert.deepEqual(
    [headers['x-who'], headers['x-email'], headers['x_email'], headers['cookie'], asked],
    ['ann', 'ann@example.com', undefined, undefined, '/orders/a?x=%2F&y=1'],
  )
  const called = await browser.ask(page, { method: 'POST', headers: { 'sec-fetch-mode': 'cors' }, body: 'a' })
  assert.equal((await shown(called)).headers['x-who'], 'ann')
  const stolen = `sluice-session=${browser.jarOf(url).get('sluice-session')}`
  const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
  assert.deepEqual(errorOf(await browser.ask(`${url}/logout`, foreign)), [403, 'GW_ACCESS_DENIED'])
  const left = await browser.ask(`${url}/logout`, { headers: { 'sec-fetch-site': 'same-origin' } })
  assert.deepEqual([left.status, left.headers.get('location')], [302, `${url}/bye`])
  const copy = await ask(page, { headers: { cookie: stolen } })
  assert.deepEqual(errorOf(copy), [401, 'GW_AUTH_MISSING'], 'a copy of the session has ended, too')
})

test('a login that cannot be completed gets 400, and the log has the reason', async (t) => {
  const gateway = await startSamlSite(t)
  const { url, acs } = gateway
  const evil = 'https://evil.example.com/acs'
  const signedBy = (keyPem: string) => responseXml(goodAssertion({ recipient: acs }, { keyPem }))
  const response = (attributes: string) => (id: string) =>
    responseXml(goodAssertion({ recipient: acs, inResponseTo: id }), 'Success', attributes)
  const cases: readonly (readonly [AssertionParts | string | ((id: string) => string), RegExp])[] = [
    [{ notOnOrAfter: -61 }, /has expired/],
    [{ confirmedUntil: -61 }, /has expired/],
    [{ notBefore: 90 }, /not valid yet/],
    [{ sessionEnd: -1 }, /session at the provider has ended/],
    [{ audience: 'urn:other' }, /another audience/],
    [{ recipient: evil }, /another recipient/],
    [{ issuer: 'https://evil.example.com' }, /issuer/],
    [{ inResponseTo: '_other' }, /answers another request/],
    [responseXml(goodAssertion({ recipient: acs })), /answers another request/],
    [response(` Destination="${evil}"`), /another destination/],
    [response(' InResponseTo="_other"'), /answers another request/],
    [signedBy(stranger.keyPem), /not signed by a key of the issuer/],
    [responseXml(assertionXml({ recipient: acs })), /not signed/],
    [responseXml('', 'Responder'), /a failed login/],
    ['<x', /not well-formed/],
    ['', /no SAMLResponse/],
  ]
  for (const [what, reason] of cases) {
    const browser = new Browser()
    const away = await beginLogin(browser, `${url}/a`)
    const fields =
      typeof what === 'object'
        ? answerOf(acs, away, what)
        : {
            RelayState: away.relayState,
            SAMLResponse: base64(typeof what === 'string' ? what : what(away.id)),
          }
    assert.deepEqual(errorOf(await postForm(browser, acs, fields)), FAILED, String(reason))
    assert.equal(browser.jarOf(url).size, 0, 'neither a session nor the cookie of the login is left')
  }
  const records = (await gateway.records()).filter(({ error }) => error?.['code'] === 'GW_LOGIN_FAILED')
  assert.equal(records.length, cases.length)
  for (const [i, [, reason]] of cases.entries()) assert.match(records[i]!.error!['reason']!, reason)
  assert.ok(!JSON.stringify(records).includes('ann@example.com'))
})

/** Asserts that the browser is redirected to the provider again, without a session. */
async function restarts(browser: Browser, acs: string, fields: Record<string, string>, what: string) {
  const reply = await postForm(browser, acs, fields)
  assert.ok(reply.headers.get('location')?.startsWith(`${SSO}?SAMLRequest=`), what)
  assert.ok(!reply.headers.getSetCookie().some((line) => line.startsWith('sluice-session=1')), what)
}

function base64(xml: string): string {
  return Buffer.from(xml).toString('base64')
}

test('a response is refused in another browser, for another login, repeated, or by another binding', async (t) => {
  const { url, acs } = await startSamlSite(t)
  const [ann, thief, victim] = [new Browser(), new Browser(), new Browser()]
  const away = await beginLogin(ann, `${url}/a`)
  const other = await beginLogin(ann, `${url}/b`)
  const answer = answerOf(acs, away)
  const failed = async (browser: Browser, fields: Record<string, string>, what: string) => {
    assert.deepEqual(errorOf(await postForm(browser, acs, fields)), FAILED, what)
    assert.ok(!browser.jarOf(url).has('sluice-session'), what)
  }
  // The response belongs to an attacker who wants the victim to continue in the attacker's session.
  await restarts(victim, acs, answer, 'a browser that has begun no login')
  await beginLogin(thief, `${url}/b`)
  await restarts(thief, acs, answer, 'another browser')
  await failed(ann, { ...answer, RelayState: 'https://evil.example.com/' }, 'an address')
  await failed(ann, { ...answer, RelayState: '//evil.example.com' }, 'an address without a scheme')
  await failed(ann, { ...answer, RelayState: 'javascript:alert(1)' }, 'a script')
  await failed(ann, { SAMLResponse: answer['SAMLResponse']! }, 'no RelayState')
  const form = new URLSearchParams(answer).toString()
  for (const [what, headers, body] of [
    ['two RelayStates', {}, `${form}&RelayState=${other.relayState}`],
    ['two responses', {}, `${form}&SAMLResponse=${encodeURIComponent(base64('<x/>'))}`],
    ['as text', { 'content-type': 'text/plain' }, form],
    ['as JSON', { 'content-type': 'application/json' }, JSON.stringify(answer)],
    ['as parts', { 'content-type': 'multipart/form-data; boundary=a' }, form],
    ['nothing', {}, ''],
  ] as const) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const lone = new Browser()
    for (const [name, value] of ann.jarOf(url)) lone.jarOf(url).set(name, value)
    const sent = await lone.ask(acs, { method: 'POST', headers: { ...type, ...headers }, body })
    assert.deepEqual(errorOf(sent), FAILED, what)
  }
  assert.deepEqual(errorOf(await ann.ask(`${acs}?${form}`)), FAILED, 'by GET')
  const long = await postForm(ann, acs, { ...answer, a: 'a'.repeat(600_000) })
  assert.equal(long.status, 413)
  const kept = [...ann.jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
  const fixed = new Browser()
  fixed.jarOf(url).set('sluice-session', '1-chosen')
  for (const [name, value] of ann.jarOf(url)) fixed.jarOf(url).set(name, value)
  assert.equal((await postForm(fixed, acs, answer)).status, 302, 'the right one still works')
  assert.notEqual(fixed.jarOf(url).get('sluice-session'), '1-chosen', 'in a session of its own')
  const type = { 'content-type': 'application/x-www-form-urlencoded', cookie: kept }
  const again = await ask(acs, { method: 'POST', headers: type, body: form })
  assert.deepEqual(errorOf(again), FAILED, 'with the cookies of before: the assertion was used')
  const twice = await beginLogin(ann, `${url}/c`)
  const cookies = `${kept}; ${[...ann.jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')}`
  const both = await ask(acs, {
    ...{ method: 'POST', body: new URLSearchParams(answerOf(acs, twice)).toString() },
    headers: { ...type, cookie: `${cookies}; ${cookies}` },
  })
  assert.deepEqual(errorOf(both), FAILED, 'cookies that stand twice have no value')
})

test('a repeated response, or one of a forgotten login, restarts the login once', async (t) => {
  const { url, acs } = await startSamlSite(t)
  const browser = new Browser()
  const away = await beginLogin(browser, `${url}/a`)
  assert.equal((await postForm(browser, acs, answerOf(acs, away))).status, 302)
  const again = await postForm(browser, acs, answerOf(acs, away))
  const second = sentAway(again.headers.get('location')!)
  const done = await postForm(browser, acs, answerOf(acs, second))
  assert.equal(done.headers.get('location'), `${url}/`)
  assert.equal((await shown(await browser.ask(url))).headers['x-who'], 'ann')
  assert.deepEqual(errorOf(await postForm(browser, acs, answerOf(acs, second))), FAILED, 'only once')

  const [original, copy] = [new Browser(), new Browser()]
  const used = answerOf(acs, await beginLogin(original, `${url}/b`))
  for (const [name, value] of original.jarOf(url)) copy.jarOf(url).set(name, value)
  assert.equal((await postForm(original, acs, used)).status, 302)
  const reused = await postForm(copy, acs, used)
  assert.equal(sentAway(reused.headers.get('location')!).relayState.at(-1), 'r', 'both posts at once')

  const tabs = new Browser()
  const oldest = await beginLogin(tabs, `${url}/1`)
  for (let i = 2; i <= 6; i++) await beginLogin(tabs, `${url}/${i}`)
  await restarts(tabs, acs, answerOf(acs, oldest), 'the oldest of six tabs')

  // Other sites can post with a form in a frame or by script, and would fill the browser with cookies of logins.
  for (const headers of [{ 'sec-fetch-mode': 'no-cors' }, { 'sec-fetch-dest': 'iframe' }]) {
    const hidden = await postForm(new Browser(), acs, answerOf(acs, away), headers)
    assert.deepEqual([...errorOf(hidden), hidden.headers.has('set-cookie')], [...FAILED, false])
  }
})

test('login and session cookies are not interchangeable, and tampered ones are refused', async (t) => {
  const { url, acs } = await startSamlSite(t)
  const browser = new Browser()
  await postForm(browser, acs, answerOf(acs, await beginLogin(browser, `${url}/a`)))
  const session = browser.jarOf(url).get('sluice-session')!
  const login = new Browser()
  await beginLogin(login, `${url}/a`)
  const [[loginName, loginValue] = ['', '']] = login.jarOf(url)
  for (const value of [
    loginValue,
    `${session.slice(0, -2)}AA`,
    `2-${session.slice(2)}`,
    session.slice(0, 40),
    '1-',
    '',
  ]) {
    const response = await ask(url, { headers: { cookie: `sluice-session=${value}` } })
    assert.deepEqual(errorOf(response), [401, 'GW_AUTH_MISSING'], value.slice(0, 10))
  }
  const away = sentAway((await login.ask(`${url}/b`)).headers.get('location')!)
  login.jarOf(url).set(loginName, session)
  const fields = { ...answerOf(acs, away), RelayState: 'x'.repeat(43) }
  await restarts(login, acs, fields, 'the cookie of a session is no login')
})

for (const engine of ['uws', 'node'] as const)
  test(`${engine}: no request line leads away from the site after the login`, async (t) => {
    const { url, port, acs } = await startSamlSite(t, { engine })
    let count = 0
    for (const target of TARGETS) {
      const head = await answerTo(port, target)
      const [, location] = /\r\nlocation: ([^\r]*)/i.exec(head) ?? []
      if (location === undefined) continue
      assert.ok(location.startsWith(`${SSO}?SAMLRequest=`), target)
      const browser = new Browser()
      const [, name, value] = /\r\nset-cookie: ([^=]+)=([^;]+)/i.exec(head)!
      browser.jarOf(url).set(name!, value!)
      const back = await postForm(browser, acs, answerOf(acs, sentAway(location)))
      assert.equal(back.status, 302, target)
      assert.equal(new URL(back.headers.get('location')!).origin, url, target)
      count++
    }
    assert.ok(count > 0, 'some of them begin a login')
  })
