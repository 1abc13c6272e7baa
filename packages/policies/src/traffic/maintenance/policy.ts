import {
  compileCidrs,
  definePolicy,
  escapedXml,
  headerJoined,
  parseDuration,
  prefersHtml,
  type Reply,
} from '@sluice/core'
import { textOfSource } from '../../shared/options/text-source.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { maintenanceSchema } from './schema.js'

const PROGRAMS = ['application/json', 'application/problem+json', 'application/xml', 'text/xml']

/** Refuses requests during maintenance. */
export const maintenance = definePolicy({
  name: 'maintenance',
  summary: 'Responds with 503 and Retry-After during maintenance, except to selected callers.',
  schema: maintenanceSchema,
  decides: ({ allow }) => (allow === undefined ? 'answer' : 'limit'),
  compile({ message, retryAfter, html, allow }, env) {
    const seconds = Math.ceil(parseDuration(retryAfter) / 1000)
    const fields = ['retry-after', String(seconds), 'cache-control', 'no-store', 'vary', 'Accept']
    const problem = env.refusal('GW_MAINTENANCE', message, fields)
    const page = pageReply(
      problem,
      html === undefined ? pageOf(message) : textOfSource(html),
      html === undefined,
    )
    const allowed = allow === undefined ? null : withContext("under 'allow':", () => compileCidrs(allow))
    return {
      name: 'maintenance',
      onRequest(x) {
        if (allowed?.has(x.clientIp) === true) return null
        return prefersHtml(headerJoined(x.headers, 'accept'), PROGRAMS) ? page : problem
      },
    }
  },
})

function pageReply(problem: Reply, html: string, isBuiltIn: boolean): Reply {
  // The built-in page loads no resources. For a custom page the requirements are unknown.
  const policy = isBuiltIn ? ['content-security-policy', "default-src 'none'"] : []
  const headers = [...problem.headers, 'content-type', 'text/html; charset=utf-8', ...policy]
  return { ...problem, headers, body: Buffer.from(html) }
}

function pageOf(message: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Maintenance</title></head>' +
    `<body><h1>Maintenance</h1><p>${escapedXml(message)}</p></body></html>\n`
  )
}
