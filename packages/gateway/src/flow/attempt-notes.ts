import { performance } from 'node:perf_hooks'
import { AttemptTrace, type Exchange, type FailedTry } from '@sluice/core'
import type { Target } from '../upstream/target.js'
import type { Upstream } from '../upstream/upstream.js'
import type { ExchangeFlow } from './exchange-flow.js'

/** Records an attempt that was not the last one, and the retry decision. */
export function noteAttempt(
  { isLogged, x }: ExchangeFlow,
  { origin }: Target,
  failed: Omit<FailedTry, 'addr' | 'atMs' | 'ms'>,
): void {
  if (!isLogged) return
  const { sinceMono } = x.attempts
  const atMs = sinceMono - x.startedMono
  traceOf(x).tries.push({ addr: origin, atMs, ms: performance.now() - sinceMono, ...failed })
}

/** Records a response that was rejected in favor of a retry, or the timeout in its place. */
export function noteAnswer(
  flow: ExchangeFlow,
  target: Target,
  { status, code, retry }: Pick<FailedTry, 'status' | 'code' | 'retry'>,
): void {
  const reason = code === null ? `the target answered ${status}` : 'no response in time (headers)'
  noteAttempt(flow, target, { code, status: code === null ? status : 0, reason, retry })
}

/** Records the present state of the upstream's connection pool and of the event loop. */
export function noteConnections({ isLogged, x, context }: ExchangeFlow, upstream: Upstream): void {
  if (!isLogged) return
  const trace = traceOf(x)
  trace.pool = upstream.pool()
  trace.loopLagMs = context.loopLagMs()
}

function traceOf({ record }: Exchange): AttemptTrace {
  record.trace ??= new AttemptTrace(false)
  return record.trace
}
