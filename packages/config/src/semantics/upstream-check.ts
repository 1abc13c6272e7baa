import { parseDuration, parseRatio } from '@sluice/core'
import type { DocumentPath } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { isServiceAddress } from '../grammar/kubernetes-service.js'
import { parseTarget } from '../grammar/target.js'
import type { UpstreamDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { checkTlsFiles } from './key-pair-check.js'
import { isSecure } from './secure-target.js'
import { checkShares } from './upstream-share-check.js'

/** Upstreams: targets that are missing, doubled or never used; settings that contradict each other. */
export function checkUpstreams(inspection: Inspection): void {
  for (const [name, upstream] of Object.entries(inspection.document.upstreams)) {
    const path = ['upstreams', name]
    if (inspection.report.isSound([...path, 'targets'])) checkTargets(inspection, upstream, path)
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
    if (isFlaw(address)) continue
    const { origin } = address
    if (seen.has(origin)) {
      report.add({
        path: at,
        message: `a target of upstream '${name}' stands twice`,
        remedy: 'keep one, with a weight',
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
    remedy: 'give one role: primary and a weight',
  })
}

function checkHash({ report }: Inspection, { balance, hashOn }: UpstreamDocument, path: DocumentPath): void {
  if (!report.isSound([...path, 'balance']) || !report.isSound([...path, 'hashOn'])) return
  if (balance === 'hash' && hashOn === undefined) {
    const remedy = 'add hashOn: header:NAME, cookie:NAME, claim:NAME, consumer or ip'
    report.add({ path: [...path, 'balance'], message: 'balance: hash does not say what to hash', remedy })
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
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined) && report.isSound(place)) {
    const missing = tls.certFile === undefined ? 'certFile' : 'keyFile'
    report.add({
      path: place,
      at: 'key',
      message: `a client certificate needs its ${missing}`,
      remedy: `add ${missing}`,
    })
  }
  if (targets.some(isSecure) || !report.isSound([...path, 'targets'])) return
  const message = `tls has no effect: upstream '${path.at(-1)}' has no https target`
  report.add({
    path: place,
    at: 'key',
    severity: 'warning',
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
  if (transport !== 'wire' || !report.isSound([...path, 'transport']) || !report.isSound(place)) return
  for (const [target, at] of origins.entries(targets, place)) {
    if (!isSecure(target)) continue
    report.add({
      path: at,
      message: 'transport: wire speaks no TLS, and this target is https',
      remedy: 'write transport: auto, which takes undici for https targets, or http:// in the target',
    })
  }
}

function checkHttp2({ report }: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  const { http2, transport, targets } = upstream
  if (http2 === 'off' || !report.isSound([...path, 'http2'])) return
  const at = [...path, 'http2']
  if (transport !== 'auto' && report.isSound([...path, 'transport'])) {
    const message = `transport: ${transport} speaks no HTTP/2`
    report.add({ path: at, message, remedy: 'write transport: auto, or http2: off' })
  }
  if (http2 !== 'auto' || !report.isSound([...path, 'targets']) || targets.some(isSecure)) return
  report.add({
    path: at,
    severity: 'warning',
    message: `http2: auto has no effect: upstream '${path.at(-1)}' has no https target`,
    remedy: 'write http2: prior-knowledge for targets that speak HTTP/2 without TLS',
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
    report.add({ path: at, at: 'key', message: 'transport: wire speaks to no proxy', remedy })
  }
  if ((proxy.username === undefined) === (proxy.password === undefined) || !report.isSound(at)) return
  const missing = proxy.username === undefined ? 'username' : 'password'
  const message = `the credentials of the proxy have no ${missing}`
  report.add({ path: at, at: 'key', message, remedy: `add ${missing}` })
}

function checkResolve({ report, origins }: Inspection, upstream: UpstreamDocument, path: DocumentPath): void {
  const { resolve, proxy, targets } = upstream
  if (resolve === undefined && report.isSound([...path, 'targets'])) {
    for (const [target, at] of origins.entries(targets, [...path, 'targets'])) {
      if (typeof target === 'string' || target.srv === undefined) continue
      const message = 'srv has no effect without resolve'
      report.add({ path: [...at, 'srv'], at: 'key', message, remedy: 'add resolve: {} to the upstream' })
    }
  }
  if (resolve === undefined || !report.isSound([...path, 'resolve'])) return
  const at = [...path, 'resolve']
  if (proxy !== undefined) {
    const message = 'the proxy looks for the targets itself, so that resolve has no effect'
    report.add({ path: at, at: 'key', message, remedy: 'remove resolve or proxy' })
  }
  if (parseDuration(resolve.minTtl) <= parseDuration(resolve.maxTtl)) return
  const message = 'minTtl is longer than maxTtl'
  report.add({ path: [...at, 'minTtl'], message, remedy: 'write a shorter one' })
}

/** The pods of a Service are reached at their addresses, and found in one way. */
function checkServices(
  { report, origins }: Inspection,
  upstream: UpstreamDocument,
  path: DocumentPath,
): void {
  if (!report.isSound([...path, 'targets'])) return
  for (const [target, at] of origins.entries(upstream.targets, [...path, 'targets'])) {
    const { url, srv, service } = typeof target === 'string' ? { url: target } : target
    const isShort = isServiceAddress(url)
    if (!isShort && service === undefined) continue
    if (isShort && service !== undefined) {
      const message = 'url names a Service, and so does service'
      report.add({ path: [...at, 'service'], at: 'key', message, remedy: 'keep one of them' })
    }
    if (srv !== undefined) {
      const message = 'srv has no effect on the pods of a Service'
      report.add({ path: [...at, 'srv'], at: 'key', message, remedy: 'remove srv' })
    }
    if (upstream.proxy !== undefined) {
      const message = 'the pods of a Service are not reached through a proxy'
      report.add({ path: at, message, remedy: 'remove proxy, or write the target as a URL' })
    }
  }
}

/** Of few targets a small share is none. */
function checkOutlier(
  { report }: Inspection,
  { outlier, targets }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'outlier']
  if (outlier === undefined || !report.isSound(place) || !report.isSound([...path, 'targets'])) return
  const serving = targets.filter((target) => typeof target === 'string' || target.weight > 0)
  if (Math.floor(serving.length * parseRatio(outlier.maxEjected)) > 0) return
  report.add({
    path: place,
    at: 'key',
    severity: 'warning',
    message: `outlier has no effect: ${outlier.maxEjected} of ${serving.length} targets is none`,
    remedy: 'raise maxEjected, add targets, or use breaker, which needs no other target',
  })
}

function checkStatuses(
  { report, origins }: Inspection,
  { health }: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'health', 'statuses']
  if (health === undefined || !report.isSound(place)) return
  for (const [range, at] of origins.entries(health.statuses, place)) {
    const [first, last = first] = String(range).split('-')
    if (Number(first) <= Number(last)) continue
    report.add({ path: at, message: `no status is in ${range}`, remedy: `write ${last}-${first}` })
  }
}
