import {
  decodeReserved,
  escapeRawCharacters,
  forwardablePath,
  hasEncodedSlash,
  hasHiddenDots,
  isAmbiguousPath,
  isPlainPath,
  isStrictPath,
  type ReceivedExchange,
  type Reply,
  refusal,
  withoutParameters,
} from '@sluice/core'
import type { ListenerSettings } from './listener.js'

/** Maximum number of characters of a path and of a query that are logged if the target is too long. */
const MAX_LOGGED = 1024

const TOO_LONG = refusal('GW_URL_TOO_LONG', 'the request target is longer than this listener accepts')
const MALFORMED = refusal(
  'GW_BAD_REQUEST',
  'the path is malformed: escape characters that are not allowed as %XX',
)
const NOT_STRICT = refusal(
  'GW_BAD_REQUEST',
  'this listener accepts canonical paths only: no ";", no escaped slash, no needless or double escapes',
)
const HIDDEN_DOTS = refusal(
  'GW_BAD_REQUEST',
  'the path has a dot segment with parameters or beside an escaped slash',
)
const BAD_QUERY = refusal('GW_BAD_REQUEST', 'the query contains bytes that must be escaped as %XX')

/**
 * Validates path and query of a request (RFC 9112 section 3.2.1) and fills the exchange.
 * @param asked the query, or null without "?".
 */
export function applyTarget(
  x: ReceivedExchange,
  path: string,
  asked: string | null,
  settings: ListenerSettings,
): Reply | null {
  const query = asked ?? ''
  x.hasEmptyQuery = asked === ''
  const isTooLong = path.length + query.length > settings.urlBytes
  x.rawPath = isTooLong ? path.slice(0, MAX_LOGGED) : path
  x.query = isTooLong ? query.slice(0, MAX_LOGGED) : query
  if (isTooLong) return TOO_LONG
  if (query !== '' && !isQuery(query)) return BAD_QUERY
  if (!isPlainPath(path)) return applyUnusualPath(x, path, settings.paths)
  x.path = path
  x.forwardPath = path
  return null
}

/** Handles a path that servers may interpret in different ways (docs/guides/paths.md). */
function applyUnusualPath(x: ReceivedExchange, path: string, mode: ListenerSettings['paths']): Reply | null {
  const forwardable = forwardablePath(path)
  if (forwardable === null) return MALFORMED
  const canonical = decodeReserved(forwardable)
  if (mode === 'strict' && (canonical !== path || !isStrictPath(path))) return NOT_STRICT
  if (hasHiddenDots(canonical)) return HIDDEN_DOTS
  x.hasEncodedSlash = hasEncodedSlash(canonical)
  x.forwardPath = mode === 'as-received' && !isAmbiguousPath(path) ? escapeRawCharacters(path) : forwardable
  x.path = withoutParameters(canonical)
  return null
}

/** Returns true for visible ASCII without "#", which may follow "?" on the wire. Policies can be stricter. */
function isQuery(query: string): boolean {
  for (let i = 0; i < query.length; i++) {
    const code = query.charCodeAt(i)
    if (code < 33 || code > 126 || code === 35) return false
  }
  return true
}
