import { isHopByHop, isToken } from '@sluice/core'
import type { Side } from './side.js'

/** Headers that the gateway writes itself. A policy that changed them would break framing, routing or the clock. */
const OWN_FIELDS: readonly string[] = [
  'content-length',
  'host',
  'transfer-encoding',
  'connection',
  'date',
  'server',
]
const HOP_BY_HOP_FIELDS = [
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'proxy-authenticate',
  'proxy-authorization',
]
const PROTECTED: readonly string[] = [...OWN_FIELDS, ...HOP_BY_HOP_FIELDS]

/**
 * Checks a configured header name and returns it in lower case.
 * @throws Error for an invalid name or a protected header.
 */
export function fieldName(side: Side, written: string): string {
  const name = written.toLowerCase()
  if (!isToken(name) || name.includes('*'))
    throw new Error(`'${printable(written)}' is not a header name; use letters, digits and '-'`)
  if (PROTECTED.includes(name) || isHopByHop(name)) throw new Error(`'${name}' ${whyProtected(side, name)}`)
  return name
}

/**
 * Returns the lower-case prefix of a wildcard such as `x-internal-*`.
 * @throws Error for an invalid prefix, or one that covers a protected header.
 */
export function fieldPrefix(side: Side, written: string): string {
  const prefix = written.slice(0, -1).toLowerCase()
  if (!isToken(prefix) || prefix.includes('*'))
    throw new Error(
      `'${printable(written)}' is not a wildcard; use a name prefix and one star, such as x-internal-*`,
    )
  const covered = PROTECTED.find((name) => name.startsWith(prefix))
  if (covered !== undefined)
    throw new Error(
      `'${written}' covers '${covered}', which ${whyProtected(side, covered)}; use a longer prefix`,
    )
  return prefix
}

function whyProtected(side: Side, name: string): string {
  if (name === 'host' && side === 'request') return "cannot be changed here; use 'rewrite.host' of the route"
  return 'is set by the gateway itself and cannot be changed'
}

/** Escapes invisible characters for a message. */
function printable(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
