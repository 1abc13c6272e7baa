import cluster, { type Worker } from 'node:cluster'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { FLEET_FILE_ENV, FLEET_INSTANCE_ENV, WORKER_VERSION_ENV } from '../../worker/messages.js'
import { heapFlags } from './sizing.js'

/**
 * Environment variable for the largest head that uWebSockets accepts, in bytes. Native code reads it once,
 * while loading.
 */
const HEAD_BYTES_ENV = 'UWS_HTTP_MAX_HEADERS_SIZE'

/**
 * Bytes added to a listener's limit, so that the gateway itself refuses large heads with a problem document and a
 * record.
 */
const HEAD_ROOM_BYTES = 16 * 1024

/**
 * V8 flags that keep garbage collection pauses short (docs/internals/performance.md, outages). There is a worker per
 * core. V8's default four helper threads compete with it for that core and delay requests by 3 ms each. One
 * helper is enough to collect and compile in the background.
 *
 * The young generation keeps its full size, in MB per worker heap. After 100 s without a full collection V8 would shrink
 * it to save memory, and then collect up to six times as often for minutes.
 *
 * Allocation-site pretenuring is off, because V8 counts which objects survive. If a worker's first clients all
 * arrive at once, the field lists and target orders of their requests survive. From then on V8 would allocate
 * these in the old generation. Each of them, once dead, keeps a young exchange alive until the next full
 * collection (docs/internals/performance.md, allocation-site pretenuring).
 */
const WORKER_FLAGS = ['--v8-pool-size=1', '--min-semi-space-size=16', '--no-allocation-site-pretenuring']

/**
 * Number of free bytes at the end of the heap from which glibc returns memory to the system. By default glibc raises it
 * with the largest allocation seen, so a worker that once held large bodies stays large: 130 MB more after 300 uploads
 * of 9 MB to a target that does not read.
 *
 * V8 frees up to 32 MB of body buffers in one collection. With a lower threshold, each collection returns their pages,
 * and the next bodies fetch them again. With 1 MB, uploads of 50 KB took a page fault each. That cost `engine: node` 8 to
 * 25 % of its CPU time. With `uws`, no difference was measurable.
 */
const MALLOC_ENV = { MALLOC_TRIM_THRESHOLD_: String(48 * 1024 * 1024) }

/** Program that worker processes run. */
export interface WorkerProgram {
  readonly entry: URL
  readonly version: string
  readonly nodeOptions: readonly string[]
  /** File and instance by which an orphaned worker finds the next supervisor. */
  readonly fleet: { readonly path: string; readonly instance: string }
  /**
   * Called with each line that a worker writes, if the gateway is embedded. Its workers then exit with this process. Null
   * if workers write to the stdout and stderr of this process.
   */
  readonly onOutput: ((line: string) => void) | null
}

/** Parameters of a worker process, see `Fork`. */
export type ForkSize = readonly [headBytes: number, workers: number, reservedBytes: number]

/**
 * Starts a worker as a cluster process. `node:cluster` only manages processes and IPC here. Workers listen with
 * SO_REUSEPORT. Where the `node` engine listens through the cluster module, workers share the socket (SCHED_NONE), so
 * that no connection passes through the supervisor.
 */
export function forkProcess(program: WorkerProgram, [headBytes, workers, reservedBytes]: ForkSize): Worker {
  const { entry, version, nodeOptions, fleet, onOutput } = program
  const preload = createRequire(import.meta.url).resolve('@sluice/gateway/worker-preload')
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    ...{ exec: fileURLToPath(entry), args: [], serialization: 'advanced', silent: onOutput !== null },
    execArgv: ['--require', preload, ...WORKER_FLAGS, ...heapFlags(workers, reservedBytes), ...nodeOptions],
  })
  return cluster.fork({
    [HEAD_BYTES_ENV]: String(headBytes + HEAD_ROOM_BYTES),
    [WORKER_VERSION_ENV]: version,
    // A value set by the operator wins.
    ...(process.env['MALLOC_TRIM_THRESHOLD_'] === undefined ? MALLOC_ENV : {}),
    [FLEET_FILE_ENV]: onOutput === null ? fleet.path : '',
    [FLEET_INSTANCE_ENV]: fleet.instance,
  })
}
