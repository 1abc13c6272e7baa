export { type DocumentThread, startDocumentThread } from './supervisor/document-thread.js'
export { runParent } from './supervisor/parent.js'
export { hasParent } from './supervisor/parent-link.js'
export { LOG_FORMAT_ENV } from './telemetry/operation-log.js'
