import type { TestContext } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { type PlanOverrides, startGateway } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { type Browser, SECRET } from './browser.js'
import { CLIENT, type LoginProvider } from './login-provider.js'

/** Additional options of the gateway. */
export interface SiteOptions {
  readonly engine?: 'uws' | 'node'
  readonly port?: number
  readonly state?: PlanOverrides['state']
}

/** Starts a gateway in front of an upstream that echoes requests. */
export async function startSite(
  t: TestContext,
  provider: LoginProvider,
  settings: object = {},
  { engine = 'uws', port = provider.port, state }: SiteOptions = {},
) {
  const upstream = await httpOrigin(t, (req, res) => {
    res.setHeader('cache-control', 'public, max-age=600')
    res.end(JSON.stringify({ url: req.url, headers: req.headers }))
  })
  const { issuer, redirectUri } = provider
  const config = {
    ...{ issuer, ...CLIENT, redirectUri, scopes: ['email', 'groups'], timeout: '20s' },
    ...{ session: { secrets: [SECRET] }, nameClaim: 'email', groupsClaim: 'groups' },
    ...{ forwardClaims: { email: 'x-email' }, ...settings },
  }
  const oidc = JSON.stringify({ use: 'oidc', with: config })
  const who = "{ use: header, with: { request: { set: { x-who: '{{consumer.id}}' } } } }"
  const logout = JSON.stringify({
    use: 'oidc-backchannel-logout',
    with: { issuer, clientId: CLIENT.clientId, timeout: '20s' },
  })
  const text = `version: 1
upstreams: { o: { targets: ["${upstream.url}"] } }
routes:
  - { id: all, upstream: o, policies: [${oidc}, ${who}] }
  - { id: logout, match: { path: /backchannel }, respond: { status: 500 }, policies: [${logout}] }
`
  const { plan } = loadOrThrow(text, catalog)
  const upstreams = [{ urls: [upstream.url], name: 'o' }]
  return startGateway(
    t,
    { listener: { engine }, upstreams, routes: plan.routes, ...(state !== undefined && { state }) },
    { catalog, port },
  )
}

/** Opens a page and logs in. @returns the final address of the browser. */
export function logIn(browser: Browser, url: string, name = 'ann'): Promise<string> {
  let isAway = false
  return browser.follow(url, name, (next) => {
    const isHere = new URL(next).origin === new URL(url).origin
    if (!isHere) isAway = true
    return isHere && isAway && !next.includes('/callback')
  })
}

/** Returns the provider's redirect to the callback, before the browser follows it. */
export function responseOf(browser: Browser, url: string, name = 'ann'): Promise<string> {
  return browser.follow(url, name, (next) => next.includes('/callback'))
}

/** Moves the clock of the gateway and the provider. */
export function ahead(t: TestContext, ms: number): void {
  const now = Date.now() + ms
  t.mock.timers.reset()
  t.mock.timers.enable({ apis: ['Date'], now })
}
