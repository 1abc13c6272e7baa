import { type DocumentPath, valueAt } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { isLoopback, parseAddress } from '../grammar/address.js'
import { certificateNames } from '../grammar/certificate-names.js'
import type { ListenerDocument } from '../schema/document.js'
import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkKeyPair } from './key-pair-check.js'

/** Listeners, the admin API and the metrics: addresses that collide, an admin API open to the world, certificates. */
export function checkListeners(inspection: Inspection): void {
  const { document, origins, report } = inspection
  const taken = new Map<string, DocumentPath>()
  claim(inspection, taken, document.admin.address, ['admin', 'address'])
  if (document.metrics.address !== undefined)
    claim(inspection, taken, document.metrics.address, ['metrics', 'address'])
  if (document.cache?.serve !== undefined)
    claim(inspection, taken, document.cache.serve.listen, ['cache', 'serve', 'listen'])
  for (const [listener, path] of origins.entries(document.listeners, ['listeners'])) {
    claim(inspection, taken, listener.address, [...path, 'address'])
    if (listener.tls !== undefined) checkListenerTls(inspection, listener.tls, [...path, 'tls'])
    if (listener.engine === 'uws') checkForUws(inspection, listener, path)
    checkEffects(inspection, listener, path)
  }
  if (report.isSound(['admin', 'address'])) checkExposure(inspection)
  checkTokens(inspection)
  if (document.admin.tls !== undefined) checkKeyPair(inspection, document.admin.tls, ['admin', 'tls'])
}

function checkListenerTls(
  inspection: Inspection,
  tls: NonNullable<ListenerDocument['tls']>,
  path: DocumentPath,
): void {
  checkKeyPair(inspection, tls, path)
  for (const [each, eachPath] of inspection.origins.entries(tls.certificates, [...path, 'certificates']))
    checkKeyPair(inspection, each, eachPath)
  warnOfSharedNames(inspection, tls.certificates, [...path, 'certificates'])
  if (tls.clientCaFile !== undefined) checkPemFile(inspection, tls.clientCaFile, [...path, 'clientCaFile'])
}

/** One certificate serves a name; which one, nobody should have to guess. */
function warnOfSharedNames(
  { report, origins, readFile }: Inspection,
  certificates: NonNullable<ListenerDocument['tls']>['certificates'],
  path: DocumentPath,
): void {
  const owners = new Map<string, number>()
  for (const [i, [{ certFile, serverNames }, eachPath]] of [
    ...origins.entries(certificates, path),
  ].entries()) {
    if (!report.isSound(eachPath)) continue
    for (const name of certificateNames(serverNames, () => readFile(certFile))) {
      const owner = owners.get(name)
      owners.set(name, i)
      if (owner === undefined || owner === i) continue
      report.add({
        severity: 'warning',
        path: eachPath,
        message: `certificates[${owner}] is for ${report.quote(name, eachPath)} as well; this one, the last, serves it`,
        remedy: 'remove one, or name in serverNames what each is for',
      })
    }
  }
}

/** What uWebSockets.js cannot do, and what a document would ask of it. */
const NOT_FOR_UWS = [
  ['proxyProtocol'],
  ['allowHalfClose'],
  ['limits', 'keepAlive'],
  ['limits', 'headTimeout'],
  ['tls', 'clientCaFile'],
  ['tls', 'clientCertificate'],
  ['tls', 'minVersion'],
  ['http2'],
] as const

function checkForUws({ report }: Inspection, listener: ListenerDocument, path: DocumentPath): void {
  if (listener.tls !== undefined)
    report.add({
      severity: 'warning',
      path: [...path, 'tls'],
      at: 'key',
      message: 'engine: uws reads certificates only when the listener opens, so a renewal needs a restart',
      remedy: 'use engine: node, which loads renewed files within 10 s, or restart after each renewal',
    })
  for (const keys of NOT_FOR_UWS) {
    const value = valueAt(listener, keys)
    if (value === undefined || value === false) continue
    report.add({
      path: [...path, ...keys],
      message: `${keys.join('.')} needs engine: node, and this listener has engine: uws`,
      remedy: `write engine: node, or remove ${keys.join('.')} (docs/reference/limits.md)`,
    })
  }
}

/** Keys that do nothing without another one: who writes them believes they are at work. */
function checkEffects({ report }: Inspection, listener: ListenerDocument, path: DocumentPath): void {
  if (
    listener.proxyProtocol &&
    listener.trustedProxies.length === 0 &&
    report.isSound([...path, 'trustedProxies'])
  )
    report.add({
      path: [...path, 'proxyProtocol'],
      at: 'key',
      message: 'proxyProtocol has no effect without trustedProxies, whose connections begin with the header',
      remedy: 'add the addresses of the proxies, such as trustedProxies: [10.0.0.0/8]',
    })
  const { tls } = listener
  if (tls?.clientCertificate !== undefined && tls.clientCaFile === undefined)
    report.add({
      path: [...path, 'tls', 'clientCertificate'],
      at: 'key',
      message: 'tls.clientCertificate has no effect without tls.clientCaFile, whose clients it is about',
      remedy: 'add tls.clientCaFile, or remove it',
    })
  if (listener.http2?.priorKnowledge === true && listener.tls !== undefined)
    report.add({
      severity: 'warning',
      path: [...path, 'http2', 'priorKnowledge'],
      at: 'key',
      message: 'http2.priorKnowledge has no effect on a listener with tls, which offers HTTP/2 by ALPN',
      remedy: 'remove it',
    })
}

/** Who has an address, by the key that it stands below. */
const OWNERS: ReadonlyMap<unknown, string> = new Map([
  ['admin', 'the admin API'],
  ['metrics', 'the metrics'],
  ['cache', 'the cache server'],
])

function claim(
  { report }: Inspection,
  taken: Map<string, DocumentPath>,
  text: string,
  path: DocumentPath,
): void {
  const address = parseAddress(text)
  if (isFlaw(address)) return
  // Each listener with port 0 gets a port of its own, by its address.
  const key = address.port === 0 ? `${path[0]} ${address.address}` : address.address
  const owner = taken.get(key)
  if (owner === undefined) {
    taken.set(key, path)
    return
  }
  const by = OWNERS.get(owner[0]) ?? `listeners[${owner[1]}]`
  report.add({
    path,
    message: `the address ${report.quote(address.address, path)} is taken by ${by}`,
    remedy: 'choose another port',
  })
}

/** The admin API changes the configuration: whoever is not on this machine must be encrypted and authenticated. */
function checkExposure({ document, whole, report }: Inspection): void {
  const address = parseAddress(document.admin.address)
  if (isFlaw(address) || isLoopback(address.host)) return
  const path = ['admin', 'address']
  const missing = ['tls', 'tokens'].filter((key) => isEmpty(valueAt(whole, ['admin', key])))
  if (missing.length === 0) return
  report.add({
    path,
    message: `the admin API at ${report.quote(address.address, path)} can be reached from other machines without ${missing.join(' and ')}`,
    remedy: `add admin.${missing.join(' and admin.')}, or listen on 127.0.0.1`,
  })
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function checkTokens({ document, origins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [token, path] of origins.entries(document.admin.tokens, ['admin', 'tokens'])) {
    const idPath = [...path, 'id']
    if (seen.has(token.id)) {
      report.add({
        path: idPath,
        message: `two tokens have the id ${report.quote(token.id, idPath)}`,
        remedy: 'rename one',
      })
    }
    seen.add(token.id)
  }
}
