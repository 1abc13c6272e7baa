import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestController } from '../testing/test-controller.js'

const UI = { 'x-sluice-ui': '1' }

/** Starts a controller. The returned functions send requests as a browser does. */
async function started(t: TestContext) {
  const controller = await TestController.start(t)
  const browse = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
    controller.call(method, path, { token: '', headers, ...(body === undefined ? {} : { body }) })
  const logIn = (token: string, headers: Readonly<Record<string, string>> = UI) =>
    browse('POST', '/v1/session', headers, { token })
  const cookieFor = async (token: string): Promise<string> =>
    (await logIn(token)).headers.get('set-cookie')!.split(';')[0]!
  return { controller, browse, logIn, cookieFor }
}

test('a session has the rights of its token, until logout or revocation', async (t) => {
  const { controller, browse, logIn, cookieFor } = await started(t)
  const viewer = await controller.token('viewer', ['edge'], 'ann')
  const opened = await logIn(viewer)
  assert.deepEqual(opened.body, { name: 'ann', role: 'viewer', isLoginRequired: true })
  assert.match(
    opened.headers.get('set-cookie')!,
    /^sluice-session-\d+=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/,
  )
  const [first, second] = [await cookieFor(viewer), await cookieFor(viewer)]
  const status = async (method: string, path: string, cookie: string, body?: unknown) =>
    (await browse(method, path, { ...UI, cookie }, body)).status
  assert.equal(await status('GET', '/v1/groups/edge', first), 200)
  assert.equal(await status('GET', '/v1/groups/core', first), 403)
  assert.equal(await status('POST', '/v1/groups/edge/rollback', first, {}), 403)
  const closed = await browse('DELETE', '/v1/session', { ...UI, cookie: first })
  assert.match(closed.headers.get('set-cookie')!, /=; Path=\/; Max-Age=0/)
  assert.equal(await status('GET', '/v1/groups', first), 401)
  assert.equal(await status('GET', '/v1/groups', second), 200)
  const { body } = await controller.call('GET', '/v1/tokens')
  await controller.call('DELETE', `/v1/tokens/${body.tokens.at(-1)!.token}`)
  assert.equal(await status('GET', '/v1/groups', second), 401)
  const invented = second.replace(/=.*/, `=${'A'.repeat(43)}`)
  assert.equal(await status('GET', '/v1/groups', invented), 401)
  assert.equal((await logIn(await controller.token('member'))).status, 403)
  assert.equal((await logIn('wrong')).status, 401)
})

test('a change that another site made the browser send is refused', async (t) => {
  const { controller, browse, logIn, cookieFor } = await started(t)
  const cookie = await cookieFor(controller.adminToken)
  const origin = controller.url
  const change = async (headers: Readonly<Record<string, string>>) => {
    const body = { name: `t${Math.random()}`, role: 'viewer', groups: ['*'] }
    return (await browse('POST', '/v1/tokens', { cookie, ...headers }, body)).status
  }
  assert.equal(await change({ ...UI, origin, 'sec-fetch-site': 'same-origin' }), 200)
  for (const headers of [
    {},
    { origin },
    { ...UI, origin: 'http://evil.example' },
    { ...UI, origin: 'null' },
    { ...UI, origin: origin.replace('http:', 'https:') },
    { ...UI, 'sec-fetch-site': 'cross-site' },
    { ...UI, 'sec-fetch-site': 'same-site' },
  ])
    assert.equal(await change(headers), 403, JSON.stringify(headers))
  assert.equal((await logIn(controller.adminToken, {})).status, 403)
  assert.equal((await browse('GET', '/v1/groups', { cookie, 'sec-fetch-site': 'cross-site' })).status, 403)
})

test('the dashboard needs no token, has a strict policy, and no other files', async (t) => {
  const { browse } = await started(t)
  const page = await browse('GET', '/ui', {})
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy')!, /^default-src 'none'; script-src 'self';/)
  assert.doesNotMatch(page.text, /<script>|<style|style=|\son\w+=/)
  for (const path of ['/ui/index.html', '/ui/..%2fpackage.json', '/ui//etc/passwd', '/ui/__proto__'])
    assert.equal((await browse('GET', path, {})).status, 404, path)
})

test('behind TLS the cookie is Secure and tied to the host, and the origin is https', async (t) => {
  const controller = await TestController.start(t, { isBehindProxy: true })
  const body = { token: controller.adminToken }
  const logIn = (origin: string) =>
    controller.call('POST', '/v1/session', { token: '', headers: { ...UI, origin }, body })
  const { headers } = await logIn(controller.url.replace('http:', 'https:'))
  assert.match(headers.get('set-cookie')!, /^__Host-sluice-session-.*; Secure$/)
  assert.equal((await logIn(controller.url)).status, 403)
})
