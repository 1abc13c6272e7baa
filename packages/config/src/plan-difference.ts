import { canonicalJson } from './digest.js'
import { isMapping } from './document-path.js'

/** Two values of a plan, and the same as they may be shown. */
export interface Pair {
  readonly old: unknown
  readonly now: unknown
  readonly oldShown: unknown
  readonly nowShown: unknown
}

/** What names the items of a list whose order means nothing; the items of others are told apart by themselves. */
const ITEM_NAMES: Readonly<Record<string, string>> = {
  targets: 'url',
  tokens: 'id',
  'match.headers': 'name',
  'match.query': 'name',
  policies: 'id',
}
/** Lists of names whose order means nothing. */
const SETS: ReadonlySet<string> = new Set(['match.hosts', 'match.methods', 'trustedProxies'])
/** Follows from the rest. */
const DERIVED: ReadonlySet<string> = new Set(['match.path.kind', 'match.path.segments', 'match.shown'])
const MAX_SHOWN = 200

/** Each setting that differs, as `name: old -> new`; for lists also `name: + item` and `name: - item`. */
export function differences(pair: Pair, path = ''): string[] {
  if (DERIVED.has(path) || canonicalJson(pair.old) === canonicalJson(pair.now)) return []
  if (isMapping(pair.old) && isMapping(pair.now)) return ofMappings(pair, path)
  if (Array.isArray(pair.old) && Array.isArray(pair.now)) {
    if (SETS.has(path)) return ofShownSets(pair, path)
    if (ITEM_NAMES[path] !== undefined) return ofNamed(pair, path, ITEM_NAMES[path])
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

/** What differs may be what a reference stands for, which is not told. */
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

function ofNamed(pair: Pair, path: string, name: string): string[] {
  const [old, now] = [namesOf(pair.old, name), namesOf(pair.now, name)]
  const kept = now.filter((item) => old.includes(item))
  const moved = path === 'policies' && kept.join('\n') !== old.filter((item) => now.includes(item)).join('\n')
  return [
    ...ofSets(old, now, path),
    ...kept.flatMap((item) =>
      differences(
        mapPair(pair, (list) => itemNamed(list, name, item)),
        `${path}[${item}]`,
      ),
    ),
    ...(moved ? [`${path}: ${old.join(', ')} -> ${now.join(', ')}`] : []),
  ]
}

function namesOf(list: unknown, name: string): string[] {
  return (list as readonly unknown[]).map((item) => String(member(item, name)))
}

function itemNamed(list: unknown, name: string, value: string): unknown {
  return Array.isArray(list) ? list.find((item) => String(member(item, name)) === value) : undefined
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

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function shownText(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
