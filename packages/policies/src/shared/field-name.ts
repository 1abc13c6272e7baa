import { isHopByHop, isToken } from '@sluice/core'
import type { Side } from './message/side.js'

/** Fields the gateway writes itself; a policy that changed them would break framing, routing or the clock. */
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
 * A configured name in lower case.
 * @throws Error when it is not a field name, or belongs to the gateway.
 */
export function fieldName(side: Side, written: string): string {
  const name = written.toLowerCase()
  if (!isToken(name) || name.includes('*')) {
    throw new Error(`'${printable(written)}' is not a header name; use letters, digits and '-'`)
  }
  if (PROTECTED.includes(name) || isHopByHop(name)) throw new Error(`'${name}' ${whyProtected(side, name)}`)
  return name
}

/**
 * The beginning that a wildcard such as `x-internal-*` stands for, in lower case.
 * @throws Error when it is not a beginning of field names, or covers a field of the gateway.
 */
export function fieldPrefix(side: Side, written: string): string {
  const prefix = written.slice(0, -1).toLowerCase()
  if (!isToken(prefix) || prefix.includes('*')) {
    throw new Error(
      `'${printable(written)}' is not a wildcard; write the beginning of a name and one star, x-internal-*`,
    )
  }
  const covered = PROTECTED.find((name) => name.startsWith(prefix))
  if (covered !== undefined) {
    throw new Error(
      `'${written}' covers '${covered}', which ${whyProtected(side, covered)}; write a longer beginning`,
    )
  }
  return prefix
}

function whyProtected(side: Side, name: string): string {
  if (name === 'host' && side === 'request') return "cannot be changed here; use 'rewrite.host' of the route"
  return 'is written by the gateway itself and cannot be changed'
}

/** Text for a message: what cannot be seen is shown as an escape. */
function printable(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
