import type { TracingPlan } from '@sluice/config'
import { attemptSpanId, type Exchange, type ExchangeTrace } from '@sluice/core'
import { FIELDS_OF, PROPAGATIONS, type ReceivedTrace, type SentTrace } from './propagation.js'
import { TraceIds } from './trace-ids.js'

/** Digits of a trace ID that are compared with the ratio: the upper 28 of the 56 bits that are random in every trace. */
const RATIO_FROM = 18
const RATIO_TO = 25
const RATIO_RANGE = 2 ** 28

/**
 * Tracing of a worker: starts the trace of each request.
 *
 *     begin ─► fields of the caller, removed from the request ─► RequestTrace
 *                                                                  ├─ send: fields for each upstream attempt
 *                                                                  └─ end: are spans exported?
 */
export class Tracing {
  readonly plan: TracingPlan
  readonly #ids = new TraceIds()
  readonly #fields: ReadonlySet<string>
  /** Trace IDs whose compared digits are smaller are not sampled. */
  readonly #firstSampled: number

  constructor(plan: TracingPlan) {
    this.plan = plan
    this.#fields = new Set(plan.propagation.flatMap((name) => FIELDS_OF[name]))
    this.#firstSampled = Math.round((1 - plan.ratio) * RATIO_RANGE)
  }

  /** Starts the trace of a request and removes the caller's fields. */
  begin(x: Exchange): RequestTrace {
    const received = hasTraceField(x.headers) ? this.#take(x) : null
    const ids = this.#ids
    ids.advance()
    const traceId = received === null || received.traceId === '' ? ids.traceId : received.traceId
    const decided = received !== null && this.plan.parentBased ? received.isSampled : null
    return new RequestTrace(this, {
      traceId,
      spanId: ids.spanId,
      parentId: received === null ? '' : received.spanId,
      isSampled: decided === null ? this.#isInRatio(traceId) : decided,
      state: received === null ? '' : received.state,
    })
  }

  #take(x: Exchange): ReceivedTrace | null {
    let received: ReceivedTrace | null = null
    for (const name of this.plan.propagation) received ??= PROPAGATIONS[name].read(x.headers)
    const kept: string[] = []
    for (let i = 0; i < x.headers.length; i += 2) {
      if (!this.#fields.has(x.headers[i]!)) kept.push(x.headers[i]!, x.headers[i + 1]!)
    }
    x.headers = kept
    return received
  }

  #isInRatio(traceId: string): boolean {
    if (this.#firstSampled === 0) return true
    if (this.#firstSampled === RATIO_RANGE) return false
    return Number.parseInt(traceId.slice(RATIO_FROM, RATIO_TO), 16) >= this.#firstSampled
  }
}

/** Returns the tracing of a plan, or null if it is off. */
export function startTracing(plan: TracingPlan | undefined): Tracing | null {
  return plan === undefined ? null : new Tracing(plan)
}

/** The trace of one request. */
export class RequestTrace implements ExchangeTrace {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly isSampled: boolean
  isKept: boolean
  readonly #state: string
  readonly #plan: TracingPlan

  constructor(
    { plan }: Tracing,
    ids: Pick<ExchangeTrace, 'traceId' | 'spanId' | 'parentId' | 'isSampled'> & { readonly state: string },
  ) {
    this.traceId = ids.traceId
    this.spanId = ids.spanId
    this.parentId = ids.parentId
    this.isSampled = ids.isSampled
    this.isKept = ids.isSampled
    this.#state = ids.state
    this.#plan = plan
  }

  get traceparent(): string {
    return this.#traceparentOf(this.spanId)
  }

  /** Decides if the spans of a finished exchange are exported although the trace is not sampled. */
  end({ result }: Exchange, totalMs: number): void {
    const { errors, blocked, slowerThanMs } = this.#plan.keep
    if (
      (errors && result === 'error') ||
      (blocked && result === 'blocked') ||
      (slowerThanMs !== null && totalMs > slowerThanMs)
    )
      this.isKept = true
  }

  /** Sets the fields of an upstream attempt and returns the value of traceparent. Empty if another format is used. */
  send(headers: string[], attempt: number): string {
    const attemptId = attemptSpanId(this.spanId, attempt)
    const traceparent = this.#traceparentOf(attemptId)
    const { traceId, spanId, isSampled } = this
    const sent: SentTrace = { traceId, spanId, isSampled, state: this.#state, attemptId, traceparent }
    for (const name of this.#plan.propagation) PROPAGATIONS[name].write(headers, sent)
    return traceparent
  }

  #traceparentOf(spanId: string): string {
    return '00-' + this.traceId + '-' + spanId + (this.isSampled ? '-01' : '-00')
  }
}

function hasTraceField(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    switch (name.charCodeAt(0)) {
      case 116: // t
        if (name.startsWith('trace')) return true
        break
      case 98: // b
        if (name === 'b3') return true
        break
      case 120: // x
        if (name.startsWith('x-b3-')) return true
    }
  }
  return false
}
