import { readFileSync } from 'node:fs'
import { visibleText } from '@sluice/core'
import { type Trial, type TrialCall, type TrialExchange, trialExchange, tryScript } from '@sluice/policies'
import type { OutputOptions } from '../input/options.js'
import { EXIT, Failure, messageOf, unreadable } from '../output/failure.js'
import { complain, print, printValue, say } from '../output/output.js'

interface TestOptions extends OutputOptions {
  readonly request?: string
  readonly call: TrialCall
  readonly engine: 'auto' | 'quickjs' | 'isolated-vm'
}

/** Runs a script on an exchange and prints its effects. */
export async function testScript(options: TestOptions, file: string): Promise<number> {
  const { request, call, engine, output } = options
  const given = request === undefined ? {} : exchangeIn(request)
  const trial = await tried(file, () => tryScript({ script: { file }, engine }, given, call))
  if (output !== 'table') await printValue(printable(trial), output)
  else if (trial.error === null) print(...lines(trial))
  if (output === 'table') {
    if (trial.error !== null) complain(`${file}: ${visibleText(trial.error)}`)
    say(`took ${trial.ms.toFixed(2)} ms in ${trial.engine}, uses ${Math.ceil(trial.memoryBytes / 1024)} kb`)
  }
  return trial.error === null ? EXIT.ok : EXIT.failed
}

async function tried(file: string, run: () => Promise<Trial>): Promise<Trial> {
  try {
    return await run()
  } catch (error) {
    throw new Failure(`cannot run ${file}: ${messageOf(error)}`)
  }
}

function exchangeIn(file: string): TrialExchange {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable('the exchange', file, error)
  }
  try {
    return trialExchange(JSON.parse(text))
  } catch (error) {
    throw new Failure(`${file} does not describe an exchange: ${messageOf(error)}`)
  }
}

/** Returns the result with bodies as text. */
function printable({ changes, ...trial }: Trial): object {
  if (changes === null) return { ...trial, changes }
  const { body, reply, vars, ...rest } = changes
  const answer = reply === null ? null : { ...reply, body: textOf(reply.body) }
  return { ...trial, changes: { ...rest, vars: Object.fromEntries(vars), body: textOf(body), reply: answer } }
}

function textOf(body: Uint8Array | null): string | null {
  return body === null ? null : Buffer.from(body).toString('utf8')
}

/** Formats the effects of a script, one per line. */
function lines({ changes }: Trial): string[] {
  const { headers, query, vars, status, body, reply, log } = changes!
  const done = [
    ...headers.map(
      ({ operation, name, value }) => `header ${operation} ${name}${withValue(operation, value)}`,
    ),
    ...query.map(({ operation, name, value }) => `query ${operation} ${name}${withValue(operation, value)}`),
    ...vars.map(([name, value]) =>
      value === null ? `variable remove ${name}` : `variable set ${name}: ${value}`,
    ),
    ...(status === null ? [] : [`status ${status}`]),
    ...(body === null ? [] : [`body ${textOf(body)}`]),
    ...(reply === null ? [] : replyLines(reply)),
    ...log.map((line) => `log ${line}`),
  ]
  return (done.length === 0 ? ['no changes'] : done).map(visibleText)
}

function withValue(operation: string, value: string): string {
  return operation === 'remove' ? '' : `: ${value}`
}

function replyLines({
  status,
  headers,
  body,
}: NonNullable<NonNullable<Trial['changes']>['reply']>): string[] {
  const fields = headers.flatMap((name, i) =>
    i % 2 === 0 ? [`answer header ${name}: ${headers[i + 1]}`] : [],
  )
  return [`answer status ${status}`, ...fields, ...(body === null ? [] : [`answer body ${textOf(body)}`])]
}
