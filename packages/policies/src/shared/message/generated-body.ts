import { type Exchange, escapedXml, isJsonType, mediaType } from '@sluice/core'
import { compileTemplate, type Escape, type OwnVariables } from '../options/template.js'
import { readText } from '../options/text-source.js'

/** Configuration of a generated body and its headers. */
export interface GeneratedBody {
  readonly headers?: Readonly<Record<string, string>>
  /** Text, or an object or list that is sent as JSON. May contain placeholders. */
  readonly body?: string | object
  readonly bodyFile?: string
  /** False if placeholders are not replaced. */
  readonly template?: boolean
}

/** Maximum number of placeholders. Each may expand to a request header, so one body stays below 3 MB. */
const MAX_PLACEHOLDERS = 100

/** Returns the media type of a generated body, or an empty string if there is neither a body nor a media type. */
export function contentTypeOf({ headers = {}, body, bodyFile }: GeneratedBody): string {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
  if (named !== undefined) {
    // Placeholders would let the caller choose the media type, and with it how the values in the body are
    // interpreted.
    if (named[1].includes('{{'))
      throw new Error("'content-type' must not contain placeholders; use a fixed type")
    return named[1]
  }
  if (body === undefined && bodyFile === undefined) return ''
  return typeof body === 'object' ? 'application/json' : 'text/plain; charset=utf-8'
}

/**
 * Compiles the body, or returns null if there is none.
 * @throws Error for an unreadable file or an invalid placeholder.
 */
export function compileBody(
  config: GeneratedBody,
  type: string,
  own?: OwnVariables,
): Uint8Array | null | ((x: Exchange) => Uint8Array) {
  const text = textOf(config)
  if (text === null) return null
  if (config.template === false) return Buffer.from(text)
  if (text.split('{{', MAX_PLACEHOLDERS + 2).length > MAX_PLACEHOLDERS + 1)
    throw new Error(
      `the body has more than ${MAX_PLACEHOLDERS} placeholders; use fewer, or 'template: false'`,
    )
  const template = compileTemplate(text, escapeFor(mediaType(type)), own)
  return typeof template === 'string' ? Buffer.from(template) : (x) => Buffer.from(template(x))
}

function textOf({ body, bodyFile }: GeneratedBody): string | null {
  if (bodyFile !== undefined) {
    if (body !== undefined) throw new Error("'body' and 'bodyFile' are both set; remove one")
    return readText(bodyFile)
  }
  return typeof body === 'object' ? JSON.stringify(body) : (body ?? null)
}

/** Returns the escape function of a media type. Request values must not become members, elements or scripts. */
function escapeFor(type: string): Escape | null {
  if (isJsonType(type)) return (value) => JSON.stringify(value).slice(1, -1)
  if (type === 'application/x-www-form-urlencoded') return encodeURIComponent
  return /[/+]xml$|^text\/html$/.test(type) ? escapedXml : null
}
