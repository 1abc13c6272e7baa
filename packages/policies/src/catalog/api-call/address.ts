import type { Exchange } from '@sluice/core'
import { compileTemplate, type OwnVariables, type Render } from '../../shared/template.js'

const PARTS = /^(https?:\/\/[^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/
/** What is not part of a URL that is sent. */
const PLAIN = /^[!-~]*$/
const HOST_PIECE = /^[A-Za-z0-9.-]{1,253}$/
/** Longest path with its query. */
const MAX_PATH = 8192

/** Values of the request make no address out of the template. */
export class BadInput extends Error {
  override readonly name = 'BadInput'
}

/** Where a call goes. */
export interface Address {
  /** Null: it depends on the request. */
  readonly origin: string | null
  /** @throws BadInput */
  originFor(x: Exchange): string
  /** Path and query. @throws BadInput */
  pathFor(x: Exchange): string
}

/** @throws Error when the text is no address, or has unknown placeholders. */
export function compileAddress(text: string, own: OwnVariables): Address {
  // A placeholder is no part of the grammar: slashes and question marks in it separate nothing.
  const match = PARTS.exec(text)
  if (match === null || !PLAIN.test(text.replaceAll(/\{\{[^}]*\}\}/g, '')))
    throw new Error(`'${text}' is no address; write https://host/path, without a fragment and without spaces`)
  const [, base = '', path = '/', query = ''] = match
  const origin = compileTemplate(base, hostPiece, own)
  const parts = [compileTemplate(path, pathPiece, own), compileTemplate(query, encoded, own)]
  const fixed = typeof origin === 'string' ? originOf(origin) : null
  return {
    origin: fixed,
    originFor: (x) => fixed ?? originOf((origin as Render)(x)),
    pathFor(x) {
      const whole = parts.map((part) => (typeof part === 'string' ? part : part(x))).join('')
      if (whole.length > MAX_PATH) throw new BadInput('the path would be too long')
      return whole
    },
  }
}

/** One spelling for all of an origin: decimal, octal and IPv6 forms of an address are one. @throws BadInput */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && url.pathname === '/' && url.search === '' && url.hash === ''
  if (!isOrigin || url.username !== '' || url.password !== '') throw new BadInput(`'${text}' is no host`)
  return url.origin
}

function hostPiece(value: string): string {
  if (HOST_PIECE.test(value)) return value
  throw new BadInput('a value of the request is no part of a host')
}

/** An empty segment would mean all of a collection, dots the one above it. */
function pathPiece(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new BadInput('a value of the request would change the path')
  return encoded(value)
}

function encoded(value: string): string {
  try {
    return encodeURIComponent(value)
  } catch {
    throw new BadInput('a value of the request is no text')
  }
}
