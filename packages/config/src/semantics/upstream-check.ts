import { parseDuration, parseRatio } from '@sluice/core'
import type { DocumentPath } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { isServiceAddress } from '../grammar/kubernetes-service.js'
import { parseTarget } from '../grammar/target.js'
import type { UpstreamDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { checkTlsFiles } from './key-pair-check.js'
import { checkShares } from './upstream-share-check.js'

/** Checks upstreams: missing, duplicate or unused targets, and contradictory settings. */
export function checkUpstreams(inspection: Inspection): void {
  for (const [name, upstream] of Object.entries(inspection.document.upstreams)) {
    const path = ['upstreams', name]
    if (inspection.report.isValid([...path, 'targets'])) checkTargets(inspection, upstream, path)
    checkHash(inspection, upstream, path)
    checkShares(inspection, upstream, path)
    checkTls(inspection, upstream, path)
    checkTransport(inspection, upstream, path)
    checkHttp2(inspection, upstream, path)
    checkProxy(inspection, upstream, path)
    checkResolve(inspection, upstream, path)
    checkServices(inspection, upstream, path)
    checkOutlier(inspection, upstream, path)
    checkStatuses(inspection, upstream, path)
  }
}

function checkTargets(
  { report, origins }: Inspection,
  { targets }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'targets']
  const name = path.at(-1)
  if (targets.length === 0) {
    const remedy = `add at least one under upstreams.${name}.targets`
    report.add({ path, at: 'key', message: `upstream '${name}' has no targets`, remedy })
    return
  }
  const seen = new Set<string>()
  for (const [target, at] of origins.entries(targets, place)) {
    const address = parseTarget(typeof target === 'string' ? target : target.url)
    if (isIssue(address)) continue
    const { origin } = address
    if (seen.has(origin)) {
      report.add({
        path: at,
        message: `upstream '${name}' lists this target twice`,
        remedy: 'keep one of them, and set its weight',
      })
    }
    seen.add(origin)
  }
  const served = targets.filter(
    (target) => typeof target === 'string' || (target.weight > 0 && target.role === 'primary'),
  )
  if (served.length > 0) return
  report.add({
    path: place,
    at: 'key',
    message: `upstream '${name}' has no primary target with a weight above 0`,
    remedy: 'give one target role: primary and a weight above 0',
  })
}

function checkHash({ report }: Inspection, { balance, hashOn }: UpstreamDocument, path: DocumentPath): void {
  if (!report.isValid([...path, 'balance']) || !report.isValid([...path, 'hashOn'])) return
  if (balance === 'hash' && hashOn === undefined) {
    const remedy = 'add hashOn: header:NAME, cookie:NAME, claim:NAME, consumer or ip'
    report.add({ path: [...path, 'balance'], message: 'balance: hash needs hashOn', remedy })
  }
  if (balance !== 'hash' && hashOn !== undefined) {
    const remedy = 'write balance: hash, or remove hashOn'
    report.add({
      path: [...path, 'hashOn'],
      at: 'key',
      message: 'hashOn has no effect without balance: hash',
      remedy,
    })
  }
}

function checkTls(inspection: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  const { tls, targets } = upstream
  if (tls === undefined) return
  const place = [...path, 'tls']
  checkTlsFiles(inspection, tls, place)
  const { report } = inspection
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined) && report.isValid(place)) {
    const missing = tls.certFile === undefined ? 'certFile' : 'keyFile'
    report.add({
      path: place,
      at: 'key',
      message: `a client certificate needs ${missing}`,
      remedy: `add ${missing}`,
    })
  }
  if (targets.some(isSecure) || !report.isValid([...path, 'targets'])) return
  const message = `tls has no effect: upstream '${path.at(-1)}' has no https target`
  report.add({
    path: place,
    at: 'key',
    severity: 'warning',
    rule: 'no-effect',
    message,
    remedy: 'write https:// in the targets, or remove tls',
  })
}

function checkTransport(
  { report, origins }: Inspection,
  { transport, targets }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'targets']
  if (transport !== 'wire' || !report.isValid([...path, 'transport']) || !report.isValid(place)) return
  for (const [target, at] of origins.entries(targets, place)) {
    if (!isSecure(target)) continue
    report.add({
      path: at,
      message: 'transport: wire does not support TLS, but this target uses https',
      remedy: 'write transport: auto, which uses undici for https targets, or use http:// for the target',
    })
  }
}

