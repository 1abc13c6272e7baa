import {
  appendHeader,
  type Exchange,
  type HeaderList,
  headerJoined,
  listHasToken,
  removeHeader,
  removeHeadersWithPrefix,
} from '@sluice/core'
import { isStar } from './names.js'
import type { Origins } from './origins.js'
import type { CorsConfig } from './schema.js'

/** Compiles the changes to responses other than preflights (Fetch standard, 3.2.3). */
export function compileResponse(config: CorsConfig, origins: Origins): (x: Exchange) => void {
  const { exposedHeaders = [], credentials } = config
  if (isStar('exposedHeaders', exposedHeaders) && credentials === true)
    throw new Error(
      "'exposedHeaders' must not be '*' with credentials, because browsers then read it as a literal name; list the names",
    )
  const fixed = [
    ...(credentials === true ? ['access-control-allow-credentials', 'true'] : []),
    ...(exposedHeaders.length === 0 ? [] : ['access-control-expose-headers', exposedHeaders.join(', ')]),
  ]
  return (x) => {
    const list = x.responseHeaders
    removeCorsFields(list)
    if (!origins.isOpen) varyByOrigin(list)
    const origin = origins.allowedOf(x)
    if (origin !== null) list.push('access-control-allow-origin', origins.isOpen ? '*' : origin, ...fixed)
  }
}

/** Removes the CORS fields of the upstream. Two sets of CORS fields would contradict each other. */
function removeCorsFields(list: HeaderList): void {
  removeHeadersWithPrefix(list, 'access-control-allow-')
  removeHeader(list, 'access-control-expose-headers')
  removeHeader(list, 'access-control-max-age')
}

function varyByOrigin(list: HeaderList): void {
  const vary = headerJoined(list, 'vary')
  if (vary === null || !(listHasToken(vary, 'origin') || listHasToken(vary, '*')))
    appendHeader(list, 'vary', 'Origin')
}
