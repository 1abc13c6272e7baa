import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import type { TestGatewayOptions } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { type LoggedGateway, startLogged } from '../../testing/traffic-records.js'

/** What a gateway is that calls. */
export interface CallingGateway {
  /** `with` of the policies, in their order. */
  readonly uses: readonly object[]
  /** The target of its one route; absent: it answers by itself. */
  readonly target?: string
  /** Policies behind, as YAML. */
  readonly behind?: readonly string[]
}

/** Starts a gateway whose one route makes calls. */
export function gatewayCalling(
  t: TestContext,
  { uses, target, behind = [] }: CallingGateway,
  options: TestGatewayOptions = {},
): Promise<LoggedGateway> {
  const policies = [...uses.map((each) => JSON.stringify({ use: 'api-call', with: each })), ...behind]
  const up = target === undefined ? '' : `upstreams: { up: { targets: ['${target}'] } }\n`
  const action = target === undefined ? 'respond: { status: 200, body: done }' : 'upstream: up'
  const text = `version: 1\n${up}routes: [{ id: a, ${action}, policies: [${policies.join(', ')}] }]\n`
  const { plan } = loadOrThrow(text, catalog)
  const upstreams = target === undefined ? [] : [{ urls: [target], name: 'up', maxPending: 2000 }]
  return startLogged(t, { upstreams, routes: plan.routes }, {}, { catalog, ...options })
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
