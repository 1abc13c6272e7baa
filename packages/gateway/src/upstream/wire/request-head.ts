import { FieldLines } from '@sluice/core'
import type { UpstreamRequest } from '../transport.js'
import { consistsOf, TARGET_BYTES, TOKEN_BYTES, VALUE_BYTES } from './byte-classes.js'

const HOST_LINES = new FieldLines((_, host) =>
  consistsOf(host, VALUE_BYTES) ? ` HTTP/1.1\r\nhost: ${host}\r\nconnection: ` : null,
)
const LINES = new FieldLines(formLine)

/**
 * The head of a request as text of one byte a character, or null when something in it would change what the target
 * reads: a line end in a value, a space in the path, framing that is not ours.
 */
export function formatRequestHead(request: UpstreamRequest): string | null {
  const { method, path, headers, id } = request
  const host = HOST_LINES.line('host', request.host)
  if (host === null || !isTarget(path) || !isName(method)) return null
  // A target may send a body to HEAD against the rules, and late: its connection is not used again.
  let head = method + ' ' + path + host + (method === 'HEAD' ? 'close\r\n' : 'keep-alive\r\n')
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    // Another one each time, and ours: to look for it among known lines would cost more than all the others.
    if (value === id && name === 'x-request-id') {
      head += 'x-request-id: ' + id + '\r\n'
      continue
    }
    const line = LINES.line(name, value)
    if (line === null) return null
    head += line
  }
  return head + framingOf(request)
}

function formLine(name: string, value: string, isKnownName: boolean): string | null {
  if (!isKnownName && (!isName(name) || isFraming(name))) return null
  if (!consistsOf(value, VALUE_BYTES)) return null
  return name === 'connection' ? '' : `${name}: ${value}\r\n`
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

/** The field that frames the body, with the empty line. */
function framingOf({ method, body, upload }: UpstreamRequest): string {
  if (body !== null && body.length > 0) return 'content-length: ' + body.length + '\r\n\r\n'
  if (upload !== null) {
    return upload.length < 0
      ? 'transfer-encoding: chunked\r\n\r\n'
      : 'content-length: ' + upload.length + '\r\n\r\n'
  }
  return expectsBody(method) ? 'content-length: 0\r\n\r\n' : '\r\n'
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

function isName(text: string): boolean {
  return text.length > 0 && consistsOf(text, TOKEN_BYTES)
}

function isTarget(path: string): boolean {
  const first = path.charCodeAt(0)
  return (first === 47 /* / */ || path === '*') && consistsOf(path, TARGET_BYTES)
}
