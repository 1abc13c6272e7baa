import type net from 'node:net'
import { Duplex } from 'node:stream'
import type { Exchange } from '@sluice/core'
import { RequestIds } from '@sluice/core'
import { CachedClock } from '../../../lib/cached-clock.js'
import { TimerWheel } from '../../../lib/timer-wheel.js'
import type { ClientStream } from '../../listener.js'
import { SETTINGS } from '../../testing/settings.js'
import { ClientConnection } from '../http1/connection.js'
import type { HeadDecoder } from '../http1/head-decoder.js'

/** A complete request. */
export interface WholeRequest {
  readonly method: string
  readonly target: string
  readonly body: string
}

/** Returns the complete requests that a connection reads from these pieces. Each one is answered at once. */
export function requestsOf(pieces: readonly Buffer[], decoder: HeadDecoder): WholeRequest[] {
  const requests: WholeRequest[] = []
  const faults: unknown[] = []
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const wheel = new TimerWheel()
  const connection = new ClientConnection(
    socket as unknown as net.Socket,
    { address: '127.0.0.1', port: 0, certificate: null },
    {
      handler: {
        accept: (x, client) => collect(x, client, requests),
        refuse: (_x, client, reply) => client.send(reply.status, [], null),
      },
      ids: new RequestIds(),
      clock: new CachedClock(),
      wheel,
      decoder,
      scheme: 'http',
      settings: SETTINGS,
      http2: null,
      isClosing: false,
      onFault: (error) => faults.push(error),
    },
  )
  Object.assign(socket, { destroySoon: () => socket.destroy(), localAddress: '127.0.0.1', localPort: 80 })
  for (const piece of pieces) connection.onBytes(piece, piece.length)
  connection.destroy()
  wheel.close()
  if (faults.length > 0) throw faults[0]
  return requests
}

function collect(x: Exchange, client: ClientStream, requests: WholeRequest[]): void {
  const target = x.rawPath + (x.query === '' ? '' : `?${x.query}`)
  let body = ''
  const end = (): void => {
    requests.push({ method: x.method, target, body })
    client.send(200, [], null)
  }
  if (x.contentLength === 0) {
    end()
    return
  }
  client.owner = {
    onClientAbort() {},
    onClientDrain() {},
    onBodyInvalid: (reply) => client.send(reply.status, [], null),
  }
  client.readBody({
    onBodyChunk: (chunk, isLast) => {
      body += Buffer.from(chunk).toString('latin1')
      if (isLast) end()
    },
  })
}
