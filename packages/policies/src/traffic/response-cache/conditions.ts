import { httpDate } from '@sluice/core'
import type { RequestFacts } from './request-facts.js'
import type { StoredResponse } from './stored-response.js'

/**
 * Minimum time between the last change and the response for a date to be a strong validator (RFC 9110,
 * 8.8.2.2).
 */
const STRONG_DATE_MS = 60_000

/** A byte range of a body. Both ends are inclusive. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** True if the client already has the stored response and gets 304 (RFC 9110, 13.2.2). */
export function isNotModified(stored: StoredResponse, facts: RequestFacts): boolean {
  if (facts.ifNoneMatch !== null) return matchesWeakly(facts.ifNoneMatch, stored.etag)
  const since = httpDate(facts.ifModifiedSince)
  const modified = httpDate(stored.lastModified)
  return since !== null && modified !== null && modified <= since
}

/** Compares entity tags weakly (RFC 9110, 13.1.2 and 8.8.3.2). */
function matchesWeakly(field: string, etag: string | null): boolean {
  if (field.trim() === '*') return true
  if (etag === null) return false
  const wanted = opaque(etag)
  for (const match of field.matchAll(/(?:W\/)?"[^"]*"/g)) if (opaque(match[0]) === wanted) return true
  return false
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

/** True if a 304 from the upstream refers to the stored response. */
export function isSame(stored: StoredResponse, etag: string | null): boolean {
  return etag === null || stored.etag === null || opaque(etag) === opaque(stored.etag)
}

/**
 * Returns the range of a stored 200 that a request asks for. Returns null to serve the complete response:
 * without a range, with several or invalid ones, or if `If-Range` does not match (RFC 9110, 14.2 and 13.1.5).
 * Returns `unsatisfiable` if the body has no such range.
 */
export function rangeOf(stored: StoredResponse, facts: RequestFacts): ByteRange | 'unsatisfiable' | null {
  if (facts.range === null || stored.status !== 200) return null
  if (facts.ifRange !== null && !matchesStrongly(stored, facts.ifRange)) return null
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(facts.range)
  if (match === null) return null
  const [, first, last] = match as unknown as readonly [string, string, string]
  const size = stored.body.length
  if (first === '') {
    if (last === '') return null
    const wanted = Math.min(Number(last), size)
    return wanted === 0 ? 'unsatisfiable' : { first: size - wanted, last: size - 1 }
  }
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return null
  return from >= size ? 'unsatisfiable' : { first: from, last: to }
}

function matchesStrongly(stored: StoredResponse, validator: string): boolean {
  if (validator.startsWith('"')) return stored.etag === validator
  const date = httpDate(validator)
  if (date === null || date !== httpDate(stored.lastModified)) return false
  return stored.receivedAt - date >= STRONG_DATE_MS
}
