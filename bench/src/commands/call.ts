import { readFileSync } from 'node:fs'
import { unreadable, usageError } from '@sluice/cli/kit'
import { maskedUrl } from '../lib/masking.js'
import type { Call, CallBody, Method } from '../model/scenario.js'
import { sizeSetting } from './settings.js'

/** Request options, in the style of `curl`. */
export interface CallFlags {
  readonly method?: Method
  /** Header lines, or `@` and a file with header lines. */
  readonly header?: readonly string[]
  /** Text, or `@` and a file. */
  readonly data?: string
  /** Size of a generated body. */
  readonly body?: string
}

/** A request and its server. */
export interface UrlCall {
  /** Scheme, host and port. */
  readonly origin: string
  readonly call: Call
}

/** Maximum size of a given body in bytes. Larger bodies are generated. */
const MOST_GIVEN_BYTES = 64 * 1024
const MOST_MADE_BYTES = 64 * 1024 ** 2
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\uffff]*)$/
/** Headers that load generators set themselves. */
const OWN_HEADERS = ['content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade']

/** Returns the request for a URL and its options. @throws Failure if they are invalid */
export function callOf(url: string, flags: CallFlags): UrlCall {
  const { origin, path } = addressOf(url)
  const body = bodyOf(flags)
  const method = flags.method ?? (body === null ? 'GET' : 'POST')
  if (body !== null && (method === 'GET' || method === 'HEAD'))
    throw usageError(`a ${method} has no body here; leave out --data and --body, or choose another --method`)
  const type = body === null || flags.data !== undefined ? {} : { 'content-type': 'application/json' }
  return { origin, call: { method, path, headers: { ...type, ...headersOf(flags.header ?? []) }, body } }
}

/** Returns scheme, host and port of a URL that has nothing else. @throws Failure */
export function originOf(url: string, flag: string): string {
  const { origin, path } = addressOf(url)
  if (path === '/') return origin
  throw usageError(`${flag}: use only the address, such as ${origin}; the suite defines the paths`)
}

function addressOf(text: string): { readonly origin: string; readonly path: string } {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.host === '')
    throw usageError(`'${maskedUrl(text)}' is not a URL; use for example http://127.0.0.1:8080/orders`)
  if (url.protocol !== 'http:')
    throw usageError(
      `${url.protocol}// cannot be measured, only http://; point it at the listener without TLS`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageError("credentials do not belong in a URL; write --header 'authorization: …'")
  return { origin: url.origin, path: url.pathname + url.search }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines.flatMap(linesOf)) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw usageError(
        "--header: a header is a name, a colon and a value; write for example 'accept: text/plain'",
      )
    if (OWN_HEADERS.includes(name.toLowerCase()))
      throw usageError(`--header: ${name} is set by the load generator`)
    if (Object.keys(headers).some((known) => known.toLowerCase() === name.toLowerCase()))
      throw usageError(`--header: ${name} is there twice`)
    headers[name] = value
  }
  return headers
}

/** A file keeps values out of the process list. */
function linesOf(line: string): string[] {
  if (!line.startsWith('@')) return [line]
  const text = fileOf(line.slice(1), 'the headers').toString()
  return text.split(/\r?\n/).filter((each) => each.trim() !== '')
}

function bodyOf({ data, body }: CallFlags): CallBody | null {
  if (data !== undefined && body !== undefined) throw usageError('--data and --body cannot be used together')
  if (data !== undefined)
    return given(data.startsWith('@') ? fileOf(data.slice(1), 'the body') : Buffer.from(data))
  if (body === undefined) return null
  const bytes = sizeSetting('--body', body)
  if (bytes <= MOST_MADE_BYTES) return { kind: 'json', bytes }
  throw usageError('--body: at most 64 MB')
}

function given(bytes: Buffer): CallBody {
  if (bytes.length > MOST_GIVEN_BYTES)
    throw usageError('--data: at most 64 KB; use --body for larger ones, such as --body 1mb')
  return { kind: 'given', bytes: bytes.length, base64: bytes.toString('base64') }
}

function fileOf(file: string, what: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw unreadable(what, file, error)
  }
}
