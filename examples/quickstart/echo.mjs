import { createServer } from 'node:http'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

/**
 * An upstream that echoes requests.
 *
 *   /anything        JSON: method, url, headers and the number of bytes in the body
 *   /echo            the request body with its content type
 *   /slow?ms=1500    the JSON response after a delay in milliseconds, at most 60,000
 *   /status/418      the JSON response with this status (200 to 599)
 *
 * Run alone: node examples/quickstart/echo.mjs [port]
 */
const DEFAULT_PORT = 9000
const LONGEST_DELAY_MS = 60_000
const LARGEST_BODY_BYTES = 16 * 1024 * 1024

/** Listens on 127.0.0.1. Resolves to the server, or rejects if the port is in use. */
export function startEcho(port = DEFAULT_PORT) {
  const server = createServer(answer)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

function answer(request, response) {
  const parts = []
  let bytes = 0
  request.on('data', (part) => {
    bytes += part.length
    if (bytes <= LARGEST_BODY_BYTES) parts.push(part)
  })
  request.on('end', () => {
    if (bytes > LARGEST_BODY_BYTES) return describe({ request, response, bytes, status: 413 })
    const url = new URL(request.url, 'http://echo')
    if (url.pathname === '/echo') return echo(request, response, Buffer.concat(parts))
    const delayMs = url.pathname === '/slow' ? clamp(url.searchParams.get('ms'), 0, LONGEST_DELAY_MS) : 0
    const status = clamp(/^\/status\/(\d{3})$/.exec(url.pathname)?.[1] ?? 200, 200, 599)
    setTimeout(() => describe({ request, response, bytes, status }), delayMs)
  })
}

function echo(request, response, body) {
  response.setHeader('content-type', request.headers['content-type'] ?? 'application/octet-stream')
  response.setHeader('content-length', body.length)
  response.end(body)
}

function describe({ request, response, bytes, status }) {
  const { method, url, headers } = request
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify({ method, url, headers, bodyBytes: bytes }, null, 2)}\n`)
}

function clamp(text, least, most) {
  const value = Number(text)
  return Number.isFinite(value) ? Math.min(Math.max(value, least), most) : least
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startEcho(Number(argv[2] ?? DEFAULT_PORT))
  console.log(`echo listens on http://127.0.0.1:${server.address().port}`)
  process.once('SIGINT', () => server.close())
  process.once('SIGTERM', () => server.close())
}
