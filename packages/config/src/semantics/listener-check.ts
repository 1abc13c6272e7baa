import { type DocumentPath, valueAt } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { isLoopback, parseAddress } from '../grammar/address.js'
import { certificateNames } from '../grammar/certificate-names.js'
import type { ListenerDocument } from '../schema/document.js'
import { checkOcspFile, checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkKeyPair } from './key-pair-check.js'

/** Checks listeners, admin API and metrics: conflicting addresses, an exposed admin API, certificates. */
export function checkListeners(inspection: Inspection): void {
  const { document, origins, report } = inspection
  const taken = new Map<string, DocumentPath>()
  claimAddress(inspection, taken, document.admin.address, ['admin', 'address'])
  if (document.metrics.address !== undefined)
    claimAddress(inspection, taken, document.metrics.address, ['metrics', 'address'])
  if (document.cache?.serve !== undefined)
    claimAddress(inspection, taken, document.cache.serve.listen, ['cache', 'serve', 'listen'])
  for (const [listener, path] of origins.entries(document.listeners, ['listeners'])) {
    claimAddress(inspection, taken, listener.address, [...path, 'address'])
    if (listener.tls !== undefined) checkListenerTls(inspection, listener.tls, [...path, 'tls'])
    if (listener.engine === 'uws') checkUwsSupport(inspection, listener, path)
    checkEffects(inspection, listener, path)
  }
  if (report.isValid(['admin', 'address'])) checkExposure(inspection)
  checkTokens(inspection)
  if (document.admin.tls !== undefined) checkKeyPair(inspection, document.admin.tls, ['admin', 'tls'])
}

function checkListenerTls(
  inspection: Inspection,
  tls: NonNullable<ListenerDocument['tls']>,
  path: DocumentPath,
): void {
  const named = inspection.origins.entries(tls.certificates, [...path, 'certificates'])
  for (const [each, eachPath] of [[tls, path] as const, ...named]) {
    checkKeyPair(inspection, each, eachPath)
    if (each.ocspFile !== undefined) checkOcspFile(inspection, each.ocspFile, [...eachPath, 'ocspFile'])
  }
  warnOfSharedNames(inspection, tls.certificates, [...path, 'certificates'])
  if (tls.clientCaFile !== undefined) checkPemFile(inspection, tls.clientCaFile, [...path, 'clientCaFile'])
}

/** Warns if several certificates cover the same name, because only one of them is used. */
function warnOfSharedNames(
  { report, origins, readFile }: Inspection,
  certificates: NonNullable<ListenerDocument['tls']>['certificates'],
  path: DocumentPath,
): void {
  const owners = new Map<string, number>()
  for (const [i, [{ certFile, serverNames }, eachPath]] of [
    ...origins.entries(certificates, path),
  ].entries()) {
    if (!report.isValid(eachPath)) continue
    for (const name of certificateNames(serverNames, () => readFile(certFile))) {
      const owner = owners.get(name)
      owners.set(name, i)
      if (owner === undefined || owner === i) continue
      report.add({
        severity: 'warning',
        rule: 'no-effect',
        path: eachPath,
        message: `certificates[${owner}] also covers ${report.quote(name, eachPath)}; only this one, the last, is used for it`,
        remedy: 'remove one, or use serverNames to assign names to certificates',
      })
    }
  }
}

/** Keys that uWebSockets.js does not support. */
const UNSUPPORTED_BY_UWS = [
  ['proxyProtocol'],
  ['allowHalfClose'],
  ['limits', 'keepAlive'],
  ['limits', 'headTimeout'],
  ['tls', 'clientCaFile'],
  ['tls', 'clientCertificate'],
  ['tls', 'minVersion'],
  ['tls', 'ocspFile'],
  ['http2'],
] as const

function checkUwsSupport({ report }: Inspection, listener: ListenerDocument, path: DocumentPath): void {
  if (listener.tls !== undefined)
    report.add({
      severity: 'warning',
      rule: 'engine-limits',
      path: [...path, 'tls'],
      at: 'key',
      message: 'engine: uws reads certificates only when the listener opens, so a renewal needs a restart',
      remedy: 'use engine: node, which loads renewed files within 10 s, or restart after each renewal',
    })
  const named = listener.tls?.certificates.map((_, i) => ['tls', 'certificates', i, 'ocspFile']) ?? []
  for (const keys of [...UNSUPPORTED_BY_UWS, ...named]) {
    const value = valueAt(listener, keys)
    if (value === undefined || value === false) continue
    report.add({
      path: [...path, ...keys],
      message: `${keys.join('.')} needs engine: node, but this listener has engine: uws`,
      remedy: `write engine: node, or remove ${keys.join('.')}; see docs/guides/engines.md`,
    })
  }
}

/** Reports keys that have no effect without another key. */
function checkEffects({ report }: Inspection, listener: ListenerDocument, path: DocumentPath): void {
  if (
    listener.proxyProtocol &&
    listener.trustedProxies.length === 0 &&
    report.isValid([...path, 'trustedProxies'])
  )
    report.add({
      path: [...path, 'proxyProtocol'],
      at: 'key',
      message: 'proxyProtocol has no effect without trustedProxies',
      remedy: 'add the addresses of the proxies, such as trustedProxies: [10.0.0.0/8]',
    })
  const { tls } = listener
  if (tls?.clientCertificate !== undefined && tls.clientCaFile === undefined)
    report.add({
      path: [...path, 'tls', 'clientCertificate'],
      at: 'key',
      message: 'tls.clientCertificate has no effect without tls.clientCaFile',
      remedy: 'add tls.clientCaFile, or remove tls.clientCertificate',
    })
  if (listener.http2?.priorKnowledge === true && listener.tls !== undefined)
    report.add({
      severity: 'warning',
      rule: 'no-effect',
      path: [...path, 'http2', 'priorKnowledge'],
      at: 'key',
      message: 'http2.priorKnowledge has no effect with tls, which negotiates HTTP/2 by ALPN',
      remedy: 'remove it',
    })
}

/** Owners of addresses by their top-level key. */
const OWNERS: ReadonlyMap<unknown, string> = new Map([
  ['admin', 'the admin API'],
  ['metrics', 'the metrics'],
  ['cache', 'the cache server'],
])

function claimAddress(
  { report }: Inspection,
  taken: Map<string, DocumentPath>,
  text: string,
  path: DocumentPath,
): void {
  const address = parseAddress(text)
  if (isIssue(address)) return
  // Each listener with port 0 gets its own port, even with the same address.
  const key = address.port === 0 ? `${path[0]} ${address.address}` : address.address
  const owner = taken.get(key)
  if (owner === undefined) {
    taken.set(key, path)
    return
  }
  const by = OWNERS.get(owner[0]) ?? `listeners[${owner[1]}]`
  report.add({
    path,
    message: `the address ${report.quote(address.address, path)} is already used by ${by}`,
    remedy: 'choose another port',
  })
}

/**
 * Checks that the admin API, which can change the configuration, requires TLS and tokens unless it is on
 * loopback.
 */
function checkExposure({ document, whole, report }: Inspection): void {
  const address = parseAddress(document.admin.address)
  if (isIssue(address) || isLoopback(address.host)) return
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
