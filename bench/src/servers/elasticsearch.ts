import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ElasticsearchNode,
  elasticsearchSkip,
  startElasticsearch,
} from '@sluice/logger/testing/elasticsearch'
import { reapAtExit, release } from '../process/process-reaper.js'

/** Returns a message with a remedy if Elasticsearch is not installed, or null if it is. */
export function missingElasticsearch(): string | null {
  if (elasticsearchSkip === false) return null
  return 'no Elasticsearch is installed; `npm run services` installs one and prints the variable to set'
}

interface LogNodeOptions {
  /** Parent folder. The node creates its own folder in it. */
  readonly dir: string
  /** Cores of load generator and origin, which the node shares. Null leaves the choice to the system. */
  readonly cpus: string | null
  /** True for production settings. Otherwise the node starts in half of the CPU time, but is slow. */
  readonly isMeasured: boolean
}

/** The Elasticsearch of a run. A restart replaces `node`. */
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

  /** Resumes the node, or restarts it if it does not respond. @throws Error if it cannot be started */
  async revive(): Promise<void> {
    this.node.resume()
    const answer = await this.node.request('GET', '/').catch(() => null)
    if (answer !== null) return
    await this.node.kill()
    await this.restart()
  }

  /** Restarts an ended node with its data and on its port. */
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
  // A graceful shutdown would still write into the folder after this process has ended.
  const { pid } = node
  reapAtExit(pid)
  const released = (end: () => Promise<void>) => async (): Promise<void> => {
    await end()
    await release(pid)
  }
  return { ...node, stop: released(() => node.stop()), kill: released(() => node.kill()) }
}
