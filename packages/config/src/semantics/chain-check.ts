import { type DocumentPath, isMapping, valueAt } from '../diagnostic/document-path.js'
import { suggestion } from '../diagnostic/spelling.js'
import type { Document, PolicyEntry } from '../schema/document.js'
import { MAX_CHAIN } from '../schema/policy.js'
import { policyIdOf } from '../schema/policy-id.js'
import type { Inspection } from './inspection.js'

/** Names that a chain may refer to. */
interface Names {
  readonly shared: ReadonlySet<string>
  /** Names of groups, including invalid ones. */
  readonly groups: ReadonlySet<string>
}

/** The chain of a route, or a policy group. */
interface Chain {
  readonly owner: string
  readonly isGroup: boolean
  readonly entries: readonly PolicyEntry[]
  readonly path: DocumentPath
}

/** Checks chains and groups: unknown names, duplicate policies, nested groups. */
export function checkChains(inspection: Inspection): void {
  const { document, origins, whole } = inspection
  const groups = valueAt(whole, ['policyGroups'])
  const names = {
    shared: writtenIds(whole, 'policies'),
    groups: new Set(Object.keys(isMapping(groups) ? groups : {})),
  }
  checkGroupNames(inspection, names)
  for (const [owner, entries] of Object.entries(document.policyGroups))
    checkChain(inspection, names, { owner, isGroup: true, entries, path: ['policyGroups', owner] })
  for (const [{ id: owner, policies: entries }, path] of origins.entries(document.routes, ['routes']))
    checkChain(inspection, names, { owner, isGroup: false, entries, path: [...path, 'policies'] })
}

function checkGroupNames({ report }: Inspection, { shared, groups }: Names): void {
  for (const name of groups) {
    if (!shared.has(name)) continue
    const message = `a shared policy and a group have the same name '${name}'`
    report.add({ path: ['policyGroups', name], at: 'key', message, remedy: 'rename one of them' })
  }
}

function checkChain(inspection: Inspection, names: Names, chain: Chain): void {
  const { document, origins, report } = inspection
  const seen = new Set<string>()
  for (const [entry, location] of origins.entries(chain.entries, chain.path)) {
    if (typeof entry === 'string') checkName(inspection, names, { name: entry, location, chain })
    for (const id of idsOf(entry, chain, { location, groups: document.policyGroups })) {
      if (seen.has(id)) {
        const name = typeof entry === 'string' && id !== entry ? `'${id}'` : report.quote(id, location)
        const message = `the policy ${name} is listed twice in this chain`
        report.add({ path: location, message, remedy: 'remove or rename one' })
      }
      seen.add(id)
    }
  }
  if (seen.size <= MAX_CHAIN) return
  const message = `the chain has ${seen.size} policies, including those of its groups`
  report.add({ path: chain.path, message, remedy: `leave at most ${MAX_CHAIN}` })
}

function idsOf(
  entry: PolicyEntry,
  { owner, isGroup }: Chain,
  { location, groups }: { readonly location: DocumentPath; readonly groups: Document['policyGroups'] },
): readonly string[] {
  const isNamed = typeof entry === 'string' && !isGroup && Object.hasOwn(groups, entry)
  if (isNamed) return groups[entry]!.map((member, i) => policyIdOf(member, entry, i))
  return [policyIdOf(entry, owner, Number(location.at(-1)))]
}

interface NamedEntry {
  readonly name: string
  readonly location: DocumentPath
  readonly chain: Chain
}

function checkName(
  { catalog, report }: Inspection,
  { shared, groups }: Names,
  { name, location, chain }: NamedEntry,
): void {
  if (shared.has(name)) return
  const quoted = report.quote(name, location)
  if (groups.has(name)) {
    if (!chain.isGroup) return
    const message = `the group ${quoted} is listed in another group`
    report.add({
      path: location,
      message,
      remedy: 'list both groups in the routes; groups cannot contain groups',
    })
    return
  }
  const known = chain.isGroup ? shared : [...shared, ...groups]
  const fallback = catalog.has(name) ? `write use: ${name}` : 'add it under policies'
  const remedy = suggestion(name, catalog.has(name) ? [] : known, fallback)
  const what = groups.size === 0 || chain.isGroup ? 'shared policy' : 'shared policy or group'
  report.add({ path: location, message: `there is no ${what} ${quoted}`, remedy, presumesAll: true })
}

/** Returns the ids in a list at the root of the document, including those of invalid items. */
function writtenIds(whole: unknown, list: 'routes' | 'policies'): ReadonlySet<string> {
  const items = valueAt(whole, [list])
  if (!Array.isArray(items)) return new Set()
  return new Set(
    items.flatMap((item) => (isMapping(item) && typeof item['id'] === 'string' ? [item['id']] : [])),
  )
}
