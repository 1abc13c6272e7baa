import { FieldLines, HeadLines } from '@sluice/core'
import type { UpstreamRequest } from '../transport.js'
import { consistsOf, TARGET_BYTES, TOKEN_BYTES, VALUE_BYTES } from './byte-classes.js'

/** What follows the path, up to the fields: by what is said of the connection, and the host. */
const STARTS = new FieldLines((connection, host) =>
  consistsOf(host, VALUE_BYTES) ? ` HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}` : null,
)
const LINES = new HeadLines(formLine)

/**
 * The head of a request as text of one byte a character, or null when something in it would change what the target
 * reads: a line end in a value, a space in the path, framing that is not ours.
 */
export function formatRequestHead(request: UpstreamRequest): string | null {
  const { method, path, headers, id } = request
  // A target may send a body to HEAD against the rules, and late: its connection is not used again.
  const start = STARTS.line(method === 'HEAD' ? 'close' : 'keep-alive', request.host)
  if (start === null || !isTarget(path) || !isMethod(method)) return null
  const lines = LINES.of(headers, id)
  return lines === null ? null : method + ' ' + path + start + lines + framingOf(request)
}

function formLine(name: string, value: string, isKnownName: boolean): string | null {
  if (!isKnownName && (!isName(name) || isFraming(name))) return null
  if (!consistsOf(value, VALUE_BYTES)) return null
  return name === 'connection' ? '' : `\r\n${name}: ${value}`
}

/** Whether a field is ours to write. Most names are told by their length alone. */
function isFraming(name: string): boolean {
  switch (name.length) {
    case 4:
      return name === 'host'
    case 6:
      return name === 'expect'
    case 7:
      return name === 'upgrade'
    case 10:
      return name === 'keep-alive'
    case 14:
      return name === 'content-length'
    case 17:
      return name === 'transfer-encoding'
    default:
      return false
  }
}

/** The field that frames the body, behind a line end, with the empty line. */
function framingOf({ method, body, upload }: UpstreamRequest): string {
  if (body !== null && body.length > 0) return '\r\ncontent-length: ' + body.length + '\r\n\r\n'
  if (upload !== null) {
    return upload.length < 0
      ? '\r\ntransfer-encoding: chunked\r\n\r\n'
      : '\r\ncontent-length: ' + upload.length + '\r\n\r\n'
  }
  return expectsBody(method) ? '\r\ncontent-length: 0\r\n\r\n' : '\r\n\r\n'
}

/** Whether requests of this method have a body, so that its absence is said (RFC 9110 section 8.6). */
export function expectsBody(method: string): boolean {
  switch (method) {
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'QUERY':
    case 'PROPFIND':
    case 'PROPPATCH':
      return true
    default:
      return false
  }
}

function isMethod(text: string): boolean {
  return text === 'GET' || text === 'POST' || isName(text)
}

function isName(text: string): boolean {
  return text.length > 0 && consistsOf(text, TOKEN_BYTES)
}

function isTarget(path: string): boolean {
  const first = path.charCodeAt(0)
  return (first === 47 /* / */ || path === '*') && consistsOf(path, TARGET_BYTES)
}
