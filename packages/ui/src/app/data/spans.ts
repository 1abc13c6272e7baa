import type { LogRecord } from './admin-api.js'

/** A bar of a timeline. */
export interface Span {
  readonly name: string
  /** Start in milliseconds after the start of the timeline. */
  readonly startMs: number
  readonly ms: number
  readonly tone: 'request' | 'policy' | 'attempt' | 'call' | 'phase' | 'bad'
  /** Nesting level. */
  readonly depth: number
  readonly note: string
  /** Address of a page about it, or null. */
  readonly href: string | null
}

/** Phases of a request in their order, with their meaning. */
export const PHASES: Readonly<Record<string, string>> = {
  route: 'read the head, find the route',
  req_chain: 'policies on the request',
  req_body: 'wait for the request body',
  up_queue: 'wait for a connection',
  up_dns: 'look up the target',
  up_tcp: 'connect to the target',
  up_tls: 'TLS handshake with the target',
  up_ttfb: 'wait for the response of the target',
  res_chain: 'policies on the response',
  up_body: 'wait for the response body',
  client_write: 'wait for the client',
}

/** Phases that belong to an upstream attempt. */
const ATTEMPT_PHASES = ['up_queue', 'up_dns', 'up_tcp', 'up_tls', 'up_ttfb']

/** Returns the phases of a request, each after the ones before it. */
export function phaseSpans({ t = {} }: LogRecord): Span[] {
  let startMs = 0
  return Object.entries(PHASES).flatMap(([phase, name]) => {
    const ms = t[phase] ?? 0
    if (ms === 0) return []
    startMs += ms
    return [{ name, startMs: startMs - ms, ms, tone: 'phase', depth: 0, note: `t.${phase}`, href: null }]
  })
}

/** Returns the request of a record, and below it its policies, calls and upstream attempts. */
export function requestSpans(record: LogRecord, atMs = 0, depth = 0): Span[] {
  const { http, url, res, t, id = '' } = record
  const child = (span: Pick<Span, 'name' | 'startMs' | 'ms' | 'tone' | 'note'>): Span => ({
    ...span,
    startMs: span.startMs + atMs,
    depth: depth + 1,
    href: null,
  })
  const isBad = (res?.status ?? 0) >= 400
  return [
    {
      name: `${http?.method ?? ''} ${url?.path ?? ''}`,
      startMs: atMs,
      ms: t?.['total'] ?? 0,
      tone: isBad ? 'bad' : 'request',
      depth,
      note: [res?.status, record.route].filter((part) => part !== undefined).join(' '),
      href: `#/log/${encodeURIComponent(id)}`,
    },
    ...policySpans(record).map(child),
    ...(record.api_calls ?? [])
      .map(({ name, at, ms, result }) => ({
        name: `call ${name}`,
        startMs: at,
        ms,
        tone: 'call' as const,
        note: result,
      }))
      .map(child),
    ...attemptSpans(record).map(child),
  ]
}

type ChildSpan = Omit<Span, 'depth' | 'href'>

/** Returns the policies that took long in a trace, else all recorded ones, each after the one before it. */
function policySpans({ policies = [], policy_spans: traced = policies, t = {} }: LogRecord): ChildSpan[] {
  let startMs = t['route'] ?? 0
  return traced.map(({ id, at, ms, out, note }) => {
    startMs += ms
    return {
      name: `policy ${id}`,
      startMs: at ?? startMs - ms,
      ms,
      tone: out === 'stop' || out === 'error' ? 'bad' : 'policy',
      note: [out, note ?? ''].join(' ').trim(),
    }
  })
}

/** Returns the upstream attempts. Without its start, the last one follows the failed ones. */
function attemptSpans({ up, t = {} }: LogRecord): ChildSpan[] {
  if (up?.attempts === undefined || up.attempts === 0) return []
  const totalMs = ATTEMPT_PHASES.reduce((sum, phase) => sum + (t[phase] ?? 0), 0)
  const beganMs = (t['route'] ?? 0) + (t['req_chain'] ?? 0) + (t['req_body'] ?? 0)
  const tries = up.tries ?? []
  let failedMs = 0
  const failed = tries.map(({ addr, at, ms, code, status, reason }) => {
    failedMs += ms
    const note = `${code ?? status ?? ''} ${reason}`.trim()
    return { name: `attempt ${addr}`, startMs: at ?? beganMs + failedMs - ms, ms, tone: 'bad' as const, note }
  })
  if (up.attempts <= tries.length) return failed
  const last = {
    name: `attempt ${up.addr ?? ''}`,
    startMs: up.at ?? beganMs + failedMs,
    ms: up.ms ?? Math.max(0, totalMs - failedMs) + (t['up_body'] ?? 0),
    tone: (up.status ?? 0) >= 500 ? ('bad' as const) : ('attempt' as const),
    note: up.status === undefined ? '' : String(up.status),
  }
  return [...failed, last]
}

/** Returns the spans of all records of a trace, callers before the requests that they caused. */
export function traceSpans(records: readonly LogRecord[]): Span[] {
  const sorted = records.toSorted((a, b) => startOf(a) - startOf(b))
  const bySpan = new Map(sorted.flatMap((record) => (record.span?.id ? [[record.span.id, record]] : [])))
  const firstMs = sorted.length === 0 ? 0 : startOf(sorted[0]!)
  const parentOf = ({ parent }: LogRecord): LogRecord | undefined => bySpan.get(parent?.id ?? '')
  const spans: Span[] = []
  const add = (record: LogRecord, depth: number): void => {
    spans.push(...requestSpans(record, startOf(record) - firstMs, depth))
    for (const each of sorted) if (each !== record && parentOf(each) === record) add(each, depth + 1)
  }
  for (const record of sorted) if (parentOf(record) === undefined) add(record, 0)
  return spans
}

function startOf(record: LogRecord): number {
  return Date.parse(record['@timestamp'])
}
