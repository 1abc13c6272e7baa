import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ElasticsearchNode,
  elasticsearchSkip,
  startElasticsearch,
} from '@sluice/logger/testing/elasticsearch'
import { reapAtExit, release } from '../process-reaper.js'

/** What to do where no Elasticsearch is installed; null when it is. */
export function missingElasticsearch(): string | null {
  if (elasticsearchSkip === false) return null
  return 'no Elasticsearch is installed; `npm run services` installs one and prints the variable to set'
}

/** The Elasticsearch of a run, whose node is another one after it was killed and started again. */
export class LogNode {
  node: ElasticsearchNode
  readonly #dir: string
  readonly #cpus: string | null

  private constructor(node: ElasticsearchNode, dir: string, cpus: string | null) {
    this.node = node
    this.#dir = dir
    this.#cpus = cpus
  }

  /** @param cpus the cores of load generator and origin */
  static async start(dir: string, cpus: string | null): Promise<LogNode> {
    const home = join(dir, 'elasticsearch')
    mkdirSync(home, { recursive: true })
    return new LogNode(await startNode(home, cpus, {}), home, cpus)
  }

  /** Has one that answers, whatever a trial has left. @throws Error when it cannot be started */
  async revive(): Promise<void> {
    this.node.resume()
    const answer = await this.node.request('GET', '/').catch(() => null)
    if (answer !== null) return
    await this.node.kill()
    await this.restart()
  }

  /** One that has ended, with its data and on its port. */
  async restart(): Promise<void> {
    this.node = await startNode(this.#dir, this.#cpus, { port: this.node.port })
  }
}

async function startNode(
  dir: string,
  cpus: string | null,
  options: { readonly port?: number },
): Promise<ElasticsearchNode> {
  const node = await startElasticsearch({ dir, isMeasured: true, ...options })
  if (cpus !== null) spawnSync('taskset', ['-a', '-c', '-p', cpus, String(node.pid)])
  // Asked to end in order it would still write into its folder when this process is gone.
  const { pid } = node
  reapAtExit(pid)
  const released = (end: () => Promise<void>) => async (): Promise<void> => {
    await end()
    await release(pid)
  }
  return { ...node, stop: released(() => node.stop()), kill: released(() => node.kill()) }
}
