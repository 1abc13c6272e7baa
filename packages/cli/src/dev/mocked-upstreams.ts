import { resolveSrv } from 'node:dns/promises'
import { connect } from 'node:net'
import {
  type ConfigBundle,
  conceal,
  type Plan,
  resolvePlan,
  type TargetPlan,
  type UpstreamPlan,
} from '@sluice/config'
import { ApiDescription } from '@sluice/policies'
import { type MockedApi, MockServers } from './mock-servers.js'

/** Upstreams to replace: those without a reachable target, all, or none. */
export type MockMode = 'unreachable' | 'all' | 'none'

/** An upstream that a mock replaces. */
export interface MockedUpstream {
  readonly name: string
  readonly url: string
  /** Targets of the document, for messages. */
  readonly targets: readonly string[]
  /** True if responses are examples of an OpenAPI description; otherwise requests are echoed. */
  readonly hasExamples: boolean
}

/** Time in milliseconds in which a target has to accept a connection. */
const CONNECT_MS = 1000
const MOCK_TARGET = { srv: null, weight: 1, role: 'primary', priority: 1 } as const

/** Replaces upstreams of a plan by mocks. */
export class MockedUpstreams {
  readonly #mode: MockMode
  readonly #servers = new MockServers()
  #mocked: readonly MockedUpstream[] = []
  /** Upstreams with the targets of the document, resolved. */
  #written: readonly UpstreamPlan[] = []

  constructor(mode: MockMode) {
    this.#mode = mode
  }

  /** Upstreams that are mocked now. */
  get mocked(): readonly MockedUpstream[] {
    return this.#mocked
  }

  /** Returns the upstreams of a bundle, with mocks in place of those that the mode names. */
  async replaceIn(bundle: ConfigBundle): Promise<readonly UpstreamPlan[]> {
    this.#written = resolvePlan({ ...bundle, routeTexts: [] }).upstreams
    const plan = this.#mode === 'none' ? null : resolvePlan(bundle)
    const references = Object.entries(bundle.values).filter(([name]) => name.startsWith('${'))
    this.#servers.conceal = (text) => conceal(text, Object.fromEntries(references))
    const mocked = await Promise.all(this.#written.map((upstream) => this.#mockOf(upstream, plan)))
    this.#mocked = mocked.filter((mock) => mock !== null)
    return bundle.plan.upstreams.map((upstream, i) => withMock(upstream, mocked[i]?.url))
  }

  /** True if a target of a mocked upstream now accepts connections. */
  async isOutdated(): Promise<boolean> {
    if (this.#mode !== 'unreachable') return false
    const names = new Set(this.#mocked.map(({ name }) => name))
    const states = this.#written.filter(({ name }) => names.has(name)).map(hasReachableTarget)
    return (await Promise.all(states)).includes(true)
  }

  async #mockOf(upstream: UpstreamPlan, plan: Plan | null): Promise<MockedUpstream | null> {
    if (plan === null || (this.#mode === 'unreachable' && (await hasReachableTarget(upstream)))) return null
    const { name, targets } = upstream
    const apis = apisOf(plan, name)
    const url = await this.#servers.urlOf(name, apis)
    return { name, url, targets: targets.map((target) => target.url), hasExamples: apis.length > 0 }
  }

  close(): void {
    this.#servers.close()
  }
}

async function hasReachableTarget({ targets }: UpstreamPlan): Promise<boolean> {
  return (await Promise.all(targets.map(isReachable))).includes(true)
}

function isReachable({ url, srv }: TargetPlan): Promise<boolean> {
  if (srv !== null)
    return resolveSrv(srv).then(
      (records) => records.length > 0,
      () => false,
    )
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) })
  return new Promise((resolve) => {
    const settle = (accepts: boolean): void => {
      socket.destroy()
      resolve(accepts)
    }
    socket.setTimeout(CONNECT_MS, () => settle(false))
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
  })
}

/** Returns an upstream with a mock as its only target, or unchanged without a mock. */
function withMock(upstream: UpstreamPlan, url: string | undefined): UpstreamPlan {
  if (url === undefined) return upstream
  return {
    ...upstream,
    targets: [{ ...MOCK_TARGET, url }],
    ...{ canary: null, mirror: null, breaker: null, outlier: null, health: null },
    ...{ tls: null, proxy: null, resolve: null, transport: 'auto' },
    http2: { alpn: false, priorKnowledge: false },
  }
}

/** Returns the APIs that the `openapi` policies of an upstream's routes describe. */
function apisOf({ routes }: Plan, upstream: string): readonly MockedApi[] {
  const apis = new Map<string, MockedApi | null>()
  for (const { action, policies } of routes) {
    if (action.kind !== 'proxy' || action.upstream !== upstream) continue
    for (const { use, with: settings } of policies) {
      const key = JSON.stringify(settings)
      if (use === 'openapi' && !apis.has(key)) apis.set(key, apiOf(settings as unknown as OpenapiSettings))
    }
  }
  return [...apis.values()].filter((api) => api !== null)
}

interface OpenapiSettings {
  readonly description: { readonly file?: string; readonly inline?: unknown }
  readonly basePath?: string
}

/** Returns null for a description that cannot be read; the policy reports that. */
function apiOf({ description, basePath = '' }: OpenapiSettings): MockedApi | null {
  try {
    return { description: new ApiDescription(description), basePath }
  } catch {
    return null
  }
}
