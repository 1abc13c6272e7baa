import { PHASE, type Reply } from '@sluice/core'
import type { Flow } from './flow.js'

/** Largest body of a refused request that is read to its end, in bytes. */
const MAX_DISCARDED_BYTES = 64 * 1024

/** Refuses a request after discarding its short body. An answer before the end would cost the client its connection. */
export function refuseAfterBody(flow: Flow, reply: Reply): void {
  const { x, client } = flow
  if (x.contentLength <= 0 || x.contentLength > MAX_DISCARDED_BYTES || client.waitsToContinue) {
    flow.refuse(reply)
    return
  }
  flow.timer.waitIn(PHASE.requestBody, 'request-body', x.pace.bodyIdleMs)
  client.readBody({
    onBodyChunk(chunk, isLast) {
      if (flow.isOver) return
      x.requestBytes += chunk.length
      flow.onBodyBytes(chunk.length)
      if (isLast) flow.refuse(reply)
    },
  })
}
