import { type Exchange, type HttpCall, headerValue } from '@sluice/core'
import { compileBody, contentTypeOf } from '../../shared/message/generated-body.js'
import { compileFields } from '../../shared/message/generated-fields.js'
import { headersOf, type Side } from '../../shared/message/side.js'
import type { OwnVariables } from '../../shared/options/template.js'
import type { CallConfig } from './schema.js'

/** The HTTP call built for one request. */
export interface BuiltCall extends HttpCall {
  readonly headers: readonly string[]
}

/** Builds the call for a request. @throws BadInput */
export type BuildCall = (x: Exchange, path: string) => BuiltCall

/** Header fields that describe the encoding of a body. */
const BODY_FIELDS = ['content-type', 'content-encoding']

/**
 * Compiles the request of a call. @throws Error if a header field is invalid, or if two bodies are
 * configured.
 */
export function compileRequest(config: CallConfig, side: Side, own: OwnVariables): BuildCall {
  const { method, headers = {}, body: written, forwardBody } = config
  if (forwardBody && written !== undefined)
    throw new Error("'body' and 'forwardBody' exclude each other; remove one of them")
  const made = { headers, ...(written !== undefined && { body: written }) }
  const type = contentTypeOf(made)
  const body = compileBody(made, type, own)
  if (method === 'HEAD' && (body !== null || forwardBody))
    throw new Error('a HEAD request cannot have a body; remove it')
  const fields = compileFields(headers, forwardBody ? '' : type, 'request', own)
  return (x, path) => ({
    method,
    path,
    headers: [
      ...(forwardBody ? bodyFields(headersOf(x, side), headers) : []),
      ...(typeof fields === 'function' ? fields(x) : fields),
    ],
    body: forwardBody
      ? side === 'request'
        ? x.body
        : x.responseBody
      : typeof body === 'function'
        ? body(x)
        : body,
  })
}

/** Returns the body fields of the message, except for those that the configuration sets. */
function bodyFields(list: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  return BODY_FIELDS.flatMap((name) => {
    const value = names.has(name) ? null : headerValue(list, name)
    return value === null ? [] : [name, value]
  })
}
