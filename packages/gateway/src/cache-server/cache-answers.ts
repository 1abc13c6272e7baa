import { STATUS_CODES } from 'node:http'
import type { Exchange, Reply } from '@sluice/core'
import type { ClientStream } from '../listen/listener.js'
import { renderProblem } from '../protocol/problem.js'

/** Sends a 200 response with a text body. */
export function sendText(client: ClientStream, type: string, text: string): void {
  client.send(200, ['content-type', type, 'cache-control', 'no-store'], text)
}

/** Sends an error (RFC 9457). @param detail tells the client what to do. */
export function sendError(
  client: ClientStream,
  status: number,
  detail: string,
  headers: readonly string[] = [],
): void {
  const text = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail })
  client.send(status, ['content-type', 'application/problem+json', ...headers], text)
}

/** Sends the reply for a request that the listener has refused. */
export function sendRefusal(x: Exchange, client: ClientStream, { status, problem, headers }: Reply): void {
  client.closeAfter = true
  if (problem === null) {
    client.sendHead(status, headers, -1)
    return
  }
  const { contentType, text } = renderProblem(x, status, problem)
  client.send(status, [...headers, 'content-type', contentType], text)
}
