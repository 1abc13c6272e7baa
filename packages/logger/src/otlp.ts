/** Entry point for the export of metrics. Separate from index.ts, so that other processes do not load its encoder. */

export type { OtlpMetric, OtlpPoint } from './outputs/otlp/metrics.js'
export { type ExportResult, OtlpMetricsExporter } from './outputs/otlp/metrics-exporter.js'
