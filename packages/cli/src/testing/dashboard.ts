import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Page } from 'playwright-core'
import { origin, scratch, startGateway } from '../testing.js'

/** Returns the digest of a token or key in hexadecimal. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Text that would run a script if it were shown as markup. */
export const ATTACK = '<img src=x onerror=window.hacked=1>'

/** Starts a gateway with fast, slow and failing routes, and returns the address of its dashboard. */
export async function startDashboard(t: TestContext, logSettings = 'sink: none') {
  const fast = await origin(t, (_, response) => response.end('fast'))
  const slow = await origin(t, (_, response) => void sleep(150).then(() => response.end('slow')))
  const tokens = ['viewer', 'operator', 'admin'].map((role) => ({
    id: role,
    role,
    sha256: sha256(`${role}-token`),
  }))
  const documentWith = (limit: number) => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0", tokens: ${JSON.stringify(tokens)} }
workers: 1
log: { ${logSettings.replace('DIR', join(scratch(t), 'traffic'))} }
upstreams:
  fast: { targets: ["${fast}", "${slow}"] }
  slow: { targets: ["${slow}"] }
routes:
  - { id: fast, match: { path: /fast }, upstream: fast }
  - { id: slow, match: { path: /slow }, upstream: slow, policies: [{ use: rate-limit, with: { limit: ${limit}/s } }] }
  - { id: keys, match: { path: /keys }, upstream: fast, policies: [{ use: api-key, with: { keys: [{ id: ann, sha256: "${sha256('a-secret-key')}" }] } }] }
  - id: chain
    match: { path: /chain }
    respond: { status: 200, body: ok }
    policies:
      - { id: quick, use: header, with: { request: { set: { x-a: b } } } }
      - id: sluggish
        use: fault
        with: { guard: { header: x-fault-key, value: 0123456789abcdef }, delay: { percent: 100%, duration: 20ms } }
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

/** Logs in with the token of a role. */
export async function logIn(page: Page, role = 'admin'): Promise<void> {
  await page.getByLabel('Token').fill(`${role}-token`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** Checks every answer that a page gets against the description of the admin API, from which its types come. */
export async function checkAnswers(t: TestContext, page: Page, admin: string): Promise<ReadonlySet<string>> {
  const headers = { authorization: 'Bearer admin-token' }
  const description = (await (await fetch(`${admin}/openapi.json`, { headers })).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(description, 'api')
  const seen = new Set<string>()
  const problems: string[] = []
  page.on('response', async (response) => {
    const { pathname } = new URL(response.url())
    const method = response.request().method().toLowerCase()
    const status = String(response.status())
    if (!pathname.startsWith('/v1/')) return
    const pointer = ['paths', pathname.replaceAll('/', '~1'), method, 'responses', status, 'content']
    const type = (response.headers()['content-type'] ?? '').replace('/', '~1')
    const value: unknown = await response.json().catch(() => undefined)
    if (value === undefined) return
    seen.add(`${method} ${pathname} ${status}`)
    if (!ajv.validate(`api#/${pointer.join('/')}/${type}/schema`, value))
      problems.push(`${method} ${pathname} ${status}: ${ajv.errorsText()}`)
  })
  t.after(() => assert.deepEqual(problems, []))
  return seen
}
