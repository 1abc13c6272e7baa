import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ElasticsearchNode,
  elasticsearchSkip,
  startElasticsearch,
} from '@sluice/logger/testing/elasticsearch'
import { letGo, takeAlong } from '../last-will.js'

/** What to do where no Elasticsearch is installed; null when it is. */
export function missingElasticsearch(): string | null {
  if (elasticsearchSkip === false) return null
  return 'no Elasticsearch is installed; `npm run services` installs one and prints the variable to set'
}

/** Starts a node for the traffic log, on the cores of generator and origin; one that has ended, again on its port. */
export async function startSearchEngine(
  dir: string,
  cpus: string | null,
  ended: Pick<ElasticsearchNode, 'port'> | null = null,
): Promise<ElasticsearchNode> {
  const home = join(dir, 'elasticsearch')
  mkdirSync(home, { recursive: true })
  const again = ended === null ? {} : { port: ended.port }
  const node = await startElasticsearch({ dir: home, isMeasured: true, ...again })
  if (cpus !== null) spawnSync('taskset', ['-a', '-c', '-p', cpus, String(node.pid)])
  return takenAlong(node)
}

/** Told to end in order it would still write into its folder when this process is gone. */
function takenAlong(node: ElasticsearchNode): ElasticsearchNode {
  const { pid } = node
  takeAlong(pid)
  const after = (end: () => Promise<void>) => async (): Promise<void> => {
    await end()
    await letGo(pid)
  }
  return { ...node, stop: after(() => node.stop()), kill: after(() => node.kill()) }
}

/** How many documents a data stream holds; 0 when it is not there. */
export async function countDocuments(node: ElasticsearchNode, dataStream: string): Promise<number> {
  await node.request('POST', `/${dataStream}/_refresh`)
  const { body } = await node.request('GET', `/${dataStream}/_count`)
  return (body as { readonly count?: number } | null)?.count ?? 0
}
