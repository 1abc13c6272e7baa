import autocannon from 'autocannon'
import type { LoadOptions } from '../model/engine.js'
import { bodyOf } from './call-body.js'
import { Measurement } from './measurement.js'
import { closedLoop, OpenLoop, type Pace } from './pace.js'
import { type ClientEvents, PacedClient, TIMEOUT_MS } from './paced-client.js'

/** How long planned requests may take beyond the end before they are given up. */
const DRAIN_MS = TIMEOUT_MS
const STEP_MS = 5
/** How long connections may take to open; a server that takes fewer than were asked for gets its load all the same. */
const OPEN_MS = 5000

// The options are the first line of standard input, the result goes to standard output. After that line standard input
// is the life line of whoever started us.
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
  const measurement = new Measurement(plan !== null)
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
  // One thread asks; the few others of Node are counted with it, on whose core they run when it is pinned.
  const busyShare = Math.min(1, (user + system) / elapsedMicros)
  const result = measurement.result(busyShare, options.warmUpSeconds)
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
}

/** Opens the connections. */
function open(options: LoadOptions, pace: Pace, measurement: Measurement): void {
  const { method, headers, body, path } = options.call
  const events: ClientEvents = {
    free: (client) => pace.free(client),
    gone: (client) => pace.gone(client),
    answered: (sent, status) => measurement.answered(sent, status),
    failed: (sent, kind) => measurement.failed(sent, kind),
  }
  const settings = {
    url: options.origin + path,
    method,
    headers,
    body: body === null ? undefined : bodyOf(body),
    connections: options.connections,
    // Autocannon looks at its clock once a second only: the end is ours.
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
 * Waits until all connections are there. What is due meanwhile would be late by what it takes to open hundreds of them,
 * half a second here, and in a measurement of seconds that would be the P99.
 */
async function opened(plan: OpenLoop, connections: number): Promise<void> {
  const giveUpMono = performance.now() + OPEN_MS
  while (plan.idle < connections && performance.now() < giveUpMono) await until(performance.now() + STEP_MS)
}

/** Waits for answers to what was planned; what is missing at the end counts as timed out. */
async function drain(planned: number, measurement: Measurement): Promise<void> {
  const giveUpMono = performance.now() + DRAIN_MS
  while (measurement.seen < planned && performance.now() < giveUpMono)
    await until(performance.now() + STEP_MS)
  measurement.abandon(planned - measurement.seen)
}

function until(mono: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, mono - performance.now())))
}
