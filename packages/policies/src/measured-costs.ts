import type { MeasuredCost } from '@sluice/core'

/** Machine and day of the run. */
export const MEASURED_ON = 'AMD EPYC, 2026-11-22'

/** Costs from the `gw bench run policies` run of that day. The results are in bench/results. */
export const MEASURED_COSTS: ReadonlyMap<string, MeasuredCost> = new Map([
  ['api-key', { addedMicros: 1.9, requestMicros: 15.5, request: 'GET' }],
  ['basic-auth', { addedMicros: 4.1, requestMicros: 15.5, request: 'GET' }],
  ['body-limit', { addedMicros: 1.1, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['concurrency-limit', { addedMicros: 0.5, requestMicros: 15.5, request: 'GET' }],
  ['content-filter', { addedMicros: 18.8, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['decrypt', { addedMicros: 6.9, requestMicros: 15.5, request: 'GET' }],
  ['encrypt', { addedMicros: 9.3, requestMicros: 15.5, request: 'GET' }],
  ['header', { addedMicros: 0.4, requestMicros: 15.5, request: 'GET' }],
  ['hmac-signature', { addedMicros: 5.4, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['http-signature', { addedMicros: 103.2, requestMicros: 15.5, request: 'GET' }],
  ['ip-filter', { addedMicros: 1.4, requestMicros: 15.5, request: 'GET' }],
  ['json-schema', { addedMicros: 4.7, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['jwe', { addedMicros: 64.0, requestMicros: 17.8, request: 'POST 1 KB' }],
  ['jws', { addedMicros: 29.0, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['jwt', { addedMicros: 1.1, requestMicros: 15.5, request: 'GET' }],
  ['openapi', { addedMicros: 5.8, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['redact', { addedMicros: 6.1, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['script', { addedMicros: 39.6, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['sign', { addedMicros: 30.5, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['size-limit', { addedMicros: 1.8, requestMicros: 15.5, request: 'GET' }],
  ['time-window', { addedMicros: 0.7, requestMicros: 15.5, request: 'GET' }],
  ['transform', { addedMicros: 25.7, requestMicros: 17.9, request: 'POST 1 KB' }],
  ['verify', { addedMicros: 74.9, requestMicros: 15.5, request: 'GET' }],
  ['ws-security', { addedMicros: 97.6, requestMicros: 19.1, request: 'POST 1 KB' }],
  ['xml-json', { addedMicros: 35.0, requestMicros: 19.1, request: 'POST 1 KB' }],
  ['xsd', { addedMicros: 32.9, requestMicros: 19.1, request: 'POST 1 KB' }],
  // Cost of libxslt alone, from docs/internals/performance.md. The stylesheet of the run did not reach libxslt.
  ['xslt', { addedMicros: 136, requestMicros: 19.1, request: 'POST 1 KB' }],
])
