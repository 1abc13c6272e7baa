import { HeaderCache } from '@sluice/core'
import { consistsOf, TARGET_BYTES, TOKEN_BYTES, VALUE_BYTES } from '../../protocol/http1/byte-classes.js'
import type { UpstreamRequest } from '../transport/transport.js'

/** Fields that only this client sets. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])
const FIELDS = new HeaderCache(formLine)
const HOSTS = new HeaderCache((name, value) =>
  consistsOf(value, VALUE_BYTES) ? `\r\n${name}: ${value}` : null,
)

/**
 * Formats the head of a request as a Latin-1 string. Returns null if a part would change how the target parses it: a
 * line end in a value, a space in the path, or foreign framing.
 */
export function formatRequestHead(request: UpstreamRequest): string | null {
  return formatHead(request, connectionOf(request.method))
}

/** Formats the head of a WebSocket upgrade request (RFC 6455 section 4.1). */
export function formatUpgradeHead(request: UpstreamRequest): string | null {
  return formatHead(request, '\r\nconnection: Upgrade\r\nupgrade: websocket')
}

function formatHead(request: UpstreamRequest, connection: string): string | null {
  const { method, path, headers, id, traceparent } = request
  const host = HOSTS.line('host', request.host)
  if (host === null || !isTarget(path) || !isMethod(method)) return null
  const lines = FIELDS.lines(headers, id, traceparent)
  if (lines === null) return null
  return method + ' ' + path + ' HTTP/1.1' + host + connection + lines + framingOf(request)
}

/** After HEAD, the connection is not reused: a target may wrongly send a body, and late. */
function connectionOf(method: string): string {
  return method === 'HEAD' ? '\r\nconnection: close' : '\r\nconnection: keep-alive'
}

function formLine(name: string, value: string): string | null {
  if (!isName(name) || OWN_FIELDS.has(name) || !consistsOf(value, VALUE_BYTES)) return null
  return name === 'connection' ? '' : `\r\n${name}: ${value}`
}

/** Formats the framing field of the body with the empty line, each after a line end. */
function framingOf({ method, body, upload }: UpstreamRequest): string {
  if (body !== null && body.length > 0) return '\r\ncontent-length: ' + body.length + '\r\n\r\n'
  if (upload !== null) {
    return upload.length < 0
      ? '\r\ntransfer-encoding: chunked\r\n\r\n'
      : '\r\ncontent-length: ' + upload.length + '\r\n\r\n'
  }
  return expectsBody(method) ? '\r\ncontent-length: 0\r\n\r\n' : '\r\n\r\n'
}

/**
 * Returns true if requests of this method usually have a body, so that an empty one is declared (RFC 9110 section 8.6).
 */
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
