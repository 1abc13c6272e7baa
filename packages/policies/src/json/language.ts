import { type BodyLanguage, type BodyValue, type Exchange, UnreadableBody } from '@sluice/core'
import { codingFlaw } from './coding.js'
import { compileJsonPath } from './path.js'
import { jsonOf } from './view.js'

/** JSON paths (RFC 9535) in conditions: the first match; objects and arrays as JSON text. */
export const jsonLanguage: BodyLanguage = {
  compile(path) {
    const compiled = compileJsonPath(path)
    return (x) => bodyValue(compiled.first(documentOf(x)))
  },
}

function documentOf(x: Exchange): unknown {
  const flaw = codingFlaw(x.headers)
  if (flaw !== null) throw new UnreadableBody('GW_BODY_UNPARSABLE', `the body ${flaw}`)
  return jsonOf(x, x.body ?? NO_BYTES).value
}

const NO_BYTES = new Uint8Array(0)

function bodyValue(found: unknown): BodyValue {
  if (found === undefined || found === null) return null
  if (typeof found === 'object') return JSON.stringify(found)
  return found as string | number | boolean
}
