import { isMapping } from '../diagnostic/document-path.js'
import { canonicalJson } from '../plan/digest.js'

/** Two values of a plan, and their displayed forms. */
export interface Pair {
  readonly old: unknown
  readonly now: unknown
  readonly oldShown: unknown
  readonly nowShown: unknown
}

/**
 * Keys that identify the items of lists whose order has no meaning; the first key that an item has is used.
 */
const ITEM_NAMES: Readonly<Record<string, readonly string[]>> = {
  targets: ['url'],
  outputs: ['id'],
  tokens: ['id'],
  'match.headers': ['name'],
  'match.query': ['name'],
  policies: ['id'],
}
/** Lists of strings whose order has no meaning. */
const SETS: ReadonlySet<string> = new Set(['match.hosts', 'match.methods', 'trustedProxies'])
/** Values that are derived from other values. */
const DERIVED: ReadonlySet<string> = new Set(['match.path.kind', 'match.path.segments', 'match.shown'])
const MAX_SHOWN = 200

/** Returns each changed setting as `name: old -> new`; for lists also `name: + item` and `name: - item`. */
export function differences(pair: Pair, path = ''): string[] {
  if (DERIVED.has(path) || canonicalJson(pair.old) === canonicalJson(pair.now)) return []
  if (isMapping(pair.old) && isMapping(pair.now)) return ofMappings(pair, path)
  if (Array.isArray(pair.old) && Array.isArray(pair.now)) {
    if (SETS.has(path)) return ofShownSets(pair, path)
    if (isNamed(pair.old, path) && isNamed(pair.now, path)) return ofNamed(pair, path)
  }
  const [old, now] = [shownText(pair.oldShown), shownText(pair.nowShown)]
  return [old === now ? `${path}: changed` : `${path}: ${old} -> ${now}`]
}

function ofMappings(pair: Pair, path: string): string[] {
  const keys = new Set([...Object.keys(pair.old as object), ...Object.keys(pair.now as object)])
  return [...keys].flatMap((key) =>
    differences(
      mapPair(pair, (value) => member(value, key)),
      join(path, key),
    ),
  )
}

/** Returns the changed items of a set. If only values of references changed, the items are not shown. */
function ofShownSets({ oldShown, nowShown }: Pair, path: string): string[] {
  const lines = ofSets(oldShown as readonly unknown[], nowShown as readonly unknown[], path)
  return lines.length === 0 ? [`${path}: changed`] : lines
}

function ofSets(old: readonly unknown[], now: readonly unknown[], path: string): string[] {
  return [
    ...now.filter((item) => !old.includes(item)).map((item) => `${path}: + ${shownText(item)}`),
    ...old.filter((item) => !now.includes(item)).map((item) => `${path}: - ${shownText(item)}`),
  ]
}

function ofNamed(pair: Pair, path: string): string[] {
  const [old, now] = [namesOf(pair.old, path), namesOf(pair.now, path)]
  const kept = now.filter((item) => old.includes(item))
  const moved = path === 'policies' && kept.join('\n') !== old.filter((item) => now.includes(item)).join('\n')
  return [
    ...ofSets(old, now, path),
    ...kept.flatMap((item) =>
      differences(
        mapPair(pair, (list) => itemNamed(list, path, item)),
        `${path}[${item}]`,
      ),
    ),
    ...(moved ? [`${path}: ${old.join(', ')} -> ${now.join(', ')}`] : []),
  ]
}

/** True if the items of a list have unique names. */
function isNamed(list: unknown, path: string): boolean {
  if (ITEM_NAMES[path] === undefined) return false
  const names = namesOf(list, path)
  return new Set(names).size === names.length && !names.includes('')
}

function namesOf(list: unknown, path: string): string[] {
  return (list as readonly unknown[]).map((item) => nameOf(item, path))
}

function itemNamed(list: unknown, path: string, name: string): unknown {
  return Array.isArray(list) ? list.find((item) => nameOf(item, path) === name) : undefined
}

/** Returns the name of an item, or an empty string. */
function nameOf(item: unknown, path: string): string {
  for (const key of ITEM_NAMES[path]!) {
    const name = member(item, key)
    if (name !== undefined) return String(name)
  }
  return ''
}

function member(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function mapPair(pair: Pair, map: (value: unknown) => unknown): Pair {
  return {
    old: map(pair.old),
    now: map(pair.now),
    oldShown: map(pair.oldShown),
    nowShown: map(pair.nowShown),
  }
}

/** Returns the path of a member. The text of a path pattern has the name of the pattern, as in documents. */
function join(path: string, key: string): string {
  if (path === 'match.path' && key === 'text') return path
  return path === '' ? key : `${path}.${key}`
}

function shownText(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
