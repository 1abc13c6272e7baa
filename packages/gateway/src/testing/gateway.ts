import type { TestContext } from 'node:test'
import type {
  CachePlan,
  ConfigBundle,
  ListenerPlan,
  LogPlan,
  Plan,
  RetryPlan,
  RoutePlan,
  StatePlan,
  TimeoutsPlan,
  TracingPlan,
  UpstreamPlan,
} from '@sluice/config'
import type { Catalog } from '@sluice/core'
import type { Heartbeat } from '../telemetry/heartbeat.js'
import type { Network } from '../upstream/transport/network.js'
import { createDataPlane } from '../worker/create-data-plane.js'
import type { DataPlane } from '../worker/data-plane.js'
import { closedPort } from './origin.js'

/** Differences from the default test plan. */
export interface PlanOverrides {
  readonly listener?: Partial<Omit<ListenerPlan, 'limits'>> & {
    readonly limits?: Partial<ListenerPlan['limits']>
  }
  readonly upstreams?: readonly UpstreamOverrides[]
  readonly routes?: readonly (Partial<RoutePlan> & { readonly id: string })[]
  readonly log?: LogPlan
  readonly environment?: string
  readonly tracing?: Partial<TracingPlan>
  readonly maxLoopDelayMs?: number
  readonly state?: StatePlan
  readonly cache?: CachePlan
}

/** An upstream: its targets, and differences from the defaults. */
export type UpstreamOverrides = Omit<Partial<UpstreamPlan>, 'retry'> & {
  readonly urls: readonly string[]
  readonly retry?: Partial<RetryPlan>
}

export const TIMEOUTS: TimeoutsPlan = {
  connectMs: 10_000,
  headersMs: 20_000,
  idleMs: 20_000,
  totalMs: 60_000,
}

const TRACING: TracingPlan = {
  propagation: ['tracecontext'],
  ratio: 1,
  parentBased: true,
  keep: { errors: true, blocked: false, slowerThanMs: null },
}

const LISTENER: ListenerPlan = {
  address: '127.0.0.1:0',
  host: '127.0.0.1',
  port: 0,
  engine: 'uws',
  tls: null,
  http2: null,
  trustedProxies: [],
  proxyProtocol: false,
  allowHalfClose: false,
  forwardedHeader: 'x-forwarded-for',
  health: false,
  paths: 'canonical',
  limits: {
    headerBytes: 16_384,
    headers: 100,
    urlBytes: 8192,
    bodyBytes: 10_485_760,
    bodyBufferBytes: 65_536,
    connections: 10_000,
    connectionsPerClient: 10_000,
    keepAliveMs: 75_000,
    headTimeoutMs: 10_000,
    bodyIdleMs: 5000,
    minBodyRate: 240,
    minReadRate: 240,
  },
}

/** Returns a plan with one listener. By default all requests go to the first upstream, named `up`. */
export function planOf(overrides: PlanOverrides): Plan {
  const upstreams = (overrides.upstreams ?? []).map(upstreamPlan)
  return {
    version: 1,
    environment: overrides.environment ?? null,
    listeners: [
      { ...LISTENER, ...overrides.listener, limits: { ...LISTENER.limits, ...overrides.listener?.limits } },
    ],
    admin: { address: '127.0.0.1:0', host: '127.0.0.1', port: 0, tls: null, tokens: [] },
    workers: 1,
    upstreams,
    routes: (overrides.routes ?? (upstreams.length === 0 ? [] : [{ id: 'all' }])).map((route, order) =>
      routePlan({ order, ...route }, upstreams),
    ),
    log: overrides.log ?? {
      sink: 'none',
      fields: 'standard',
      file: { dir: '', maxBytes: 0, segmentBytes: 0 },
      elasticsearch: null,
      outputs: [],
      geo: null,
      slowMs: 1000,
      privacy: null,
      unknownRoutes: true,
      capture: null,
    },
    metrics: { enabled: true },
    ...(overrides.tracing === undefined ? {} : { tracing: { ...TRACING, ...overrides.tracing } }),
    drain: { delayMs: 0, timeoutMs: 5000 },
    overload: { maxLoopDelayMs: overrides.maxLoopDelayMs ?? 0, maxInFlight: null, retryAfterMs: 1000 },
    state: overrides.state ?? null,
    cache: overrides.cache ?? null,
    plugins: [],
  }
}

