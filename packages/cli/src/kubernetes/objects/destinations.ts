import { isLoopback, policyDestinations } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { listAt, partAt, partsAt, type RawPart, textAt } from './raw-document.js'

/** A host and port that the gateway connects to. */
export interface Destination {
  /** Host name or IP address, without brackets. */
  readonly host: string
  readonly port: number
  readonly protocol: 'TCP' | 'UDP'
}

/** Destinations of a document, and the paths of settings whose destination it does not contain. */
export interface Destinations {
  readonly known: readonly Destination[]
  /** Document paths, for example `upstreams.orders.targets[0]`. */
  readonly unknown: readonly string[]
}

/** Default ports by URL scheme. */
const PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'redis:': 6379,
  'rediss:': 6379,
  'udp:': 514,
  'tcp:': 601,
  'tls:': 6514,
  'ldap:': 389,
  'ldaps:': 636,
  'dns:': 53,
}

const PROTOCOLS: Readonly<Record<string, readonly Destination['protocol'][]>> = {
  'udp:': ['UDP'],
  'dns:': ['UDP', 'TCP'],
}

/** A URL in the document and its path. */
interface Place {
  readonly at: string
  /** Null if the document does not contain host and port. */
  readonly url: string | null
}

/** Returns the destinations that the pods of a document must be able to reach. */
export function destinationsOf(root: RawPart): Destinations {
  const places: Place[] = [
    ...upstreamPlaces(partAt(root, 'upstreams')),
    ...logPlaces(partAt(root, 'log')),
    ...endpointPlaces(partAt(partAt(root, 'tracing'), 'exporter'), 'tracing.exporter'),
    ...endpointPlaces(partAt(partAt(root, 'metrics'), 'otlp'), 'metrics.otlp'),
    ...policyPlaces(root),
  ]
  for (const part of ['state', 'cache']) {
    const url = textAt(partAt(root, part), 'url')
    if (url !== null) places.push({ at: `${part}.url`, url })
  }
  const vault = textAt(partAt(root, 'vault'), 'address')
  if (vault !== null) places.push({ at: 'vault.address', url: vault })
  for (const [i, node] of listAt(partAt(root, 'state'), 'cluster').entries())
    places.push({ at: `state.cluster[${i}]`, url: String(node) })
  const persisted = textAt(partAt(partAt(partAt(root, 'cache'), 'serve'), 'persist'), 'url')
  if (persisted !== null) places.push({ at: 'cache.serve.persist.url', url: persisted })
  const known: Destination[] = []
  const unknown: string[] = []
  for (const { at, url } of places) {
    // Resolved through EndpointSlices (see serviceNamespaces).
    if (url?.startsWith('k8s://')) continue
    const found = url === null ? [] : destinationsIn(url)
    if (found.length === 0) unknown.push(at)
    known.push(...found.filter(({ host }) => !isLoopback(host)))
  }
  return { known, unknown }
}

function* upstreamPlaces(upstreams: RawPart): Generator<Place> {
  for (const name of Object.keys(upstreams).sort()) {
    const upstream = partAt(upstreams, name)
    const at = `upstreams.${name}`
    const proxy = textAt(partAt(upstream, 'proxy'), 'url')
    if (proxy !== null) yield { at: `${at}.proxy.url`, url: proxy }
    else yield* targetPlaces(upstream, at)
    for (const [i, server] of listAt(partAt(upstream, 'resolve'), 'servers').entries()) {
      yield { at: `${at}.resolve.servers[${i}]`, url: `dns://${String(server)}` }
    }
  }
}

/** Yields the target URLs of an upstream. SRV targets get null: only DNS has their host and port. */
function* targetPlaces(upstream: RawPart, at: string): Generator<Place> {
  for (const [i, target] of listAt(upstream, 'targets').entries()) {
    const place = `${at}.targets[${i}]`
    if (typeof target === 'string') yield { at: place, url: target }
    else {
      const part = partAt({ target }, 'target')
      // Requests go to the pods of the Service (see serviceNamespaces), not to the host of the URL.
      if (textAt(part, 'service') !== null) continue
      yield { at: place, url: textAt(part, 'srv') === null ? textAt(part, 'url') : null }
    }
  }
}

function* logPlaces(log: RawPart): Generator<Place> {
  yield* outletPlaces(log, 'log')
  for (const [i, target] of partsAt(log, 'outputs').entries())
    yield* outletPlaces(target, `log.outputs[${i}]`)
}

function* endpointPlaces(exporter: RawPart, at: string): Generator<Place> {
  const url = textAt(exporter, 'endpoint')
  if (url !== null) yield { at: `${at}.endpoint`, url }
}

function* outletPlaces(outlet: RawPart, at: string): Generator<Place> {
  const sink = textAt(outlet, 'sink')
  if (sink === 'elasticsearch') {
    for (const [i, node] of listAt(partAt(outlet, sink), 'nodes').entries())
      yield { at: `${at}.elasticsearch.nodes[${i}]`, url: String(node) }
  } else if (sink === 'syslog') {
    yield { at: `${at}.syslog.address`, url: textAt(partAt(outlet, sink), 'address') }
  } else if (sink === 'webhook' || sink === 'loki')
    yield { at: `${at}.${sink}.url`, url: textAt(partAt(outlet, sink), 'url') }
  else if (sink === 'otlp') yield* endpointPlaces(partAt(outlet, sink), `${at}.otlp`)
  else if (sink === 'kafka') {
    for (const [i, broker] of listAt(partAt(outlet, sink), 'brokers').entries())
      yield { at: `${at}.kafka.brokers[${i}]`, url: `kafka://${String(broker)}` }
  } else if (sink === 'custom') yield { at: `${at}.custom`, url: null }
}

/** Returns the URLs of policies, except those with placeholders in the host. */
function policyPlaces(root: RawPart): readonly Place[] {
  return policyDestinations(root, catalog).filter(({ url }) => !/^[^:]*:\/\/[^/?#]*\{\{/.test(url))
}

function destinationsIn(text: string): Destination[] {
  if (text.includes('${') || !URL.canParse(text)) return []
  const { protocol, hostname, port: written } = new URL(text)
  const port = Number(written) || (PORTS[protocol] ?? 0)
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === '' || port === 0) return []
  const protocols = PROTOCOLS[protocol] ?? (['TCP'] as const)
  return protocols.map((one) => ({ host, port, protocol: one }))
}
