import type { DeliveredExchange, Reply } from '@sluice/core'
import { renderProblem } from '../protocol/problem.js'
import type { BodySink } from './filtered-body.js'

interface Destination {
  readonly x: DeliveredExchange
  readonly client: Pick<BodySink, 'send' | 'sendHead'>
  /** True if policies of this route may change bodies, so that the length in a reply to HEAD is unknown. */
  readonly isRevised: boolean
}

/** Sends the gateway's own reply, as the policies have left it in the exchange. */
export function sendReply({ body: own, problem }: Reply, { x, client, isRevised }: Destination): void {
  const headers = x.responseHeaders
  let body: Uint8Array | null = x.responseBody ?? own
  // A policy may supply a body with the problem, and a hook may have replaced it.
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
