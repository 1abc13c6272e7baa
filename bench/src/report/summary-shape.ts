/** Answers what is wrong with a value at a path; null: nothing. */
type Shape = (value: unknown, path: string) => string | null

const text: Shape = (value, path) => (typeof value === 'string' ? null : `${path} must be a text`)
const yesNo: Shape = (value, path) => (typeof value === 'boolean' ? null : `${path} must be true or false`)

const number: Shape = (value, path) => (typeof value === 'number' ? null : `${path} must be a number`)

const spread = object({ mean: number, stdev: number, min: number, max: number, values: list(number) })

const spectrum = object({
  isCorrected: yesNo,
  count: number,
  meanMicros: number,
  stdevMicros: number,
  maxMicros: number,
  percentiles: list(object({ percentile: number, micros: number })),
  hdr: orNull(text),
})

const point = object({
  suite: text,
  scenario: text,
  title: text,
  contestant: text,
  kind: oneOf('saturation', 'fixed-rate'),
  tier: orNull(oneOf('W1', 'W2', 'W4', 'W8')),
  workers: number,
  log: oneOf('none', 'elasticsearch'),
  method: text,
  bodyBytes: number,
  connections: number,
  targetPerSecond: orNull(number),
  sloMicros: orAbsent(number),
  perSecond: spread,
  engine: orAbsent(text),
  ceilingPerSecond: orAbsent(orNull(number)),
  receivedPerSecond: orAbsent(number),
  sentPerSecond: orAbsent(number),
  originDelayMs: orAbsent(number),
  generatorBusyShare: orAbsent(orNull(number)),
  cpuMicrosPerRequest: spread,
  requests: number,
  errors: object({ connect: number, timeout: number, reset: number, status: number, other: number }),
  latency: orNull(spectrum),
  rssBytes: number,
  memory: orAbsent(object({ limitBytes: number, peakBytes: orNull(number) })),
  perRepetition: orAbsent(
    list(
      object({
        p50Micros: orNull(number),
        p99Micros: orNull(number),
        rssBytes: number,
        throttling: orAbsent(object({ periods: number, throttledPeriods: number })),
      }),
    ),
  ),
  busyShare: number,
  sharesCores: orAbsent(yesNo),
  diagnostics: list(
    object({
      worker: number,
      heapUsedBytes: number,
      rssBytes: number,
      loopLagP99Micros: number,
      gcCount: number,
      gcMicros: number,
      openSockets: number,
      cpuMicros: orAbsent(number),
      voluntarySwitches: orAbsent(number),
      involuntarySwitches: orAbsent(number),
      log: orAbsent(object({ queuedRecords: number, lagMicros: number, droppedRecords: number })),
    }),
  ),
  upstreamWaits: orAbsent(number),
  invalid: list(text),
  costInvalid: orAbsent(list(text)),
})

const trial = object({
  id: text,
  title: text,
  action: text,
  startedAt: text,
  workers: number,
  connections: number,
  targetPerSecond: number,
  saturationPerSecond: number,
  actedFromSeconds: number,
  actedToSeconds: number,
  requests: number,
  sentAgain: number,
  crossed: orAbsent(number),
  errors: object({ connect: number, timeout: number, reset: number, status: number, other: number }),
  answers: record(number),
  statuses: orAbsent(record(number)),
  wrongBodies: orAbsent(number),
  unasked: orAbsent(number),
  gatewayErrors: number,
  upstreamErrors: number,
  phases: list(
    object({
      name: oneOf('before', 'during', 'after'),
      seconds: number,
      requests: number,
      sent: orAbsent(number),
      failed: number,
      p50Micros: orNull(number),
      p99Micros: orNull(number),
    }),
  ),
  recoveredSeconds: orNull(number),
  deliveredSeconds: orNull(number),
  log: orNull(
    object({ documents: number, dead: number, dropped: number, repeated: number, missing: number }),
  ),
  newWorkers: number,
  aside: orAbsent(object({ unanswered: number, cutOff: number, missing: number })),
  origin: object({ requests: number, failed: number, slow: number, stray: number }),
  soak: orAbsent(
    object({
      reloads: number,
      failedReloads: number,
      samples: number,
      spanSeconds: number,
      heap: orNull(object({ bytes: number, bytesPerHour: number, bytesPerHourError: number })),
      rssBytes: list(number),
      files: list(number),
    }),
  ),
  failures: list(text),
  invalid: orAbsent(list(text)),
})

const summary = object({
  id: text,
  suite: text,
  startedAt: text,
  endedAt: text,
  command: text,
  engine: text,
  saturationEngine: orAbsent(text),
  host: object({
    cpuModel: text,
    cpus: number,
    memoryBytes: number,
    kernel: text,
    node: text,
    cpuScore: number,
    foreignShare: number,
    stolenShare: number,
    versions: record(text),
    source: orAbsent(orNull(object({ commit: text, isDirty: yesNo }))),
    v8: orAbsent(text),
    settings: orAbsent(
      object({
        governor: orNull(text),
        turbo: orNull(yesNo),
        siblings: list(text),
        openFiles: orNull(number),
        transparentHugePages: orNull(text),
      }),
    ),
    limits: orAbsent(object({ cpus: orNull(number), cpuset: orNull(text), memoryBytes: orNull(number) })),
    documents: orAbsent(record(object({ sha256: text, plan: orNull(text) }))),
  }),
  points: list(point),
  warnings: list(text),
  trials: orAbsent(list(trial)),
})

/** The first thing that keeps a value from being a summary, with its place; null: it is one. Unknown fields are let be. */
export function summaryFlaw(value: unknown): string | null {
  return summary(value, '')
}

function object(fields: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (!isRecord(value)) return `${path === '' ? 'the document' : path} must be an object`
    const prefix = path === '' ? '' : `${path}.`
    return firstFlaw(
      Object.entries(fields).map(
        ([name, shape]) =>
          () =>
            shape(value[name], prefix + name),
      ),
    )
  }
}

function record(shape: Shape): Shape {
  return (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`
    return firstFlaw(
      Object.entries(value).map(
        ([name, each]) =>
          () =>
            shape(each, `${path}.${name}`),
      ),
    )
  }
}

function list(shape: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`
    return firstFlaw(value.map((each: unknown, i) => () => shape(each, `${path}[${i}]`)))
  }
}

function oneOf(...words: readonly string[]): Shape {
  return (value, path) =>
    words.some((word) => word === value) ? null : `${path} must be one of ${words.join(', ')}`
}

function orNull(shape: Shape): Shape {
  return (value, path) => (value === null ? null : shape(value, path))
}

function orAbsent(shape: Shape): Shape {
  return (value, path) => (value === undefined ? null : shape(value, path))
}

function firstFlaw(checks: readonly (() => string | null)[]): string | null {
  for (const check of checks) {
    const flaw = check()
    if (flaw !== null) return flaw
  }
  return null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
