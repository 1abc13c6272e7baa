import type { AdminCall, Endpoint } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { readJson } from './request-body.js'

/** Endpoints for the login of the dashboard. */
export const SESSION_ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/v1/session', access: 'viewer', answer: getSession },
  { method: 'POST', path: '/v1/session', access: 'open', answer: postSession },
  { method: 'DELETE', path: '/v1/session', access: 'viewer', answer: deleteSession },
]

function getSession({ actor, role, session }: AdminCall): AdminAnswer {
  return jsonAnswer(200, { name: nameIn(actor), role, isLoginRequired: session.isLoginRequired })
}

async function postSession(call: AdminCall): Promise<AdminAnswer> {
  const { session } = call
  if (!session.isOn) return problemAnswer('GW_ADMIN_NOT_FOUND', 'the dashboard is off; set admin.ui: true')
  const usage = 'send {"token":"TOKEN"}'
  const asked = await readJson(
    call,
    ['token'],
    ({ token }) => (typeof token === 'string' ? token : null),
    usage,
  )
  if (!asked.ok) return asked.answer
  const opened = session.open(asked.value)
  if (!opened.ok) return opened.answer
  const { cookie, actor, role } = opened
  const facts = { name: nameIn(actor), role, isLoginRequired: session.isLoginRequired }
  return jsonAnswer(200, facts, cookie === null ? {} : { 'set-cookie': cookie })
}

function deleteSession({ session }: AdminCall): AdminAnswer {
  return jsonAnswer(200, { closed: true }, { 'set-cookie': session.close() })
}

function nameIn(actor: string): string {
  return actor.slice(0, actor.lastIndexOf('@'))
}
