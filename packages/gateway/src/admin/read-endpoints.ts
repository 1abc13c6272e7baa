import type { Plan } from '@sluice/config'
import { acceptedFormat, FORMAT_TYPES } from '../telemetry/text-format.js'
import type { AdminCall, Endpoint } from './endpoint.js'
import { bansAnswer, countsAnswer } from './limit-counts.js'
import { metricsView } from './metrics-view.js'
import { OPENAPI } from './openapi.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { cacheAnswer, storedAnswer } from './stored-responses.js'
import { upstreamViews } from './upstream-view.js'

/** Endpoints that only read. */
export const READ_ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/healthz', access: 'open', answer: () => jsonAnswer(200, { status: 'ok' }) },
  { method: 'GET', path: '/readyz', access: 'open', answer: getReadyz },
  { method: 'GET', path: '/openapi.json', access: 'viewer', answer: () => jsonAnswer(200, OPENAPI) },
  { method: 'GET', path: '/metrics', access: 'viewer', answer: getMetrics },
  {
    method: 'GET',
    path: '/v1/status',
    access: 'viewer',
    answer: (call) => jsonAnswer(200, call.backend.status()),
  },
  { method: 'GET', path: '/v1/plan', access: 'viewer', answer: (call) => fromPlan(call, (plan) => plan) },
  { method: 'GET', path: '/v1/routes', access: 'viewer', answer: getRoutes },
  { method: 'GET', path: '/v1/upstreams', access: 'viewer', answer: getUpstreams },
  {
    method: 'GET',
    path: '/v1/metrics',
    access: 'viewer',
    answer: async ({ backend }) => jsonAnswer(200, metricsView(await backend.samples(), new Date())),
  },
  { method: 'GET', path: '/v1/limits', access: 'viewer', answer: (call) => countsAnswer(call, 'rate-limit') },
  { method: 'GET', path: '/v1/bans', access: 'viewer', answer: bansAnswer },
  { method: 'GET', path: '/v1/quotas', access: 'viewer', answer: (call) => countsAnswer(call, 'quota') },
  { method: 'GET', path: '/v1/log', access: 'viewer', answer: getLog },
  { method: 'GET', path: '/v1/cache', access: 'viewer', answer: cacheAnswer },
  { method: 'GET', path: '/v1/cache/stored', access: 'viewer', answer: storedAnswer },
  { method: 'GET', path: '/v1/deploys', access: 'viewer', answer: getDeploys },
]

function getReadyz({ backend }: AdminCall): AdminAnswer {
  const { reason } = backend.status()
  return reason === null ? jsonAnswer(200, { status: 'ready' }) : problemAnswer('GW_ADMIN_NOT_READY', reason)
}

async function getMetrics({ backend, header }: AdminCall): Promise<AdminAnswer> {
  const format = acceptedFormat(header('accept'))
  const text = await backend.metrics(format)
  if (text === null)
    return problemAnswer('GW_ADMIN_NOT_FOUND', 'metrics are off; set metrics.enabled: true in the document')
  return { status: 200, headers: { 'content-type': FORMAT_TYPES[format], vary: 'accept' }, body: text }
}

function getRoutes(call: AdminCall): Promise<AdminAnswer> {
  return fromPlan(call, (plan, digest) => ({ digest, routes: plan.routes }))
}

async function getUpstreams(call: AdminCall): Promise<AdminAnswer> {
  const { backend } = call
  const facts = { samples: await backend.samples(), targetsOf: (name: string) => backend.targetsOf(name) }
  return fromPlan(call, (plan, digest) => ({ digest, upstreams: upstreamViews(plan, facts) }))
}

function getLog({ backend }: AdminCall): AdminAnswer {
  const workers = backend.status().workers.map(({ id, pid, log }) => ({ id, pid, ...log }))
  return jsonAnswer(200, { ...backend.logIdentity(), workers })
}

function getDeploys({ backend }: AdminCall): AdminAnswer {
  return jsonAnswer(200, { digest: backend.status().digest, deploys: backend.deploys() })
}

async function fromPlan(
  call: AdminCall,
  view: (plan: Plan, digest: string) => unknown,
): Promise<AdminAnswer> {
  const serving = await call.backend.plan()
  if (serving === null) return problemAnswer('GW_ADMIN_NOT_READY', 'no configuration is active yet')
  return jsonAnswer(200, view(serving.plan, serving.digest), { etag: `"${serving.digest}"` })
}
