import assert from 'node:assert/strict'
import { createHmac, createSign } from 'node:crypto'
import { test } from 'node:test'
import { keyPair } from '@sluice/core/testing'
import { ask, Browser, errorOf, SECRET, shown } from './testing/browser.js'
import { CLIENT, startLoginProvider } from './testing/login-provider.js'
import { ahead, logIn, responseOf, startSite } from './testing/login-site.js'

test('a browser logs in, comes back to its page, and the upstream knows who it is', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const browser = new Browser()
  const page = `${url}/orders//a?x=%2F&y=1`
  assert.equal(await logIn(browser, page), page)
  const response = await browser.ask(page, { headers: { 'x-email': 'boss@example.com', X_Email: 'boss' } })
  const { headers } = await shown(response)
  assert.deepEqual(
    [headers['x-who'], headers['x-email'], headers['cookie']],
    ['ann', 'ann@example.com', undefined],
  )
  const cookies = [...browser.jarOf(url).keys()]
  assert.deepEqual(cookies, ['sluice-session'], 'the cookie of the login has ended')
  const asked = provider.asked.length
  await shown(await browser.ask(page, { headers: { 'sec-fetch-mode': 'cors' } }))
  assert.equal(provider.asked.length, asked, 'a session asks nobody')
})

test('requests without a session are redirected, refused or passed as configured', async (t) => {
  const provider = await startLoginProvider(t)
  const auto = await startSite(t, provider)
  const at = (headers: Record<string, string>, method = 'GET') => ask(auto.url, { method, headers })
  for (const [headers, method, expected] of [
    [{ accept: 'text/html' }, 'GET', 302],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 'GET', 302],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 'GET', 401],
    [{ 'sec-fetch-mode': 'cors', accept: 'text/html' }, 'GET', 401],
    [{ accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' }, 'GET', 401],
    [{ accept: 'application/json' }, 'GET', 401],
    [{ accept: 'text/html' }, 'POST', 401],
  ] as const)
    assert.equal((await at(headers, method)).status, expected, JSON.stringify([headers, method]))
  await auto.plane.drain(0)
  const redirecting = await startSite(t, provider, { unauthenticated: 'redirect' })
  assert.equal((await at({ accept: 'application/json' })).status, 302)
  await redirecting.plane.drain(0)
  const refusing = await startSite(t, provider, { unauthenticated: '401' })
  assert.equal((await at({ accept: 'text/html' })).status, 401)
  await refusing.plane.drain(0)
  await startSite(t, provider, { unauthenticated: 'pass' })
  const { headers } = await shown(await at({ cookie: 'a=b; sluice-session=1-x', accept: 'text/html' }))
  assert.deepEqual([headers['x-who'], headers['cookie']], [undefined, 'a=b'])
})

test('a login response is refused elsewhere, repeated, changed or late', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const [ann, thief] = [new Browser(), new Browser()]
  const back = await responseOf(ann, `${url}/a`)
  const failed = [400, 'GW_LOGIN_FAILED']
  const ownLogin = async (browser: Browser, address: string): Promise<void> => {
    const { status, headers } = await browser.ask(address)
    const place = new URL(headers.get('location')!)
    assert.deepEqual([status, place.origin], [302, provider.issuer])
    assert.notEqual(place.searchParams.get('state'), new URL(back).searchParams.get('state'))
    assert.equal(browser.jarOf(url).has('sluice-session'), false)
  }
  await ownLogin(thief, back) // Another browser has no cookie of this login, and logs in itself.
  await thief.ask(`${url}/b`)
  await ownLogin(thief, back) // Nor has one with a login of its own.
  const changed = (name: string, value: string | null): string => {
    const other = new URL(back)
    if (value === null) other.searchParams.delete(name)
    else other.searchParams.set(name, value)
    return other.href
  }
  for (const [name, value] of [
    ['state', null],
    ['state', `${'x'.repeat(43)}r`],
    ['state', '../x'],
  ] as const)
    assert.deepEqual(errorOf(await ann.ask(changed(name, value))), failed, `${name} ${value}`)
  assert.deepEqual(errorOf(await ann.ask(back, { method: 'POST' })), failed)
  assert.deepEqual(errorOf(await ann.ask(`${back}&state=${'x'.repeat(43)}`)), failed)
  await ownLogin(ann, changed('state', 'x'.repeat(43)))
  const { status, headers } = await ann.ask(back)
  assert.deepEqual([status, headers.get('location')], [302, `${url}/a`], 'the right one still works')
})

