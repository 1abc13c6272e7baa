import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { change, type Outage, switched } from './outage.js'

const LIMIT = 'network.breaker.inflight_requests.limit'

/**
 * The node has no room for the body of any request, so that every bulk is answered with 429. A larger limit would be
 * one below which bulks fit: the log finds that size, and no outage is left to be measured. What has no body passes,
 * and so does a change of the node's settings, which no breaker refuses.
 */
export function tooManyRequests(stream: string): Outage {
  return switched('the node took requests again', async (node, isOut) => {
    await change(node, '/_cluster/settings', { persistent: { [LIMIT]: isOut ? '1b' : null } })
    if (isOut) await assertRefusal(node, stream)
  })
}

/** What is measured otherwise would be a log without an outage. */
async function assertRefusal(node: ElasticsearchNode, stream: string): Promise<void> {
  const { status } = await node.request('POST', `/${stream}/_bulk`, {})
  if (status !== 429) throw new Error(`a bulk was answered with ${status}, and not with 429`)
}
