import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT, Failure } from '../output/failure.js'
import { isTable, print, printTable, printValue } from '../output/output.js'
import type { Cell } from '../output/table.js'
import { countText } from '../output/text.js'
import { confirm } from './drain.js'

const HEADINGS = ['UPSTREAM', 'TARGET', 'DRAINED', 'HEALTH', 'WORKERS', 'PROBLEM']

/** Prints the state of the targets of all upstreams, or of one. */
export async function showHealth(
  options: OutputOptions & ServerOptions,
  name: string | undefined,
): Promise<number> {
  const { part } = await new AdminClient(options).get('/v1/upstreams')
  const upstreams = part.parts('upstreams').filter((each) => name === undefined || each.text('name') === name)
  if (name !== undefined && upstreams.length === 0)
    throw new Failure(EXIT.failed, `there is no upstream '${name}'; gw upstream list shows all`)
  if (isTable(options.output)) printTable(HEADINGS, upstreams.flatMap(rowsOf))
  else await printValue({ upstreams: upstreams.map(healthOf) }, options.output)
  return EXIT.ok
}

interface DrainOptions extends ServerOptions {
  readonly yes?: boolean
}

/** Drains a target, or all targets of an upstream after confirmation. */
export async function drain(
  options: DrainOptions,
  name: string,
  target: string | undefined,
): Promise<number> {
  const question = `drain all targets of '${name}'? Its requests will be answered with 503.`
  if (target === undefined && options.yes !== true && !(await confirm(question)))
    throw new Failure(EXIT.failed, 'cancelled')
  await send(options, 'drain', { upstream: name, target })
  print(`drained: ${target ?? `all targets of ${name}`}; gw upstream undrain reverses it`)
  return EXIT.ok
}

/** Ends the drain of a target, or of all targets of an upstream. */
export async function undrain(
  options: ServerOptions,
  name: string,
  target: string | undefined,
): Promise<number> {
  await send(options, 'undrain', { upstream: name, target })
  print(`in service again: ${target ?? `all targets of ${name}`}`)
  return EXIT.ok
}

async function send(options: ServerOptions, verb: 'drain' | 'undrain', body: object): Promise<void> {
  const client = new AdminClient(options)
  const answer = await client.send({
    method: 'POST',
    path: `/v1/upstreams/${verb}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200) throw client.refused(answer)
}

function healthOf(upstream: AnswerPart): object {
  const targets = upstream.parts('targets').map((target) => ({
    url: target.text('url'),
    ...(target.part('state').value as object),
  }))
  return { name: upstream.text('name'), targets }
}

function rowsOf(upstream: AnswerPart): Cell[][] {
  return upstream.parts('targets').map((target) => {
    const { drained, health, workers, problem, endpoints } = target.part('state').value as {
      readonly drained: boolean
      readonly health: string
      readonly workers: Readonly<Record<string, number>>
      readonly problem: string | null
      readonly endpoints?: number
    }
    const seen = Object.entries(workers).map(([state, count]) => `${count} ${state}`)
    return [
      upstream.text('name'),
      target.text('url'),
      drained ? 'yes' : 'no',
      endpoints === undefined ? health : countText(endpoints, 'pod'),
      seen.join(', '),
      problem ?? '',
    ]
  })
}
