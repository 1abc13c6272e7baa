import dns from 'node:dns'
import type net from 'node:net'
import type { TestContext } from 'node:test'
import { CachedClock } from '../lib/cached-clock.js'
import { WireTransport, type WireTransportOptions } from '../upstream/http1/wire-transport.js'
import type { ReceivedHead } from '../upstream/transport/received-head.js'
import type { Attempt, AttemptObserver, Failure, Transport } from '../upstream/transport/transport.js'

/** A request to a transport, recording what it has received. */
export class Asked implements AttemptObserver {
  readonly path: string
  attempt: Attempt | null = null
  starts = 0
  status = 0
  body = ''
  end: 'not yet' | 'complete' | 'failed' = 'not yet'
  failure: Failure | null = null
  trailers: readonly string[] | null = null
  /** Called when the request is sent. */
  onLeaving: () => void = () => {}
  /** Called with the response head. */
  onAnswer: () => void = () => {}
  /** Called with every body chunk. */
  onPiece: () => void = () => {}

  constructor(path: string) {
    this.path = path
  }

  onStarted(): void {
    this.starts++
    this.onLeaving()
  }

  onHead({ status }: ReceivedHead): void {
    this.status = status
    this.onAnswer()
  }

  onData(chunk: Uint8Array): void {
    this.body += Buffer.from(chunk).toString('latin1')
    this.onPiece()
  }

  onEnd(trailers: readonly string[] | null): void {
    this.trailers = trailers
    this.end = 'complete'
  }

  onFailure(failure: Failure): void {
    this.end = 'failed'
    this.failure = failure
  }
}

/** Sends a request over a transport. */
export function ask(
  transport: Transport,
  path: string,
  { method = 'GET', body = null as Buffer | null, isFresh = false } = {},
): Asked {
  const asked = new Asked(path)
  const request = { id: '', method, path, host: 'a', headers: [], body, upload: null, connectMs: 10_000 }
  asked.attempt = transport.dispatch(request, asked, isFresh)
  return asked
}

/** Creates a wire transport to a local port. It is closed after the test. */
export function wireTo(
  t: TestContext,
  port: number,
  overrides: Partial<WireTransportOptions>,
): WireTransport {
  const transport = new WireTransport({
    host: '127.0.0.1',
    port,
    pendingTimeoutMs: 60_000,
    clock: new CachedClock(),
    lookup: dns.lookup as net.LookupFunction,
    connections: 1,
    keepAliveMs: 60_000,
    maxHeaderBytes: 16_384,
    maxConnectionAgeMs: 600_000,
    ...overrides,
  })
  t.after(() => void transport.close())
  return transport
}

export function askAll(transport: Transport, ...paths: string[]): Asked[] {
  return paths.map((path) => ask(transport, path))
}

export function bodiesOf(asked: readonly Asked[]): string[] {
  return asked.map((one) => one.body)
}

export function areOver(asked: readonly Asked[]): boolean {
  return asked.every((one) => one.end !== 'not yet')
}
