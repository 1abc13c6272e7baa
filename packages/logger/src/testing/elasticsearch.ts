import type { TestContext } from 'node:test'
import { closedPort } from '@sluice/core/testing'
import { type ElasticsearchEndpoint, elasticsearchEndpoint } from './elasticsearch-endpoint.js'
import { prepareElasticsearch } from './elasticsearch-files.js'
import { ElasticsearchProcess } from './elasticsearch-process.js'

/**
 * Start timeout in milliseconds. A start takes 15 s on two idle cores, and more than 3 minutes at a load of
 * 20.
 */
const START_MS = 900_000

/**
 * Value for the `skip` option of tests that need Elasticsearch: a reason if it is not installed, otherwise
 * false.
 */
export const elasticsearchSkip: string | false =
  process.env['SLUICE_ELASTICSEARCH_HOME'] === undefined &&
  'no Elasticsearch; use npm test, or npm run services and the variable that it prints'

/** Options for starting a node. */
export interface ElasticsearchOptions {
  /** Directory of the node. The same directory and port give the same node again. */
  readonly dir: string
  /** Port; by default a free one. */
  readonly port?: number
  /** True to enable TLS and require a user or API key. */
  readonly security?: boolean
  /**
   * True to use the heap, garbage collector and compilers of production. The default halves the CPU time of a
   * start but is slower afterwards.
   */
  readonly isMeasured?: boolean
  /** True to use only CPU time that other processes leave, as if the node ran on another machine. */
  readonly standsAside?: boolean
  /** CPU cores in the format of taskset. */
  readonly cpus?: string
  /** Settings that override those in elasticsearch.yml. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

/** A running single-node cluster without disk limits and replicas. */
export interface ElasticsearchNode extends ElasticsearchEndpoint {
  readonly port: number
  /** Process ID of the server, for measurements and signals. */
  readonly pid: number
  /** Stops the node. Resolves when its directory can be used again. */
  stop(): Promise<void>
  /** Kills the node like a power failure. */
  kill(): Promise<void>
  /** Suspends the node until `resume`: its sockets stay open but it does not respond. */
  pause(): void
  resume(): void
}

/**
 * Starts a real Elasticsearch node on the loopback address. It ends at the latest with this process.
 * @throws Error with the end of its log if it does not respond in time.
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

/** Starts a node that is stopped after the test. */
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
      // A suspended process does not notice the end of this process.
      process.once('exit', () => server.signal('SIGCONT'))
    },
    resume: () => void server.signal('SIGCONT'),
  }
}

/** Waits until the cluster is healthy. The port opens before users, indices and shards are available. */
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
