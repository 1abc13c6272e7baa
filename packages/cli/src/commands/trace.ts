import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import type { FleetMember } from '../kubernetes/fleet/fleet-change.js'
import { Failure, messageOf, usageError } from '../output/failure.js'
import { hasColors, print, printData, printText, printValue, say, terminalWidth } from '../output/output.js'
import { countText } from '../output/text.js'
import { type KubernetesOptions, withCluster } from './kubernetes-options.js'
import { podMembers } from './status-kubernetes.js'
import { stepTraceLines } from './step-trace-lines.js'

interface TraceOptions extends OutputOptions {
  readonly route?: string
  readonly when?: string
  readonly count: number
  /** Maximum duration in milliseconds. */
  readonly for?: number
}

const DEFAULT_MS = 60_000
const MAX_MS = 600_000

/** Shows what each policy does to live requests of a gateway. */
export async function trace(options: TraceOptions & ServerOptions): Promise<void> {
  await new Tracing([{ name: '', client: new AdminClient(options) }], options).run()
}

/** Shows what each policy does to live requests of all pods of a gateway. */
export async function traceKubernetes(options: TraceOptions & KubernetesOptions): Promise<void> {
  await withCluster(options, async (cluster, identity) => {
    const pods = await podMembers(cluster, identity, options)
    const members = pods.filter(({ pod }) => pod.isRunning).map(({ member }) => member)
    if (members.length === 0) throw new Failure(`gateway '${identity.name}' has no running pods`)
    await new Tracing(members, options).run()
  })
}

/** A step trace on one gateway or on all members of a fleet. It ends when they together have traced enough requests. */
class Tracing {
  readonly #members: readonly FleetMember[]
  readonly #options: TraceOptions
  readonly #done = new AbortController()
  readonly #traces: object[] = []
  #shown = 0
  #armed = 0
  #lost = 0
  #isStopped = false

  constructor(members: readonly FleetMember[], options: TraceOptions) {
    this.#members = members
    this.#options = options
  }

  async run(): Promise<void> {
    const { for: forMs = DEFAULT_MS, output } = this.#options
    if (forMs < 1000 || forMs > MAX_MS) throw usageError('--for is between 1s and 10m')
    const stop = untilSignal().signal
    const signal = AbortSignal.any([stop, this.#done.signal])
    const problems = await Promise.all(this.#members.map((member) => this.#follow(member, forMs, signal)))
    this.#isStopped = stop.aborted
    if (output === 'json') await printValue({ traces: this.#traces, lost: this.#lost }, output)
    this.#sayEnd()
    const problem = problems.find((one) => one !== null) ?? null
    if (problem !== null) throw problem
  }

  /** Follows one gateway. Returns its failure, so that the others continue. */
  async #follow({ name, client }: FleetMember, forMs: number, signal: AbortSignal): Promise<Failure | null> {
    const { route, when, count } = this.#options
    const body = { route, when, count, seconds: Math.round(forMs / 1000) }
    try {
      for await (const line of client.lines('/v1/step-traces', body, signal)) {
        const kind = line.text('kind')
        if (kind === 'armed') this.#onArmed()
        else if (kind === 'trace') this.#onTrace(line.part('trace'), name)
        else if (kind === 'end') {
          this.#lost += line.number('lost')
          return null
        }
      }
      return signal.aborted ? null : new Failure(`${client.origin} has ended the trace`)
    } catch (error) {
      if (this.#members.length > 1) say(`${name}: ${messageOf(error)}`)
      return error instanceof Failure ? error : new Failure(messageOf(error))
    }
  }

  #onArmed(): void {
    if (++this.#armed === this.#members.length) say('tracing; Ctrl-C ends it')
  }

  #onTrace(trace: AnswerPart, pod: string): void {
    const { output, count } = this.#options
    if (this.#shown >= count) return
    const value = pod === '' ? trace.value : { pod, ...trace.value }
    if (output === 'json') this.#traces.push(value)
    else if (output === 'jsonl') printData(`${JSON.stringify(value)}\n`)
    else {
      if (this.#shown > 0) print('')
      printText(
        `${stepTraceLines(trace, { pod, width: terminalWidth(), hasColors: hasColors() }).join('\n')}\n`,
      )
    }
    if (++this.#shown === count) this.#done.abort()
  }

  #sayEnd(): void {
    if (this.#shown === 0 && this.#armed > 0 && !this.#isStopped) say('no request matched in this time')
    if (this.#lost > 0)
      say(
        `${countText(this.#lost, 'matching request')} not traced: too many at once; narrow --route or --when`,
      )
  }
}
