import { createHash } from 'node:crypto'
import type { AdminPlan, ConfigBundle, ListenerPlan, Plan, RoutePlan } from '@sluice/config'

/** Returns a listener on loopback with small limits. */
export function fakeListener(port: number, headerBytes = 16_384): ListenerPlan {
  return {
    address: `127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    engine: 'uws',
    http2: null,
    tls: null,
    trustedProxies: [],
    proxyProtocol: false,
    allowHalfClose: false,
    forwardedHeader: 'x-forwarded-for',
    health: true,
    paths: 'canonical',
    limits: {
      headerBytes,
      headers: 100,
      urlBytes: 8192,
      bodyBytes: 1_048_576,
      bodyBufferBytes: 65_536,
      connections: 100,
      connectionsPerClient: 100,
      keepAliveMs: 75_000,
      headTimeoutMs: 10_000,
      bodyIdleMs: 5000,
      minBodyRate: 240,
      minReadRate: 240,
    },
  }
}

/** Returns a route that answers by itself. Tests recognise a plan by its id. */
export function fakeRoute(id: string): RoutePlan {
  return {
    id,
    match: {
      hosts: [],
      path: { text: `/${id}`, kind: 'exact', segments: [{ kind: 'literal', text: id }] },
      methods: [],
      headers: [],
      query: [],
      when: null,
    },
    api: null,
    priority: 0,
    criticality: 'normal',
    cpuBudgetMs: null,
    order: 0,
    encodedSlashes: 'refuse',
    rewrite: null,
    action: { kind: 'respond', status: 200, headers: [], body: id },
    timeouts: null,
    websocket: null,
    policies: [],
    log: null,
  }
}

/** Admin API on any free loopback port, without tokens. */
export const FAKE_ADMIN: AdminPlan = {
  address: '127.0.0.1:0',
  host: '127.0.0.1',
  port: 0,
  tls: null,
  tokens: [],
}

/** Returns a complete plan with one listener and one route. */
export function fakePlan(changes: Partial<Plan> = {}): Plan {
  return {
    version: 1,
    environment: null,
    listeners: [fakeListener(0)],
    admin: FAKE_ADMIN,
    workers: null,
    upstreams: [],
    routes: [fakeRoute('first')],
    log: {
      sink: 'none',
      fields: 'standard',
      file: { dir: './data/traffic', maxBytes: 1_048_576, segmentBytes: 65_536 },
      elasticsearch: null,
      outputs: [],
      geo: null,
      slowMs: 1000,
      privacy: null,
      unknownRoutes: true,
      capture: null,
    },
    metrics: { enabled: true },
    drain: { delayMs: 0, timeoutMs: 5000 },
    overload: { maxLoopDelayMs: 0, maxInFlight: null, retryAfterMs: 1000 },
    state: null,
    cache: null,
    plugins: [],
    ...changes,
  }
}

/** Returns a plan with its digest and no references. */
export function fakeBundle(changes: Partial<Plan> = {}): ConfigBundle {
  const plan = fakePlan(changes)
  const digest = createHash('sha256').update(JSON.stringify(plan)).digest('hex')
  return { plan, digest, values: {} }
}
