import { PHASE, type Reply } from '@sluice/core'
import type { Flow } from './flow.js'

/** The longest body of a refused request that is read to its end. */
const MAX_DISCARDED_BYTES = 64 * 1024

/** Refuses behind a short body, which is thrown away: an answer before its end would cost the client its connection. */
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