test('a repeated response, or one of a forgotten login, restarts the login once', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const browser = new Browser()
  const back = await responseOf(browser, `${url}/a`)
  assert.equal((await browser.ask(back)).status, 302)
  const again = await browser.ask(back)
  assert.equal(again.status, 302)
  const restarted = await responseOf(browser, again.headers.get('location')!)
  const done = await browser.ask(restarted)
  assert.equal(done.headers.get('location'), `${url}/`)
  await shown(await browser.ask(url))
  assert.deepEqual(errorOf(await browser.ask(restarted)), [400, 'GW_LOGIN_FAILED'], 'not for ever')

  // Other sites can make a browser load images, which would fill it with login cookies.
  for (const headers of [{ 'sec-fetch-mode': 'no-cors' }, { 'sec-fetch-dest': 'iframe' }]) {
    const pictured = await new Browser().ask(back, { headers })
    assert.deepEqual(
      [...errorOf(pictured), pictured.headers.has('set-cookie')],
      [400, 'GW_LOGIN_FAILED', false],
    )
  }

  const refused = new Browser()
  const wrong = new URL(await responseOf(refused, `${url}/page?x=1`))
  wrong.searchParams.set('code', 'wrong')
  const next = await refused.ask(wrong.href)
  const right = await responseOf(refused, next.headers.get('location')!)
  const worse = new URL(right)
  worse.searchParams.set('code', 'wrong')
  const kept = new Map(refused.jarOf(url))
  assert.deepEqual(errorOf(await refused.ask(worse.href)), [400, 'GW_LOGIN_FAILED'])
  for (const [name, value] of kept) refused.jarOf(url).set(name, value)
  assert.equal((await refused.ask(right)).headers.get('location'), `${url}/page?x=1`)
})

test('a response of another issuer, without a code, or with an error is refused, and ends the login', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  for (const change of [
    (query: URLSearchParams) => query.set('iss', 'https://evil.example.com'),
    (query: URLSearchParams) => query.delete('iss'),
    (query: URLSearchParams) => query.append('iss', provider.issuer),
    (query: URLSearchParams) => query.delete('code'),
    (query: URLSearchParams) => query.set('error', '<script>alert(1)</script>'),
  ]) {
    const browser = new Browser()
    const back = new URL(await responseOf(browser, `${url}/a`))
    change(back.searchParams)
    const response = await browser.ask(back.href)
    assert.deepEqual(errorOf(response), [400, 'GW_LOGIN_FAILED'], back.search)
    assert.doesNotMatch(await response.text(), /script/)
    assert.deepEqual([...browser.jarOf(url).keys()], [])
  }
})

test('the return page is always on the site', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  for (const path of [
    '//evil.example.com/',
    '/\\evil.example.com',
    '/%0d%0aset-cookie:a=b',
    '/@evil.example.com',
    '/?next=https://evil.example.com',
  ]) {
    const browser = new Browser()
    const first = await browser.ask(url + path)
    if (first.status !== 302) continue
    const back = await logIn(browser, url + path)
    assert.equal(new URL(back).origin, url, path)
  }
})

