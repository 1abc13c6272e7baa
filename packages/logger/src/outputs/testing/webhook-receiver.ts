import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'

/** A received request. */
export interface Posted {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** IDs of the records in the body. */
  readonly ids: readonly string[]
  readonly atMono: number
}

/** Responds to a request, or disturbs it. */
export type Responder = (posted: Posted, response: ServerResponse, request: IncomingMessage) => void

/** A webhook receiver for tests. */
export interface WebhookReceiver {
  readonly url: string
  readonly port: number
  readonly posts: readonly Posted[]
  /** IDs of the records in requests that were answered with 2xx. */
  readonly accepted: string[]
  stop(): Promise<void>
}

/**
 * Starts a receiver. Each of the first requests is handled by the next responder, all others are accepted.
 */
export async function webhookReceiver(
  t: TestContext,
  responders: readonly Responder[] = [],
  port = 0,
): Promise<WebhookReceiver> {
  const posts: Posted[] = []
  const accepted: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const posted = postedOf(request.headers, Buffer.concat(chunks))
      const responder = responders[posts.length] ?? acceptAll
      posts.push(posted)
      responder(posted, response, request)
      if (response.writableEnded && response.statusCode < 300) accepted.push(...posted.ids)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  t.after(stop)
  return { url: `http://127.0.0.1:${address.port}/in`, port: address.port, posts, accepted, stop }
}

/** Accepts every request. */
export const acceptAll: Responder = (_, response) => {
  response.end('thanks')
}

/** Returns a responder that answers with a status. */
export function answering(status: number, headers: Readonly<Record<string, string>> = {}): Responder {
  return (_, response) => {
    response.writeHead(status, headers).end(`no: ${status}`)
  }
}

function postedOf(headers: IncomingHttpHeaders, body: Buffer): Posted {
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
  const isArray = headers['content-type'] === 'application/json'
  const records: { id: string }[] = isArray
    ? JSON.parse(text)
    : text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
  return { headers, body, ids: records.map(({ id }) => id), atMono: performance.now() }
}
