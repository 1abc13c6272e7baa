import { fullDisk } from './full-disk.js'
import { halfRejected } from './half-rejected.js'
import { change, type Outage, switched } from './outage.js'
import { tooManyRequests } from './too-many-requests.js'

/** The ways of an outage by name, for the data stream that the records go to. */
export function outagesOf(stream: string): ReadonlyMap<string, Outage> {
  return new Map<string, Outage>([
    ['stop', STOP],
    ['pause', PAUSE],
    ['read-only', readOnly(stream)],
    ['too-many-requests', tooManyRequests(stream)],
    ['half-rejected', halfRejected(stream)],
    ['full-disk', fullDisk()],
  ])
}

const STOP: Outage = {
  over: 'the node answered',
  begin: ({ node }) => node.kill(),
  end: ({ bed, node }) => bed.elasticsearchAgain(node),
}

const PAUSE: Outage = {
  over: 'the node answered',
  begin: async ({ node }) => node.pause(),
  end: async ({ node }) => {
    node.resume()
    await node.request('GET', '/_cluster/health')
    return node
  },
}

/** As an operator does it, or Elasticsearch itself when its disk is full: every record is answered with 403. */
function readOnly(stream: string): Outage {
  return switched('the index took records again', (node, isOut) =>
    change(node, `/${stream}/_settings`, { 'index.blocks.write': isOut }),
  )
}
