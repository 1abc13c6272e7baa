import { createHash } from 'node:crypto'
import { type Address, isIssue, isLoopback, parseAddress } from '@sluice/config'
import { parseDuration, parseSize } from '@sluice/core'
import { type Destinations, destinationsOf } from './destinations.js'
import { ObjectsError, partAt, partsAt, type RawPart, readRaw, textAt, textsIn } from './raw-document.js'

/** A listener that is reachable from outside the pod. */
export interface ListenerFacts {
  readonly port: number
  readonly isTls: boolean
  /** True if the kubelet can use `/-/healthz`: the listener needs neither a client certificate nor a PROXY header. */
  readonly answersProbes: boolean
}

/** Data of a document that the Kubernetes objects depend on. References are not resolved. */
export interface DocumentFacts {
  readonly text: string
  /** SHA-256 of the text, hexadecimal. */
  readonly sha256: string
  readonly root: RawPart
  readonly listeners: readonly ListenerFacts[]
  /** Admin API port, or null if it listens on loopback. */
  readonly admin: { readonly port: number; readonly isTls: boolean } | null
  /** Port for metrics and probes, or null if it is not configured or listens on loopback. */
  readonly metricsPort: number | null
  readonly drainDelayMs: number
  readonly drainTimeoutMs: number
  readonly destinations: Destinations
  /** Variables of `${env:NAME}` references. A variable is required unless every reference has a default. */
  readonly variables: readonly { readonly name: string; readonly isRequired: boolean }[]
  /** Maximum size of the traffic log on disk, in bytes. */
  readonly storedBytes: number
  /** Namespaces of Services whose EndpointSlices are watched (`k8s://name.namespace`). */
  readonly serviceNamespaces: readonly string[]
  /** True if the pods log in to Vault with their service account. */
  readonly logsInToVault: boolean
}

/** Maximum document size: the limit of a ConfigMap, minus space for its other fields. */
const MAX_DOCUMENT_BYTES = 1_000_000
/** Maximum size of the dead letters of one target (docs/internals/bounds.md). */
const DEAD_LETTER_BYTES = 256 * 1024 ** 2

/** True if a document fits into a ConfigMap. */
export function fitsConfigMap({ text }: DocumentFacts): boolean {
  return Buffer.byteLength(text) <= MAX_DOCUMENT_BYTES
}

/** Reads a validated document. @throws ObjectsError if it is incomplete */
export function documentFacts(text: string): DocumentFacts {
  const root = readRaw(text)
  const drain = partAt(root, 'drain')
  return {
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    root,
    listeners: listenersOf(root),
    admin: adminOf(partAt(root, 'admin')),
    metricsPort: metricsPortOf(partAt(root, 'metrics')),
    drainDelayMs: durationAt(drain, 'delay', '0s'),
    drainTimeoutMs: durationAt(drain, 'timeout', '30s'),
    destinations: destinationsOf(root),
    variables: variablesOf(root),
    storedBytes: storedBytes(partAt(root, 'log')),
    serviceNamespaces: serviceNamespaces(root),
    logsInToVault: 'kubernetes' in partAt(partAt(root, 'vault'), 'auth'),
  }
}

/** Returns the listeners, one per port. IPv4 and IPv6 addresses with the same port share a pod port. */
function listenersOf(root: RawPart): ListenerFacts[] {
  const byPort = new Map<number, ListenerFacts>()
  for (const listener of reachableListeners(root)) {
    const { port, answersProbes } = listener
    const same = byPort.get(port)
    byPort.set(
      port,
      same === undefined ? listener : { ...same, answersProbes: same.answersProbes || answersProbes },
    )
  }
  return [...byPort.values()]
}

function reachableListeners(root: RawPart): ListenerFacts[] {
  return partsAt(root, 'listeners').flatMap((listener, i) => {
    const { host, port } = addressAt(listener, `listeners[${i}]`, '')
    if (isLoopback(host)) return []
    const tls = partAt(listener, 'tls')
    const isOpen = tls['clientCaFile'] === undefined && listener['proxyProtocol'] !== true
    return {
      port,
      isTls: listener['tls'] !== undefined,
      answersProbes: listener['health'] === true && isOpen,
    }
  })
}

function adminOf(admin: RawPart): DocumentFacts['admin'] {
  const { host, port } = addressAt(admin, 'admin', '127.0.0.1:9901')
  return isLoopback(host) ? null : { port, isTls: admin['tls'] !== undefined }
}

function metricsPortOf(metrics: RawPart): number | null {
  if (metrics['address'] === undefined) return null
  const { host, port } = addressAt(metrics, 'metrics', '')
  return isLoopback(host) ? null : port
}

/** Returns the address of a part. @throws ObjectsError if the port is not fixed */
export function addressAt(part: RawPart, place: string, standard: string): Address {
  const text = textAt(part, 'address') ?? standard
  const address = parseAddress(text)
  if (isIssue(address) || address.port === 0)
    throw new ObjectsError(`${place}.address is '${text}'; use a fixed port, such as ':8080'`)
  return address
}

function durationAt(part: RawPart, key: string, standard: string): number {
  const text = textAt(part, key) ?? standard
  if (text.includes('${'))
    throw new ObjectsError(
      `drain.${key} is '${text}'; use a literal, such as 30s, for the pods' grace period`,
    )
  return parseDuration(text)
}

function variablesOf(root: RawPart): DocumentFacts['variables'] {
  const required = new Map<string, boolean>()
  for (const text of textsIn(root)) {
    // `$${` is an escape, not a reference.
    for (const [, name = '', rest] of text
      .replaceAll('$${', '')
      .matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)(:-)?/g)) {
      required.set(name, required.get(name) === true || rest === undefined)
    }
  }
  return [...required]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, isRequired]) => ({ name, isRequired }))
}

/** Returns the maximum size of the traffic log. A size that is a reference counts as the default of the setting. */
function storedBytes(log: RawPart): number {
  const targets = partsAt(log, 'outputs')
  const sink = textAt(log, 'sink') ?? (targets.length === 0 ? 'file' : 'none')
  return [{ ...log, sink }, ...targets].reduce((sum, outlet) => sum + outletBytes(outlet), 0)
}

function outletBytes(outlet: RawPart): number {
  const sink = textAt(outlet, 'sink') ?? 'none'
  if (sink === 'none') return 0
  if (sink === 'file') return sizeAt(partAt(outlet, 'file'), '1gb')
  return sizeAt(partAt(partAt(outlet, sink), 'spool'), '2gb') + DEAD_LETTER_BYTES
}

function sizeAt(part: RawPart, standard: string): number {
  const text = textAt(part, 'maxBytes') ?? standard
  return parseSize(text.includes('${') ? standard : text)
}

function serviceNamespaces(root: RawPart): string[] {
  const upstreams = Object.values(partAt(root, 'upstreams'))
  const namespaces = textsIn(upstreams).flatMap(
    (text) => /^k8s:\/\/[a-z0-9-]+\.([a-z0-9-]+)/.exec(text)?.[1] ?? [],
  )
  return [...new Set(namespaces)].sort()
}
