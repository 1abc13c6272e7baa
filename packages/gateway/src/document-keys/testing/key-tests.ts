import { type TestContext, test } from 'node:test'
import { documentSchema, resolvePlan } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import type { Catalog } from '@sluice/core'
import { compileUpstreams } from '../../compile/upstreams.js'
import { CachedClock } from '../../lib/cached-clock.js'
import { runToCompletion } from '../../lib/run-to-completion.js'
import { SharedTable } from '../../lib/shared-table.js'
import { type TestGateway, until } from '../../testing/gateway.js'
import { closedPort, httpOrigin, type Origin } from '../../testing/origin.js'
import { statusesOf } from '../../testing/raw-client.js'
import { connectRaw, type RawConnection } from '../../testing/raw-connection.js'
import { type Network, systemNetwork } from '../../upstream/transport/network.js'
import type { Upstream } from '../../upstream/upstream.js'
import { createDataPlane } from '../../worker/create-data-plane.js'

/** Tests the effect of a key of the document, from its text to the wire. */
export type Effect = (t: TestContext) => Promise<void>

/** Parts of a test's document. By default all requests go to the upstream `up`. */
export interface DocumentParts {
  readonly target?: string
  readonly listener?: object
  readonly upstream?: object
  readonly route?: object
  readonly routes?: readonly object[]
  readonly overload?: object
  readonly state?: object
  readonly cache?: object
  readonly tracing?: object
  /** Traffic log. Default: none. */
  readonly log?: object
  /** Policies of the catalog. Default: none. */
  readonly catalog?: Catalog
  readonly network?: Network
}

const NO_POLICIES: Catalog = new Map()

/** Starts a gateway that serves a document, loaded like in `gw start`. */
export async function serve(t: TestContext, parts: DocumentParts): Promise<TestGateway> {
  const port = await closedPort()
  const {
    target,
    listener,
    upstream,
    route,
    routes,
    overload = {},
    state,
    cache,
    tracing,
    log = { sink: 'none' },
    catalog = NO_POLICIES,
  } = parts
  const hasUpstream = target !== undefined || upstream !== undefined
  const all = { id: 'all', ...(hasUpstream ? { upstream: 'up' } : {}), ...route }
  const document = {
    version: 1,
    listeners: [{ address: `127.0.0.1:${port}`, ...listener }],
    log,
    upstreams: hasUpstream ? { up: { targets: [target], ...upstream } } : {},
    routes: routes ?? [all],
    overload,
    ...(state === undefined ? {} : { state }),
    ...(cache === undefined ? {} : { cache }),
    ...(tracing === undefined ? {} : { tracing }),
  }
  const bundle = loadOrThrow(JSON.stringify(document), catalog)
  const events: { event: string; fields: object }[] = []
  const plane = createDataPlane({
    catalog,
    worker: 1,
    version: 'test',
    ports: {},
    report: (event, fields) => events.push({ event, fields }),
    isReceiveBounded: false,
    ...(parts.network === undefined ? {} : { network: parts.network }),
  })
  t.after(() => plane.drain(0))
  const reload = (): Promise<void> => Promise.reject(new Error('a document is served once'))
  await (await plane.prepare(bundle)).activate()
  plane.setReady(true)
  return { port, url: `http://127.0.0.1:${port}`, plane, events, reload }
}

type DocumentPart =
  | 'listeners'
  | 'upstreams'
  | 'routes'
  | 'overload'
  | 'state'
  | 'cache'
  | 'tracing'
  | 'vault'

/** Returns the upstream of a document as a worker has it, for effects that cannot be caused from outside. */
export function compiledUpstream(t: TestContext, upstream: object): Upstream {
  const document = { version: 1, listeners: [{ address: ':0' }], upstreams: { up: upstream }, routes: [] }
  const plan = resolvePlan(loadOrThrow(JSON.stringify(document), NO_POLICIES))
  const shared = new SharedTable(() => {})
  const source = { shared, network: systemNetwork(), clock: new CachedClock(), report: () => {} }
  const compiled = runToCompletion(compileUpstreams(plan, source, [])).get('up')!
  t.after(() => compiled.close())
  return compiled
}

/** Starts a target that responds with its name. */
export function named(t: TestContext, name: string): Promise<Origin> {
  return httpOrigin(t, (_, res) => void res.end(name))
}

/** Returns the bodies of `count` sequential responses. */
export async function bodies(
  url: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<string[]> {
  const texts: string[] = []
  for (let i = 0; i < count; i++) texts.push(await (await fetch(url, { headers })).text())
  return texts
}

/** Returns the keys below a part of the document, such as `limits.bodyBytes`. */
export function keysOf(part: DocumentPart): string[] {
  const { properties } = documentSchema as unknown as { readonly properties: Record<string, Schema> }
  const schema = properties[part]!
  const item = part === 'upstreams' ? schema.additionalProperties : (schema.items ?? schema)
  return [...new Set(leavesOf(item as Schema, ''))].sort()
}

/** Runs the tests of all keys of a part of the document. Fails for a key without a test. */
export function testKeys(
  part: DocumentPart,
  effects: Readonly<Record<string, Effect>>,
  elsewhere: readonly string[] = [],
): void {
  for (const [key, effect] of Object.entries(effects)) test(`${part}: ${key} does what it says`, effect)
  test(`every key of ${part} has a test of its effect`, (t) => {
    const keys = keysOf(part).filter((key) => !elsewhere.some((start) => key.startsWith(start)))
    t.assert.deepEqual(Object.keys(effects).sort(), keys)
  })
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: Schema | boolean
}

function leavesOf(schema: Schema, path: string): string[] {
  const { properties, items, anyOf } = schema
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([key, value]) =>
      leavesOf(value, path === '' ? key : `${path}.${key}`),
    )
  }
  const inner = (anyOf ?? (items === undefined ? [] : [items])).flatMap((each) => leavesOf(each, path))
  return inner.some((each) => each !== path) ? inner.filter((each) => each !== path) : [path]
}

/**
 * Overloads a worker so that requests have to wait. The worker has measured `costMs` of processor time for each.
 * @param path path of a request that is answered without a target.
 */
export async function overload(
  t: TestContext,
  gateway: TestGateway,
  costMs: number,
  path = '/',
): Promise<void> {
  const count = 20
  const client = await connectRaw(t, gateway.port)
  const requests = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count)
  client.send(requests)
  await until(() => statusesOf(client.text).length === count)
  gateway.plane.onLoopCheck()
  const before = process.cpuUsage()
  client.send(requests)
  await until(() => statusesOf(client.text).length === 2 * count)
  work(count * costMs, before)
  gateway.plane.onLoopCheck()
}

/** Sends all requests so that they reach the gateway in one turn of the event loop. Returns the responses in their order. */
export async function burst(
  t: TestContext,
  gateway: TestGateway,
  requests: readonly string[],
): Promise<RawConnection[]> {
  const { connections } = gateway.plane
  const clients: RawConnection[] = []
  for (const _ of requests) clients.push(await connectRaw(t, gateway.port))
  await until(() => gateway.plane.connections >= connections + clients.length)
  for (const [i, request] of requests.entries()) clients[i]!.send(request)
  work(20)
  return clients
}

/** Keeps the CPU busy until the process has used some milliseconds of processor time. */
function work(ms: number, before = process.cpuUsage()): void {
  for (;;) {
    const { user, system } = process.cpuUsage(before)
    if (user + system >= ms * 1000) return
  }
}
