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

/** How the node of a run is started. */
export interface LogNodeOptions {
  /** It makes its own folder in it. */
  readonly dir: string
  /** The cores of load generator and origin; null: wherever the system puts it. */
  readonly cpus: string | null
  /** As in production; else it starts in half of the CPU time, and is slow. */
  readonly isMeasured: boolean
}

/** The Elasticsearch of a run, whose node is another one after it was killed and started again. */
export class LogNode {
  node: ElasticsearchNode
  readonly #options: LogNodeOptions

  private constructor(node: ElasticsearchNode, options: LogNodeOptions) {
    this.node = node
    this.#options = options
  }

  static async start(options: LogNodeOptions): Promise<LogNode> {
    mkdirSync(homeIn(options.dir), { recursive: true })
    return new LogNode(await startNode(options), options)
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
    this.node = await startNode(this.#options, this.node.port)
  }
}

function homeIn(dir: string): string {
  return join(dir, 'elasticsearch')
}

async function startNode(
  { dir, cpus, isMeasured }: LogNodeOptions,
  port?: number,
): Promise<ElasticsearchNode> {
  const again = port === undefined ? {} : { port }
  const node = await startElasticsearch({ dir: homeIn(dir), isMeasured, ...again })
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
