import { type BodyLanguage, type BodyValue, type Exchange, UnreadableBody } from '@sluice/core'
import { codingIssue } from '../../shared/json/coding.js'
import { jsonOf } from '../../shared/json/view.js'
import { claimedKindError } from '../claimed-kind.js'
import { compileJsonPath } from './path.js'

/**
 * Body language for JSON paths (RFC 9535) in conditions. Returns the first match; objects and arrays as JSON text.
 * Refuses a body with duplicate keys, because the upstream could read the other value (RFC 8259 section 4).
 */
export const jsonLanguage: BodyLanguage = {
  isLoaded: true,
  async load() {},
  compile(path) {
    const compiled = compileJsonPath(path)
    return (x) =>
      x.body === null || x.body.length === 0 ? null : bodyValue(compiled.first(documentOf(x, x.body)))
  },
  // Duplicate keys are refused, and the second key may be at the end of the body.
  compileStreaming: () => null,
}

function documentOf(x: Exchange, body: Uint8Array): unknown {
  try {
    const issue = codingIssue(x.headers)
    if (issue !== null) throw new UnreadableBody('GW_MEDIA_TYPE', `the body ${issue}`)
    return jsonOf(x, body, { duplicateKeys: 'refuse' }).value
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    throw claimedKindError('json', error, { headers: x.headers, body })
  }
}

function bodyValue(found: unknown): BodyValue {
  if (found === undefined || found === null) return null
  if (typeof found === 'object') return JSON.stringify(found)
  return found as string | number | boolean
}
