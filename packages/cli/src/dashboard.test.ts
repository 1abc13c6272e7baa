import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, noBrowser, openPage } from './testing/browser.js'
import { ATTACK, checkAnswers, logIn, sha256, startDashboard } from './testing/dashboard.js'
import { until } from './testing.js'

// The dashboard in a real browser, used as a person uses it.

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
/** A log with everything that the dashboard shows. */
const LOG =
  'sink: file, fields: full, file: { dir: DIR }, capture: { requestIn: { headers: true, body: true } }'
const LONG_PATH = '/shops/berlin/orders/2026-11-30/items/4711/pictures/front'
/** Height of two lines with their padding, in pixels. */
const MAX_ROW_HEIGHT = 65
const PAGES = ['', 'routes', 'routes/slow', 'upstreams', 'log', 'traces', 'configuration', 'explain', 'steps']

/** Waits until the log page shows a record. */
async function recorded(page: Page, ui: string): Promise<void> {
  await page.goto(`${ui}#/log`)
  await page.locator('tbody tr').first().waitFor()
}

test('a person logs in, finds the slowest route and drains its target', { skip: noBrowser }, async (t) => {
  const { ui, url, admin, slow } = await startDashboard(t)
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

test('a person finds the slowest policy of a route', { skip: noBrowser }, async (t) => {
  const { ui, url } = await startDashboard(t)
  const page = await openPage(t, ui)
  await logIn(page, 'viewer')
  await page.getByRole('link', { name: 'Routes' }).click()
  await page.getByLabel('Filter').fill('chain')
  await page.getByRole('link', { name: 'chain' }).click()
  await page.getByRole('button', { name: 'Mean time' }).click()
  const slowest = page.getByRole('region', { name: 'Policies of chain' }).locator('tbody tr').first()
  await until(async () => {
    await fetch(`${url}/chain`, { headers: { 'x-fault-key': '0123456789abcdef' } })
    return /sluggish.*\d\d\.\d+ ms/.test((await slowest.textContent()) ?? '')
  })
})

test('a person finds a slow request in the live log and opens its timeline', {
  skip: noBrowser,
}, async (t) => {
  const { ui, url } = await startDashboard(t, LOG)
  const page = await openPage(t, ui)
  await logIn(page, 'operator')
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await page.getByText('No request matches yet.').waitFor()
  const send = () => Promise.all(['/slow', '/odd', '/keys'].map((path) => fetch(`${url}${path}`)))
  await send()
  const rows = page.locator('tbody tr')
  await until(async () => (await rows.count()) === 3)
  await page.getByLabel('At least ms').fill('100')
  await page.keyboard.press('Enter')
  await until(async () => (await rows.count()) === 1)
  assert.match(page.url(), /#\/log\?minMs=100$/)
  await page.reload()
  await page.getByRole('link', { name: 'GET /slow' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await send()
  await page.getByRole('button', { name: 'Resume' }).click()
  await until(async () => (await rows.count()) === 2)
  await rows.first().getByRole('link').click()
  const phases = page.getByRole('region', { name: 'Phases' })
  await phases.getByText('wait for the response of the target').waitFor()
  await page.getByText('By the upstream slow, which returned 200.').waitFor()
  await page.goto(`${ui}#/log?status=many`)
  await page.getByRole('alert').getByText("'many' is not a status").waitFor()
})

test('a person sees why a recorded request got 401, in its trace, and explains it again', {
  skip: noBrowser,
}, async (t) => {
  const { ui, url } = await startDashboard(t, LOG)
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'x-api-key': 'wrong-key' }
  await Promise.all([fetch(`${url}/keys?a=1`, { headers }), fetch(`${url}/fast`, { headers })])
  const page = await openPage(t, ui)
  await logIn(page)
  await page.goto(`${ui}#/log?status=401`)
  await page.getByRole('link', { name: 'GET /keys' }).click()
  const refused = page.locator('.card', { hasText: 'Refused' })
  await refused.getByText('GW_AUTH_INVALID').first().waitFor()
  await refused.getByText('policy keys/1').waitFor()
  await page.getByText('x-api-key: ***').waitFor()
  assert.equal((await page.content()).includes('wrong-key'), false)
  await page.getByRole('link', { name: 'Show its trace' }).click()
  const timeline = page.getByRole('region', { name: 'Timeline of the trace' })
  await timeline.getByRole('link', { name: 'GET /fast' }).waitFor()
  await timeline.getByRole('link', { name: 'GET /keys' }).click()
  await page.getByRole('link', { name: 'Explain this request' }).click()
  await page.getByRole('region', { name: 'Policies of keys' }).getByText('api-key', { exact: true }).waitFor()
})

test('a person tries a document, and nothing is applied', { skip: noBrowser }, async (t) => {
  const { ui, admin } = await startDashboard(t)
  const page = await openPage(t, ui)
  await logIn(page)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByText('The document as YAML').click()
  await page.getByRole('region', { name: 'Document' }).getByText('id: slow').waitFor()
  const document = page.getByLabel('YAML', { exact: true })
  await document.fill('version: 1\nroutes: [{ id: a, match: { path: a }, respond: {} }]')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('line 2, column').first().waitFor()
  await document.fill('version: 1\nroutes: [{ id: a, match: { path: /a }, respond: {} }]')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('These would be the changes').waitFor()
  await page.getByText('route slow').waitFor()
  await assertAccessible(page)
  const headers = { authorization: 'Bearer admin-token' }
  const { deploys } = (await (await fetch(`${admin}/v1/deploys`, { headers })).json()) as {
    deploys: unknown[]
  }
  assert.equal(deploys.length, 1)
})

test('a viewer sees no buttons that change anything, and a logout ends the session', {
  skip: noBrowser,
}, async (t) => {
  const { ui } = await startDashboard(t)
  const page = await openPage(t, ui)
  await logIn(page, 'viewer')
  await page.getByRole('link', { name: 'Upstreams' }).click()
  await page.getByText('round-robin').first().waitFor()
  assert.equal(await page.getByRole('button', { name: /^(Drain|Roll back)/ }).count(), 0)
  await page.getByRole('link', { name: 'Configuration' }).click()
  await page.getByText('Active plan').waitFor()
  assert.equal(await page.getByLabel('YAML', { exact: true }).count(), 0)
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await page.getByText('needs a token with the role operator').waitFor()
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
  const { ui, deploy, admin } = await startDashboard(t)
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
  await page.getByText('The document with its defaults').click()
  await page.getByText('"version": 1').waitFor()
})

test('a person finds out which policy answers 401', { skip: noBrowser }, async (t) => {
  const { ui, url } = await startDashboard(t)
  assert.equal((await fetch(`${url}/keys`)).status, 401)
  const page = await openPage(t, ui)
  await logIn(page, 'viewer')
  await page.getByText('GW_AUTH_MISSING').waitFor()
  await page.getByRole('link', { name: 'Explain' }).click()
  await page.getByLabel('URL or path').fill('/keys')
  await page.getByLabel('Headers').fill('accept: text/plain')
  await page.keyboard.press('Tab')
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

test('a person sees what each policy does to a live request', { skip: noBrowser }, async (t) => {
  const { ui, url } = await startDashboard(t)
  const page = await openPage(t, ui)
  await logIn(page)
  await page.getByRole('link', { name: 'Step trace' }).click()
  await page.getByRole('option', { name: 'keys' }).waitFor({ state: 'attached' })
  await page.getByLabel('Route').selectOption('keys')
  await page.getByLabel('Condition').fill('res.status')
  await page.getByRole('button', { name: 'Trace' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Condition').fill('res.status == 401')
  await page.getByLabel('Number of requests').fill('1')
  await page.getByRole('button', { name: 'Trace' }).click()
  await page.getByText('Waiting for requests').waitFor()
  await fetch(`${url}/fast`)
  await fetch(`${url}/keys`, { headers: { 'x-api-key': ATTACK } })
  await page.getByText('All requests are traced.').waitFor()
  const steps = page.getByRole('region', { name: /^Steps of/ })
  await steps.getByText('401 GW_AUTH_INVALID').waitFor()
  assert.equal((await page.content()).includes('onerror'), false)
  await assertAccessible(page)
})

for (const [colorScheme, width] of [
  ['light', 360],
  ['dark', 1920],
] as const) {
  test(`every page is accessible, in ${colorScheme} colours and at ${width} pixels`, {
    skip: noBrowser,
  }, async (t) => {
    const { ui, url, admin } = await startDashboard(t, LOG)
    const page = await openPage(t, ui, { colorScheme, width })
    const answers = await checkAnswers(t, page, admin)
    await page.getByLabel('Token').waitFor()
    await assertAccessible(page)
    await logIn(page)
    const id = (
      await fetch(`${url}/keys`, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } })
    ).headers.get('x-request-id')
    await fetch(url + LONG_PATH)
    await recorded(page, ui)
    for (const path of [
      ...PAGES,
      `log/${id}`,
      `traces/${TRACE}`,
      'explain?method=GET&url=/keys&consumer=ann',
    ]) {
      await page.goto(`${ui}#/${path}`)
      await page.locator('.card').first().waitFor()
      if (path.includes('?')) await page.getByRole('region', { name: 'Policies of keys' }).waitFor()
      if (path === 'log') {
        const box = await page.getByRole('row').filter({ hasText: LONG_PATH }).boundingBox()
        assert.ok(box !== null && box.height < MAX_ROW_HEIGHT, `${box?.height} pixels`)
      }
      await assertAccessible(page)
      assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width)
    }
    for (const path of ['/v1/records', '/v1/records/explain', '/v1/status', '/v1/metrics', '/v1/routes'])
      assert.ok(answers.has(`get ${path} 200`), path)
  })
}

test('markup in conditions, notes and addresses is shown as text', { skip: noBrowser }, async (t) => {
  const { ui, deploy } = await startDashboard(t)
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
