import type { Endpoint } from './endpoint.js'
import { type AdminAnswer, problemAnswer } from './problem.js'
import { QUESTION_ENDPOINTS } from './question-endpoints.js'
import { READ_ENDPOINTS } from './read-endpoints.js'
import { RECORD_ENDPOINTS } from './record-endpoints.js'
import { SESSION_ENDPOINTS } from './session-endpoints.js'
import { STEP_TRACE_ENDPOINTS } from './step-trace-endpoint.js'
import { WRITE_ENDPOINTS } from './write-endpoints.js'

/** Endpoints of the admin API. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...READ_ENDPOINTS,
  ...WRITE_ENDPOINTS,
  ...SESSION_ENDPOINTS,
  ...QUESTION_ENDPOINTS,
  ...RECORD_ENDPOINTS,
  ...STEP_TRACE_ENDPOINTS,
]

/** Read-only health and metrics endpoints, open to anyone who can reach the address. */
export const METRICS_ENDPOINTS: readonly Endpoint[] = READ_ENDPOINTS.filter(({ path }) =>
  ['/healthz', '/readyz', '/metrics'].includes(path),
)

/** Finds the endpoint of a request, or returns the refusal. HEAD is handled like GET. */
export function findEndpoint(
  endpoints: readonly Endpoint[],
  method: string,
  path: string,
): { readonly ok: true; readonly endpoint: Endpoint } | { readonly ok: false; readonly answer: AdminAnswer } {
  const ofPath = endpoints.filter((endpoint) => endpoint.path === path)
  if (ofPath.length === 0) {
    const detail = 'unknown path; GET /openapi.json lists all paths'
    return { ok: false, answer: problemAnswer('GW_ADMIN_NOT_FOUND', detail) }
  }
  const wanted = method === 'HEAD' ? 'GET' : method
  const endpoint = ofPath.find((candidate) => candidate.method === wanted)
  if (endpoint !== undefined) return { ok: true, endpoint }
  const methods = ofPath.map((candidate) => (candidate.method === 'GET' ? 'GET, HEAD' : candidate.method))
  const allow = methods.join(', ')
  const answer = problemAnswer('GW_ADMIN_METHOD_NOT_ALLOWED', `use ${allow}`, { headers: { allow } })
  return { ok: false, answer }
}
