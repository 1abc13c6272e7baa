import { randomBytes } from 'node:crypto'
import { scratchDir } from '../testing.js'
import { startElasticsearch } from './elasticsearch.js'
import {
  type ElasticsearchAccess,
  type ElasticsearchEndpoint,
  elasticsearchEndpoint,
} from './elasticsearch-endpoint.js'

/** The node of `npm test`, with security on, that several test files use at once: nobody ends, pauses or fills it. */
export interface SharedElasticsearch
  extends Pick<ElasticsearchEndpoint, 'url' | 'request'>,
    ElasticsearchAccess {
  readonly port: number
  /** Ends the node when it is this file's own. */
  release(): Promise<void>
}

interface Offer {
  readonly port?: number
  readonly access?: ElasticsearchAccess
  readonly problem?: string
}

/**
 * The node that `npm test` starts for the first file that asks; a test file that is run by hand gets its own.
 *
 * @throws Error when it does not start
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

/** What the outputs and readers of the logger need to reach a node with security. */
export function connectionTo({ username, password, caFile }: ElasticsearchAccess, url: string) {
  return { nodes: [url], auth: { username, password }, caFile, insecure: false, compress: false }
}

/** A data stream that no other test uses, and whose name is not the beginning of another's. */
export function freshDataStream(): string {
  return `logs-test-${randomBytes(6).toString('hex')}`
}
