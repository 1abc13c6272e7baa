import { residentBytes } from '../telemetry/process-memory.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import type { SupervisorStatus, WorkerStatus } from './status.js'

/** What the supervisor adds to the numbers of its workers. */
export interface SupervisorNumbers {
  readonly status: SupervisorStatus
  readonly rollouts: Readonly<Record<string, number>>
  readonly queueLength: number
}

/** Help texts of the families below. */
export const SUPERVISOR_HELP: Readonly<Record<string, string>> = {
  gw_build_info: 'Always 1; the version stands in the label.',
  gw_ready: 'Whether /readyz answers 200.',
  gw_uptime_seconds: 'Time since the supervisor started.',
  gw_rollouts_total:
    'Documents that were to go into service, by result; unchanged only after one that was refused.',
  gw_rollout_queue_length: 'Documents that are being applied or wait for it.',
  gw_rollout_last_seconds: 'Duration of the last rollout.',
  gw_supervisor_rss_bytes: 'Resident memory of the supervisor.',
  gw_cache_server_up: 'Whether the cache server of `cache.serve` serves.',
  gw_cache_server_restarts_total: 'How often it was started again after it had ended.',
  gw_cache_server_rss_bytes: 'Resident memory of the cache server.',
  gw_worker_up: 'Whether the worker serves.',
  gw_worker_restarts_total: 'How often the slot of the worker was filled again.',
  gw_worker_rss_bytes: 'Resident memory of the worker.',
  gw_worker_loop_lag_seconds: 'Longest delay of the event loop in the last heartbeat.',
}

/** The supervisor's own numbers, beside the merged ones of the workers. */
export function supervisorSamples({ status, rollouts, queueLength }: SupervisorNumbers): Sample[] {
  const results = Object.entries(rollouts)
  return [
    sample('gw_build_info', 1, label('version', status.version)),
    sample('gw_ready', status.ready ? 1 : 0),
    sample('gw_uptime_seconds', status.uptimeMs / 1000),
    ...results.map(([result, count]) => sample('gw_rollouts_total', count, label('result', result))),
    sample('gw_rollout_queue_length', queueLength),
    sample('gw_rollout_last_seconds', (status.lastRollout?.durationMs ?? 0) / 1000),
    sample('gw_supervisor_rss_bytes', residentBytes()),
    ...cacheServerSamples(status.cacheServer),
    ...status.workers.filter((worker) => worker.state !== 'draining').flatMap(workerSamples),
  ]
}

function cacheServerSamples(server: SupervisorStatus['cacheServer']): Sample[] {
  if (server === null) return []
  return [
    sample('gw_cache_server_up', server.state === 'ready' ? 1 : 0),
    sample('gw_cache_server_restarts_total', server.restarts),
    sample('gw_cache_server_rss_bytes', server.rssBytes),
  ]
}

function workerSamples(worker: WorkerStatus): Sample[] {
  const labels = label('worker', String(worker.id))
  return [
    sample('gw_worker_up', worker.state === 'ready' ? 1 : 0, labels),
    sample('gw_worker_restarts_total', worker.restarts, labels),
    sample('gw_worker_rss_bytes', worker.rssBytes, labels),
    sample('gw_worker_loop_lag_seconds', worker.loopLagMs / 1000, labels),
  ]
}

function sample(name: string, value: number, labels = ''): Sample {
  return { name, labels, value }
}
