import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { assertAccessible, noBrowser, openPage } from './testing/browser.js'
import { origin, startGateway, until } from './testing.js'

// The dashboard in a real browser, used as a person uses it.

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const ATTACK = '<img src=x onerror=window.hacked=1>'
const PAGES = ['', 'routes', 'routes/slow', 'upstreams', 'configuration', 'explain']

/** Starts a gateway with a fast and a slow route, and returns the address of its dashboard. */
async function started(t: TestContext) {
  const fast = await origin(t, (_, response) => response.end('fast'))
  const slow = await origin(t, (_, response) => void sleep(150).then(() => response.end('slow')))
  const tokens = ['viewer', 'admin'].map((role) => ({ id: role, role, sha256: sha256(`${role}-token`) }))
  const documentWith = (limit: number) => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0", tokens: ${JSON.stringify(tokens)} }
workers: 1
log: { sink: none }
upstreams:
  fast: { targets: ["${fast}", "${slow}"] }
  slow: { targets: ["${slow}"] }
routes:
  - { id: fast, match: { path: /fast }, upstream: fast }
  - { id: slow, match: { path: /slow }, upstream: slow, policies: [{ use: rate-limit, with: { limit: ${limit}/s } }] }
  - { id: keys, match: { path: /keys }, upstream: fast, policies: [{ use: api-key, with: { keys: [{ id: ann, sha256: "${sha256('a-secret-key')}" }] } }] }
  - { id: odd, match: { path: /odd, when: "req.path != '${ATTACK}'" }, respond: { status: 200, body: ok } }
`
  const gateway = await startGateway(t, documentWith(1000))
  const deploy = async (limit: number, note: string) => {
    const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/yaml' }
    const path = `/v1/config?note=${encodeURIComponent(note)}`
    return fetch(`${gateway.admin}${path}`, { method: 'PUT', headers, body: documentWith(limit) })
  }
  return { ...gateway, slow, deploy, ui: `${gateway.admin}/ui/` }
}

async function logIn(page: Page, role = 'admin'): Promise<void> {
  await page.getByLabel('Token').fill(`${role}-token`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

test('a person logs in, finds the slowest route and drains its target', { skip: noBrowser }, async (t) => {
  const { ui, url, admin, slow } = await started(t)
  const page = await openPage(t, ui)
  await page.getByLabel('Token').fill('a guess')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await logIn(page)
  await page.getByText('1 of 1').waitFor()
  await page.getByRole('link', { name: 'Routes' }).click()
  const firstRoute = page.locator('tbody tr').first()
  await page.getByRole('button', { name: 'p99' }).click()
  await until(async () => {
    await Promise.all(['/slow', '/keys', '/odd'].map((path) => fetch(`${url}${path}`)))
    return ((await firstRoute.textContent()) ?? '').startsWith('slow')
  })
  await firstRoute.getByRole('link').click()
  await page.getByRole('heading', { name: 'slow', exact: true }).waitFor()
  await page.getByText('rate-limit').waitFor()
  await page.getByRole('link', { name: 'Upstreams' }).click()
  await page
    .getByRole('button', { name: `Drain ${slow}` })
    .first()
    .click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page
    .getByRole('button', { name: `Drain ${slow}` })
    .last()
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
  await page.getByText(`${slow} is drained`).waitFor()
  await page.getByRole('button', { name: `Undrain ${slow}` }).waitFor()
  const upstreams = (await (
    await fetch(`${admin}/v1/upstreams`, { headers: { authorization: 'Bearer admin-token' } })
  ).json()) as { upstreams: { name: string; targets: { state: { drained: boolean } }[] }[] }
  const drained = upstreams.upstreams.map(({ name, targets }) => [
    name,
    targets.map(({ state }) => state.drained),
  ])
  assert.deepEqual(drained, [
    ['fast', [false, false]],
    ['slow', [true]],
  ])
  assert.equal((await fetch(`${url}/slow`)).status, 503)
})

test('a viewer sees no buttons that change anything, and a logout ends the session', {
  skip: noBrowser,
}, async (t) => {
  const { ui } = await started(t)
  const page = await openPage(t, ui)
  await logIn(page, 'viewer')
  await page.getByRole('link', { name: 'Upstreams' }).click()
  await page.getByText('round-robin').first().waitFor()
  assert.equal(await page.getByRole('button', { name: /^(Drain|Roll back)/ }).count(), 0)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Token').waitFor()
  assert.deepEqual(
    (await page.context().cookies()).map(({ name }) => name),
    [],
  )
  await page.reload()
  await page.getByLabel('Token').waitFor()
})

test('a person compares two deploys and rolls back', { skip: noBrowser }, async (t) => {
  const { ui, deploy, admin } = await started(t)
  assert.equal((await deploy(5, 'lower the limit')).status, 200)
  const page = await openPage(t, ui)
  await logIn(page)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByText('route slow').waitFor()
  await page.getByText('1000/s').first().waitFor()
  await page.getByRole('button', { name: 'Roll back to #1' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('route slow').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await page.getByText('Rolled back to #1').waitFor()
  const headers = { authorization: 'Bearer admin-token' }
  const plan = await (await fetch(`${admin}/v1/plan`, { headers })).text()
  assert.ok(plan.includes('1000/s'))
  await page.getByText('Secrets are masked').click()
  await page.getByText('"version": 1').waitFor()
})

test('a person finds out which policy answers 401', { skip: noBrowser }, async (t) => {
  const { ui, url } = await started(t)
  assert.equal((await fetch(`${url}/keys`)).status, 401)
  const page = await openPage(t, ui)
  await logIn(page, 'viewer')
  await page.getByText('GW_AUTH_MISSING').waitFor()
  await page.getByRole('link', { name: 'Explain' }).click()
  await page.getByLabel('URL or path').fill('/keys')
  await page.getByLabel('Headers').fill('accept: text/plain')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const policies = page.getByRole('region', { name: 'Policies of keys' })
  await policies.getByText('api-key', { exact: true }).waitFor()
  await policies.getByText('401 GW_AUTH_MISSING').waitFor()
  await page
    .getByRole('region', { name: 'Other routes' })
    .getByText('path /keys does not match /slow')
    .waitFor()
  assert.equal((await page.content()).includes(sha256('a-secret-key')), false)
  await assertAccessible(page)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is accessible, in ${colorScheme} colours and at 360 pixels`, {
    skip: noBrowser,
  }, async (t) => {
    const { ui } = await started(t)
    const page = await openPage(t, ui, { colorScheme, width: colorScheme === 'light' ? 360 : 1280 })
    await page.getByLabel('Token').waitFor()
    await assertAccessible(page)
    await logIn(page)
    for (const path of PAGES) {
      await page.goto(`${ui}#/${path}`)
      await page.locator('.card').first().waitFor()
      await assertAccessible(page)
      assert.ok(
        Number(await page.evaluate('document.documentElement.scrollWidth')) <=
          (page.viewportSize()?.width ?? 0),
      )
    }
  })
}

test('markup in conditions, notes and addresses is shown as text', { skip: noBrowser }, async (t) => {
  const { ui, deploy } = await started(t)
  assert.equal((await deploy(5, ATTACK)).status, 200)
  const page = await openPage(t, ui)
  await logIn(page)
  await page.getByText(ATTACK).first().waitFor()
  await page.goto(`${ui}#/routes/odd`)
  await page.getByText(ATTACK).first().waitFor()
  await page.goto(`${ui}#/routes/${encodeURIComponent(ATTACK)}`)
  await page.getByRole('heading', { name: ATTACK }).waitFor()
  assert.equal(await page.evaluate('window.hacked'), undefined)
  assert.equal(await page.locator('img').count(), 0)
})