function checkHttp2({ report }: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  const { http2, transport, targets } = upstream
  if (!(http2.alpn || http2.priorKnowledge) || !report.isValid([...path, 'http2'])) return
  const at = [...path, 'http2']
  if (transport !== 'auto' && report.isValid([...path, 'transport'])) {
    const message = `transport: ${transport} does not support HTTP/2`
    report.add({ path: at, message, remedy: 'write transport: auto, or remove http2' })
  }
  if (http2.priorKnowledge || !report.isValid([...path, 'targets']) || targets.some(isSecure)) return
  report.add({
    path: at,
    severity: 'warning',
    rule: 'no-effect',
    message: `http2.alpn has no effect: upstream '${path.at(-1)}' has no https target`,
    remedy: 'write http2: { priorKnowledge: true } for targets that support HTTP/2 without TLS',
  })
}

function checkProxy(
  { report }: Inspection,
  { proxy, transport }: UpstreamDocument,
  path: DocumentPath,
): void {
  if (proxy === undefined) return
  const at = [...path, 'proxy']
  if (transport === 'wire') {
    const remedy = 'write transport: auto'
    report.add({ path: at, at: 'key', message: 'transport: wire does not support a proxy', remedy })
  }
  if ((proxy.username === undefined) === (proxy.password === undefined) || !report.isValid(at)) return
  const missing = proxy.username === undefined ? 'username' : 'password'
  const message = `the proxy credentials have no ${missing}`
  report.add({ path: at, at: 'key', message, remedy: `add ${missing}` })
}

function checkResolve({ report, origins }: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  const { resolve, proxy, targets } = upstream
  if (resolve === undefined && report.isValid([...path, 'targets'])) {
    for (const [target, at] of origins.entries(targets, [...path, 'targets'])) {
      if (typeof target === 'string' || target.srv === undefined) continue
      const message = 'srv has no effect without resolve'
      report.add({ path: [...at, 'srv'], at: 'key', message, remedy: 'add resolve: {} to the upstream' })
    }
  }
  if (resolve === undefined || !report.isValid([...path, 'resolve'])) return
  const at = [...path, 'resolve']
  if (proxy !== undefined) {
    const message = 'resolve has no effect with a proxy, which resolves the names of targets itself'
    report.add({ path: at, at: 'key', message, remedy: 'remove resolve or proxy' })
  }
  if (parseDuration(resolve.minTtl) <= parseDuration(resolve.maxTtl)) return
  const message = 'minTtl is longer than maxTtl'
  report.add({ path: [...at, 'minTtl'], message, remedy: 'write a shorter duration' })
}

/** Checks targets that are Kubernetes Services, which exclude srv and proxy. */
function checkServices(
  { report, origins }: Inspection,
  upstream: UpstreamDocument,
  path: DocumentPath,
): void {
  if (!report.isValid([...path, 'targets'])) return
  for (const [target, at] of origins.entries(upstream.targets, [...path, 'targets'])) {
    const { url, srv, service } = typeof target === 'string' ? { url: target } : target
    const isShort = isServiceAddress(url)
    if (!isShort && service === undefined) continue
    if (isShort && service !== undefined) {
      const message = 'url and service both name a Kubernetes Service'
      report.add({ path: [...at, 'service'], at: 'key', message, remedy: 'keep one of them' })
    }
    if (srv !== undefined) {
      const message = 'srv has no effect on a Kubernetes Service'
      report.add({ path: [...at, 'srv'], at: 'key', message, remedy: 'remove srv' })
    }
    if (upstream.proxy !== undefined) {
      const message = 'the pods of a Kubernetes Service cannot be reached through a proxy'
      report.add({ path: at, message, remedy: 'remove proxy, or write the target as a URL' })
    }
  }
}

/** Warns if the share of targets that may be ejected rounds down to none. */
function checkOutlier(
  { report }: Inspection,
  { outlier, targets }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'outlier']
  if (outlier === undefined || !report.isValid(place) || !report.isValid([...path, 'targets'])) return
  const serving = targets.filter((target) => typeof target === 'string' || target.weight > 0)
  if (Math.floor(serving.length * parseRatio(outlier.maxEjected)) > 0) return
  report.add({
    path: place,
    at: 'key',
    severity: 'warning',
    rule: 'no-effect',
    message: `outlier has no effect: ${outlier.maxEjected} of ${serving.length} targets rounds down to 0`,
    remedy: 'raise maxEjected, add targets, or use breaker, which also works for a single target',
  })
}

function checkStatuses(
  { report, origins }: Inspection,
  { health }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'health', 'statuses']
  if (health === undefined || !report.isValid(place)) return
  for (const [range, at] of origins.entries(health.statuses, place)) {
    const [first, last = first] = String(range).split('-')
    if (Number(first) <= Number(last)) continue
    report.add({ path: at, message: `the range ${range} is empty`, remedy: `write ${last}-${first}` })
  }
}

/** True if a target uses TLS. */
function isSecure(target: UpstreamDocument['targets'][number]): boolean {
  return (typeof target === 'string' ? target : target.url).toLowerCase().startsWith('https:')
}
