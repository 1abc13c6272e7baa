import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { until } from './gateway.js'
import { closedPort } from './origin.js'

const command = process.env['SLUICE_OTEL_COLLECTOR'] ?? ''

/** Reason to skip tests that need a collector, or false. */
export const noCollector =
  command === '' && 'no collector; use npm test, or npm run services and the variable that it prints'

/** An attribute in the JSON format of OTLP. */
export interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

/** A resource in the JSON format of OTLP. */
export interface Resource {
  readonly attributes: readonly Attribute[]
}

/** A span in the JSON format of OTLP. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status?: { readonly code?: number }
}

/** A log record in the JSON format of OTLP. */
export interface LogRecord {
  readonly timeUnixNano: string
  readonly severityNumber: number
  readonly severityText: string
  readonly body: { readonly stringValue?: string }
  readonly attributes: readonly Attribute[]
  readonly traceId: string
  readonly spanId: string
  readonly flags?: number
}

/** A point of a metric in the JSON format of OTLP. */
export interface Point {
  readonly attributes?: readonly Attribute[]
  readonly timeUnixNano: string
  readonly startTimeUnixNano?: string
  readonly asDouble?: number
  readonly count?: string
  readonly sum?: number
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
  readonly exemplars?: readonly { readonly traceId: string; readonly asDouble: number }[]
}

/** A metric in the JSON format of OTLP. */
export interface Metric {
  readonly name: string
  readonly description?: string
  readonly unit?: string
  readonly gauge?: { readonly dataPoints: readonly Point[] }
  readonly sum?: Points
  readonly histogram?: Points
}

interface Points {
  readonly dataPoints: readonly Point[]
  readonly isMonotonic?: boolean
  readonly aggregationTemporality: number
}

interface Exported {
  readonly resourceSpans?: readonly {
    readonly resource: Resource
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
  readonly resourceLogs?: readonly {
    readonly resource: Resource
    readonly scopeLogs: readonly { readonly logRecords: readonly LogRecord[] }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly resource: Resource
    readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[]
  }[]
}

/** A running collector and what it has passed on. */
export interface Collector {
  /** URL for OTLP over HTTP. */
  readonly url: string
  spans(): readonly Span[]
  logRecords(): readonly LogRecord[]
  /** Metrics of all exports, oldest first. */
  metrics(): readonly Metric[]
  resources(): readonly Resource[]
  stop(): Promise<void>
  start(): Promise<void>
}

/** Starts an OpenTelemetry Collector that passes on all signals to a server of the test. Both end after the test. */
export async function collector(t: TestContext): Promise<Collector> {
  const received: Exported[] = []
  const backendPort = await backend(t, received)
  const port = await closedPort()
  let stop = async (): Promise<void> => {}
  const start = async (): Promise<void> => {
    stop = await startProgram(t, port, backendPort)
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      received.flatMap(({ resourceSpans = [] }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    logRecords: () =>
      received.flatMap(({ resourceLogs = [] }) =>
        resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
      ),
    metrics: () =>
      received.flatMap(({ resourceMetrics = [] }) =>
        resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
      ),
    resources: () =>
      received.flatMap(({ resourceSpans = [], resourceLogs = [], resourceMetrics = [] }) =>
        [...resourceSpans, ...resourceLogs, ...resourceMetrics].map(({ resource }) => resource),
      ),
    stop: () => stop(),
    start,
  }
}

/** Returns the values of attributes by name. */
export function valuesOf(attributes: readonly Attribute[] = []): Record<string, string | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
}

/** Starts a server that receives what the collector passes on. Returns its port. */
async function backend(t: TestContext, received: Exported[]): Promise<number> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    received.push(JSON.parse(body) as Exported)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function startProgram(t: TestContext, port: number, backendPort: number): Promise<() => Promise<void>> {
  const pipeline = { receivers: ['otlp'], exporters: ['otlphttp'] }
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      otlphttp: { endpoint: `http://127.0.0.1:${backendPort}`, encoding: 'json', compression: 'none' },
    },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: pipeline, logs: pipeline, metrics: pipeline },
    },
  }
  const program = spawn(command, ['--config', `yaml:${JSON.stringify(config)}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  t.after(() => program.kill())
  await until(() => {
    assert.equal(program.exitCode, null, said)
    return said.includes('Everything is ready')
  })
  return async () => {
    program.kill()
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
  }
}
