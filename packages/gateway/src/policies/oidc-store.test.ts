import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisServer, redisSkip, statePlanOf } from '../state/testing/redis-server.js'
import { until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { ask, Browser, shown } from './testing/browser.js'
import { startLoginProvider } from './testing/login-provider.js'
import { ahead, logIn, startSite } from './testing/login-site.js'

test('gateways with one store refresh a session once and share logouts', {
  skip: redisSkip,
}, async (t) => {
  const server = await RedisServer.start(t)
  const provider = await startLoginProvider(t, { accessSeconds: 30 })
  const settings = {
    ...{ scopes: ['email', 'offline_access'], parameters: { prompt: 'consent' } },
    ...{ accessTokenHeader: 'authorization', logout: { path: '/logout', provider: false } },
  }
  const state = statePlanOf(server.port)
  const first = await startSite(t, provider, settings, { state })
  const second = await startSite(t, provider, settings, { state, port: await closedPort() })
  for (const { plane } of [first, second])
    await until(() =>
      plane.samples().some(({ name, value }) => name === 'gw_state_connections' && value === 1),
    )
  const [ann, bob] = [new Browser(), new Browser()]
  await logIn(ann, `${first.url}/a`)
  await logIn(bob, `${first.url}/a`, 'bob')
  const cookieOf = (browser: Browser): string =>
    [...browser.jarOf(first.url)].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie: cookieOf(ann) }
  // A session of another site with the same name and secrets is accepted.
  const { authorization } = (await shown(await ask(second.url, { headers }))).headers
  ahead(t, 25_000)
  const refreshes = () => provider.asked.filter((line) => line === 'POST /token').length
  const before = refreshes()
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => ask(i % 2 === 0 ? first.url : second.url, { headers })),
  )
  assert.equal(refreshes(), before + 1)
  const tokens = await Promise.all(answers.map(async (one) => (await shown(one)).headers['authorization']))
  assert.equal(new Set(tokens).size, 1)
  assert.notEqual(tokens[0], authorization)
  const cookie = cookieOf(bob)
  const left = await ask(`${first.url}/logout`, {
    ...{ method: 'POST', headers: { cookie, origin: first.url } },
  })
  assert.equal(left.status, 302)
  assert.equal((await ask(second.url, { headers: { cookie } })).status, 401)
})
