import { residentBytes } from '../../telemetry/process-memory.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import type { SupervisorStatus, WorkerStatus } from './status.js'

/** Inputs for the supervisor's own metrics. */
export interface SupervisorMetricsInput {
  readonly status: SupervisorStatus
  readonly rollouts: Readonly<Record<string, number>>
  readonly queueLength: number
}

/** Help texts of the metrics below. */
export const SUPERVISOR_HELP: Readonly<Record<string, string>> = {
  gw_build_info: 'Always 1; the label holds the version.',
  gw_ready: '1 if /readyz answers 200, else 0.',
  gw_uptime_seconds: 'Time since the supervisor started.',
  gw_rollouts_total: 'Documents applied or refused, by result. Unchanged counts only after a refused one.',
  gw_rollout_queue_length: 'Documents being applied or waiting.',
  gw_rollout_last_seconds: 'Duration of the last rollout.',
  gw_supervisor_rss_bytes: 'Resident memory of the supervisor.',
  gw_cache_server_up: '1 if the cache server of `cache.serve` is ready, else 0.',
  gw_cache_server_restarts_total: 'Restarts of the cache server.',
  gw_cache_server_rss_bytes: 'Resident memory of the cache server.',
  gw_metrics_exports_total:
    'Exports of metrics to the collector of `metrics.otlp`, by result: delivered, rejected (some points, or with a warning), failed.',
  gw_control_connected:
    '1 if the gateway is connected to its controller, else 0. Absent without a controller.',
  gw_control_deploy: 'Number of the active deploy of the controller; 0 if there is none.',
  gw_control_last_contact_seconds:
    'Time since the last message of the controller. Absent before the first one.',
  gw_worker_up: '1 if the worker is ready, else 0.',
  gw_worker_restarts_total: 'Restarts of the worker.',
  gw_worker_rss_bytes: 'Resident memory of the worker.',
  gw_worker_loop_lag_seconds: 'Longest delay of the event loop since the previous heartbeat.',
}

/** Returns the supervisor's own metrics. Those of the workers are merged separately. */
export function supervisorSamples({ status, rollouts, queueLength }: SupervisorMetricsInput): Sample[] {
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
    ...controlSamples(status.control),
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

function controlSamples(control: SupervisorStatus['control']): Sample[] {
  if (control === null) return []
  const { connected, deploy, lastContactMs } = control
  return [
    sample('gw_control_connected', connected ? 1 : 0),
    sample('gw_control_deploy', deploy),
    ...(lastContactMs === null ? [] : [sample('gw_control_last_contact_seconds', lastContactMs / 1000)]),
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
