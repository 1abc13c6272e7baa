import { type ErrorCode, type Exchange, type HeaderList, hasContentCoding, setHeader } from '@sluice/core'
import { forgetBytes } from '../body-fields.js'

/** One of the two messages of an exchange. */
export type Side = 'request' | 'response'

/** The header fields of a message. */
export function headersOf(x: Exchange, side: Side): HeaderList {
  return side === 'request' ? x.headers : x.responseHeaders
}

/** Before the body is collected: a body beyond this is refused. */
export function boundBody(x: Exchange, side: Side, maxBytes: number): void {
  if (side === 'response') {
    if (maxBytes < x.responseBodyLimit) x.responseBodyLimit = maxBytes
  } else if (maxBytes < x.bodyLimit) x.bodyLimit = maxBytes
}

/** Puts another body in the place of the one that came, and takes away what was said about the bytes of that. */
export function replaceBody(x: Exchange, side: Side, body: Uint8Array, contentType?: string): void {
  const headers = headersOf(x, side)
  forgetBytes(headers)
  if (contentType !== undefined) setHeader(headers, 'content-type', contentType)
  setBody(x, side, body)
}

/** Puts another body in the place of the one that came; what the header fields say about its bytes stays. */
export function setBody(x: Exchange, side: Side, body: Uint8Array): void {
  if (side === 'request') x.body = body
  else x.responseBody = body
}

/**
 * Whether a message announces a body in a content coding, by its head alone: who cannot read such a body refuses it
 * before anything is collected, so that its size makes no difference to the answer. The media type is left to who has the
 * body, because a policy before may still write another; one that takes a coding away would have to read the body first,
 * and refuses it too. An empty body in chunks is not known from the head, and is taken for one that has something.
 */
export function announcesCoding(x: Exchange, side: Side): boolean {
  const hasBody = side === 'request' ? x.contentLength !== 0 : x.responseLength !== 0 && !isBodiless(x)
  return hasBody && hasContentCoding(headersOf(x, side))
}

/** The code for what is wrong with a message: with a response it is the upstream's fault, not the client's. */
export function faultCode(side: Side, code: ErrorCode): ErrorCode {
  return side === 'request' ? code : 'GW_RESPONSE_INVALID'
}

/** Whether no body follows the head of a response, whatever that says (RFC 9110 section 6.4.1). */
export function isBodiless({ method, status }: Exchange): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}
