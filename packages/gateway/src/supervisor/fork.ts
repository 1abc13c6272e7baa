import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { FLEET_FILE_ENV, FLEET_INSTANCE_ENV, WORKER_VERSION_ENV } from '../worker/messages.js'
import { heapFlags } from './sizing.js'
import { WORKER_DEADLINES, type WorkerDeadlines, WorkerHandle } from './worker-handle.js'
import type { Fork } from './worker-pool.js'

/** The largest head that uWebSockets accepts, in bytes; read by the native code while it loads, so never later. */
const HEAD_BYTES_ENV = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** So much more than a listener takes: it refuses a larger head itself, with a problem document and a record. */
const HEAD_ROOM_BYTES = 16 * 1024

/**
 * For calm collections of garbage (docs/internals/performance.md, outages). There is a worker for each core: the four helpers that V8
 * starts otherwise, to collect and to compile, take turns with it on that core, and make requests wait for 3 ms each; one
 * is enough to have both done beside it. And the room for young objects, MB in each heap of a worker, stays as large as it
 * may become: after 100 s without a full collection V8 would make it small to save memory, and collect up to six times as
 * often for minutes.
 *
 * Nor does V8 choose objects that are made old from the beginning. It counts which survive, and a worker whose first
 * clients all come at once has many requests under way then: V8 takes lists of fields and orders to targets for lasting,
 * for ever, and each such dead old object keeps a young exchange until the next full collection (docs/internals/performance.md,
 * what V8 takes for lasting).
 */
const WORKER_FLAGS = ['--v8-pool-size=1', '--min-semi-space-size=16', '--no-allocation-site-pretenuring']

/**
 * glibc gives freed memory back to the system from this many bytes on. Left to itself it raises that bound, and the size
 * from which an allocation is a mapping of its own, to what it has seen, and a worker that once held large bodies stays as
 * large: 130 MB more after 300 uploads of 9 MB to a target that does not read.
 */
const MALLOC_ENV = { MALLOC_TRIM_THRESHOLD_: String(1024 * 1024) }

/** What a worker process runs. */
interface WorkerProgram {
  readonly entry: URL
  /** Of the gateway. */
  readonly version: string
  readonly nodeOptions: readonly string[]
  /** Where a worker that is left behind looks for the next supervisor. */
  readonly fleet: { readonly path: string; readonly instance: string }
}

/**
 * Starts workers as cluster processes. `node:cluster` is a process manager with a channel here, nothing more: the
 * workers listen themselves with SO_REUSEPORT, and where the `node` engine listens through the cluster module, the
 * workers share the socket (SCHED_NONE), so that no connection passes through the supervisor.
 */
export function workerFork(
  { entry, version, nodeOptions, fleet }: WorkerProgram,
  deadlines: WorkerDeadlines = WORKER_DEADLINES,
): Fork {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // What the operator has set stays.
  const malloc = process.env['MALLOC_TRIM_THRESHOLD_'] === undefined ? MALLOC_ENV : {}
  const secret = randomBytes(32)
  return (headBytes, workers, reservedBytes) => {
    const execArgv = [...WORKER_FLAGS, ...heapFlags(workers, reservedBytes), ...nodeOptions]
    cluster.setupPrimary({ exec: fileURLToPath(entry), args: [], execArgv, serialization: 'advanced' })
    const process = cluster.fork({
      [HEAD_BYTES_ENV]: String(headBytes + HEAD_ROOM_BYTES),
      [WORKER_VERSION_ENV]: version,
      ...malloc,
      [FLEET_FILE_ENV]: fleet.path,
      [FLEET_INSTANCE_ENV]: fleet.instance,
    })
    return new WorkerHandle(process, deadlines, secret)
  }
}
