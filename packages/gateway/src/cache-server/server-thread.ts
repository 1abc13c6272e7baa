import { parentPort, workerData } from 'node:worker_threads'
import { messageOf, RequestIds } from '@sluice/core'
import { CachedClock } from '../lib/cached-clock.js'
import { TimerWheel } from '../lib/timer-wheel.js'
import type { Listener, ListenerSettings } from '../listen/listener.js'
import { createUwsListener } from '../listen/uws/listener.js'
import { CacheRequestHandler } from './cache-request-handler.js'
import { PersistLink } from './persist/persist-link.js'
import { Counters } from './store/counters.js'
import type { CacheSettings, FromThread, ThreadData, ToThread } from './store/settings.js'
import { Spaces } from './store/spaces.js'
import type { Transfers } from './transfer.js'

/**
 * Time in milliseconds during which connections are told to close with their next response, and for transfers
 * to finish.
 */
const LISTEN_ON_MS = 2000
const DRAIN_MS = 10_000
const POLL_MS = 50

function tell(message: FromThread): void {
  parentPort?.postMessage(message)
}

/** Reports a fatal error. It may have left a shard half written, so the server ends. */
function fail(error: unknown): void {
  tell({ kind: 'fault', message: error instanceof Error ? String(error.stack) : String(error) })
}

function listenerSettings({ maxObjectBytes, connections }: CacheSettings): ListenerSettings {
  return {
    trusted: null,
    proxyProtocol: false,
    allowHalfClose: false,
    forwardedHeader: 'x-forwarded-for',
    health: false,
    paths: 'as-received',
    http2: null,
    headerBytes: 16_384,
    headers: 100,
    urlBytes: 8192,
    bodyBytes: maxObjectBytes,
    bodyBufferBytes: 0,
    connections,
    connectionsPerClient: connections,
    keepAliveMs: 10_000,
    headTimeoutMs: 10_000,
    bodyIdleMs: 10_000,
    minBodyRate: 0,
    minReadRate: 0,
  }
}

/** Serves until it is told to end. */
async function serve({ settings, memory, row, epoch }: ThreadData): Promise<void> {
  const wheel = new TimerWheel()
  const transfers: Transfers = { wheel, open: 0, heldBytes: 0 }
  const counters = new Counters(memory.counters, row)
  const spaces = new Spaces(settings, memory)
  const persist =
    memory.writes === null
      ? null
      : new PersistLink(memory.writes, memory.common.secret, (call) => tell({ kind: 'persist', call }))
  const handler = new CacheRequestHandler({ settings, spaces, counters, transfers, epoch, persist })
  const listener = createUwsListener({
    host: settings.host,
    port: settings.port,
    tls: settings.tls === null ? null : { ...settings.tls, certificates: [] },
    settings: listenerSettings(settings),
    handler,
    ids: new RequestIds(),
    clock: new CachedClock(),
    onFault: fail,
    onRejected: () => counters.count('refused'),
  })
  await listener.open()
  parentPort?.on('message', (message: ToThread) => {
    if (typeof message === 'object') persist?.onAnswer(message)
    else if (message === 'drain') drain(handler, listener, transfers)
    else if (message === 'beat') tell({ kind: 'heartbeat' })
    else {
      listener.terminate()
      wheel.close()
      parentPort?.close()
    }
  })
  tell({ kind: 'listening' })
}

function drain(handler: CacheRequestHandler, listener: Listener, transfers: Transfers): void {
  handler.isDraining = true
  listener.close()
  const since = performance.now()
  const timer = setInterval(() => {
    const waited = performance.now() - since
    const isIdle = listener.connections() === 0 || (waited > LISTEN_ON_MS && transfers.open === 0)
    if (!isIdle && waited < DRAIN_MS) return
    clearInterval(timer)
    tell({ kind: 'drained' })
  }, POLL_MS)
}

process.on('uncaughtException', fail)
serve(workerData as ThreadData).catch((error: unknown) => {
  tell({ kind: 'cannot-listen', message: messageOf(error) })
  parentPort?.close()
})
