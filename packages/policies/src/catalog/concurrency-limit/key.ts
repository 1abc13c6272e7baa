import { createHash } from 'node:crypto'
import { type Exchange, headerJoined } from '@sluice/core'

/** A longer part of a key is replaced by its digest: clients choose what stands in headers. */
const MAX_PART_LENGTH = 128
/** No part of a key holds it. */
const SEPARATOR = '\n'

/** The key of a request, from kinds such as `route` and `header:x-tenant`. */
export function compileKey(kinds: readonly string[]): (x: Exchange) => string {
  const parts = kinds.map(partOf)
  if (parts.length === 1) return parts[0]!
  return (x) => parts.map((part) => part(x)).join(SEPARATOR)
}

function partOf(kind: string): (x: Exchange) => string {
  if (kind === 'route') return (x) => x.routeId
  if (kind === 'ip') return (x) => x.clientIp
  if (kind === 'consumer') return (x) => x.consumer?.id ?? ''
  const name = kind.slice('header:'.length).toLowerCase()
  return (x) => bounded(headerJoined(x.headers, name) ?? '')
}

function bounded(text: string): string {
  return text.length <= MAX_PART_LENGTH ? text : createHash('sha256').update(text).digest('base64')
}
