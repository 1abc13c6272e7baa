import type { MeasuredCost } from '@sluice/core'

/** Written by bench/src/study/measured-costs.ts from a run of 2026-11-22, Intel(R) Xeon(R) Processor @ 2.50GHz. */
export const MEASURED_COSTS: ReadonlyMap<string, MeasuredCost> = new Map([
  ['content-filter', { addedMicros: 189.0, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['decrypt', { addedMicros: 14.4, requestMicros: 32.3, request: 'GET' }],
  ['encrypt', { addedMicros: 75.3, requestMicros: 32.3, request: 'GET' }],
  ['hmac-signature', { addedMicros: 66.7, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['http-signature', { addedMicros: 350.1, requestMicros: 32.3, request: 'GET' }],
  ['json-schema', { addedMicros: 60.3, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['jwe', { addedMicros: 190.2, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['jws', { addedMicros: 66.8, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['openapi', { addedMicros: 46.0, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['redact', { addedMicros: 61.5, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['script', { addedMicros: 137.5, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['sign', { addedMicros: 195.7, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['transform', { addedMicros: 97.7, requestMicros: 34.9, request: 'POST 1 KB' }],
  ['verify', { addedMicros: 153.1, requestMicros: 32.3, request: 'GET' }],
  ['ws-security', { addedMicros: 279.2, requestMicros: 37.7, request: 'POST 1 KB' }],
  ['xml-json', { addedMicros: 117.3, requestMicros: 37.7, request: 'POST 1 KB' }],
  ['xsd', { addedMicros: 109.7, requestMicros: 37.7, request: 'POST 1 KB' }],
  ['xslt', { addedMicros: 73.8, requestMicros: 37.7, request: 'POST 1 KB' }],
])
