import { type DocumentDraft, NO_TOTAL_LIMIT } from '../draft.js'
import type { SourceObject } from '../source-object.js'

/** Upstream of a service, and the path that the service adds. */
interface ServiceTarget {
  readonly name: string
  readonly path: string
}

type Settings = Readonly<Record<string, unknown>>
const HOST = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?)$/
const BALANCE: Readonly<Record<string, string>> = {
  'least-connections': 'least-pending',
  latency: 'power-of-two',
  'consistent-hashing': 'hash',
}

/** Returns the upstream of a service, and adds it to the document. */
export function upstreamOf(
  draft: DocumentDraft,
  service: SourceObject,
  upstreams: ReadonlyMap<string, SourceObject>,
): ServiceTarget | null {
  const url = service.text('url')
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : null
  const protocol = parsed?.protocol.slice(0, -1) ?? service.text('protocol') ?? 'http'
  const scheme = protocol === 'https' || protocol === 'grpcs' ? 'https' : 'http'
  const host = parsed?.hostname ?? service.text('host') ?? 'localhost'
  const port =
    (parsed?.port === '' ? undefined : parsed?.port) ??
    service.text('port') ??
    (scheme === 'https' ? '443' : '80')
  const path = (parsed?.pathname ?? service.text('path') ?? '').replace(/\/+$/, '')
  const upstream = upstreams.get(host)
  if (!HOST.test(host) || !/^\d{1,5}$/.test(port)) {
    const reason = 'the address is no host and port; the routes answer 503'
    service.leaveOut(url === undefined ? 'host' : 'url', reason, 'add an upstream')
    return null
  }
  const read = service.number('read_timeout') ?? 60_000
  const settings = {
    ...(upstream === undefined ? { targets: [`${scheme}://${host}:${port}`] } : balanced(upstream, scheme)),
    timeouts: {
      connect: bounded(service.number('connect_timeout'), 600_000),
      headers: bounded(read, 3_600_000),
      idle: bounded(read, 3_600_000),
      total: '0s',
    },
    ...NO_TOTAL_LIMIT,
    retry: { attempts: Math.min(10, service.number('retries') ?? 5) },
    ...(protocol.startsWith('grpc') && { http2: { priorKnowledge: true } }),
  }
  service.ignore('write_timeout')
  if (scheme === 'https' && service.take('tls_verify') !== true)
    service.note(
      'tls_verify',
      'the gateway verifies the certificate of the upstream',
      'set tls.caFile of the upstream if its CA is private',
    )
  return { name: draft.addUpstream(service.text('name') ?? host, settings), path }
}

/** Returns a timeout within the bounds of the document. */
function bounded(ms = 60_000, most: number): string {
  return `${Math.min(most, Math.max(1, Math.round(ms)))}ms`
}

function balanced(upstream: SourceObject, scheme: string): Settings {
  const targets = upstream.objects('targets').flatMap((one) => {
    const [, host = '', port = scheme === 'https' ? '443' : '8000'] =
      /^([\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d+))?$/.exec(one.text('target') ?? '') ?? []
    const weight = one.number('weight')
    one.ignore('id tags created_at')
    if (host === '' || weight === 0) return []
    const share = weight === undefined ? undefined : Math.min(1000, weight)
    return [{ url: `${scheme}://${host}:${port}`, weight: share }]
  })
  const balance = BALANCE[upstream.text('algorithm') ?? '']
  const on = upstream.text('hash_on') ?? 'none'
  const keys: Readonly<Record<string, string>> = {
    header: `header:${upstream.text('hash_on_header')?.toLowerCase()}`,
    cookie: `cookie:${upstream.text('hash_on_cookie')}`,
    consumer: 'consumer',
    ip: 'ip',
  }
  const hashOn = keys[on]
  upstream.ignore('id tags name slots hash_fallback hash_on_cookie_path created_at host_header use_srv_name')
  upstream.leaveOut('healthchecks', 'health checks are not mapped', 'use health and outlier of the upstream')
  if (balance === 'hash' && hashOn === undefined)
    upstream.leaveOut('algorithm', 'the key of the hash is not mapped', 'set balance: hash and hashOn')
  upstream.finish()
  return {
    targets: targets.length === 0 ? [`${scheme}://localhost:8000`] : targets,
    ...(balance !== undefined && balance !== 'hash' && { balance }),
    ...(hashOn !== undefined && { balance: 'hash', hashOn }),
  }
}
