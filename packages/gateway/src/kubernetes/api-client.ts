import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { ClusterAccess } from './cluster-access.js'

/** A request to the Kubernetes API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with its query. */
  readonly path: string
  readonly body?: string
  readonly contentType?: string
  /** Timeout for the response head in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A response with a JSON body. */
export interface ApiAnswer {
  readonly status: number
  /** Parsed body, or null if it is not JSON. */
  readonly body: unknown
}

/** The API server did not respond, or the response was unusable. */
export class ApiUnreachable extends Error {}

/** Maximum response size in bytes. A list of EndpointSlices or a large ConfigMap is far smaller. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** TCP keep-alive delay in milliseconds, to detect a vanished server even while a watch is idle. */
const KEEP_ALIVE_MS = 10_000

/** Client of one API server over HTTPS. */
export class ApiClient {
  readonly access: ClusterAccess
  readonly #agent: https.Agent

  constructor(access: ClusterAccess) {
    this.access = access
    this.#agent = new https.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 4 })
  }

  /** Sends a request and reads the response. @throws ApiUnreachable if there is none in time. */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    const deadline = AbortSignal.timeout(request.timeoutMs)
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
    const response = await this.open({ ...request, signal })
    try {
      const text = await wholeText(response)
      return { status: response.statusCode ?? 0, body: parsed(text) }
    } catch (error) {
      throw unreachable(error, deadline.aborted, request.timeoutMs)
    }
  }

  /**
   * Sends a request. The caller has to read or destroy the response body.
   * @throws ApiUnreachable if there is no response head in time.
   */
  async open(request: ApiRequest): Promise<IncomingMessage> {
    const { token, cert, key } = await this.access.credentials()
    const { server, ca, servername, isInsecure } = this.access
    const { method, path, body, contentType = 'application/json', timeoutMs, signal } = request
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'sluice' }
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`
    if (body !== undefined) {
      headers['content-type'] = contentType
      headers['content-length'] = String(Buffer.byteLength(body))
    }
    const options = {
      method,
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? 443 : Number(server.port),
      path: `${server.pathname.replace(/\/$/, '')}${path}`,
      headers,
      agent: this.#agent,
      rejectUnauthorized: !isInsecure,
      ...(ca === undefined ? {} : { ca }),
      ...(servername === undefined ? {} : { servername }),
      ...(cert === undefined ? {} : { cert, key }),
      ...(signal === undefined ? {} : { signal }),
    }
    return new Promise((resolve, reject) => {
      const sent = https.request(options, (response) => {
        clearTimeout(timer)
        resolve(response)
      })
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        sent.destroy()
      }, timeoutMs)
      sent.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
      sent.on('error', (error) => {
        clearTimeout(timer)
        reject(unreachable(error, isLate || signal?.reason?.name === 'TimeoutError', timeoutMs))
      })
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Returns the API server's reason for an unsuccessful response (`kind: Status`). */
export function statusMessage({ status, body }: ApiAnswer): string {
  const message = (body as { readonly message?: unknown } | null)?.message
  return typeof message === 'string' && message !== '' ? message.slice(0, 500) : `status ${status}`
}

async function wholeText(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response) {
    bytes += (piece as Buffer).length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the response is larger than ${MAX_ANSWER_BYTES} bytes`)
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function unreachable(error: unknown, isLate: boolean, timeoutMs: number): ApiUnreachable {
  if (isLate) return new ApiUnreachable(`no response within ${timeoutMs} ms`)
  const { code, message } = error as NodeJS.ErrnoException
  return new ApiUnreachable(code ?? message)
}
