import type { Exchange, HeaderList } from '@sluice/core'

/** One of the two messages of an exchange. */
export interface MessageSide {
  readonly name: 'request' | 'response'
  headers(x: Exchange): HeaderList
  setBody(x: Exchange, body: Uint8Array): void
}

export const REQUEST_SIDE: MessageSide = {
  name: 'request',
  headers: (x) => x.headers,
  setBody(x, body) {
    x.body = body
  },
}

export const RESPONSE_SIDE: MessageSide = {
  name: 'response',
  headers: (x) => x.responseHeaders,
  setBody(x, body) {
    x.responseBody = body
  },
}
