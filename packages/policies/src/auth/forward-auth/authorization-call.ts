import { type Exchange, type HttpCall, isFieldValue, withQuery } from '@sluice/core'
import { CALL_LOOP, hopField } from '../../shared/call/call-hops.js'
import { fieldName } from '../../shared/message/field-name.js'
import { compileFieldValue, isUsableValue } from '../../shared/message/field-value.js'
import type { Render } from '../../shared/options/template.js'
import type { ForwardAuthConfig } from './schema.js'

/** Fields that describe the request to the server. Clients cannot set them. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'x-forwarded-method',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-uri',
  'x-forwarded-for',
  'x-sluice-hops',
])

/** Builds the call for a request, or returns a refusal if a request loop is detected. */
export type BuildCall = (x: Exchange, body: Uint8Array | null) => HttpCall | typeof CALL_LOOP

/** Compiles the call to the server. @throws Error if a field is not valid. */
export function compileCall(config: ForwardAuthConfig, path: string): BuildCall {
  const { requestHeaders, headers = {}, withBody } = config
  const method = withBody ? 'POST' : config.method
  const added = Object.entries(headers).map(([name, text]): readonly [string, string | Render] => [
    sentName(name),
    compileFieldValue(name, text),
  ])
  const passed = new Set(requestHeaders.map(sentName))
  for (const [name] of added) passed.delete(name)
  return (x, body) => {
    const hop = hopField(x)
    if (hop === null) return CALL_LOOP
    const headers: string[] = [...requestFields(x), ...hop]
    for (let i = 0; i < x.headers.length; i += 2) {
      if (passed.has(x.headers[i]!)) headers.push(x.headers[i]!, x.headers[i + 1]!)
    }
    for (const [name, value] of added) {
      const text = typeof value === 'string' ? value : value(x)
      if (isUsableValue(text)) headers.push(name, text)
    }
    return { method, path, headers, body: withBody ? body : null }
  }
}

function sentName(written: string): string {
  const name = fieldName('request', written)
  if (OWN_FIELDS.has(name)) throw new Error(`'${name}' is set by the policy itself; remove it`)
  return name
}

function requestFields(x: Exchange): string[] {
  return [
    ...['x-forwarded-method', x.method, 'x-forwarded-proto', x.scheme],
    ...['x-forwarded-host', x.authority, 'x-forwarded-uri', uriOf(x), 'x-forwarded-for', x.clientIp],
  ]
}

/**
 * Returns the URI as sent upstream, so that the server decides about the actual target. Invalid header
 * characters are escaped.
 */
function uriOf(x: Exchange): string {
  const uri = withQuery(x.forwardPath, x)
  return isFieldValue(uri) ? uri : uri.replaceAll(/[^!-~]/gu, escaped)
}

function escaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
}
