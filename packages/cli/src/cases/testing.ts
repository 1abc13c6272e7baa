import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { type Outcome, scratch } from '../testing.js'
import type { CaseOutcome } from './outcome.js'

/** SHA-256 of the key `secret`. */
const KEY_SHA256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'

/** A document with a route for each feature. Its targets are on other machines. */
export const DOCUMENT = `version: 1
listeners:
  - { address: 127.0.0.1:8080, trustedProxies: [10.0.0.0/8], limits: { urlBytes: 1kb } }
  - { address: 127.0.0.1:8443 }
upstreams:
  orders: { targets: [http://orders.invalid:9000], timeouts: { headers: 5s }, retry: { attempts: 1, on: [503] } }
  billing: { targets: [https://billing.invalid] }
  fragile:
    targets: [http://fragile.invalid]
    retry: { attempts: 0 }
    breaker: { minRequests: 2, failureRatio: 50%, window: 10s, openFor: 30s }
policies:
  - { id: pace, use: rate-limit, with: { limit: 2/m } }
  - { id: auth, use: api-key, with: { keys: [{ id: acme, groups: [partners], sha256: ${KEY_SHA256} }] } }
  - { id: store, use: response-cache, with: {} }
  - { id: check, use: forward-auth, with: { url: "https://auth.invalid/check" } }
routes:
  - { id: orders, match: { path: "/orders/*" }, upstream: orders, rewrite: { prefix: /v2/orders, host: upstream } }
  - { id: bills, match: { path: "/bills/*", hosts: [bills.example.com], methods: [POST] }, upstream: billing, rewrite: { host: upstream } }
  - { id: fragile, match: { path: /fragile }, upstream: fragile }
  - { id: limited, match: { path: /limited }, respond: { status: 200, body: fine }, policies: [pace] }
  - { id: partners, match: { path: /partners }, upstream: orders, policies: [auth, { id: bot, use: header, when: '"x-bot" in req.header', with: { request: { set: { x-bot: "1" } } } }] }
  - { id: mocked, match: { path: /mocked }, upstream: orders, policies: [{ id: fake, use: mock, with: { status: 202, body: mock } }] }
  - { id: stored, match: { path: /stored }, upstream: orders, policies: [store] }
  - { id: asked, match: { path: /asked }, upstream: orders, policies: [check] }
  - { id: json, match: { path: /json }, respond: { status: 200, headers: { content-type: application/json }, body: '{"list":[1,2],"name":"ann","at":"now"}' } }
`

/** A case as in a file. */
export type TestCase = Readonly<Record<string, unknown>> & { readonly name: string }

/** Files by name, relative to the folder of the document. Cases are written as JSON, which is YAML. */
type Files = Readonly<Record<string, string | readonly TestCase[]>>

/** Writes a document and case files to a new folder. Returns its path. */
export function project(t: TestContext, files: Files, document = DOCUMENT): string {
  const dir = scratch(t)
  for (const [name, content] of Object.entries({ 'gateway.yaml': document, ...files })) {
    const file = join(dir, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify({ cases: content }))
  }
  return dir
}

/** Result of `gw test -o json`. */
interface Report extends Outcome {
  readonly cases: readonly CaseOutcome[]
  readonly coverage?: { readonly routes: { readonly total: number; readonly missing: readonly string[] } }
}

/** Runs `gw test` in a folder. */
export function gwTest(dir: string, ...args: string[]): Promise<Outcome> {
  return gwInProcess(['test', ...args], { cwd: dir, env: { CI: '' } })
}

/** Runs `gw test -o json` with these cases. */
export async function runCases(
  t: TestContext,
  cases: readonly TestCase[],
  document?: string,
): Promise<Report> {
  return report(project(t, { 'tests/a.test.yaml': cases }, document))
}

/** Runs `gw test -o json` in a folder. @throws Error with the output if there is no report */
export async function report(dir: string, ...args: string[]): Promise<Report> {
  const outcome = await gwTest(dir, '-o', 'json', ...args)
  if (outcome.stdout === '') throw new Error(outcome.stderr)
  return { ...outcome, ...(JSON.parse(outcome.stdout) as Pick<Report, 'cases' | 'coverage'>) }
}

/** Returns the paths of the differences, or the setup error, by case. */
export function failedPaths({ cases }: Report): Record<string, string> {
  const texts = cases.map(({ name, failures }) => {
    const paths = failures.flatMap(({ mismatches, notes }) => [
      ...mismatches.map(({ path, actual }) => `${path}=${actual}`),
      ...(mismatches.length === 0 ? notes : []),
    ])
    return [name, paths.join('; ')] as const
  })
  return Object.fromEntries(texts)
}

/** Runs cases that must pass. */
export async function passes(t: TestContext, cases: readonly TestCase[], document?: string): Promise<void> {
  const result = await runCases(t, cases, document)
  for (const [name, path] of Object.entries(failedPaths(result))) assert.equal(path, '', name)
  assert.equal(result.code, 0, result.stderr)
}
