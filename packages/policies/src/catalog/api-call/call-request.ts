import { type Exchange, type HttpCall, headerValue } from '@sluice/core'
import { compileBody, contentTypeOf } from '../../shared/generated-body.js'
import { compileFields } from '../../shared/generated-fields.js'
import { headersOf, type Side } from '../../shared/message/side.js'
import type { OwnVariables } from '../../shared/template.js'
import type { CallConfig } from './schema.js'

/** A call as it is made for one request. */
export interface MadeCall extends HttpCall {
  readonly headers: readonly string[]
}

/** Makes the call for a request. @throws BadInput */
export type MakeCall = (x: Exchange, path: string) => MadeCall

/** What says how the bytes of a body are to be read. */
const BODY_FIELDS = ['content-type', 'content-encoding']

/** @throws Error for fields that cannot be sent, or two bodies. */
export function compileRequest(config: CallConfig, side: Side, own: OwnVariables): MakeCall {
  const { method = 'GET', headers = {}, body: written, forwardBody = false } = config
  if (forwardBody && written !== undefined)
    throw new Error("'body' and 'forwardBody' are both there; keep one")
  const made = { headers, ...(written !== undefined && { body: written }) }
  const type = contentTypeOf(made)
  const body = compileBody(made, type, own)
  if (method === 'HEAD' && (body !== null || forwardBody)) throw new Error('a HEAD has no body; remove it')
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

/** Those of the message, unless the author has written others. */
function bodyFields(list: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  return BODY_FIELDS.flatMap((name) => {
    const value = names.has(name) ? null : headerValue(list, name)
    return value === null ? [] : [name, value]
  })
}
