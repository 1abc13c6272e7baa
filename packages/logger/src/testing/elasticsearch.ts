import type { TestContext } from 'node:test'
import { closedPort } from '@sluice/core/testing'
import { type ElasticsearchEndpoint, elasticsearchEndpoint } from './elasticsearch-endpoint.js'
import { prepareElasticsearch } from './elasticsearch-files.js'
import { ElasticsearchProcess } from './elasticsearch-process.js'

/** Longest start in milliseconds. It takes 15 s on two idle cores, and more than 3 minutes at a load of 20. */
const START_MS = 900_000

/** The option `skip` of tests against a real Elasticsearch: a reason where none is installed. */
export const elasticsearchSkip: string | false =
  process.env['SLUICE_ELASTICSEARCH_HOME'] === undefined &&
  'no Elasticsearch; use npm test, or npm run services and the variable that it prints'

/** What a node is started with. */
export interface ElasticsearchOptions {
  /** Holds all of the node; the same folder and port once more are the same node. */
  readonly dir: string
  /** A free one unless it is named. */
  readonly port?: number
  /** Refuses who does not name a user or an API key, and speaks TLS. */
  readonly security?: boolean
  /** Heap, collector and compilers as in production; the default halves the CPU time of a start and is slow afterwards. */
  readonly isMeasured?: boolean
  /** It gets only the processor time that others leave, as if it had a machine of its own. */
  readonly standsAside?: boolean
  /** The cores it is kept on, as taskset writes them. */
  readonly cpus?: string
  /** Laid over the settings in elasticsearch.yml. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

/** A running node, alone in its cluster, with disk limits and replicas out of the way. */
export interface ElasticsearchNode extends ElasticsearchEndpoint {
  readonly port: number
  /** The server itself, for measuring it and for signals. */
  readonly pid: number
  /** Ends it in order; resolves when its folder is free for the next start. */
  stop(): Promise<void>
  /** Ends it as a power failure would. */
  kill(): Promise<void>
  /** Its sockets stay open and nobody answers, until `resume`. */
  pause(): void
  resume(): void
}

/**
 * Starts a real Elasticsearch on the loopback address, which ends with this process if nobody stops it before.
 *
 * @throws Error with the end of its log when it does not answer in time
 */
export async function startElasticsearch(options: ElasticsearchOptions): Promise<ElasticsearchNode> {
  const home = process.env['SLUICE_ELASTICSEARCH_HOME']
  if (home === undefined) throw new Error(String(elasticsearchSkip))
  const { standsAside = false, cpus = null } = options
  const port = options.port ?? (await closedPort())
  const files = prepareElasticsearch({ ...options, home, port })
  const server = new ElasticsearchProcess(home, files, { standsAside, cpus })
  const endpoint = elasticsearchEndpoint(port, files.access)
  try {
    await answering(endpoint, server)
    return { ...endpoint, port, pid: server.pid(), ...controls(server) }
  } catch (error) {
    await server.stop()
    throw new Error(`Elasticsearch did not start on port ${port}:\n${server.logTail()}`, { cause: error })
  }
}

/** A node that ends with the test. */
export async function elasticsearchFor(
  t: TestContext,
  options: ElasticsearchOptions,
): Promise<ElasticsearchNode> {
  const node = await startElasticsearch(options)
  t.after(() => node.stop())
  return node
}

function controls(
  server: ElasticsearchProcess,
): Pick<ElasticsearchNode, 'stop' | 'kill' | 'pause' | 'resume'> {
  return {
    stop: () => server.stop(),
    kill: () => server.kill(),
    pause: () => {
      server.signal('SIGSTOP')
      // What stands still hears nothing of the end of this process.
      process.once('exit', () => server.signal('SIGCONT'))
    },
    resume: () => void server.signal('SIGCONT'),
  }
}

/** The port opens before users, indices and shards are known, so only a healthy answer counts. */
async function answering(endpoint: ElasticsearchEndpoint, server: ElasticsearchProcess): Promise<void> {
  const endMono = performance.now() + START_MS
  const path = '/_cluster/health?wait_for_status=yellow&timeout=10s'
  for (;;) {
    const status = await endpoint.request('GET', path).then(
      (answer) => answer.status,
      (error: Error) => error.message,
    )
    if (status === 200) return
    if (server.hasEnded()) throw new Error('it ended')
    if (performance.now() > endMono) throw new Error(`not within ${START_MS} ms; last: ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
