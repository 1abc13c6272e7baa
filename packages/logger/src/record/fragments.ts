import { type ExchangeResult, PHASE_NAMES } from '@sluice/core'
import { fragment } from './wire-format.js'

/** Fragments of JSON in records. Both threads load this module, so that they number the fragments alike. */
export const FRAGMENT = {
  start: fragment('{"@timestamp":"'),
  id: fragment('","id":"'),
  string: fragment('"'),
  member: fragment('"}'),
  end: fragment('}'),
  consumer: fragment(',"consumer":{"id":"'),
  consumerName: fragment('","name":"'),
  auth: fragment('","auth":"'),
  credential: fragment('","credential":"'),
  port: fragment(',"port":'),
  onlyMethod: fragment('},"http":{"method":"'),
  onlyPath: fragment('"},"url":{"path":"'),
  requestHead: fragment('},"req":{"bytes_h":'),
  bytesBody: fragment(',"bytes_b":'),
  status: fragment(',"res":{"status":'),
  onlyStatus: fragment('"},"res":{"status":'),
  bytesHead: fragment(',"bytes_h":'),
  upstreamStatus: fragment(',"status":'),
  attempts: fragment(',"attempts":'),
  retries: fragment(',"retries":'),
  failovers: fragment(',"failovers":'),
  isReused: fragment(',"reused":true'),
  total: fragment('},"t":{"total":'),
  error: fragment('","error":{"code":"'),
  errorPolicy: fragment('","policy":"'),
  errorPhase: fragment('","phase":"'),
  errorReason: fragment('","reason":"'),
  errorMessage: fragment('","msg":"'),
  limit: fragment(',"limit":{"name":"'),
  remaining: fragment('","remaining":'),
  cache: fragment(',"cache":{"status":"'),
  age: fragment('","age":'),
} as const

/** Openings of the phases' durations, by phase. */
export const PHASES: readonly number[] = PHASE_NAMES.map((name) => fragment(`,"${name}":`))

/** End of `t`, and the result without its closing quote. */
export const RESULTS: Readonly<Record<ExchangeResult, number>> = {
  success: fragment('},"result":"success'),
  blocked: fragment('},"result":"blocked'),
  error: fragment('},"result":"error'),
  aborted: fragment('},"result":"aborted'),
  shed: fragment('},"result":"shed'),
}