function upstreamPlan({ urls, retry, ...rest }: UpstreamOverrides): UpstreamPlan {
  return {
    name: 'up',
    targets: urls.map((url) => ({ url, weight: 1, role: 'primary' as const, priority: 1, srv: null })),
    balance: 'round-robin',
    hashOn: null,
    sticky: null,
    failoverBelow: 0,
    canary: null,
    mirror: null,
    connections: 64,
    maxPending: 64,
    pendingTimeoutMs: 10_000,
    keepAliveMs: 4000,
    timeouts: TIMEOUTS,
    breaker: null,
    outlier: null,
    health: null,
    panicMode: false,
    tls: null,
    transport: 'auto',
    http2: { alpn: false, priorKnowledge: false },
    proxy: null,
    resolve: null,
    maxHeaderBytes: 16_384,
    responseBufferBytes: 1_048_576,
    ...rest,
    retry: { attempts: 1, budget: 0.2, on: [], backoffMs: 25, maxBackoffMs: 1000, ...retry },
  }
}

function routePlan(
  overrides: Partial<RoutePlan> & Pick<RoutePlan, 'id' | 'order'>,
  upstreams: readonly UpstreamPlan[],
): RoutePlan {
  const timeouts = upstreams[0]?.timeouts ?? null
  return {
    match: {
      hosts: [],
      path: { text: '/*', kind: 'prefix', segments: [] },
      methods: [],
      headers: [],
      query: [],
      when: null,
    },
    api: null,
    priority: 0,
    criticality: 'normal',
    cpuBudgetMs: null,
    rewrite: null,
    action: { kind: 'proxy', upstream: upstreams[0]?.name ?? 'up' },
    timeouts,
    websocket: null,
    policies: [],
    log: null,
    encodedSlashes: 'refuse',
    ...overrides,
  }
}

/** A gateway in this process. */
export interface TestGateway {
  readonly port: number
  readonly url: string
  readonly plane: DataPlane
  /** Reported events. */
  readonly events: { readonly event: string; readonly fields: object }[]
  reload(overrides: PlanOverrides): Promise<void>
}

export interface TestGatewayOptions {
  readonly catalog?: Catalog
  readonly worker?: number
  readonly port?: number
  readonly network?: Network
  /** Maximum number of open descriptors. */
  readonly descriptors?: number
  readonly heartbeat?: Heartbeat
}

/** Starts a data plane on a free port. It is drained after the test. */
export async function startGateway(
  t: TestContext,
  overrides: PlanOverrides,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const port = options.port ?? (await closedPort())
  const events: { event: string; fields: object }[] = []
  const plane = createDataPlane({
    catalog: options.catalog ?? new Map(),
    worker: options.worker ?? 1,
    version: 'test',
    ports: { '127.0.0.1:0': port },
    report: (event, fields) => events.push({ event, fields }),
    // Bounding takes time.
    isReceiveBounded: false,
    ...(options.network === undefined ? {} : { network: options.network }),
    ...(options.descriptors === undefined ? {} : { descriptors: options.descriptors }),
    ...(options.heartbeat === undefined ? {} : { heartbeat: options.heartbeat }),
  })
  const reload = async (next: PlanOverrides): Promise<void> =>
    await (await plane.prepare(bundleOf(next))).activate()
  t.after(() => plane.drain(0))
  await reload(overrides)
  plane.setReady(true)
  return { port, url: `http://127.0.0.1:${port}`, plane, events, reload }
}

/** Returns the bundle for preparing a data plane. */
export function bundleOf(overrides: PlanOverrides): ConfigBundle {
  const plan = planOf(overrides)
  return { plan, digest: JSON.stringify(plan).length.toString(16), values: {} }
}

/**
 * Waits until the condition is met.
 * @throws Error on a timeout.
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 300_000): Promise<void> {
  const giveUpMono = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > giveUpMono) {
      throw new Error(`the condition did not come true within ${withinMs} ms`)
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
