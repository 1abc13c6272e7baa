import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import {
  type PlanOverrides,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  until,
} from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { type LoggedGateway, startLogged, type WrittenRecord } from '../../testing/traffic-records.js'

/** Configuration of a gateway that makes calls. */
export interface CallingGateway {
  /** Options (`with`) of the api-call policies, in order. */
  readonly uses?: readonly object[]
  /** Additional routes by path. */
  readonly routes?: Readonly<Record<string, readonly object[]>>
  /** Target of the routes. If absent, the gateway responds by itself. */
  readonly target?: string
  /** Policies after the calls, as YAML. */
  readonly behind?: readonly string[]
}

/** Starts a gateway whose routes make calls. */
export function gatewayCalling(
  t: TestContext,
  shape: CallingGateway,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  return startGateway(t, planOf(shape), { catalog, ...options })
}

/** Like `gatewayCalling`, with a traffic log. */
export function loggedGatewayCalling(
  t: TestContext,
  shape: CallingGateway,
  options: TestGatewayOptions = {},
): Promise<LoggedGateway> {
  return startLogged(t, planOf(shape), {}, { catalog, ...options })
}

function planOf({ uses = [], routes = {}, target, behind = [] }: CallingGateway): PlanOverrides {
  const up =
    target === undefined
      ? ''
      : `upstreams: { up: { targets: ['${target}'], timeouts: { connect: 20s, headers: 20s } } }\n`
  const action = target === undefined ? 'respond: { status: 200, body: done }' : 'upstream: up'
  const written = Object.entries({ ...routes, '/*': uses }).map(([path, own], i) => {
    const policies = own.map((each) => JSON.stringify({ use: 'api-call', with: patient(each) }))
    return `{ id: r${i}, match: { path: '${path}' }, ${action}, policies: [${[...policies, ...behind].join(', ')}] }`
  })
  const { plan } = loadOrThrow(`version: 1\n${up}routes: [${written.join(', ')}]\n`, catalog)
  const upstreams =
    target === undefined ? [] : [{ urls: [target], name: 'up', maxPending: 2000, pendingTimeoutMs: 60_000 }]
  return { upstreams, routes: plan.routes }
}

/** Extends the timeouts of the calls, for busy machines. */
function patient(use: object): object {
  const { calls = [] } = use as { readonly calls?: readonly object[] }
  return { ...use, calls: calls.map((call) => ({ timeout: '20s', ...call })) }
}

/** A call as received by the server. */
export interface SeenCall {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Starts a server that records its calls and responds as the test says. */
export async function callee(t: TestContext, first: (res: ServerResponse, req: IncomingMessage) => void) {
  const calls: SeenCall[] = []
  const it = { calls, answer: first, url: '', port: 0 }
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    calls.push({ method: req.method!, url: req.url!, headers: req.headers, body })
    it.answer(res, req)
  })
  it.url = origin.url
  it.port = origin.port
  return it
}

/** Returns a handler that responds with JSON. */
export const json = (value: unknown) => (res: ServerResponse) => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify(value))
}

/** Returns the numbers of calls by result, from `gw_api_calls_total`. */
export function callResults({ plane }: TestGateway): Record<string, number> {
  const samples = plane.samples().filter(({ name }) => name === 'gw_api_calls_total')
  return Object.fromEntries(samples.map(({ labels, value }) => [/result="(\w+)"/.exec(labels)![1]!, value]))
}

/** Waits for `count` traffic records and returns them. */
export async function recordsOf({ log }: LoggedGateway, count: number): Promise<readonly WrittenRecord[]> {
  const { dir } = log.file
  const read = (): string[] =>
    readdirSync(dir)
      .sort()
      .flatMap((file) => readFileSync(join(dir, file), 'utf8').split('\n').slice(0, -1))
  await until(() => read().length >= count)
  return read().map((line) => JSON.parse(line) as WrittenRecord)
}
