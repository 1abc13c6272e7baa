import { canonicalPath, type Exchange, type Reply, refusal } from '@sluice/core'
import type { ListenerSettings } from './listener.js'

const TOO_LONG = refusal('GW_URL_TOO_LONG', 'the request target is longer than this listener accepts')
const MALFORMED = refusal('GW_BAD_REQUEST', 'the path is malformed: escape what is not allowed in it as %XX')
const NOT_CANONICAL = refusal(
  'GW_BAD_REQUEST',
  'the path is not in canonical form, which this listener demands',
)
const BAD_QUERY = refusal('GW_BAD_REQUEST', 'the query holds bytes that must be escaped as %XX')

/** Judges path and query of a request (RFC 9112 section 3.2.1) and fills the exchange. */
export function applyTarget(
  x: Exchange,
  path: string,
  query: string,
  settings: ListenerSettings,
): Reply | null {
  x.rawPath = path
  x.query = query
  if (path.length + query.length > settings.urlBytes) return TOO_LONG
  const canonical = canonicalPath(path)
  if (canonical === null) return MALFORMED
  if (settings.strictPaths && canonical !== path) return NOT_CANONICAL
  if (query !== '' && !isQuery(query)) return BAD_QUERY
  x.path = canonical
  return null
}

/** Visible ASCII without "#": what may follow "?" on the wire. Stricter users filter further in a policy. */
function isQuery(query: string): boolean {
  for (let i = 0; i < query.length; i++) {
    const code = query.charCodeAt(i)
    if (code < 33 || code > 126 || code === 35) return false
  }
  return true
}
