import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'

/** Limits of the server, by default those of Loki. */
export interface LokiLimits {
  /** Maximum age of an entry, and how far it may be behind the newest entry of its stream. */
  readonly maxAgeMs: number
  readonly maxBehindMs: number
  readonly maxLineBytes: number
  readonly maxBodyBytes: number
  readonly hasTenants: boolean
}

/** An entry that the server has stored. */
export interface LokiEntry {
  readonly labels: Readonly<Record<string, string>>
  readonly timeMs: number
  readonly line: string
  readonly metadata: Readonly<Record<string, string>>
}

/** A server with the documented push API of Loki. */
export interface LokiServer {
  readonly url: string
  readonly entries: readonly LokiEntry[]
  readonly requests: readonly IncomingHttpHeaders[]
  /** Responses for the next requests, instead of storing their entries. */
  readonly next: ((response: ServerResponse) => void)[]
}

const DEFAULTS: LokiLimits = {
  ...{ maxAgeMs: 7 * 86_400_000, maxBehindMs: 3_600_000 },
  ...{ maxLineBytes: 256 * 1024, maxBodyBytes: 4 * 1024 ** 2, hasTenants: false },
}
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const MAX_LABELS = 15

/** Starts the server. It refuses everything that the push API does not document. */
export async function lokiServer(t: TestContext, changes: Partial<LokiLimits> = {}): Promise<LokiServer> {
  const limits = { ...DEFAULTS, ...changes }
  const entries: LokiEntry[] = []
  const requests: IncomingHttpHeaders[] = []
  const next: ((response: ServerResponse) => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      requests.push(headers)
      const respond = next.shift()
      if (respond !== undefined) return respond(response)
      const end = (status: number, text = ''): void => {
        response.writeHead(status, text === '' ? {} : { 'content-type': 'text/plain' }).end(text)
      }
      if (url !== '/loki/api/v1/push') return end(404, '404 page not found\n')
      if (method !== 'POST') return end(405)
      if (limits.hasTenants && headers['x-scope-orgid'] === undefined) return end(401, 'no org id\n')
      const sent = Buffer.concat(chunks)
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      if (body.length > limits.maxBodyBytes) return end(413, 'request body too large\n')
      try {
        const refused = store(headers, body, limits, entries)
        if (refused.length === 0) return end(204)
        return end(400, refused.join('\n'))
      } catch (error) {
        return end(400, `${(error as Error).message}\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, entries, requests, next }
}

/** Stores the valid entries of a request, as Loki does, and returns why it refuses others. */
function store(
  headers: IncomingHttpHeaders,
  body: Buffer,
  limits: LokiLimits,
  entries: LokiEntry[],
): readonly string[] {
  if (headers['content-type'] !== 'application/json') throw new Error('unsupported content type')
  const { streams, ...rest } = JSON.parse(body.toString('utf8'))
  if (!Array.isArray(streams) || Object.keys(rest).length > 0) throw new Error('no streams')
  return streams.flatMap(({ stream, values, ...more }) => {
    if (Object.keys(more).length > 0) throw new Error('unknown member of a stream')
    const names = Object.keys(stream)
    if (names.length === 0) throw new Error('at least one label pair is required per stream')
    if (names.length > MAX_LABELS) throw new Error('too many labels')
    if (!names.every((name) => LABEL_NAME.test(name))) throw new Error('invalid label name')
    if (!Object.values(stream).every((value) => typeof value === 'string')) throw new Error('label value')
    return storeStream(stream, values, limits, entries)
  })
}

function storeStream(
  labels: LokiEntry['labels'],
  values: readonly (readonly unknown[])[],
  limits: LokiLimits,
  entries: LokiEntry[],
): readonly string[] {
  const key = JSON.stringify(labels)
  const refused: string[] = []
  let previousMs = 0
  for (const [time, line, metadata = {}, ...more] of values) {
    if (typeof time !== 'string' || !/^\d{19}$/.test(time)) throw new Error('Value looks like a Number')
    if (typeof line !== 'string' || more.length > 0) throw new Error('malformed entry')
    if (!Object.values(metadata as object).every((value) => typeof value === 'string'))
      throw new Error('structured metadata values must be strings')
    const timeMs = Number(time.slice(0, -6))
    if (timeMs < previousMs) throw new Error('the entries of a stream are not in order of time')
    previousMs = timeMs
    const same = entries.filter((entry) => JSON.stringify(entry.labels) === key)
    const newestMs = same.reduce((newest, entry) => Math.max(newest, entry.timeMs), 0)
    // Loki ignores an entry that it already has.
    if (same.some((entry) => entry.timeMs === timeMs && entry.line === line)) continue
    if (line.length > limits.maxLineBytes)
      refused.push(`Max entry size '${limits.maxLineBytes}' bytes exceeded for stream '${key}'`)
    else if (timeMs < Date.now() - limits.maxAgeMs)
      refused.push(`entry for stream '${key}' has timestamp too old`)
    else if (timeMs < newestMs - limits.maxBehindMs)
      refused.push(`entry with timestamp ${time} ignored, reason: 'entry too far behind'`)
    else entries.push({ labels, timeMs, line, metadata: metadata as LokiEntry['metadata'] })
  }
  return refused
}
