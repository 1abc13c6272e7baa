import { type Exchange, escapedXml, isJsonType, mediaType } from '@sluice/core'
import { compileTemplate, type Escape, type OwnVariables } from './template.js'
import { readText } from './text-source.js'

/** How the document writes a body, and the fields that go with it. */
export interface MadeBody {
  readonly headers?: Readonly<Record<string, string>>
  /** A text, or a mapping or list that is sent as JSON; may hold placeholders. */
  readonly body?: string | object
  readonly bodyFile?: string
  /** False: it holds no placeholders. */
  readonly template?: boolean
}

/** Each may stand for a header field of the request: what one request makes of a body stays below 3 MB. */
const MAX_PLACEHOLDERS = 100

/** The media type of the answer; empty when it has no body and names none. */
export function contentTypeOf({ headers = {}, body, bodyFile }: MadeBody): string {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
  if (named !== undefined) {
    // Who chooses the type chooses how the values in the body are read.
    if (named[1].includes('{{')) throw new Error("'content-type' may not hold placeholders; write the type")
    return named[1]
  }
  if (body === undefined && bodyFile === undefined) return ''
  return typeof body === 'object' ? 'application/json' : 'text/plain; charset=utf-8'
}

/** Compiles the body; null: there is none. @throws Error when the file cannot be read, and for bad placeholders. */
export function compileBody(
  config: MadeBody,
  type: string,
  own?: OwnVariables,
): Uint8Array | null | ((x: Exchange) => Uint8Array) {
  const text = textOf(config)
  if (text === null) return null
  if (config.template === false) return Buffer.from(text)
  if (text.split('{{', MAX_PLACEHOLDERS + 2).length > MAX_PLACEHOLDERS + 1) {
    throw new Error(
      `the body has more than ${MAX_PLACEHOLDERS} placeholders; use fewer, or 'template: false'`,
    )
  }
  const template = compileTemplate(text, escapeFor(mediaType(type)), own)
  return typeof template === 'string' ? Buffer.from(template) : (x) => Buffer.from(template(x))
}

function textOf({ body, bodyFile }: MadeBody): string | null {
  if (bodyFile !== undefined) {
    if (body !== undefined) throw new Error("'body' and 'bodyFile' are both there; keep one")
    return readText(bodyFile)
  }
  return typeof body === 'object' ? JSON.stringify(body) : (body ?? null)
}

/** What a caller sends must not become a member, an element or a script of the answer. */
function escapeFor(type: string): Escape | null {
  if (isJsonType(type)) return (value) => JSON.stringify(value).slice(1, -1)
  if (type === 'application/x-www-form-urlencoded') return encodeURIComponent
  return /[/+]xml$|^text\/html$/.test(type) ? escapedXml : null
}
