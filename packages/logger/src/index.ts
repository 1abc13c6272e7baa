export { FanOutSink, noneSink, type Outlet } from './fan-out-sink.js'
export { type FileSinkOptions, openFileSink } from './file-sink.js'
export type { OpenCustomOutput } from './outputs/custom/output.js'
export { customOutputProblem } from './outputs/custom/try-module.js'
export type { LogOutputOptions } from './outputs/open-output.js'
export type { Delivery, LogOutput, Refusal, ReportProblem, Shipment } from './outputs/output.js'
export type { Comparison, Criterion } from './reader/criterion.js'
export { FileSource } from './reader/file-source.js'
export { UnknownNameError } from './reader/known-names.js'
export { LineSplitter } from './reader/line-splitter.js'
export { type FilterRequest, matchesFilter, type RecordFilter, recordFilter } from './reader/record-filter.js'
export { formatRecordLine, type LineOptions, RECORD_HEADING } from './reader/record-line.js'
export {
  type RecordSource,
  type SearchOptions,
  SourceError,
  type SourceFault,
  type TailOptions,
} from './reader/record-source.js'
export { type RecordView, recordValue, type TrafficRecord } from './reader/record-view.js'
export { type TrafficTail, tailSegments } from './reader/tail.js'
export type { CaptureNarrowing } from './record/capture-narrowing.js'
export { encodeRecord } from './record/record.js'
export { type FieldSet, type RecordEnv, type RecordOptions, recordEnv } from './record/record-env.js'
export { isInSample } from './record/sample.js'
export { RecordDecryptor } from './redaction/record-decryptor.js'
export { openShippingSink, type ShippingSinkOptions } from './shipping-sink.js'
export type { SinkOptions } from './sink-options.js'
export { FormerSpoolWatch } from './spool/former-spool-watch.js'
