export { SourceError, type SourceFault } from './lib/source-error.js'
export type { OpenCustomOutput } from './outputs/custom/output.js'
export { customOutputProblem } from './outputs/custom/try-module.js'
export type { Delivery, LogOutput, Refusal, ReportProblem, Shipment } from './outputs/output.js'
export { type MaskedBody, MessageMask } from './preparation/message-mask.js'
export { RecordEncoders } from './queue/record-encoder.js'
export type { Comparison, Criterion } from './reader/criterion.js'
export { FileSource } from './reader/file-source.js'
export { UnknownNameError } from './reader/known-names.js'
export { type LatestOptions, type LatestRecords, latestRecords } from './reader/latest-records.js'
export { LineSplitter } from './reader/line-splitter.js'
export { type FilterRequest, matchesFilter, type RecordFilter, recordFilter } from './reader/record-filter.js'
export { formatRecordLine, type LineOptions, RECORD_HEADING } from './reader/record-line.js'
export type { RecordSource, SearchOptions, TailOptions } from './reader/record-source.js'
export {
  type GroupStats,
  HISTOGRAM_BOUNDS_MS,
  STATS_FIELDS,
  type StatsKey,
  type TrafficStats,
} from './reader/record-stats.js'
export { type RecordView, recordValue, type TrafficRecord } from './reader/record-view.js'
export type { CaptureNarrowing } from './record/capture-narrowing.js'
export { type FieldSet, type RecordEnv, type RecordOptions, recordEnv } from './record/record-env.js'
export { RecordJson } from './record/record-json.js'
export { isInSample } from './record/sample.js'
export { RecordDecryptor } from './redaction/record-decryptor.js'
export type { LogOutputOptions } from './shipper/open-output.js'
export { FanOutSink, noneSink, type Outlet } from './sinks/fan-out-sink.js'
export { type FileSinkOptions, openFileSink } from './sinks/file-sink.js'
export { openShippingSink, type ShippingSinkOptions } from './sinks/shipping-sink.js'
export type { SinkOptions } from './sinks/sink-options.js'
export { FormerSpoolWatch } from './spool/former-spools.js'
