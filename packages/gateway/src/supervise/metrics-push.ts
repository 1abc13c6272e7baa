import { hostname } from 'node:os'
import type { MetricsExportPlan, Plan } from '@sluice/config'
import type { ExportResult, OtlpMetricsExporter } from '@sluice/logger/otlp'
import { metricPoints } from '../telemetry/metric-points.js'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import type { AdminBackend } from './admin-backend.js'
import { type Preparation, prepared } from './rollout/preparation.js'
import { METRICS_HELP } from './status/metrics-help.js'

/** Time limit in milliseconds for the last export, when the gateway stops. */
const LAST_MS = 2000
/** Minimum time between two entries about the same result, in milliseconds. */
const REPORT_MS = 60_000

/** The active export. */
interface Active {
  readonly settings: string
  readonly intervalMs: number
  readonly exporter: OtlpMetricsExporter
}

/**
 * Sends all metrics to an OpenTelemetry collector once per interval, and once more when the gateway stops. Failed exports
 * are not repeated, because the next one contains the same counters.
 */
export class MetricsPush {
  readonly #backend: Pick<AdminBackend, 'samples' | 'status'>
  readonly #log: OperationLog
  readonly #startedMs = Date.now()
  readonly #counts: Record<ExportResult['kind'], number> = { delivered: 0, rejected: 0, failed: 0 }
  #active: Active | null = null
  #timer: NodeJS.Timeout | null = null
  #reported: ExportResult['kind'] = 'delivered'
  #reportDueMono = 0

  constructor(backend: Pick<AdminBackend, 'samples' | 'status'>, log: OperationLog) {
    this.#backend = backend
    this.#log = log
  }

  /** Prepares the export of a plan beside the active one. */
  async prepare({ metrics: { otlp }, environment }: Plan): Promise<Preparation> {
    const settings = JSON.stringify([otlp, environment])
    if (settings === (this.#active?.settings ?? JSON.stringify([undefined, environment])))
      return prepared(async () => {})
    if (otlp === undefined) return prepared(async () => this.#serve(null))
    try {
      const exporter = await this.#open(otlp, environment)
      const next = { settings, intervalMs: otlp.intervalMs, exporter }
      return prepared(
        async () => this.#serve(next),
        async () => exporter.close(),
      )
    } catch (error) {
      return { ok: false, reason: `cannot export metrics (${(error as Error).message}); change metrics.otlp` }
    }
  }

  /** Returns the counts of exports by result; empty if metrics are not exported. */
  samples(): Sample[] {
    if (this.#active === null) return []
    return Object.entries(this.#counts).map(([result, value]) => ({
      ...{ name: 'gw_metrics_exports_total', labels: label('result', result), value },
    }))
  }

  /** Sends the last counts and ends the export. */
  async close(): Promise<void> {
    const active = this.#active
    if (active === null) return
    this.#stopTimer()
    const limit = setTimeout(() => active.exporter.close(), LAST_MS)
    await this.#push(active)
    clearTimeout(limit)
    this.#serve(null)
  }

  async #open(otlp: MetricsExportPlan, environment: string | null): Promise<OtlpMetricsExporter> {
    const { intervalMs: _, ...options } = otlp
    // Loaded on demand, because most gateways do not export metrics.
    const { OtlpMetricsExporter } = await import('@sluice/logger/otlp')
    const { version } = this.#backend.status()
    return new OtlpMetricsExporter(options, { host: hostname(), version, environment })
  }

  #serve(next: Active | null): void {
    this.#stopTimer()
    this.#active?.exporter.close()
    this.#active = next
    if (next !== null) this.#schedule(next)
  }

  #schedule(active: Active): void {
    this.#timer = setTimeout(async () => {
      await this.#push(active)
      if (this.#active === active && this.#timer !== null) this.#schedule(active)
    }, active.intervalMs).unref()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  async #push({ exporter }: Active): Promise<void> {
    const result = await this.#backend
      .samples()
      .then((samples) => {
        const metrics = metricPoints(samples, METRICS_HELP)
        return exporter.send(metrics, { startMs: this.#startedMs, endMs: Date.now() })
      })
      .catch((error: unknown): ExportResult => ({ kind: 'failed', reason: String(error) }))
    this.#counts[result.kind]++
    this.#tell(result)
  }

  /** Reports failures and rejected points when they begin and then once per minute, and the end of failures. */
  #tell(result: ExportResult): void {
    const isChange = result.kind !== this.#reported
    if (!isChange && (result.kind === 'delivered' || performance.now() < this.#reportDueMono)) return
    this.#reported = result.kind
    this.#reportDueMono = performance.now() + REPORT_MS
    const { kind, ...fields } = result
    if (kind === 'delivered') this.#log.info('metrics.export-works')
    else this.#log.warn(kind === 'failed' ? 'metrics.export-failed' : 'metrics.export-rejected', fields)
  }
}
