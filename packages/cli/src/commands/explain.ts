import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolvePlan } from '@sluice/config'
import { type Explanation, explainRequest } from '@sluice/gateway'
import { assumedConsumer } from '../consumers/assumed-consumer.js'
import { loadFile } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { catalog } from '../input/policy-catalog.js'
import { EXIT, type ExitCode, unreadable, usageError } from '../output/failure.js'
import { complain, print, printResult } from '../output/output.js'
import { mistakesOf } from '../plugins/compile-trial.js'
import type { ExplainRecordOptions } from './explain-record.js'
import { explanationLines } from './explanation-lines.js'

interface ExplainOptions extends DocumentOptions, OutputOptions {
  readonly header?: readonly string[]
  readonly data?: string
  readonly clientIp: string
  readonly consumer?: string
  readonly all?: boolean
  readonly expectRoute?: string
}

/** Prints which route handles a request, why the others do not, and what happens to it. Fails if it is refused. */
export async function explain(
  options: ExplainOptions | ExplainRecordOptions,
  ...[first, second = 'GET']: readonly [string, string?]
): Promise<ExitCode | void> {
  if ('id' in options) return (await import('./explain-record.js')).explainById(options)
  // The URL may come first, and then the method is optional.
  const [url, method] = /^(?:\/|https?:)/.test(first) ? [first, second] : [second, first]
  const explanation = await explanationOf(options, method, url)
  await printResult(explanation, options.output, () =>
    print(...explanationLines(explanation, options.all === true)),
  )
  const { outcome, route } = explanation
  if (options.expectRoute === undefined) return outcome === 'refused' ? EXIT.failed : EXIT.ok
  if (route?.id === options.expectRoute) return EXIT.ok
  const actual = route === null ? 'no route handles the request' : `route '${route.id}' handles the request`
  complain(`expected route '${options.expectRoute}', but ${actual}`)
  return EXIT.assertion
}

async function explanationOf(options: ExplainOptions, method: string, url: string): Promise<Explanation> {
  const headers = (options.header ?? []).map(fieldOf)
  if (isIP(options.clientIp) === 0)
    throw usageError(`'${options.clientIp}' is not an IP address; use for example --client-ip 10.0.0.1`)
  const body = options.data === undefined ? null : bodyOf(options.data)
  const load = await loadFile(options.config)
  // Plugin code is tried on a thread first, because it might never return.
  if (load.plan.plugins.length > 0) await mistakesOf(load, catalog)
  try {
    const request = { method, url, headers, body, clientIp: options.clientIp }
    const explanation = await explainRequest(load, catalog, request)
    if (options.consumer === undefined || explanation.route === null) return explanation
    const route = resolvePlan(load).routes.find(({ id }) => id === explanation.route?.id)
    const consumer = assumedConsumer(options.consumer, route?.policies ?? [])
    return await explainRequest(load, catalog, { ...request, consumer })
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error
  }
}

function fieldOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':')
  if (colon < 1) throw usageError(`'${text}' is not a header field; use -H 'name: value'`)
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()]
}

function bodyOf(text: string): Buffer {
  if (!text.startsWith('@')) return Buffer.from(text)
  try {
    return readFileSync(text.slice(1))
  } catch (error) {
    throw unreadable('the body', text.slice(1), error)
  }
}
