import type { Exchange } from '@sluice/core'
import { compileTemplate, type OwnVariables, type Render } from '../../shared/options/template.js'

const PARTS = /^(https?:\/\/[^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/
/** Characters that may be sent in a URL unescaped: printable ASCII without the space. */
const PLAIN = /^[!-~]*$/
const HOST_PIECE = /^[A-Za-z0-9.-]{1,253}$/
/** Maximum length of the path including the query, in characters. */
const MAX_PATH = 8192

/** Thrown when values of the request cannot be placed in the URL template. */
export class BadInput extends Error {
  override readonly name = 'BadInput'
}

/** Compiled URL template of a call. */
export interface Address {
  /** Scheme, host and port, or null if they depend on the request. */
  readonly origin: string | null
  /** Returns the origin for a request. @throws BadInput */
  originFor(x: Exchange): string
  /** Returns the path and query for a request. @throws BadInput */
  pathFor(x: Exchange): string
}

/** Compiles the `url` of a call. @throws Error if the text is not an HTTP URL or has unknown placeholders. */
export function compileAddress(text: string, own: OwnVariables): Address {
  // Placeholders are removed first: a slash or question mark inside one does not separate URL parts.
  const match = PARTS.exec(text)
  if (match === null || !PLAIN.test(text.replaceAll(/\{\{[^}]*\}\}/g, '')))
    throw new Error(
      `'${text}' is not a valid URL; write https://host/path, without a fragment and without spaces`,
    )
  const [, base = '', path = '/', query = ''] = match
  const origin = compileTemplate(base, hostPiece, own)
  const parts = [compileTemplate(path, pathPiece, own), compileTemplate(query, encoded, own)]
  const fixed = typeof origin === 'string' ? originOf(origin) : null
  return {
    origin: fixed,
    originFor: (x) => fixed ?? originOf((origin as Render)(x)),
    pathFor(x) {
      const whole = parts.map((part) => (typeof part === 'string' ? part : part(x))).join('')
      if (whole.length > MAX_PATH) throw new BadInput('the path is too long')
      return whole
    },
  }
}

/**
 * Normalises an origin, so that decimal, octal and IPv6 spellings of the same address are equal. @throws
 * BadInput
 */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && url.pathname === '/' && url.search === '' && url.hash === ''
  if (!isOrigin || url.username !== '' || url.password !== '')
    throw new BadInput(`'${text}' is not a valid host`)
  return url.origin
}

function hostPiece(value: string): string {
  if (HOST_PIECE.test(value)) return value
  throw new BadInput('a value from the request cannot be part of a host name')
}

/** Encodes a path segment. An empty segment would address the whole collection, and dots its parent. */
function pathPiece(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new BadInput('a value from the request would change the path')
  return encoded(value)
}

function encoded(value: string): string {
  try {
    return encodeURIComponent(value)
  } catch {
    throw new BadInput('a value from the request is not valid text')
  }
}
