import type { Exchange, Reply } from '@sluice/core'
import type { BodySink } from './filtered-body.js'
import { renderProblem } from './problem.js'

/** Where a reply goes. */
interface Destination {
  readonly x: Exchange
  readonly client: Pick<BodySink, 'send' | 'sendHead'>
  /** Policies change bodies of this route: of a HEAD the length is not known. */
  readonly isRevised: boolean
}

/** Sends an answer of the gateway itself, as the policies have left it in the exchange. */
export function sendReply({ body: own, problem }: Reply, { x, client, isRevised }: Destination): void {
  const headers = x.responseHeaders
  let body: Uint8Array | null = x.responseBody ?? own
  // A policy may have an answer of its own beside the problem, and a hook may have put one in its place.
  if (problem !== null && own === null && x.responseBody === null) {
    const rendered = renderProblem(x, x.status, problem)
    headers.push('content-type', rendered.contentType)
    body = Buffer.from(rendered.text)
  }
  headers.push('x-request-id', x.id)
  const length = body?.length ?? 0
  if (x.method === 'HEAD') client.sendHead(x.status, headers, isRevised && problem === null ? -1 : length)
  else if (x.status === 204 || x.status === 304) client.sendHead(x.status, headers, -1)
  else {
    x.responseBytes = length
    if (x.record.capture !== null) x.record.capture.onReply(x, body)
    client.send(x.status, headers, body)
  }
}
