import { randomBytes } from 'node:crypto'
import { scratchDir } from '../testing.js'
import { startElasticsearch } from './elasticsearch.js'
import {
  type ElasticsearchAccess,
  type ElasticsearchEndpoint,
  elasticsearchEndpoint,
} from './elasticsearch-endpoint.js'

/**
 * Shared node of `npm test` with security. Test files use it concurrently, so they must not stop, suspend or
 * fill it.
 */
export interface SharedElasticsearch
  extends Pick<ElasticsearchEndpoint, 'url' | 'request'>,
    ElasticsearchAccess {
  readonly port: number
  /** Stops the node if this test file started it. */
  release(): Promise<void>
}

interface Offer {
  readonly port?: number
  readonly access?: ElasticsearchAccess
  readonly problem?: string
}

/**
 * Returns the node that `npm test` starts on the first request. A test file that is run directly starts its
 * own.
 * @throws Error if the node does not start.
 */
export async function sharedElasticsearch(): Promise<SharedElasticsearch> {
  const offeredAt = process.env['SLUICE_TEST_ELASTICSEARCH']
  if (offeredAt === undefined) return ownNode()
  const { port, access, problem } = (await (await fetch(offeredAt)).json()) as Offer
  if (port === undefined || access === undefined) throw new Error(problem)
  return { ...elasticsearchEndpoint(port, access), ...access, port, release: async () => {} }
}

async function ownNode(): Promise<SharedElasticsearch> {
  const node = await startElasticsearch({ dir: scratchDir(), security: true })
  return { ...node, ...(node as ElasticsearchEndpoint & ElasticsearchAccess), release: () => node.stop() }
}

/** Returns the connection options of the logger for a node with security. */
export function connectionTo({ username, password, caFile }: ElasticsearchAccess, url: string) {
  return { nodes: [url], auth: { username, password }, caFile, insecure: false, compress: false }
}

/** Returns the name of a new data stream that is not a prefix of another. */
export function freshDataStream(): string {
  return `logs-test-${randomBytes(6).toString('hex')}`
}
