import { App, type HttpRequest, type HttpResponse } from 'uWebSockets.js'
import { STEERED_BODY } from './steered-body.js'
import type { OriginCounts, OriginFaults } from './steered-origin.js'

// The program of an origin that goes wrong as it is told, and counts what it did: one process, so that the counts are
// exact. Its orders come over the same port, on paths that the gateway is not asked for.

const { host, port } = JSON.parse(process.argv[2] ?? '') as { readonly host: string; readonly port: number }
const BODY = Buffer.from(STEERED_BODY)
/** An order is short; more than this is none. */
const MAX_ORDER_BYTES = 4096

let faults: OriginFaults = { failEvery: 0, slowEvery: 0, slowMs: 0, isLeaving: false }
const counts = { requests: 0, failed: 0, slow: 0 }

const app = App()
app.get('/-/counts', (res) => void res.end(JSON.stringify(counts satisfies OriginCounts)))
app.put('/-/faults', (res) => {
  let text = ''
  res.onAborted(() => {})
  res.onData((part, isLast) => {
    if (text.length < MAX_ORDER_BYTES) text += Buffer.from(part).toString()
    if (!isLast) return
    faults = JSON.parse(text) as OriginFaults
    res.end()
  })
})
app.any('/*', respond)
app.listen(host, port, (socket) => {
  if (socket === false) process.exit(1)
})

function respond(res: HttpResponse, _req: HttpRequest): void {
  counts.requests++
  if (isEach(faults.failEvery)) {
    counts.failed++
    res.writeStatus('500 Internal Server Error').end(BODY, faults.isLeaving)
  } else if (isEach(faults.slowEvery)) {
    counts.slow++
    respondLate(res)
  } else res.end(BODY, faults.isLeaving)
}

/** Evenly spread, so that a share of many requests is exact. */
function isEach(every: number): boolean {
  return every > 0 && counts.requests % every === 0
}

function respondLate(res: HttpResponse): void {
  let isAborted = false
  res.onAborted(() => {
    isAborted = true
  })
  setTimeout(() => {
    if (!isAborted) res.cork(() => res.end(BODY, faults.isLeaving))
  }, faults.slowMs)
}
