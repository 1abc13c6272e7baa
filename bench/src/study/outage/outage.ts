import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import type { RunningGateway } from '../../contestant/gateway.js'
import type { TestBed } from '../test-bed.js'

/** What an outage takes place on. */
export interface Stage {
  readonly bed: TestBed
  readonly node: ElasticsearchNode
  readonly gateway: RunningGateway
}

/** A way in which records do not come where they should for a while. */
export interface Outage {
  /** What can be seen when it is over, as the beginning of a sentence. */
  readonly over: string
  /** What clients call themselves, in turn; absent: nothing. */
  readonly agents?: readonly string[]
  /** The command behind which the gateway starts, with its spool in a folder; absent: it starts by itself. */
  readonly gatewayBehind?: (spoolDir: string) => readonly string[]
  begin(stage: Stage): Promise<void>
  /** Lets all go on, or starts the node again: answers with the node that takes records from then on. */
  end(stage: Stage): Promise<ElasticsearchNode>
}

/** A way that a setting of the node begins and ends. */
export function switched(
  over: string,
  set: (node: ElasticsearchNode, isOut: boolean) => Promise<void>,
): Outage {
  return {
    over,
    begin: ({ node }) => set(node, true),
    end: async ({ node }) => {
      await set(node, false)
      return node
    },
  }
}

/** Changes a setting of the node. @throws Error when it does not take the change */
export async function change(node: ElasticsearchNode, path: string, body: object): Promise<void> {
  const { status } = await node.request('PUT', path, body)
  if (status !== 200) throw new Error(`PUT ${path} was answered with ${status}`)
}
