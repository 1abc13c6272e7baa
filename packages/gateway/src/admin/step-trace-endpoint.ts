import { MAX_SESSIONS, type StepTraceRequest } from '../supervise/step-traces.js'
import { compileStepCondition } from '../worker/step-condition.js'
import type { AnswerStream } from './answer-stream.js'
import type { AdminCall, Endpoint } from './endpoint.js'
import { type AdminAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'

/** Endpoint that traces the policies of live requests. It shows parts of bodies, so viewers may not use it. */
export const STEP_TRACE_ENDPOINTS: readonly Endpoint[] = [
  { method: 'POST', path: '/v1/step-traces', access: 'operator', answer: postStepTrace },
]

const MAX_COUNT = 1000
const MAX_SECONDS = 600
const USAGE = `send {} or any of "route":"ID", "when":"CONDITION", "count":1 to ${MAX_COUNT}, "seconds":1 to ${MAX_SECONDS}`
const MAX_CONDITION_CHARS = 4096

async function postStepTrace(call: AdminCall): Promise<AdminAnswer> {
  const asked = await readJson(call, ['route', 'when', 'count', 'seconds'], requestOf, USAGE)
  if (!asked.ok) return asked.answer
  const { route, when } = asked.value
  const mistake = when === null ? null : mistakeIn(when)
  if (mistake !== null) return problemAnswer('GW_ADMIN_BAD_REQUEST', mistake)
  const serving = await call.backend.plan()
  if (serving === null) return problemAnswer('GW_ADMIN_NOT_READY', 'no configuration is active yet')
  if (route !== null && !serving.plan.routes.some(({ id }) => id === route))
    return problemAnswer('GW_ADMIN_NOT_FOUND', `no route '${route}' in the active plan; gw routes shows them`)
  if (!call.backend.stepTraces.hasRoom) {
    const detail = `${MAX_SESSIONS} step traces are open already; try again when one has ended`
    return problemAnswer('GW_ADMIN_BUSY', detail, { headers: { 'retry-after': '5' } })
  }
  const headers = { 'content-type': 'application/x-ndjson' }
  return { status: 200, headers, body: '', stream: streamOf(call, asked.value) }
}

/** Returns the stream: a line `armed`, a line for each trace, and a line `end`. */
function streamOf({ backend, actor }: AdminCall, request: StepTraceRequest): AnswerStream {
  return (output) =>
    backend.stepTraces.start(request, actor, {
      onArmed: () => output.write('{"kind":"armed"}\n'),
      onTrace: (trace) => output.write(`{"kind":"trace","trace":${trace}}\n`),
      onEnd: (end) => {
        output.write(`${JSON.stringify({ kind: 'end', ...end })}\n`)
        output.end()
      },
    })
}

function requestOf({
  route = null,
  when = null,
  count = 10,
  seconds = 60,
}: Members): StepTraceRequest | null {
  if (!isText(route) || !isText(when)) return null
  if (!isWhole(count, MAX_COUNT) || !isWhole(seconds, MAX_SECONDS)) return null
  return { route, when, count, forMs: seconds * 1000 }
}

function isText(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value !== '' && value.length <= MAX_CONDITION_CHARS)
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
}

function mistakeIn(when: string): string | null {
  try {
    compileStepCondition(when)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
