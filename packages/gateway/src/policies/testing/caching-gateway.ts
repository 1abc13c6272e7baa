import http from 'node:http'
import type { TestContext } from 'node:test'
import type { StatePlan } from '@sluice/config'
import type { Catalog, Policy } from '@sluice/core'
import { catalog } from '@sluice/policies'
import { startGateway, type TestGateway, TIMEOUTS } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'

/** Policies of a route, in order: their names and configurations. */
export type Uses = readonly (readonly [string, object])[]

/** A request as received by the upstream. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
}

/** A response as received by the client. */
export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** Options of a request. */
export interface Asked {
  readonly method?: string
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string
}

/** Environment of the cache under test. */
export interface Around {
  readonly before?: Uses
  readonly behind?: Uses
  /** Policies in addition to the catalog. */
  readonly policies?: readonly Policy[]
  readonly state?: StatePlan
}

/** A gateway with a cache, and the requests that reach its upstream. */
export interface CacheBench {
  readonly gateway: TestGateway
  /** Requests that the upstream has received. */
  readonly seen: readonly SeenRequest[]
  ask(path: string, asked?: Asked): Promise<Answer>
  /** Reloads with another configuration of the cache. */
  configure(config: object): Promise<void>
}

/** Starts a gateway with `response-cache` in front of an upstream that the test controls. */
export async function cacheBench(
  t: TestContext,
  handler: (req: http.IncomingMessage, res: http.ServerResponse, count: number) => void,
  config: object = {},
  around: Around = {},
): Promise<CacheBench> {
  const more = (around.policies ?? []).map((policy): [string, Policy] => [policy.name, policy])
  const known: Catalog = Object.assign(new Map([...catalog, ...more]), {
    ...(catalog.bodies && { bodies: catalog.bodies }),
  })
  const seen: SeenRequest[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push({ method: req.method!, url: req.url!, headers: req.headers })
    req.resume()
    handler(req, res, seen.length)
  })
  const upstreams = [{ urls: [origin.url], timeouts: TIMEOUTS, retry: { attempts: 0 } }]
  const planWith = (options: object) => {
    const routes = [{ id: 'all', policies: policiesOf(options, around) }]
    return { upstreams, routes, ...(around.state && { state: around.state }) }
  }
  const gateway = await startGateway(t, planWith(config), { catalog: known })
  const ask = (path: string, asked: Asked = {}): Promise<Answer> => request(gateway.port, path, asked)
  return { gateway, seen, ask, configure: (next) => gateway.reload(planWith(next)) }
}

function policiesOf(config: object, { before = [], behind = [] }: Around) {
  const uses: Uses = [...before, ['response-cache', config], ...behind]
  return uses.map(([use, options], i) => ({
    ...{ id: `${use}-${i}`, use, with: options, when: null, onError: 'fail' as const },
  }))
}

/** Sends a request on a separate connection. */
export function request(port: number, path: string, asked: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = asked
    const req = http.request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (res) => {
      let text = ''
      res.setEncoding('latin1')
      res.on('data', (chunk) => (text += chunk))
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, text }))
      res.on('error', reject)
    })
    req.on('error', reject)
    req.end(body)
  })
}
