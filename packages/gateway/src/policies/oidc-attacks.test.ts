import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, Browser, errorOf, SECRET, shown } from './testing/browser.js'
import { startLoginProvider } from './testing/login-provider.js'
import { ahead, logIn, responseOf, startSite } from './testing/login-site.js'
import { answerTo, TARGETS } from './testing/request-lines.js'

for (const engine of ['uws', 'node'] as const)
  test(`${engine}: no request line leads away from the site after the login`, async (t) => {
    const provider = await startLoginProvider(t)
    const { url, port } = await startSite(t, provider, {}, { engine })
    const browser = new Browser()
    await logIn(browser, `${url}/`)
    let count = 0
    for (const target of TARGETS) {
      const head = await answerTo(port, target)
      const [, location] = /\r\nlocation: ([^\r]*)/i.exec(head) ?? []
      if (location === undefined) continue
      assert.equal(new URL(location).origin, provider.issuer, target)
      const [, name, value] = /\r\nset-cookie: ([^=]+)=([^;]+)/i.exec(head)!
      browser.jarOf(url).set(name!, value!)
      const back = await responseOf(browser, location)
      const after = await browser.ask(back)
      assert.equal(after.status, 302, target)
      assert.ok(after.headers.get('location')!.startsWith(`${url}/`), target)
      count++
    }
    assert.ok(count > 0, 'some of them begin a login')
  })

test('duplicate cookies are expired and never reach the upstream', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider, { unauthenticated: 'pass' })
  const cookie = 'sluice-session=1-a; sluice-session=1-b'
  const response = await ask(url, { headers: { cookie } })
  assert.match(response.headers.getSetCookie()[0]!, /^sluice-session=; Max-Age=0/)
  const { headers } = await shown(response)
  assert.deepEqual([headers['x-who'], headers['cookie']], [undefined, undefined])
})

test('parts of different sessions cannot be combined, and extra parts are ignored', async (t) => {
  const provider = await startLoginProvider(t)
  const tokens = { idTokenHeader: 'x-id-token', accessTokenHeader: 'x-access-token' }
  const { url } = await startSite(t, provider, tokens)
  const [ann, bob] = [new Browser(), new Browser()]
  await logIn(ann, `${url}/a`, 'ann')
  await logIn(bob, `${url}/a`, 'bob')
  const [first, second] = [ann, bob].map((one) => one.jarOf(url).get('sluice-session')!) as [string, string]
  const half = (text: string, from: 0 | 1): string =>
    from === 0 ? text.slice(2, text.length >> 1) : text.slice(text.length >> 1)
  const status = async (cookie: string): Promise<number> =>
    (await ask(url, { headers: { cookie, accept: 'application/json' } })).status
  assert.equal(await status(`sluice-session=2-${half(first, 0)}; sluice-session.1=${half(first, 1)}`), 200)
  assert.equal(await status(`sluice-session=2-${half(first, 0)}; sluice-session.1=${half(second, 1)}`), 401)
  assert.equal(await status(`sluice-session=2-${half(first, 1)}; sluice-session.1=${half(first, 0)}`), 401)
  assert.equal(await status(`sluice-session=${first}; sluice-session.1=${half(second, 1)}`), 200)
  assert.equal(await status(`sluice-session=4-${first.slice(2)}; sluice-session.1=a`), 401)
  assert.equal(await status(`sluice-session=0-${first.slice(2)}`), 401)
})

test('token and claim headers of clients never reach the upstream, in any spelling', async (t) => {
  const provider = await startLoginProvider(t)
  const settings = { accessTokenHeader: 'x-access-token', idTokenHeader: 'x-id-token' }
  const { url } = await startSite(t, provider, { ...settings, unauthenticated: 'pass' })
  const forged = ['X-Access-Token', 'x_access_token', 'x-access_token', 'X_Id_Token', 'x-id-token', 'x_email']
  const { headers } = await shown(
    await ask(url, { headers: Object.fromEntries(forged.map((name) => [name, 'forged'])) }),
  )
  assert.doesNotMatch(JSON.stringify(headers), /forged/)
})

test('a login without the consumer claim creates no session', async (t) => {
  const provider = await startLoginProvider(t)
  const before = await startSite(t, provider)
  const browser = new Browser()
  await logIn(browser, `${before.url}/a`)
  await shown(await browser.ask(before.url))
  await before.plane.drain(0)
  const { url } = await startSite(t, provider, { consumerClaim: 'employee' })
  const again = await browser.ask(url)
  assert.equal(again.status, 302, 'nor one of before')
  const back = await responseOf(browser, again.headers.get('location')!)
  assert.deepEqual(errorOf(await browser.ask(back)), [400, 'GW_LOGIN_FAILED'])
  assert.equal(browser.jarOf(url).has('sluice-session'), false)
})

test('forms and links log out, but images, fetches and prefetches do not', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider, { logout: { path: '/logout', provider: false } })
  const browser = new Browser()
  await logIn(browser, `${url}/a`)
  const same = { 'sec-fetch-site': 'same-origin' }
  for (const headers of [
    { ...same, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { ...same, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
    { ...same, 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch;prerender' },
  ])
    assert.deepEqual(errorOf(await browser.ask(`${url}/logout`, { headers })), [403, 'GW_ACCESS_DENIED'])
  await shown(await browser.ask(url))
  const form = await browser.ask(`${url}/logout`, { method: 'POST', headers: { ...same, origin: url } })
  assert.deepEqual([form.status, form.headers.get('location')], [302, `${url}/`])
  assert.equal((await browser.ask(url)).status, 302)
})

test('late, repeated and unfinished logins leave little state', async (t) => {
  const provider = await startLoginProvider(t)
  const { url } = await startSite(t, provider)
  const browser = new Browser()
  ahead(t, 0)
  const back = await responseOf(browser, `${url}/a`)
  for (let i = 0; i < 12; i++) await browser.ask(`${url}/?${'x'.repeat(2000)}`)
  assert.ok(browser.jarOf(url).size <= 5, 'a browser keeps few logins')
  const forgotten = await browser.ask(back)
  assert.ok(forgotten.headers.get('location')?.startsWith(provider.issuer), 'the oldest begins anew')
  const other = new Browser()
  const late = await responseOf(other, `${url}/a`)
  const kept = new Map(other.jarOf(url))
  ahead(t, 601_000)
  for (const [name, value] of kept) other.jarOf(url).set(name, value)
  const tooLate = await other.ask(late)
  assert.ok(tooLate.headers.get('location')?.startsWith(provider.issuer), 'after ten minutes too')
  assert.equal(other.jarOf(url).has('sluice-session'), false)
})

test('two gateways of a site accept each other’s sessions if they share one secret', async (t) => {
  const provider = await startLoginProvider(t)
  const first = await startSite(t, provider)
  const browser = new Browser()
  await logIn(browser, `${first.url}/a`)
  await first.plane.drain(0)
  for (const [settings, status] of [
    [{}, 200],
    [{ session: { secrets: [SECRET], cookie: 'other' } }, 302],
    [{ session: { secrets: [`${SECRET}.`] } }, 302],
    [{ clientId: 'another' }, 302],
  ] as const) {
    const next = await startSite(t, provider, settings)
    const cookie = [...browser.jarOf(next.url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, 'sec-fetch-mode': 'navigate' }
    assert.equal((await ask(next.url, { headers })).status, status, JSON.stringify(settings))
    await next.plane.drain(0)
  }
})