test('tampered, truncated or foreign cookies are no session', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  await browser.ask(`${url}/b`)
  const good = browser.jarOf(url).get('sluice-session')!
  const status = async (cookie: string): Promise<number> =>
    (await fetch(url, { headers: { cookie, accept: 'application/json' } })).status
  assert.equal(await status(`sluice-session=${good}`), 200)
  const middle = good.length >> 1
  const flipped = good[middle] === 'A' ? 'B' : 'A'
  for (const cookie of [
    `sluice-session=${good.slice(0, middle)}${flipped}${good.slice(middle + 1)}`,
    `sluice-session=${good.slice(0, -4)}`,
    `sluice-session=${good.slice(2)}`,
    `sluice-session=2-${good.slice(2)}`,
    `sluice-session=9-${good.slice(2)}`,
    `sluice-session=2-${good.slice(2, 50)}; sluice-session.1=${good.slice(51)}`,
    `sluice-session=${good}; sluice-session=${good}`,
    'sluice-session=1-',
    'sluice-session=',
    `sluice-session=1-${'A'.repeat(2000)}`,
    `other=${good}`,
  ])
    assert.equal(await status(cookie), 401, cookie.slice(0, 40))
  const fresh = new Browser()
  await fresh.ask(`${url}/a`)
  const [login] = [...fresh.jarOf(url)]
  assert.match(login![0], /^sluice-session-login-/)
  assert.equal(await status(`sluice-session=${login![1]}`), 401, 'the cookie of a login is no session')
})

test('a login creates a new session and ignores a planted one', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const [thief, victim] = [new Browser(), new Browser()]
  await logIn(thief, `${url}/a`, 'thief')
  const planted = thief.jarOf(url).get('sluice-session')!
  const back = await responseOf(victim, `${url}/a`, 'victim')
  victim.jarOf(url).set('sluice-session', planted)
  assert.equal((await victim.ask(back)).status, 302)
  assert.notEqual(victim.jarOf(url).get('sluice-session'), planted)
  assert.equal((await shown(await victim.ask(url))).headers['x-who'], 'victim')
  assert.equal((await shown(await thief.ask(url))).headers['x-who'], 'thief')
})

test('concurrent requests refresh the tokens once, and the browser gets the new session', async (t) => {
  const provider = await startLoginProvider(t, { accessSeconds: 30 })
  const settings = { scopes: ['email', 'offline_access'], parameters: { prompt: 'consent' } }
  const { url } = await startSite(t, provider, {
    ...{ ...settings, accessTokenHeader: 'authorization', refreshBefore: '1d' },
  })
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  const before = browser.jarOf(url).get('sluice-session')!
  const first = (await shown(await browser.ask(url))).headers['authorization']
  assert.match(first!, /^Bearer .{20}/)
  // The token is refreshed when a third of its lifetime is left.
  ahead(t, 21_000)
  const refreshes = () => provider.asked.filter((line) => line === 'POST /token').length
  const asked = refreshes()
  const cookie = `sluice-session=${before}`
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, { headers: { cookie } })))
  assert.equal(refreshes(), asked + 1)
  const tokens = new Set(
    await Promise.all(answers.map(async (one) => (await shown(one)).headers['authorization'])),
  )
  assert.equal(tokens.size, 1)
  assert.equal(tokens.has(first!), false)
  const set = answers.flatMap((one) => one.headers.getSetCookie())
  assert.ok(set.length > 0 && answers.every((one) => one.headers.get('cache-control') === 'no-store'))
  const after = set[0]!.slice(0, set[0]!.indexOf(';'))
  const again = await ask(url, { headers: { cookie: after } })
  assert.equal((await shown(again)).headers['authorization'], [...tokens][0])
  const late = await ask(url, { headers: { cookie } })
  assert.match(late.headers.getSetCookie()[0]!, /^sluice-session=/, 'the browser may not have got it')
  assert.equal((await shown(late)).headers['authorization'], [...tokens][0])
  assert.equal(refreshes(), asked + 1)
})

test('a refused refresh token ends the session, an outage of the provider does not', async (t) => {
  const provider = await startLoginProvider(t, { accessSeconds: 30 })
  const settings = { scopes: ['email', 'offline_access'], parameters: { prompt: 'consent' } }
  const { url, events } = await startSite(t, provider, { ...settings, staleIfError: '2m' })
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  const answerWith = (status: number, body: string): void => {
    provider.intervene = (req, res) => {
      if (req.url !== '/token') return false
      res.writeHead(status, { 'content-type': 'application/json' }).end(body)
      return true
    }
  }
  const other = new Browser()
  await logIn(other, `${url}/a`, 'bob')
  ahead(t, 40_000)
  answerWith(400, '{"error":"invalid_grant"}')
  assert.equal((await other.ask(url)).status, 302)
  assert.equal(other.jarOf(url).has('sluice-session'), false)
  for (const [status, body] of [
    [500, 'oh no'],
    [200, '{'],
    [400, '{"error":"invalid_client"}'],
  ] as const) {
    answerWith(status, body)
    assert.equal((await shown(await browser.ask(url))).headers['x-who'], 'ann', body)
  }
  assert.ok(events.some(({ event }) => event === 'oidc_refresh_failed'))
  assert.doesNotMatch(JSON.stringify(events), /a-secret-of/)
  ahead(t, 200_000)
  assert.deepEqual(errorOf(await browser.ask(url)), [503, 'GW_AUTH_UNAVAILABLE'])
})

