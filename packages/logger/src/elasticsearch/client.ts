import type { Readable } from 'node:stream'
import { Client, type ClientOptions } from '@elastic/elasticsearch'
import {
  type ConnectionOptions,
  Transport,
  type TransportOptions,
  UndiciConnection,
} from '@elastic/transport'
import { readTlsFiles } from '@sluice/core'

/** Connection options for an Elasticsearch cluster. */
export interface ElasticsearchAccess {
  /** Node URLs, at least one. Another node is tried if one does not respond. */
  readonly nodes: readonly string[]
  readonly auth: { readonly username: string; readonly password: string } | { readonly apiKey: string } | null
  /** PEM file with certificate authorities to trust instead of the system's, or null. */
  readonly caFile: string | null
  /** True if any server certificate is accepted. */
  readonly insecure: boolean
  /** Product that the nodes run; default Elasticsearch. */
  readonly product?: 'elasticsearch' | 'opensearch'
  /** True if requests are compressed. Saves network bandwidth but costs CPU time. */
  readonly compress: boolean
}

/** Request timeout in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000

/**
 * Size limits for responses, so that an oversized response cannot exhaust memory. Normal responses are a few
 * megabytes at most.
 */
export const ANSWER_BOUNDS = {
  maxResponseSize: 16 * 1024 ** 2,
  maxCompressedResponseSize: 1024 ** 2,
} as const

/**
 * Creates a client for a cluster. @param more Further options of the client. @throws Error if the CA file
 * cannot be read.
 */
export function elasticsearchClient(access: ElasticsearchAccess, more: ClientOptions = {}): Client {
  const options: ClientOptions = {
    nodes: [...access.nodes],
    Connection: BoundedConnection,
    compression: access.compress,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Only tries the other nodes. The shipper handles delayed retries.
    maxRetries: access.nodes.length - 1,
    ...(access.auth === null ? {} : { auth: access.auth }),
    ...tlsOf(access),
    ...(access.product === 'opensearch' ? { Transport: OpenSearchTransport } : {}),
    ...more,
  }
  return new Client(options)
}

/** Connection that survives responses beyond their size limit. */
class BoundedConnection extends UndiciConnection {
  constructor(options: ConnectionOptions) {
    super(options)
    const { pool } = this
    const request = pool.request.bind(pool) as (options: object) => Promise<{ readonly body: Readable }>
    // The library rejects such a response, but an unhandled error of its body would also end the process.
    const guarded = async (options: object) => {
      const response = await request(options)
      response.body.on('error', () => {})
      return response
    }
    Object.assign(pool, { request: guarded })
  }
}

/** Transport without the product check and the media types of Elasticsearch, which OpenSearch does not know. */
class OpenSearchTransport extends Transport {
  constructor({ productCheck: _check, vendoredHeaders: _headers, ...options }: TransportOptions) {
    super(options)
  }
}

function tlsOf({ caFile, insecure }: ElasticsearchAccess): ClientOptions {
  if (caFile === null && !insecure) return {}
  return { tls: { ...readTlsFiles({ caFile }), rejectUnauthorized: !insecure } }
}
