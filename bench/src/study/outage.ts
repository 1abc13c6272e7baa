import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import type { TestBed } from './test-bed.js'

/** A way in which Elasticsearch takes no records for a while. */
export interface Outage {
  begin(bed: TestBed, node: ElasticsearchNode): Promise<void>
  /** Lets the node go on, or starts it again: answers with the node that takes records from then on. */
  end(bed: TestBed, node: ElasticsearchNode): Promise<ElasticsearchNode>
}

/** The ways by name, for the data stream that the records go to. */
export function outagesOf(stream: string): ReadonlyMap<string, Outage> {
  return new Map<string, Outage>([
    [
      'stop',
      {
        begin: (_, node) => node.kill(),
        end: (bed, node) => bed.elasticsearchAgain(node),
      },
    ],
    [
      'pause',
      {
        begin: async (_, node) => node.pause(),
        end: async (_, node) => {
          node.resume()
          return node
        },
      },
    ],
    [
      'read-only',
      {
        begin: (_, node) => setBlock(node, stream, true),
        end: async (_, node) => {
          await setBlock(node, stream, false)
          return node
        },
      },
    ],
  ])
}

/** As an operator does it, or Elasticsearch itself when its disk is full: every record is answered with 403. */
async function setBlock(node: ElasticsearchNode, stream: string, isBlocked: boolean): Promise<void> {
  const { status } = await node.request('PUT', `/${stream}/_settings`, { 'index.blocks.write': isBlocked })
  if (status !== 200) throw new Error(`the index could not be set read-only: status ${status}`)
}