test('a session ends after its lifetime, and some time after its last request', async (t) => {
  const provider = await startLoginProvider(t)
  const session = { secrets: [SECRET], lifetime: '1h', idleTimeout: '20m' }
  const { url } = await startSite(t, provider, { session })
  const browser = new Browser()
  ahead(t, 0)
  await logIn(browser, `${url}/a`)
  const first = browser.jarOf(url).get('sluice-session')!
  for (let minutes = 10; minutes < 60; minutes += 10) {
    ahead(t, 600_000)
    await shown(await browser.ask(url))
  }
  const idle = await ask(url, { headers: { cookie: `sluice-session=${first}` } })
  assert.equal(idle.status, 401, 'a copy that was not used')
  ahead(t, 600_000)
  assert.equal((await browser.ask(url)).status, 302)
})

test('session secrets can be rotated', async (t) => {
  const provider = await startLoginProvider(t)
  const before = await startSite(t, provider)
  const browser = new Browser()
  await logIn(browser, `${before.url}/a`)
  await before.plane.drain(0)
  const next = 'another secret of the gateway, long enough'
  const both = await startSite(t, provider, { session: { secrets: [next, SECRET] } })
  await shown(await browser.ask(both.url))
  await both.plane.drain(0)
  const after = await startSite(t, provider, { session: { secrets: [next] } })
  assert.equal((await browser.ask(after.url)).status, 302)
})

test('users log out locally and at the provider, and other sites cannot trigger it', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider, { logout: { path: '/logout', returnTo: '/bye' } })
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  const stolen = browser.jarOf(url).get('sluice-session')!
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: url },
  ])
    assert.deepEqual(errorOf(await browser.ask(`${url}/logout`, { headers })), [403, 'GW_ACCESS_DENIED'])
  const cookie = `sluice-session=${stolen}`
  for (const headers of [
    { cookie },
    { cookie, origin: 'https://evil.example.com' },
    { cookie, origin: 'null' },
  ])
    assert.equal((await ask(`${url}/logout`, { method: 'POST', headers })).status, 403)
  await shown(await browser.ask(url))
  const response = await browser.ask(`${url}/logout`, { headers: { 'sec-fetch-site': 'same-origin' } })
  const away = new URL(response.headers.get('location')!)
  assert.equal(away.origin, provider.issuer)
  assert.equal(away.searchParams.get('post_logout_redirect_uri'), `${url}/bye`)
  assert.equal(browser.jarOf(url).size, 0)
  assert.equal((await ask(url, { headers: { cookie } })).status, 401, 'a copy of the cookie ends, too')
  assert.equal((await browser.ask(away.href)).status, 200)
})

