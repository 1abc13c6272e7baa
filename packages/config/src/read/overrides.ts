import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import type { LogSinkName } from '../schema/log.js'

/** Settings on the command line that override the document. */
export interface Overrides {
  readonly workers?: number
  /** Address of the first listener. */
  readonly listen?: string
  readonly logSink?: LogSinkName
}

const FLAGS: ReadonlyMap<string, keyof Overrides> = new Map([
  ['workers', 'workers'],
  ['listeners[0].address', 'listen'],
  ['log.sink', 'logSink'],
])
const FLAG_NAMES = { workers: '--workers', listen: '--listen', logSink: '--log-sink' } as const

/** Returns a copy of a document with the overrides applied. The document may be invalid. */
export function withOverrides(root: unknown, overrides: Overrides): unknown {
  if (!isMapping(root)) return root
  const { workers, listen, logSink } = overrides
  return {
    ...root,
    ...(workers === undefined ? {} : { workers }),
    ...(listen === undefined ? {} : { listeners: withAddress(root['listeners'], listen) }),
    ...(logSink === undefined
      ? {}
      : { log: { ...(isMapping(root['log']) ? root['log'] : {}), sink: logSink, outputs: [] } }),
  }
}

/** Returns the flag that set the value at a path, or null. */
export function flagAt(path: DocumentPath, overrides: Overrides): string | null {
  const name = FLAGS.get(formatPath(path))
  return name === undefined || overrides[name] === undefined ? null : FLAG_NAMES[name]
}

function withAddress(listeners: unknown, address: string): unknown[] {
  const [first, ...others]: unknown[] = Array.isArray(listeners) ? listeners : []
  return [{ ...(isMapping(first) ? first : {}), address }, ...others]
}
