import type { Endpoint } from './endpoint.js'
import { type AdminAnswer, problemAnswer } from './problem.js'
import { READ_ENDPOINTS } from './read-endpoints.js'
import { WRITE_ENDPOINTS } from './write-endpoints.js'

/** The whole admin API. */
export const ENDPOINTS: readonly Endpoint[] = [...READ_ENDPOINTS, ...WRITE_ENDPOINTS]

/** What tells how the gateway is and changes nothing; it is for whoever reaches its address. */
export const METRICS_ENDPOINTS: readonly Endpoint[] = READ_ENDPOINTS.filter(({ path }) =>
  ['/healthz', '/readyz', '/metrics'].includes(path),
)

/** The endpoint of a request, or the refusal. HEAD asks what GET would answer. */
export function findEndpoint(
  endpoints: readonly Endpoint[],
  method: string,
  path: string,
): { readonly ok: true; readonly endpoint: Endpoint } | { readonly ok: false; readonly answer: AdminAnswer } {
  const ofPath = endpoints.filter((endpoint) => endpoint.path === path)
  if (ofPath.length === 0) {
    const detail = 'there is nothing under this path; GET /openapi.json lists what there is'
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
