import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { messageOf, reasonOf } from '@sluice/cli/kit'
import { killAll } from '../process/process-reaper.js'
import { agentActions } from './agent-run.js'
import { type ActionName, actionProblem, LINES_TYPE } from './protocol.js'

/** Settings of an agent. */
export interface AgentSettings {
  readonly host: string
  /** Port. 0 takes a free one. */
  readonly port: number
  /** Token that every request must have, or null for an agent on loopback. */
  readonly token: string | null
  /** Files with certificate chain and key, PEM, or null for HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Maximum duration of a run in milliseconds. */
  readonly maxRunMs: number
}

const MAX_LINE_CHARS = 16 * 1024
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/

/**
 * Starts an agent. `POST /v1/run` is a run: each line of its body is an action, and each line of the response is the
 * result. The end of the connection ends everything that the run started. @throws Error if it cannot listen
 */
export async function serveAgent({ host, port, token, tls, maxRunMs }: AgentSettings) {
  let running: Promise<void> | null = null
  const listener: http.RequestListener = (request, response) => {
    const refusal = refusalOf(request, token) ?? (running === null ? null : BUSY)
    if (refusal !== null) {
      response.writeHead(refusal[0], { connection: 'close' })
      response.end(`${JSON.stringify({ error: refusal[1] })}\n`)
      return
    }
    const limit = setTimeout(() => request.destroy(), maxRunMs)
    const end = (): void => {
      clearTimeout(limit)
      running = null
      response.end()
    }
    running = perform(request, response, host).then(end, end)
  }
  // The body of a run may take hours.
  const limits = { headersTimeout: 10_000, requestTimeout: 0, connectionsCheckingInterval: 1000 }
  const pem = tls === null ? null : { cert: readFileSync(tls.cert), key: readFileSync(tls.key) }
  const server =
    pem === null ? http.createServer(limits, listener) : https.createServer({ ...limits, ...pem }, listener)
  server.maxConnections = 64
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    throw new Error(`cannot listen on ${host}:${port} (${reasonOf(error)}); choose another address`)
  })
  return {
    port: (server.address() as AddressInfo).port,
    /** Ends the current run and the server. */
    async stop(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await running
    },
  }
}

const BUSY = [409, 'another run is active; an agent has one run at a time'] as const

/** Returns status and reason if a request is refused. A token, or the type and the host, keep out web pages. */
function refusalOf({ method, url, headers }: http.IncomingMessage, token: string | null) {
  if (token === null && !LOCAL_HOST.test(headers.host ?? ''))
    return [403, 'the Host header is not of this machine'] as const
  if (token !== null && !timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`)))
    return [401, 'the token is missing or wrong'] as const
  if (method !== 'POST' || url !== '/v1/run') return [404, 'there is no such resource'] as const
  if (headers['content-type'] === LINES_TYPE) return null
  return [415, `the content-type must be ${LINES_TYPE}`] as const
}

/** Performs the actions of a run, one after the other. Resolves when nothing is left of it. */
async function perform(request: http.IncomingMessage, response: http.ServerResponse, host: string) {
  const actions = agentActions(host)
  const reply = (value: object) => response.write(`${JSON.stringify(value)}\n`)
  // A host that loses power closes no connection.
  request.socket.setKeepAlive(true, 5000)
  let killing: NodeJS.Timeout | undefined
  // Ends the current action, which fails then, and what it may still start.
  const kill = () => {
    killing = setInterval(() => void killAll(), 100)
  }
  request.once('close', kill)
  response.on('error', () => {})
  response.writeHead(200, { 'content-type': LINES_TYPE }).flushHeaders()
  try {
    for await (const line of linesOf(request)) {
      const { action, input } = JSON.parse(line) as Readonly<Record<string, unknown>>
      const problem = actionProblem(action, input)
      if (problem !== null) throw new Error(problem)
      // Further lines may have come with the last part of the body.
      if (request.destroyed) break
      const act = actions[action as ActionName] as (input: unknown) => Promise<unknown>
      const outcome = act(input).then((result = null) => ({ result }))
      reply(await outcome.catch((error: unknown) => ({ error: messageOf(error) })))
    }
  } catch (error) {
    reply({ error: messageOf(error) })
  } finally {
    request.off('close', kill)
    clearInterval(killing)
    await actions.stop().catch(() => undefined)
    await killAll()
  }
}

/** Splits a body into lines. @throws Error if one is too long */
async function* linesOf(request: http.IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const part of request.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()!
    if ([rest, ...lines].some(({ length }) => length > MAX_LINE_CHARS))
      throw new Error(`an action has at most ${MAX_LINE_CHARS} characters`)
    yield* lines
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
