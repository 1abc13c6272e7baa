import { type ErrorCode, type Exchange, type HeaderList, hasContentCoding, setHeader } from '@sluice/core'
import { removeByteHeaders } from './body-fields.js'

/** A message of an exchange. */
export type Side = 'request' | 'response'

/** Returns the headers of a message. */
export function headersOf(x: Exchange, side: Side): HeaderList {
  return side === 'request' ? x.headers : x.responseHeaders
}

/** Limits the size of a body that is collected later. A larger one is refused. */
export function limitBody(x: Exchange, side: Side, maxBytes: number): void {
  if (side === 'response') {
    if (maxBytes < x.responseBodyLimit) x.responseBodyLimit = maxBytes
  } else if (maxBytes < x.bodyLimit) x.bodyLimit = maxBytes
}

/** Replaces the body and removes the headers that describe the bytes of the old one. */
export function replaceBody(x: Exchange, side: Side, body: Uint8Array, contentType?: string): void {
  const headers = headersOf(x, side)
  removeByteHeaders(headers)
  if (contentType !== undefined) setHeader(headers, 'content-type', contentType)
  setBody(x, side, body)
}

/** Replaces the body and leaves the headers unchanged. */
export function setBody(x: Exchange, side: Side, body: Uint8Array): void {
  if (side === 'request') x.body = body
  else x.responseBody = body
}

/**
 * Returns true if the head declares a body with a content coding. A policy that cannot read such a body refuses it
 * before it is collected, whatever its size. The media type is checked with the body, because an earlier policy may
 * still change it. An empty chunked body is not recognizable from the head and counts as non-empty.
 */
export function announcesCoding(x: Exchange, side: Side): boolean {
  const hasBody = side === 'request' ? x.contentLength !== 0 : x.responseLength !== 0 && !isBodiless(x)
  return hasBody && hasContentCoding(headersOf(x, side))
}

/** Returns the error code for an invalid message. For a response the upstream is at fault, not the client. */
export function faultCode(side: Side, code: ErrorCode): ErrorCode {
  return side === 'request' ? code : 'GW_RESPONSE_INVALID'
}

/** Returns true if a response has no body, whatever its headers say (RFC 9110 section 6.4.1). */
export function isBodiless({ method, status }: Exchange): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/**
 * Returns true if a message may have a body to validate. Error responses, partial responses and responses without a
 * body have none.
 */
export function isChecked({ method, status }: Exchange, side: Side): boolean {
  if (side === 'request') return true
  return (
    method !== 'HEAD' && status >= 200 && status < 300 && status !== 204 && status !== 205 && status !== 206
  )
}