test('a provider can end sessions with signed logout tokens', async (t) => {
  const provider = await startLoginProvider(t, { backchannel: '/backchannel' })
  const { url, events } = await startSite(t, provider, { idTokenHeader: 'x-id-token' })
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  // It belongs to the same provider session, and its end has not been checked yet.
  const twin = new Browser()
  for (const [name, value] of browser.jarOf(provider.issuer)) twin.jarOf(provider.issuer).set(name, value)
  await logIn(twin, `${url}/a`)
  const cookie = `sluice-session=${twin.jarOf(url).get('sluice-session')}`
  const post = async (body: string, type = 'application/x-www-form-urlencoded') =>
    errorOf(await ask(`${url}/backchannel`, { method: 'POST', headers: { 'content-type': type }, body }))
  const idToken = (await shown(await browser.ask(url))).headers['x-id-token']!
  for (const body of [
    `logout_token=${idToken}`,
    'logout_token=eyJhbGciOiJub25lIn0.e30.',
    'logout_token=x',
    `logout_token=${idToken.slice(0, -4)}AAAA`,
  ])
    assert.deepEqual(await post(body), [400, 'GW_LOGOUT_TOKEN'], body.slice(0, 40))
  for (const [body, type] of [
    ['', undefined],
    ['a=b', undefined],
    ['logout_token=x&logout_token=y', undefined],
    ['{}', 'application/json'],
  ] as const)
    assert.deepEqual(await post(body, type), [400, 'GW_BAD_REQUEST'], body)
  assert.equal((await ask(`${url}/backchannel`)).status, 400)
  const end = new URL('/session/end', provider.issuer)
  end.searchParams.set('id_token_hint', idToken)
  end.searchParams.set('post_logout_redirect_uri', `${url}/bye`)
  await browser.follow(end.href, 'ann', (next) => next.startsWith(`${url}/bye`))
  assert.equal((await ask(url, { headers: { cookie } })).status, 401)
  assert.deepEqual(await post(provider.logouts[0]!), [400, 'GW_LOGOUT_TOKEN'], 'a token is taken once')
  assert.deepEqual(
    events.filter(({ event }) => event.startsWith('oidc')),
    [],
  )
})

test('an ID token of another provider, login or time creates no session', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider, { idTokenHeader: 'x-id-token' })
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const finish = async (idToken: string): Promise<Response> => {
    const browser = new Browser()
    const back = await responseOf(browser, `${url}/a`)
    provider.intervene = (req, res) => {
      if (req.url !== '/token') return false
      const tokens = { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token: idToken }
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
      return true
    }
    const response = await browser.ask(back)
    provider.intervene = () => false
    return response
  }
  const other = new Browser()
  await logIn(other, `${url}/a`)
  const captured = (await shown(await other.ask(url))).headers['x-id-token']!
  const [head, payload, signature] = captured.split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
  const own = keyPair('rsa', { modulusLength: 2048 })
  const signed = (header: object, sign: (input: string) => Buffer): string => {
    const input = `${encode(header)}.${encode(claims)}`
    return `${input}.${sign(input).toString('base64url')}`
  }
  for (const [what, token] of [
    ['of another login', captured],
    ['alg none', `${encode({ alg: 'none' })}.${payload}.`],
    ['alg none, with a signature', `${encode({ alg: 'none', kid })}.${payload}.${signature}`],
    [
      'the secret of the client as a key',
      signed({ alg: 'HS256', kid }, (input) =>
        createHmac('sha256', CLIENT.clientSecret).update(input).digest(),
      ),
    ],
    [
      'another key under the same name',
      signed({ alg: 'RS256', kid }, (input) => createSign('RSA-SHA256').update(input).sign(own.privateKey)),
    ],
    ['other claims', `${head}.${encode({ ...claims, sub: 'root' })}.${signature}`],
    ['no token', ''],
  ] as const) {
    const response = await finish(token)
    assert.deepEqual(errorOf(response), [503, 'GW_AUTH_UNAVAILABLE'], what)
    assert.equal(
      response.headers.getSetCookie().some((line) => line.startsWith('sluice-session=1')),
      false,
    )
  }
})

test('a provider outage or invalid response causes 503, and the next login works', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider, { timeout: '500ms' })
  for (const answer of ['', '{"access_token":', 'HTTP', '[]', '{"access_token":"a","token_type":"mac"}']) {
    const browser = new Browser()
    const back = await responseOf(browser, `${url}/a`)
    provider.intervene = (req, res) => {
      if (req.url !== '/token') return false
      if (answer === 'HTTP') req.socket.destroy()
      else if (answer === '') return true
      else res.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      return true
    }
    assert.deepEqual(errorOf(await browser.ask(back)), [503, 'GW_AUTH_UNAVAILABLE'], answer)
    provider.intervene = () => false
  }
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  await shown(await browser.ask(url))
})
