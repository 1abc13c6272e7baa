import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Provider } from 'oidc-provider'
import type { Page } from 'playwright-core'
import { noBrowser, openPage } from './testing/browser.js'
import { startController } from './testing/controller.js'

const CLIENT = { client_id: 'control', client_secret: 'a-secret-of-the-controller-that-is-long' }

const GROUP_ROLES = ['--oidc-role', 'ou=staff,o=x=deployer:edge', '--oidc-role', 'readers=viewer:core,edge']
const EMAIL_ROLES = ['ann', 'eve'].flatMap((name) => ['--oidc-role', `${name}@example.com=viewer`])

/** Starts a controller with oidc-provider on another site. Groups of people are part of their login name. */
async function start(t: TestContext, roles: readonly string[] = GROUP_ROLES) {
  let serve: RequestListener = (_, response) => response.writeHead(503).end()
  const server = createServer((request, response) => serve(request, response)).listen(0, 'localhost')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  process.env['GW_CONTROL_OIDC_CLIENT_SECRET'] = CLIENT.client_secret
  const controller = await startController(
    t,
    ...['--oidc-issuer', issuer, '--oidc-client-id', CLIENT.client_id, '--oidc-scope', 'openid email groups'],
    ...roles,
  )
  const startProvider = (): void => {
    const enabled = { enabled: true }
    const provider = new Provider(issuer, {
      clients: [{ ...CLIENT, redirect_uris: [`${controller.url}/v1/login/callback`] }],
      features: { devInteractions: enabled, rpInitiatedLogout: enabled },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'email', 'groups'],
      cookies: { keys: ['a'] },
      findAccount: (_: unknown, sub: string) => ({
        accountId: sub,
        claims: () => {
          const groups = sub === 'ann' ? ['ou=staff,o=x', 'readers'] : ['others']
          return { sub, email: `${sub}@example.com`, email_verified: sub === 'ann', groups }
        },
      }),
    })
    serve = provider.callback()
  }
  return { controller, issuer, startProvider }
}

/** Logs in at the provider. */
async function logIn(page: Page, login: string, meanwhile = async () => {}): Promise<void> {
  await page.getByRole('link', { name: 'Log in with OpenID Connect' }).click()
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('x')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await meanwhile()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Sends a change as the page does, and returns the code of the refusal. */
function change(page: Page, path: string): Promise<string> {
  return page.evaluate(async (target) => {
    const headers = { 'x-sluice-ui': '1', 'content-type': 'application/json' }
    const response = await fetch(target, { method: 'POST', headers, body: '{}' })
    return ((await response.json()) as { readonly code: string }).code
  }, path)
}

test('a person logs in at the provider with the roles of their groups, and logs out', {
  skip: noBrowser,
}, async (t) => {
  const { controller, issuer, startProvider } = await start(t)
  const page = await openPage(t, `${controller.url}/ui/`)
  await page.getByRole('link', { name: 'Log in with OpenID Connect' }).click()
  await page.getByText('The provider is not available').waitFor()
  startProvider()

  // A callback of another login, without this browser's secret.
  await page.goto(`${controller.url}/v1/login/callback?code=a&state=b`)
  await page.getByText('The login has failed').waitFor()

  // A state that is not the one of this browser's login.
  await logIn(page, 'ann', async () => {
    const [cookie] = await page.context().cookies(controller.url)
    assert.deepEqual([cookie!.httpOnly, cookie!.sameSite], [true, 'Lax'])
    await page.context().addCookies([{ ...cookie!, value: 'A'.repeat(43) }])
  })
  await page.getByText('The login has failed').waitFor()
  assert.deepEqual(await page.context().cookies(controller.url), [])

  await page.context().clearCookies()
  await logIn(page, 'ann')
  await page.getByText('ann@example.com (oidc:ann) deployer').waitFor()
  assert.equal(page.url(), `${controller.url}/ui/`)
  assert.equal(await change(page, '/v1/groups/edge/rollback'), 'GW_CONTROL_NOT_FOUND')
  assert.equal(await change(page, '/v1/groups/core/rollback'), 'GW_CONTROL_GROUP_REFUSED')
  assert.equal(await change(page, '/v1/tokens'), 'GW_CONTROL_ROLE_MISSING')
  const cookies = await page.context().cookies(controller.url)
  assert.deepEqual(
    cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]),
    [[true, 'Strict']],
  )
  const audit = await controller.run(['control', 'audit'])
  assert.match(audit.stdout, /session\.opened +ann@example\.com \(oidc:ann\) +127\.0\.0\.1/)

  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(`${issuer}/session/end?*`)
  await page.goto(`${controller.url}/ui/`)
  await page.getByLabel('Token').waitFor()
  await page.context().clearCookies()
  await logIn(page, 'bob')
  await page.getByText('None of your groups has a role').waitFor()
  assert.deepEqual(await page.context().cookies(controller.url), [])
})

test('an address that the provider has not verified has no role', { skip: noBrowser }, async (t) => {
  const { controller, startProvider } = await start(t, ['--oidc-claim', 'email', ...EMAIL_ROLES])
  startProvider()
  const page = await openPage(t, `${controller.url}/ui/`)
  await logIn(page, 'eve')
  await page.getByText('None of your groups has a role').waitFor()
  await page.context().clearCookies()
  await page.goto(`${controller.url}/ui/`)
  await logIn(page, 'ann')
  await page.getByText('ann@example.com (oidc:ann) viewer').waitFor()
})
