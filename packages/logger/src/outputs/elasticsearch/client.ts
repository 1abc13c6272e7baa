import { readFileSync } from 'node:fs'
import { Client, type ClientOptions } from '@elastic/elasticsearch'
import { Serializer } from '@elastic/transport'
import { isBulkText } from './bulk-answer.js'

/** How a cluster is reached. */
export interface ElasticsearchAccess {
  /** One URL or more; another one takes over when a node does not answer. */
  readonly nodes: readonly string[]
  readonly auth: { readonly username: string; readonly password: string } | { readonly apiKey: string } | null
  /** Authorities to trust instead of the system's; PEM. */
  readonly caFile: string | null
  /** Accepts any certificate. */
  readonly insecure: boolean
  /** Compresses requests: less network, more CPU. */
  readonly compress: boolean
}

/** A node that does not answer for so long is taken for dead, ms. */
const REQUEST_TIMEOUT_MS = 30_000

/** Options of requests whose answers are a few megabytes at most; whatever answers more must not fill the memory. */
export const ANSWER_BOUNDS = {
  maxResponseSize: 16 * 1024 ** 2,
  maxCompressedResponseSize: 1024 ** 2,
} as const

/** A client for a cluster. @throws Error when the authorities' file cannot be read. */
export function elasticsearchClient(access: ElasticsearchAccess): Client {
  const options: ClientOptions = {
    nodes: [...access.nodes],
    compression: access.compress,
    requestTimeout: REQUEST_TIMEOUT_MS,
    Serializer: AnswerReader,
    // The next node is tried at once; patience is the shipper's.
    maxRetries: access.nodes.length - 1,
    ...(access.auth === null ? {} : { auth: access.auth }),
    ...tlsOf(access),
  }
  return new Client(options)
}

/** Leaves the answers to bulks as text. */
class AnswerReader extends Serializer {
  override deserialize<T = unknown>(json: string): T {
    return isBulkText(json) ? (json as T) : super.deserialize<T>(json)
  }
}

function tlsOf({ caFile, insecure }: ElasticsearchAccess): ClientOptions {
  if (caFile === null && !insecure) return {}
  const ca = caFile === null ? {} : { ca: readFileSync(caFile) }
  return { tls: { ...ca, rejectUnauthorized: !insecure } }
}
