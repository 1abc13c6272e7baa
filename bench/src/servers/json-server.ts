import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { reasonOf } from '@sluice/core'
import { hostAndPort } from '../process/port.js'

/** A server in this process that replaces another system. */
export interface JsonServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a server that responds with JSON.
 * @param address `host:port`; port 0 takes a free one
 * @throws Error if it cannot listen there
 */
export async function serveJson(
  answer: (request: http.IncomingMessage) => Promise<string>,
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonServer> {
  const server = http.createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    // A client may disconnect at any time.
    answer(request).then(
      (body) => response.end(body),
      () => response.destroy(),
    )
  })
  const { host, port } = hostAndPort(address)
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    throw new Error(
      `cannot listen on ${address} (${reasonOf(error)}); stop the other process, or choose another address`,
    )
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
