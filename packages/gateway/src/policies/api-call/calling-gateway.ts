import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import {
  type PlanOverrides,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { type LoggedGateway, startLogged } from '../../testing/traffic-records.js'

/** What a gateway is that calls. */
export interface CallingGateway {
  /** `with` of the policies, in their order. */
  readonly uses?: readonly object[]
  /** More routes, by their path. */
  readonly routes?: Readonly<Record<string, readonly object[]>>
  /** The target of its routes; absent: it answers by itself. */
  readonly target?: string
  /** Policies behind, as YAML. */
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

/** The same with a traffic log. */
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

/** A busy machine takes its time. */
function patient(use: object): object {
  const { calls = [] } = use as { readonly calls?: readonly object[] }
  return { ...use, calls: calls.map((call) => ({ timeout: '20s', ...call })) }
}

/** A call as a server got it. */
export interface SeenCall {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that records its calls, and answers as the test says. */
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

/** Answers with JSON. */
export const json = (value: unknown) => (res: ServerResponse) => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify(value))
}
