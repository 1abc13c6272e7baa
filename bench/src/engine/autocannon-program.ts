import autocannon from 'autocannon'
import type { LoadOptions } from '../model/engine.js'
import { bodyOf } from './call-body.js'
import { Measurement } from './measurement.js'
import { closedLoop, OpenLoop, type Pace } from './pace.js'
import { type ClientEvents, PacedClient, TIMEOUT_MS } from './paced-client.js'

/** Time for planned requests to finish after the end, in milliseconds. */
const DRAIN_MS = TIMEOUT_MS
const STEP_MS = 5
/** Time limit for opening connections, in milliseconds. A server that accepts fewer still gets its load. */
const OPEN_MS = 5000

// The options are the first line of standard input, and the result goes to standard output. The program ends when
// standard input closes.
process.stdin.setEncoding('utf8').on('end', () => process.exit(1))
await main(JSON.parse(await firstLine(process.stdin)) as LoadOptions)

function firstLine(input: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    input.on('data', (part: string) => {
      text += part
      if (text.endsWith('\n')) resolve(text)
    })
  })
}

async function main(options: LoadOptions): Promise<void> {
  const plan = options.perSecond === null ? null : new OpenLoop(options.perSecond)
  const measurement = new Measurement(plan !== null, options.sampleCount)
  open(options, plan ?? closedLoop, measurement)
  if (plan !== null) await opened(plan, options.connections)
  const startMono = performance.now()
  const beginMono = startMono + options.warmUpSeconds * 1000
  const endMono = beginMono + options.seconds * 1000
  measurement.between(beginMono, endMono)
  plan?.start(startMono, options.warmUpSeconds, options.seconds)
  await until(beginMono)
  const cpu = process.cpuUsage()
  const cpuMono = performance.now()
  await until(endMono)
  const { user, system } = process.cpuUsage(cpu)
  const elapsedMicros = (performance.now() - cpuMono) * 1000
  if (plan !== null) await drain(plan.measured, measurement)
  plan?.stop()
  // One thread sends. Node.js's other threads run on its core if it is pinned, and count too.
  const busyShare = Math.min(1, (user + system) / elapsedMicros)
  const result = measurement.result(busyShare, options.warmUpSeconds)
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
}

function open(options: LoadOptions, pace: Pace, measurement: Measurement): void {
  const { method, headers, body, path } = options.call
  const events: ClientEvents = {
    free: (client) => pace.free(client),
    gone: (client) => pace.gone(client),
    answered: (sent, status, transfer) => measurement.answered(sent, status, transfer),
    failed: (sent, kind, transfer) => measurement.failed(sent, kind, transfer),
  }
  const settings = {
    url: options.origin + path,
    method,
    headers,
    body: body === null ? undefined : bodyOf(body),
    connections: options.connections,
    // Autocannon checks its clock once a second only, so this program ends the load.
    duration: options.warmUpSeconds + options.seconds + 3600,
    timeout: TIMEOUT_MS / 1000,
    setupClient: (client: ConstructorParameters<typeof PacedClient>[0]) => {
      new PacedClient(client, events)
    },
  }
  autocannon(settings, (error) => {
    console.error(error)
    process.exit(1)
  })
}

/**
 * Waits until all connections are open. Opening hundreds takes half a second, which would delay planned requests and
 * become the P99 of a short measurement.
 */
async function opened(plan: OpenLoop, connections: number): Promise<void> {
  const giveUpMono = performance.now() + OPEN_MS
  while (plan.idle < connections && performance.now() < giveUpMono) await until(performance.now() + STEP_MS)
}

/** Waits for responses to planned requests. Missing ones count as timed out. */
async function drain(planned: number, measurement: Measurement): Promise<void> {
  const giveUpMono = performance.now() + DRAIN_MS
  while (measurement.seen < planned && performance.now() < giveUpMono)
    await until(performance.now() + STEP_MS)
  measurement.abandon(planned - measurement.seen)
}

function until(mono: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, mono - performance.now())))
}
