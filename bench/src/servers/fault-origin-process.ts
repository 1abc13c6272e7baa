import { App, type HttpRequest, type HttpResponse } from 'uWebSockets.js'
import { FAULT_ORIGIN_BODY, type OriginCounts, type OriginFaults } from './fault-origin.js'

// Program of an origin with faults. It is one process, so that its counts are exact. Settings arrive on the same
// port, on paths that the gateway never requests.

const { host, port } = JSON.parse(process.argv[2] ?? '') as { readonly host: string; readonly port: number }
const BODY = Buffer.from(FAULT_ORIGIN_BODY)
/** Maximum size of settings. */
const MAX_SETTINGS_BYTES = 4096

let faults: OriginFaults = { failEvery: 0, slowEvery: 0, slowMs: 0, isClosing: false }
const counts = { requests: 0, failed: 0, slow: 0 }

const app = App()
app.get('/-/counts', (res) => void res.end(JSON.stringify(counts satisfies OriginCounts)))
app.put('/-/faults', (res) => {
  let text = ''
  res.onAborted(() => {})
  res.onData((part, isLast) => {
    if (text.length < MAX_SETTINGS_BYTES) text += Buffer.from(part).toString()
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
    res.writeStatus('500 Internal Server Error').end(BODY, faults.isClosing)
  } else if (isEach(faults.slowEvery)) {
    counts.slow++
    respondLate(res)
  } else res.end(BODY, faults.isClosing)
}

/** Spread evenly, so that a share of many requests is exact. */
function isEach(every: number): boolean {
  return every > 0 && counts.requests % every === 0
}

function respondLate(res: HttpResponse): void {
  let isAborted = false
  res.onAborted(() => {
    isAborted = true
  })
  setTimeout(() => {
    if (!isAborted) res.cork(() => res.end(BODY, faults.isClosing))
  }, faults.slowMs)
}
