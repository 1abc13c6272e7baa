import type { Exchange } from '@sluice/core'
import type { BodyPart, Change, Side } from '../flow/step-changes.js'
import type { Step, StepRecorder } from '../flow/step-recorder.js'
import { lineDiff } from '../lib/line-diff.js'

/** Masks what a step trace shows, by the rules of the traffic log. */
export interface StepMask {
  header(name: string, value: string): string
  query(query: string): string
  variable(name: string, value: string): string
  /** Returns the beginning of a body, or null if it is not text. */
  body(part: BodyPart): string | null
}

/** Trace of one request, as the admin API returns it. */
export interface StepTrace {
  readonly id: string
  readonly at: string
  readonly worker: number
  readonly route: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly status: number
  readonly result: string
  readonly code: string
  readonly ms: number
  readonly traceId: string
  readonly upstream: { readonly name: string; readonly target: string; readonly status: number } | null
  readonly steps: readonly ShownStep[]
  /** Number of steps, or of steps with changes, that are left out because there were too many. */
  readonly lostSteps: number
}

/** A step, masked. */
export interface ShownStep extends Omit<Step, 'changes'> {
  /** Name of the policy in the catalog; empty for steps of the gateway. */
  readonly use: string
  readonly changes: readonly ShownChange[]
}

/** A change, masked. */
export interface ShownChange {
  readonly what: Change['what']
  readonly side: Side
  /** Name of the header or variable; empty for others. */
  readonly name: string
  /** Null if absent. For bodies the size. */
  readonly before: string | null
  readonly after: string | null
  /** Lines of a body that differ, or null if it is not shown. */
  readonly diff: readonly string[] | null
}

/** A request as it arrived, and the configuration that serves it. */
export interface Arrival extends Pick<Exchange, 'method' | 'query'> {
  readonly worker: number
  readonly mask: StepMask
  /** Returns the name of a policy in the catalog by its id; empty if unknown. */
  readonly useOf: (policy: string) => string
}

/** Maximum length of a shown value. */
const MAX_VALUE = 500
/** Maximum size of a trace in characters. Larger ones lose their changes. */
const MAX_TRACE = 262_144

/** Returns the trace of a finished request as JSON. */
export function stepTraceJson(
  x: Exchange,
  { steps, lostSteps }: StepRecorder,
  { worker, method, query, mask, useOf }: Arrival,
): string {
  const named = steps.map((step) => ({ ...step, use: useOf(step.policy) }))
  const { upstream: name, target, status: upstreamStatus } = x.attempts
  const trace: StepTrace = {
    id: x.id,
    at: new Date(x.startedAt).toISOString(),
    worker,
    route: x.routeId,
    method,
    path: cut(x.path),
    query: cut(mask.query(query)),
    status: x.status,
    result: x.result,
    code: x.errorCode,
    ms: Math.round((x.endedMono - x.startedMono) * 1000) / 1000,
    traceId: x.trace?.traceId ?? '',
    upstream: name === '' ? null : { name, target, status: upstreamStatus },
    steps: named.map((step) => ({ ...step, changes: step.changes.map((change) => shown(change, mask)) })),
    lostSteps,
  }
  const json = JSON.stringify(trace)
  if (json.length <= MAX_TRACE) return json
  const bare = named.map((step) => ({ ...step, changes: [] }))
  return JSON.stringify({ ...trace, steps: bare, lostSteps: lostSteps + steps.length })
}

function shown(change: Change, mask: StepMask): ShownChange {
  const nothing = { name: '', before: null, after: null, diff: null }
  if (change.what === 'filter') return { ...nothing, ...change }
  const { what, side } = change
  if (change.what === 'body') {
    const sizes = { before: sizeText(change.before), after: sizeText(change.after) }
    return { what, side, name: '', ...sizes, diff: bodyDiff(change, mask) }
  }
  const { name, before, after } = change
  const masked = (value: string | null): string | null => value && cut(maskedValue(change, value, mask))
  return { what, side, name, before: masked(before), after: masked(after), diff: null }
}

function maskedValue(
  { what, name }: Pick<Exclude<Change, { what: 'body' | 'filter' }>, 'what' | 'name'>,
  value: string,
  mask: StepMask,
): string {
  if (what === 'header') return mask.header(name, value)
  if (what === 'query') return mask.query(value)
  return what === 'method' || what === 'status'
    ? value
    : mask.variable(what === 'variable' ? name : what, value)
}

/** Returns the masked lines that differ. An absent body has no lines, and neither has one that is not text. */
function bodyDiff(
  { before, after }: { readonly before: BodyPart | null; readonly after: BodyPart | null },
  mask: StepMask,
): readonly string[] | null {
  const [old, now] = [before, after].map((part) => (part === null ? '' : mask.body(part)))
  if (old === null || now === null || old === undefined || now === undefined || old === now) return null
  return lineDiff(readable(old), readable(now)).map(cut)
}

/** Formats JSON in lines, so that they can be compared. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function sizeText(part: BodyPart | null): string | null {
  return part === null ? null : `${part.bytes} bytes`
}

function cut(text: string): string {
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`
}
