import { STATUS_CODES } from 'node:http'
import type { Exchange, Reply } from '@sluice/core'
import type { ClientStream } from '../data-plane/listener/listener.js'
import { renderProblem } from '../data-plane/pipeline/problem.js'

/** Answers without a body, or with a whole one. The client is gone at times; it is nobody's fault. */
export function sendText(client: ClientStream, type: string, text: string): void {
  client.send(200, ['content-type', type, 'cache-control', 'no-store'], text)
}

/**
 * Answers with an error (RFC 9457).
 * @param detail says what the client can do.
 */
export function sendError(
  client: ClientStream,
  status: number,
  detail: string,
  headers: readonly string[] = [],
): void {
  const text = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail })
  client.send(status, ['content-type', 'application/problem+json', ...headers], text)
}

/** Answers a request that the listener has refused. */
export function sendRefusal(x: Exchange, client: ClientStream, { status, problem, headers }: Reply): void {
  client.closeAfter = true
  if (problem === null) {
    client.sendHead(status, headers, -1)
    return
  }
  const { contentType, text } = renderProblem(x, status, problem)
  client.send(status, [...headers, 'content-type', contentType], text)
}
