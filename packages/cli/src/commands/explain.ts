import { type Explanation, explainRequest } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { loadFile } from '../document.js'
import { EXIT, Failure } from '../failure.js'
import { type Format, print, printValue } from '../output/output.js'

export interface ExplainOptions {
  readonly config: string
  readonly header: readonly string[]
  readonly data?: string
  readonly clientIp?: string
  readonly output: Format
}

/** `gw explain METHOD URL`: which route a request takes, why the others lose, and what happens to it there. */
export function explain(method: string, url: string, options: ExplainOptions): number {
  const load = loadFile(options.config)
  const explanation = explainRequest(load, catalog, {
    method: method.toUpperCase(),
    url,
    headers: options.header.map(headerOf),
    bodyBytes: Buffer.byteLength(options.data ?? ''),
    clientIp: options.clientIp ?? '127.0.0.1',
  })
  if (options.output === 'table') for (const line of explanationLines(explanation)) print(line)
  else printValue(explanation, options.output)
  return EXIT.ok
}

function headerOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':')
  if (colon < 1) throw new Failure(EXIT.usage, `'${text}' is not a header; write -H 'name: value'`)
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()]
}

function explanationLines(explanation: Explanation): string[] {
  const { request, outcome, route } = explanation
  const lines = [`${request.method} ${request.host}${request.path}`, `outcome: ${outcome}`]
  if (route !== null) lines.push('', `route ${route.id} (${route.path})`, ...routeLines(route))
  if (explanation.losers.length > 0) lines.push('', 'other routes:')
  for (const loser of explanation.losers) lines.push(`  ${loser.id}: ${loser.reason}`)
  return lines
}

function routeLines(route: NonNullable<Explanation['route']>): string[] {
  const lines = [`  goes to ${route.target}`]
  for (const [name, value] of Object.entries(route.params)) lines.push(`  ${name} = ${value}`)
  for (const policy of route.policies) {
    const when = policy.when === null ? '' : ` when ${policy.when} (${policy.verdict})`
    lines.push(`  policy ${policy.id}: ${policy.use}${when}`)
  }
  if (route.timeouts !== null) {
    const { connectMs, headersMs, idleMs, totalMs } = route.timeouts
    lines.push(
      `  timeouts connect ${connectMs} ms, headers ${headersMs} ms, idle ${idleMs} ms, total ${totalMs} ms`,
    )
  }
  lines.push(`  request body up to ${route.bodyBytes} bytes, streamed`)
  return lines
}
