export { encodeRecord } from './record/record.js'
export { type FieldSet, type RecordEnv, type RecordOptions, recordEnv } from './record/record-env.js'
