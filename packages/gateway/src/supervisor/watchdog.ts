import type { OperationLog } from '../telemetry/operation-log.js'
import type { WorkerHandle } from './worker-handle.js'

const CHECK_MS = 500
/** A check that comes this late shows that the supervisor itself was stopped, so nobody can be blamed for silence. */
const OWN_LATENESS_MS = 1500

/**
 * Kills workers that no longer send heartbeats: an event loop that hangs, or a stopped process. One that works sends
 * them whatever its load (`telemetry/heartbeat.ts`), and is asked before it is given up. Their slots see an exit like
 * any other. Returns what ends the watch.
 */
export function watchSilence(workers: () => Iterable<WorkerHandle>, log: OperationLog): () => void {
  let dueMono = performance.now() + CHECK_MS
  const timer = setInterval(() => {
    const now = performance.now()
    const isLate = now - dueMono > OWN_LATENESS_MS
    dueMono = now + CHECK_MS
    for (const worker of workers()) {
      if (isLate) worker.excuseSilence()
      else if (worker.isSilent()) end(worker, log)
      else worker.askHeartbeat()
    }
  }, CHECK_MS)
  return () => clearInterval(timer)
}

function end(worker: WorkerHandle, log: OperationLog): void {
  log.error('worker.silent', { worker: worker.worker, pid: worker.pid })
  worker.kill('no heartbeat; its event loop hangs or its process is stopped')
}
