import { asciiJson, isMembers, type Members } from './members.js'

/** Members that are safe to keep if the rest of a record could not be checked. */
const KEPT: readonly string[] = [
  '@timestamp',
  'id',
  'event',
  'trace',
  'span',
  'env',
  'gw',
  'route',
  'api',
  'group',
  'revision',
  'consumer',
  'client',
  'http',
  'up',
  't',
  'result',
]
const KEPT_WITHIN: Readonly<Record<string, readonly string[]>> = {
  url: ['scheme', 'host', 'path', 'template'],
  req: ['bytes_h', 'bytes_b'],
  res: ['status', 'bytes_h', 'bytes_b'],
  error: ['code', 'policy', 'phase'],
}
const TIME = /"@timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z)"/
const ID = /"id":"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"/

/**
 * Returns a replacement for a record to which the rules could not be applied. It has no body, header fields,
 * query or variables. `privacy.failed` is `rule`, or `record` if the line is not a record.
 */
export function fallbackRecord(line: string): string {
  try {
    const record: unknown = JSON.parse(line)
    if (isMembers(record)) return asciiJson({ ...stripped(record), privacy: failed('rule') })
  } catch {
    // Not a record. The parts that can be recognized are extracted below.
  }
  const found = TIME.exec(line)?.[1] ?? new Date().toISOString()
  const id = ID.exec(line)?.[1]
  return asciiJson({
    '@timestamp': found,
    ...(id === undefined ? {} : { id }),
    privacy: failed('record'),
  })
}

function failed(reason: 'rule' | 'record'): Members {
  return { failed: reason }
}

function stripped(record: Members): Members {
  const kept = picked(record, KEPT)
  for (const [name, members] of Object.entries(KEPT_WITHIN)) {
    const value = record[name]
    if (isMembers(value)) kept[name] = picked(value, members)
  }
  return kept
}

function picked(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])),
  )
}
