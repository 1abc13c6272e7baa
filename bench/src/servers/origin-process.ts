import { App, type HttpRequest, type HttpResponse } from 'uWebSockets.js'
import cluster from 'node:cluster'
import type { OriginBehavior } from '../model/scenario.js'
import { fillText } from './nginx.js'

// Program of an origin. Several processes share one port.

interface OriginOptions extends OriginBehavior {
  readonly host: string
  readonly port: number
  readonly processes: number
}

const { answer, bytes, delayMs, host, port, processes } = JSON.parse(process.argv[2] ?? '') as OriginOptions
/** Bytes, because a string would be encoded for every response. */
const fixed = Buffer.from(fillText(bytes))

if (cluster.isPrimary) lead()
else serve()

function lead(): void {
  for (let i = 0; i < processes; i++) cluster.fork()
  // With a process less it would be another origin. The benchmark notices its end.
  cluster.on('exit', () => process.exit(1))
  process.once('SIGTERM', () => process.exit(0))
}

/** The kernel spreads connections over the processes (SO_REUSEPORT). */
function serve(): void {
  const app = App()
  app.any('/*', answer === 'fixed' && delayMs === 0 ? respondAtOnce : respond)
  app.listen(host, port, (socket) => {
    if (socket === false) process.exit(1)
  })
}

/** The fastest way: the origin must be faster than the system in front of it. */
function respondAtOnce(res: HttpResponse, req: HttpRequest): void {
  if (req.getMethod() === 'get') {
    res.end(fixed)
    return
  }
  res.onAborted(ignore)
  res.onData((_, isLast) => {
    if (isLast) res.end(fixed)
  })
}

/** No data arrives after an abort, so nothing is sent to a closed connection. */
function ignore(): void {}

function respond(res: HttpResponse, req: HttpRequest): void {
  let isAborted = false
  res.onAborted(() => {
    isAborted = true
  })
  const type = answer === 'echo' ? req.getHeader('content-type') : 'text/plain'
  const parts: Buffer[] = []
  const end = (): void => {
    if (isAborted) return
    res.cork(() => {
      if (type !== '') res.writeHeader('content-type', type)
      res.end(answer === 'echo' ? Buffer.concat(parts) : fixed)
    })
  }
  res.onData((part, isLast) => {
    // The bytes are only valid during this call.
    if (answer === 'echo') parts.push(Buffer.from(part.slice(0)))
    if (!isLast) return
    if (delayMs === 0) end()
    else setTimeout(end, delayMs)
  })
}
