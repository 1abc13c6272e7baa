import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import type { Exchange, Reply } from '@sluice/core'
import { RequestIds } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../../../../admin/testing/test-certificate.js'
import { sendReply } from '../../../../flow/sent-reply.js'
import { CachedClock } from '../../../../lib/cached-clock.js'
import type { ClientStream, ListenerSettings, RequestHandler } from '../../../listener.js'
import { SETTINGS } from '../../../testing/settings.js'
import { readByEvents } from '../../socket/server-socket.js'
import { Http2Sessions } from '../sessions.js'

const HTTP2 = { alpn: true, priorKnowledge: true, streams: 100 }

/** A request as the dispatcher received it. */
export interface Taken {
  readonly x: Exchange
  readonly client: ClientStream
  /** Refusal by the listener, or null if the request was accepted. */
  readonly refused: Reply | null
  /** True if the client disconnected before the end of the response. */
  isAborted: boolean
}

export interface Served {
  readonly port: number
  readonly sessions: Http2Sessions
  /** All requests so far. */
  readonly taken: readonly Taken[]
  /** Number of connections closed for exceeding a limit. */
  readonly rejected: () => number
}

export interface ServeOptions {
  readonly settings?: Partial<ListenerSettings>
  readonly isTls?: boolean
  readonly lingerMs?: number
}

/** Opens a port that speaks only HTTP/2 and answers all requests with the given function. */
export async function serveHttp2(
  t: TestContext,
  answer: (client: ClientStream, x: Exchange) => void,
  { settings, isTls = false, ...times }: ServeOptions = {},
): Promise<Served> {
  const taken: Taken[] = []
  const faults: unknown[] = []
  let rejected = 0
  const take = (x: Exchange, client: ClientStream, refused: Reply | null): void => {
    const entry: Taken = { x, client, refused, isAborted: false }
    taken.push(entry)
    client.owner = { onClientAbort: () => (entry.isAborted = true), onClientDrain() {}, onBodyInvalid() {} }
    if (refused === null) answer(client, x)
    else {
      x.status = refused.status
      sendReply(refused, { x, client, isRevised: false })
    }
  }
  const handler: RequestHandler = { accept: (x, client) => take(x, client, null), refuse: take }
  const sessions = new Http2Sessions({
    scheme: isTls ? 'https' : 'http',
    settings: { ...SETTINGS, http2: HTTP2, ...settings },
    handler,
    ids: new RequestIds(),
    clock: new CachedClock(),
    onFault: (error) => faults.push(error),
    onRejected: () => rejected++,
    ...times,
  })
  const accept = (socket: net.Socket): void => {
    socket.on('error', () => {})
    const peer = { address: '127.0.0.1', port: 0, certificate: null }
    readByEvents(socket, sessions.accept(socket, peer, Buffer.alloc(0)))
  }
  const server = isTls
    ? tls.createServer({ ...FAKE_CERTIFICATES.localhost, ALPNProtocols: ['h2'] }, accept)
    : net.createServer({ allowHalfOpen: true }, accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    sessions.terminate()
    assert.deepEqual(faults, [])
  })
  return { port: (server.address() as AddressInfo).port, sessions, taken, rejected: () => rejected }
}
