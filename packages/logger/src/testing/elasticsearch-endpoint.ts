import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'

const ANSWER_MS = 60_000

/** Credentials for a node, and the CA of its certificate. */
export interface ElasticsearchAccess {
  readonly username: string
  readonly password: string
  readonly caFile: string
}

/** A response with parsed JSON. */
export interface ElasticsearchAnswer {
  readonly status: number
  readonly body: unknown
}

/** A node's address. The credentials are present if the node has security. */
export interface ElasticsearchEndpoint extends Partial<ElasticsearchAccess> {
  readonly url: string
  /**
   * Sends a request on a new connection, with the node's credentials unless `authorization` is given (`''`
   * for none). A string body is sent unchanged.
   */
  request(
    method: string,
    path: string,
    body?: object | string,
    authorization?: string,
  ): Promise<ElasticsearchAnswer>
}

/** Returns the node on a loopback port. */
export function elasticsearchEndpoint(
  port: number,
  access: ElasticsearchAccess | null,
): ElasticsearchEndpoint {
  const url = `${access === null ? 'http' : 'https'}://127.0.0.1:${port}`
  const ca = access === null ? undefined : readFileSync(access.caFile)
  const own = access === null ? '' : basic(access)
  return {
    url,
    ...access,
    request(method, path, body, authorization = own) {
      const headers: http.OutgoingHttpHeaders = authorization === '' ? {} : { authorization }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const options = { method, headers, ca, agent: false, signal: AbortSignal.timeout(ANSWER_MS) }
      const request = (access === null ? http : https).request(url + path, options)
      request.end(typeof body === 'object' ? JSON.stringify(body) : body)
      return answerTo(request)
    },
  }
}

/** Returns the value at a path of names and indices, or undefined. */
export function valueAt(body: unknown, ...path: string[]): unknown {
  let value = body
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name]
  return value
}

function basic({ username, password }: ElasticsearchAccess): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

async function answerTo(request: http.ClientRequest): Promise<ElasticsearchAnswer> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return { status: response.statusCode ?? 0, body: text === '' ? null : JSON.parse(text) }
}
