import { Duplex } from 'node:stream'
import { visibleText } from '@sluice/core'
import WebSocket from 'ws'
import type { Cluster } from './cluster.js'
import { listPath } from './cluster.js'

/** Subprotocol with two channels per port: 0 for data, 1 for errors. Each starts with the port number. */
const PROTOCOL = 'v4.channel.k8s.io'
const DATA = 0
const ERROR = 1
const PORT_BYTES = 2
const CONNECT_MS = 15_000
/** Maximum number of unsent bytes. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Maximum size of a message. API servers send up to 32 KB at a time. */
const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_ERROR_BYTES = 500

/** Namespace and name of a pod. */
export interface PodName {
  readonly namespace: string
  readonly name: string
}

/**
 * Opens a connection to a pod port through the API server, like `kubectl port-forward`. It also reaches loopback
 * addresses in the pod. The HTTP proxy of the API server is no alternative: it removes the Authorization header.
 */
export async function forwardTo(cluster: Cluster, pod: PodName, port: number): Promise<Duplex> {
  const { access } = cluster.client
  const { token, cert, key } = await access.credentials()
  const path = `${listPath({ apiVersion: 'v1', kind: 'Pod' }, pod.namespace)}/${encodeURIComponent(pod.name)}/portforward?ports=${port}`
  const base = access.server
  const url = `wss://${base.host}${base.pathname.replace(/\/$/, '')}${path}`
  const socket = new WebSocket(url, [PROTOCOL], {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    rejectUnauthorized: !access.isInsecure,
    handshakeTimeout: CONNECT_MS,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(access.servername === undefined ? {} : { servername: access.servername }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  })
  return await new Promise((resolve, reject) => {
    socket.once('open', () => resolve(new PodConnection(socket)))
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => {
      reject(new Error(`the API server answered ${response.statusCode} to a port-forward to pod ${pod.name}`))
      socket.terminate()
    })
  })
}

/** Stream of channel 0. */
class PodConnection extends Duplex {
  readonly #socket: WebSocket
  /** Bytes of the port number that each channel still has to receive. */
  readonly #heads = [PORT_BYTES, PORT_BYTES]

  constructor(socket: WebSocket) {
    super()
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.#take(data))
    socket.on('close', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) done(new Error('the API server reads too slowly'))
    else this.#socket.send(Buffer.concat([Buffer.from([DATA]), chunk]), done)
  }

  /** Keeps the connection open for the response. The protocol has no half-close. */
  override _final(done: () => void): void {
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate()
    done(error)
  }

  #take(data: Buffer): void {
    const channel = data[0]
    if (channel !== DATA && channel !== ERROR) return
    const head = this.#heads[channel]!
    const payload = data.subarray(1 + head)
    this.#heads[channel] = Math.max(0, head - (data.length - 1))
    if (payload.length === 0) return
    if (channel === ERROR)
      this.destroy(new Error(visibleText(payload.subarray(0, MAX_ERROR_BYTES).toString().trim())))
    else if (!this.push(payload)) this.#socket.pause()
  }
}
