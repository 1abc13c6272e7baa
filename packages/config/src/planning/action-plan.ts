import type { ActionPlan, RedirectPlan, RespondPlan, RewritePlan } from '../plan/plan.js'
import type { RouteDocument } from '../schema/document.js'
import { jsonTemplate } from '../template/json-template.js'
import { isTemplate } from '../template/text-template.js'

/** Returns the action of a route. */
export function actionPlan({ upstream, respond, redirect }: RouteDocument): ActionPlan {
  if (respond !== undefined) return respondPlan(respond)
  if (redirect !== undefined) return redirectPlan(redirect)
  if (upstream === undefined) throw new Error('unchecked route: it has no action')
  return { kind: 'proxy', upstream }
}

/** Returns the rewriting of a route, or null if requests are forwarded unchanged. */
export function rewritePlan(rewrite: RouteDocument['rewrite']): RewritePlan | null {
  if (rewrite === undefined) return null
  const { prefix = null, path = null, regex, host } = rewrite
  if (prefix === null && path === null && regex === undefined && host === 'keep') return null
  return {
    prefix,
    path,
    regex: regex === undefined ? null : { pattern: regex.pattern, replacement: regex.replacement },
    host,
  }
}

function respondPlan({ status, headers, body }: NonNullable<RouteDocument['respond']>): RespondPlan {
  const isText = typeof body === 'string'
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  if (body !== '' && !fields.some(([name]) => name === 'content-type'))
    fields.push(['content-type', isText ? 'text/plain; charset=utf-8' : 'application/json'])
  return { kind: 'respond', status, headers: fields, body: isText ? body : jsonTemplate(body) }
}

function redirectPlan(redirect: NonNullable<RouteDocument['redirect']>): RedirectPlan {
  const { status, scheme = null, host, port = null, path = null, prefix = null, keepQuery } = redirect
  return {
    kind: 'redirect',
    status,
    scheme,
    host: host === undefined || isTemplate(host) ? (host ?? null) : host.toLowerCase(),
    port,
    path,
    prefix,
    keepQuery,
  }
}
