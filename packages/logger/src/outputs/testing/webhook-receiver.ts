import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'

/** A request as it came. */
export interface Posted {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Ids of the records in it. */
  readonly ids: readonly string[]
  readonly atMono: number
}

/** How a receiver treats a request; it answers 200 unless this does something else. */
export type Mood = (posted: Posted, response: ServerResponse, request: IncomingMessage) => void

/** A webhook for a test. */
export interface WebhookReceiver {
  readonly url: string
  readonly port: number
  readonly posts: readonly Posted[]
  /** Ids of the records in requests that were answered with 2xx. */
  readonly accepted: string[]
  stop(): Promise<void>
}

/** Receives posts; each of the first ones meets the next mood, the others a kind one. */
export async function webhookReceiver(
  t: TestContext,
  moods: readonly Mood[] = [],
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
      const mood = moods[posts.length] ?? kind
      posts.push(posted)
      mood(posted, response, request)
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

/** Takes everything. */
export const kind: Mood = (_, response) => {
  response.end('thanks')
}

/** Answers with a status. */
export function answering(status: number, headers: Readonly<Record<string, string>> = {}): Mood {
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
